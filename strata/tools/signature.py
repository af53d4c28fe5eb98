"""What a tool is, before anybody asked for its schema: read from the live function, or from its source."""

from __future__ import annotations

from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument that a model gives.

    Attributes:
        name: the parameter's own.
        type: a real type, with its `Annotated` metadata.
        default: a value; or a `msgspec.field` where each call needs one of its own; else NODEFAULT: the argument is required.
        description: what the docstring says of it; text in the annotation goes before it.
    """

    name: str
    type: Any
    default: Any = msgspec.NODEFAULT
    description: str | None = None

    @property
    def json_name(self) -> str:
        """What a model calls it: its name, or `class` for `class_`, since Python keeps that word to itself."""
        word = self.name.removesuffix("_")
        return word if iskeyword(word) else self.name


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """A tool as both ways of reading see it; equal signatures give equal schemas, byte for byte.

    Attributes:
        name: what a model calls it by.
        description: what a model is told it does.
        parameters: in the order of the function.
        context: the name of the parameter that is given the context of the call; it is in no schema.
        is_async: calling the function gives something to await, or to iterate with `async for`.
        returns: the annotation of what it returns; None where it has none, or one that cannot be read.
        forbid_unknown_fields: an argument that is no parameter is refused, and the schema says so.
        module: where the function is defined, dotted.
        function: its qualified name in that module.
        place: `file:line` of its decorator.
        yields: it is a generator, sync or async.
    """

    name: str
    description: str
    parameters: tuple[ToolParameter, ...]
    context: str | None = None
    is_async: bool = False
    returns: Any = None
    forbid_unknown_fields: bool = False
    module: str = ""
    function: str = ""
    place: str = ""
    yields: bool = False
