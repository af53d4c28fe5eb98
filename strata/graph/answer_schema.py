"""Whether an answer fits the JSON Schema that was stored with its question: for the schemas that msgspec makes of types."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias, TypeVar
from uuid import UUID

import msgspec

T = TypeVar("T")

Schema: TypeAlias = Mapping[str, Any]

_ZONED: Final = msgspec.Meta(tz=True)  # msgspec names these formats only where a zone is asked for
_FORMATS: Final[Mapping[str, Any]] = {
    "date-time": Annotated[datetime, _ZONED],
    "date": date,
    "time": Annotated[time, _ZONED],
    "duration": timedelta,
    "uuid": UUID,
    "decimal": Decimal,
}

_BOUNDS: Final[Mapping[str, tuple[str, Callable[[float, float], bool]]]] = {
    "minimum": ("at least", operator.ge),
    "exclusiveMinimum": ("more than", operator.gt),
    "maximum": ("at most", operator.le),
    "exclusiveMaximum": ("less than", operator.lt),
    "multipleOf": ("a multiple of", lambda value, step: value % step == 0),
}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type, as it reads back from JSON.

    Raises:
        TypeError: it is none that JSON can hold.
    """
    try:
        schema: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(kind)))
    except Exception as error:  # what is no type at all fails in ways of its own
        raise TypeError(f"an answer is of a type that JSON can hold, and {kind!r:.80} is none") from error
    return schema


def misfit(value: Any, schema: Schema) -> str | None:
    """Why the plain JSON value is not what the schema describes, with its path (`$.lines[0]`); None if it is."""
    return _misfit(value, schema, schema.get("$defs", {}), "$")


def referred_to(reference: str, definitions: Mapping[str, T]) -> T:
    """What a `$ref` of a schema that msgspec made leads to."""
    return definitions[reference.removeprefix("#/$defs/")]


def _misfit(value: Any, schema: Schema, definitions: Mapping[str, Schema], path: str) -> str | None:
    if (reference := schema.get("$ref")) is not None:
        return _misfit(value, referred_to(reference, definitions), definitions, path)
    if (choices := schema.get("anyOf")) is not None:
        return _of_none(value, choices, definitions, path, schema.get("discriminator"))
    if (allowed := schema.get("enum")) is not None and not any(_is_same(value, choice) for choice in allowed):
        return _say(f"one of {msgspec.json.encode(allowed).decode()}", value, path)
    if (kind := schema.get("type")) is None:
        return None
    if not _is_of(value, kind):
        return _say(kind, value, path)
    match value:
        case str():
            return _text(value, schema, path)
        case list():
            return _array(value, schema, definitions, path)  # pyright: ignore[reportUnknownArgumentType]
        case dict():
            return _object(value, schema, definitions, path)  # pyright: ignore[reportUnknownArgumentType]
        case int() | float():
            return _number(value, schema, path)
        case _:
            return None


def _say(expected: str, value: Any, path: str) -> str:
    text = msgspec.json.encode(value).decode()
    return f"expected {expected}, found {text if len(text) <= 80 else text[:77] + '...'} at {path}"


def _is_same(value: Any, choice: Any) -> bool:
    """Equal, and of one type: true is not 1."""
    return type(value) is type(choice) and bool(value == choice)


def _is_of(value: Any, kind: str) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return True


def _of_none(value: Any, choices: Sequence[Schema], definitions: Mapping[str, Schema], path: str, discriminator: Schema | None) -> str | None:
    """What keeps the value from every choice; where a tag says which one is meant, what keeps it from that."""
    if discriminator is not None and isinstance(value, dict):
        tags: Mapping[str, str] = discriminator["mapping"]
        tag: Any = value.get(discriminator["propertyName"])  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not isinstance(tag, str) or tag not in tags:
            return _say(f"one of {', '.join(tags)}", tag, f"{path}.{discriminator['propertyName']}")
        return _misfit(value, {"$ref": tags[tag]}, definitions, path)
    faults = [_misfit(value, choice, definitions, path) for choice in choices]
    return None if None in faults else " or ".join(dict.fromkeys(fault for fault in faults if fault is not None))


def _text(value: str, schema: Schema, path: str) -> str | None:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return _say(f"text of {schema.get('minLength', 0)} to {schema.get('maxLength', 'any number of')} characters", value, path)
    if (pattern := schema.get("pattern")) is not None and re.search(pattern, value) is None:
        return _say(f"text that matches {pattern}", value, path)
    kind = bytes if schema.get("contentEncoding") == "base64" else _FORMATS.get(schema.get("format", ""))
    if kind is None:
        return None
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _say(schema.get("format", "base64"), value, path)
    return None


def _number(value: float, schema: Schema, path: str) -> str | None:
    for keyword, (words, holds) in _BOUNDS.items():
        if (limit := schema.get(keyword)) is not None and not holds(value, limit):
            return _say(f"{words} {limit}", value, path)
    return None


def _array(value: list[Any], schema: Schema, definitions: Mapping[str, Schema], path: str) -> str | None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return _say(f"{schema.get('minItems', 0)} to {schema.get('maxItems', 'any number of')} items", value, path)
    first: Sequence[Schema] = schema.get("prefixItems", ())
    rest: Any = schema.get("items", {})
    for index, item in enumerate(value):
        found: Any = first[index] if index < len(first) else rest
        if isinstance(found, Mapping) and (fault := _misfit(item, found, definitions, f"{path}[{index}]")) is not None:  # pyright: ignore[reportUnknownArgumentType]
            return fault
    return None


def _object(value: dict[str, Any], schema: Schema, definitions: Mapping[str, Schema], path: str) -> str | None:
    for name in schema.get("required", ()):
        if name not in value:
            return _say(f"a value for '{name}'", value, path)
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return _say(f"{schema.get('minProperties', 0)} to {schema.get('maxProperties', 'any number of')} entries", value, path)
    known: Mapping[str, Schema] = schema.get("properties", {})
    others: Any = schema.get("additionalProperties", {})
    for name, item in value.items():
        found: Any = known.get(name, others)
        if found is False:
            return _say(f"no '{name}'", value, path)
        if isinstance(found, Mapping) and (fault := _misfit(item, found, definitions, f"{path}.{name}")) is not None:  # pyright: ignore[reportUnknownArgumentType]
            return fault
    return None
