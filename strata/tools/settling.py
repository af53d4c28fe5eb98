"""Arguments that are made anew whenever the same text is read, as one whose default is a fresh id: kept for the node that makes the call."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import inspect

from strata.errors import ToolCallFailed
from strata.graph.shapes import Shape, class_of, shapes_within
from strata.tools.arguments import ArgumentReader
from strata.tools.context import ToolContext
from strata.tools.defaults import Default, gives_the_same
from strata.tools.signature import ToolSignature

Values: TypeAlias = tuple[Any, ...]

_HOOKS: Final = ("__post_init__", "__attrs_post_init__")


def may_change(signature: ToolSignature) -> bool:
    """Whether reading the same text twice may give two things: something is made by a function of the user's, at any depth."""
    return any(
        not gives_the_same(Default.of(parameter.default).factory)
        or any(_is_made(shape) for _, shape in shapes_within(inspect.type_info(parameter.type)))
        for parameter in signature.parameters
    )


async def settled(tool: str, raw: str, values: Values, reader: ArgumentReader, context: ToolContext | None) -> Values:
    """The values that this call of the node had when it was first made, so that what is run is what a person was shown.

    `values` are those that `raw` was read as now. Without a node there is nobody who could make the same call again.

    Raises:
        ToolCallFailed: they change even where they are all given, or are no JSON.
    """
    node = None if context is None else context.node
    if context is None or node is None:
        return values
    now = told(tool, reader, values)
    kept = await node.once(_key(tool, raw, context), lambda: now)
    if kept == now:
        return values
    again = reader.values(msgspec.json.encode(kept).decode())
    if told(tool, reader, again) != kept:
        raise ToolCallFailed(tool, "its arguments are others whenever they are read, so that nobody can approve them: look at its __post_init__")
    return again


def told(tool: str, reader: ArgumentReader, values: Values) -> dict[str, Any]:
    """The arguments as JSON, for a person to look at. A default that is none is left out.

    Sets are in order: each process iterates over them in one of its own, and would ask for other arguments than were approved.

    Raises:
        ToolCallFailed: one that was given became what is no JSON.
    """
    try:
        return {name: msgspec.json.decode(msgspec.json.encode(value, order="deterministic")) for name, value in reader.shown(values).items()}
    except Exception as error:  # of any kind: properties of the user's own objects are called
        raise ToolCallFailed(tool, f"its arguments are no JSON, so that nobody can be asked about them: {error}") from error


def _key(tool: str, raw: str, context: ToolContext) -> str:
    """The same when the node runs again, and another for the next call that says the same."""
    from strata.tools.sites import site_of  # loads the engine: see approval.py

    sent = msgspec.json.encode(msgspec.json.decode(raw), order="sorted")
    key = f"arguments of tool {tool} {sha256(sent).hexdigest()[:32]}"
    site = site_of(context)
    return f"{key} #{1 if site is None else site.ordinal(key, context.call_id)}"


def _is_made(shape: Shape) -> bool:
    match shape:
        case inspect.StructType() | inspect.DataclassType():
            return any(hasattr(class_of(shape), hook) for hook in _HOOKS) or not all(gives_the_same(field.default_factory) for field in shape.fields)
        case _:
            return False
