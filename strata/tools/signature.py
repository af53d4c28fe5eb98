"""What a tool is, before anybody asked for its schema: read from the live function, or from its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument that a model gives.

    Attributes:
        name: the parameter's own, which is the JSON name too.
        type: a real type, with its `Annotated` metadata.
        default: a value; or a `msgspec.field` where each call needs one of its own; else NODEFAULT: the argument is required.
        description: what the docstring says of it; text in the annotation goes before it.
    """

    name: str
    type: Any
    default: Any = msgspec.NODEFAULT
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """A tool as both ways of reading see it; equal signatures give equal schemas, byte for byte.

    Attributes:
        name: what a model calls it by.
        description: what a model is told it does.
        parameters: in the order of the function.
        context: the name of the parameter that is given the context of the call; it is in no schema.
        is_async: the function is a coroutine function.
        returns: the annotation of what it returns.
        forbid_unknown_fields: an argument that is no parameter is refused, and the schema says so.
        module: where the function is defined, dotted.
        function: its qualified name in that module.
        place: `file:line` of its decorator.
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
