"""How large a strict schema may be (OpenAI, "Structured Outputs", of February 2026; Anthropic tells no limits of a single one)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

PROPERTIES: Final = 5_000
LEVELS: Final = 10
CHOICES: Final = 1_000
TEXT: Final = 120_000
LONG_CHOICE: Final = 250
LONG_CHOICE_TEXT: Final = 15_000


def beyond_openai(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What a schema has too much of."""
    parts = list(_parts(schema))
    properties = [name for part in parts for name in part.get("properties", ())]
    enums = [part["enum"] for part in parts if "enum" in part]
    names = [*properties, *schema.get("$defs", ())]
    long = [_length(values) for values in enums if len(values) > LONG_CHOICE]
    counts = (
        (len(properties), PROPERTIES, "properties"),
        (_levels(schema), LEVELS, "levels of objects in each other"),
        (sum(map(len, enums)), CHOICES, "values to choose from"),
        (_length(names) + sum(map(_length, enums)), TEXT, "characters of names and values"),
        (max(long, default=0), LONG_CHOICE_TEXT, "characters in one long enum"),
    )
    return tuple(f"it has {found:,} {what}, of which OpenAI takes {limit:,}" for found, limit, what in counts if found > limit)


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and those inside it, at any depth."""
    yield schema
    for part in (*_inside(schema), *schema.get("$defs", {}).values()):
        yield from _parts(part)


def _inside(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]


def _levels(schema: Mapping[str, Any]) -> int:
    """Of objects; what is only referred to may be as deep as it likes."""
    deepest = max(map(_levels, _inside(schema)), default=0)
    return deepest + (schema.get("type") == "object")


def _length(values: Iterable[object]) -> int:
    return sum(len(str(value)) for value in values)
