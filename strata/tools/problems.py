"""What keeps a model's arguments from fitting a schema, in the words that all engines share (strata-tools.md 6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from strata.graph.nesting import depth_of
from strata.graph.shapes import HIGHEST_INTEGER, LOWEST_INTEGER, RECORD_DEPTH

NO_JSON: Final = "the arguments aren't valid JSON"
NO_OBJECT: Final = "the arguments aren't a JSON object"

Fits: TypeAlias = Callable[[object], bool]


def argument_problems(raw: str | bytes, parameters: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments, at their top level; None where nothing is, or nothing that this looks at.

    It is asked when the arguments could not be decoded, and never raises for what a model sent.

    Args:
        raw: what the model sent.
        parameters: the schema of the tool's arguments.
    """
    try:
        arguments = _read(raw)
    except (ValueError, RecursionError):
        return NO_JSON
    if not isinstance(arguments, dict):
        return NO_OBJECT
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return None
    required = parameters.get("required")
    needed = cast("list[object]", required) if isinstance(required, list | tuple) else []
    found = _problems(cast("dict[str, object]", arguments), cast("Mapping[str, object]", properties), needed)
    return "; ".join(found) or None


def _problems(arguments: Mapping[str, object], properties: Mapping[str, object], required: list[object]) -> Iterator[str]:
    for name in sorted(properties):  # by code point, which is the byte order of UTF-8
        if name not in arguments:
            if name in required:
                yield f"argument '{name}' is missing"
        elif (what := _expected(properties[name])) is not None:
            value, (words, fits) = arguments[name], what
            if not fits(value) and (value is not None or name in required):
                yield f"argument '{name}' must be {words}"


def _expected(schema: object) -> tuple[str, Fits] | None:
    kind = cast("Mapping[str, object]", schema).get("type") if isinstance(schema, Mapping) else None
    return _TYPES.get(kind) if isinstance(kind, str) else None


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and LOWEST_INTEGER <= value <= HIGHEST_INTEGER


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, tuple[str, Fits]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "integer": ("an integer", _is_integer),
    "number": ("a number", _is_number),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("an array", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


def _read(raw: str | bytes) -> object:
    """The JSON value.

    Raises:
        ValueError, RecursionError: it is none that every engine reads: it nests too deeply, or holds a number that no double is near to.
    """
    data = raw.encode() if isinstance(raw, str) else raw
    value: object = msgspec.json.decode(data)
    if depth_of(data, stop=RECORD_DEPTH + 1) > RECORD_DEPTH:
        raise ValueError("nested too deeply")
    if _MANY_DIGITS.search(data) is not None:
        _refuse_beyond_doubles(value)
    return value


_MANY_DIGITS: Final = re.compile(rb"[0-9]{309}")  # fewer digits make no integer that is too large; they may stand in a text, too


def _refuse_beyond_doubles(value: object) -> None:
    match value:
        case int():
            if abs(value) >= _BEYOND_DOUBLES:
                raise ValueError("a number is too large")
        case list():
            for item in cast("list[object]", value):
                _refuse_beyond_doubles(item)
        case dict():
            for item in cast("dict[str, object]", value).values():
                _refuse_beyond_doubles(item)
        case _:
            pass


_BEYOND_DOUBLES: Final = 2**1024 - 2**970
"""From here on a number rounds to infinity."""
