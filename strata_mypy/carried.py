"""Facts that travel in a type: written on the type of a decorator, a node or a graph, and read where that type arrives.

mypy writes a type with all it carries to its caches, compares it when it asks whether what a module offers has changed, and hands it
to its workers. So a decorator that changes in one module is seen in the graph of another without any code here, and a warm
cache, parallel workers and the daemon find what a fresh run finds. Messages do not show it.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import ExtraAttrs, Instance, LiteralType, Type, get_proper_type

from strata_mypy.facts import CARRIED, Carried
from strata_mypy.rebound import is_for_rebound

F = TypeVar("F", bound=Carried)

ATTRIBUTE = "__strata_facts__"

_encoder = msgspec.json.Encoder()
_starts = {kind: f'{{"type":"{kind.__name__}"' for kind in CARRIED}


def carrying(type_: Instance, facts: Carried, context: FunctionContext | MethodContext) -> Instance:
    """The same type, with these facts on it, if it is the type of a value that a variable may be trusted to keep."""
    if is_for_rebound(context):
        return type_
    text = LiteralType(_encoder.encode(facts).decode(), context.api.named_generic_type("builtins.str", []))
    laden = type_.copy_modified()  # pyright: ignore[reportUnknownMemberType]  (mypy leaves its parameters open)
    laden.extra_attrs = ExtraAttrs({ATTRIBUTE: text}, set(), None)
    return laden


def carried(type_: Type | None, kind: type[F]) -> F | None:
    """The facts of that kind that the type carries; None if it carries none, and so nothing is known of the value."""
    proper = get_proper_type(type_)
    if not isinstance(proper, Instance) or proper.extra_attrs is None:
        return None
    text = get_proper_type(proper.extra_attrs.attrs.get(ATTRIBUTE))
    if not isinstance(text, LiteralType) or not isinstance(text.value, str):
        return None
    if not text.value.startswith(_starts[kind]):
        return None  # seen without decoding: every hook looks at every argument
    return msgspec.json.decode(text.value, type=kind)
