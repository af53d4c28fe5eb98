"""Why arguments could not be decoded, for a model that is to send better ones: where, and what would fit there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

Schema: TypeAlias = Mapping[str, Any]

_PLACED: Final = re.compile(r"(?P<words>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(?:\d+|\.\.\.)\]")


def words_for(error: Exception, parameters: Schema) -> str:
    """What the decoder says, with the path as the model wrote it and, of a name or a value that is none of several, with those that are."""
    if isinstance(error, RecursionError):
        return "the arguments are nested too deeply"
    if isinstance(error, OverflowError):
        return "the arguments hold an integer of more than 64 bits"
    placed = _PLACED.fullmatch(str(error))
    if not isinstance(error, msgspec.ValidationError) or placed is None:
        return str(error)
    words, path = placed["words"], placed["path"] or ""
    options = list(_at(path, parameters))
    if (unknown := _UNKNOWN.fullmatch(words)) is not None:
        name = f"{path}.{unknown['name']}" if path else unknown["name"]
        return f"argument '{name}' is unknown, {_known(options)}"
    allowed = [value for option in options for value in option.get("enum", ())]
    told = f"{words}: it must be {_listed(allowed, 'or')}" if allowed and words.startswith("Invalid") else words
    return f"argument '{path}': {told}" if path else told


def _known(options: list[Schema]) -> str:
    names = [name for option in options for name in option.get("properties", ())]
    return f"only {_listed(names, 'and')} {'is' if len(names) == 1 else 'are'} known" if names else "and there are none to give"


def _listed(values: list[Any], word: str) -> str:
    """`'low', 'high' or 'none'`."""
    *others, last = (f"'{value}'" if isinstance(value, str) else str(value) for value in values)
    return f"{', '.join(others)} {word} {last}" if others else last


def _at(path: str, parameters: Schema) -> Iterator[Schema]:
    """The schemas, of which a value need fit but one, at the end of a path."""
    found = [parameters]
    for step in _STEP.finditer(path):
        found = [inner for schema in found for option in _options(schema, parameters) for inner in _inside(option, step[1])]
    return (option for schema in found for option in _options(schema, parameters))


def _options(schema: Schema, parameters: Schema) -> Iterator[Schema]:
    if (reference := schema.get("$ref")) is not None:
        yield from _options(parameters.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), parameters)
    elif "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from _options(option, parameters)
    else:
        yield schema


def _inside(schema: Schema, name: str | None) -> Iterator[Schema]:
    """Of the field of that name; or, without one, of an item or of what a map holds."""
    inner = [schema.get("properties", {}).get(name)] if name is not None else [schema.get("items"), *schema.get("prefixItems", ())]
    for one in (*inner, schema.get("additionalProperties") if name is None else None):
        if isinstance(one, Mapping):
            yield one
