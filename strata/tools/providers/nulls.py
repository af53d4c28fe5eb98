"""Nulls by which a model means the default: OpenAI's strict form lets it leave nothing out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final, TypeAlias, cast

import msgspec

Schema: TypeAlias = Mapping[str, Any]

NO_SCHEMA: Final[Schema] = {}
_NULL: Final = b"null"
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])


def without_default_nulls(raw: str, parameters: Schema) -> str:
    """The arguments without those that are null where the schema neither requires them nor takes null, at any depth.

    All others stand as they stood, byte for byte. What is no JSON, or does not fit otherwise, is left for the decoder to tell.

    Args:
        raw: what the model sent.
        parameters: the schema of the tool's arguments, not in a strict form.
    """
    if "null" not in raw:
        return raw
    try:
        freed = _freed(raw.strip(" \t\n\r").encode(), parameters, parameters.get("$defs", NO_SCHEMA))
    except (ValueError, RecursionError):
        return raw
    return raw if freed is None else freed.decode()


def _freed(value: bytes, schema: Schema, named: Mapping[str, Schema]) -> bytes | None:
    """The value without such nulls; None where there are none."""
    if _NULL not in value:
        return None
    match value[:1]:
        case b"{":
            return _freed_object(_OBJECT.decode(value), schema, named)
        case b"[":
            return _freed_array(_ARRAY.decode(value), schema, named)
        case _:
            return None


def _freed_object(fields: Mapping[str, msgspec.Raw], schema: Schema, named: Mapping[str, Schema]) -> bytes | None:
    shape = _shape_for(fields, schema, named)
    properties: Schema = shape.get("properties", NO_SCHEMA)
    required: Collection[str] = shape.get("required", ())
    kept: dict[str, msgspec.Raw] = {}
    for name, raw in fields.items():
        said, value = _schema_of(properties.get(name, shape.get("additionalProperties"))), bytes(raw)
        if value != _NULL or name in required or name not in properties or _takes_null(said, named):
            kept[name] = _or_same(_freed(value, said, named), raw)
    return None if _are_same(kept.values(), fields.values()) else msgspec.json.encode(kept)


def _freed_array(items: Sequence[msgspec.Raw], schema: Schema, named: Mapping[str, Schema]) -> bytes | None:
    shape = next((option for option in _options(schema, named) if option.get("type") == "array"), NO_SCHEMA)
    first: Sequence[Schema] = shape.get("prefixItems", ())
    schemas = chain(first, repeat(_schema_of(shape.get("items"))))
    kept = [_or_same(_freed(bytes(item), said, named), item) for item, said in zip(items, schemas, strict=False)]
    return None if _are_same(kept, items) else msgspec.json.encode(kept)


def _shape_for(fields: Mapping[str, msgspec.Raw], schema: Schema, named: Mapping[str, Schema]) -> Schema:
    """Which of several objects it is: that whose tag it has."""
    objects = [option for option in _options(schema, named) if option.get("type") == "object"]
    return next((option for option in objects if all(_has_tag(fields, option, name) for name in option.get("required", ()))), NO_SCHEMA)


def _has_tag(fields: Mapping[str, msgspec.Raw], option: Schema, name: str) -> bool:
    """Whether the field, which is required, is as it must be, if there is but one value that it may have."""
    values: Collection[object] = option.get("properties", NO_SCHEMA).get(name, NO_SCHEMA).get("enum", ())
    return len(values) != 1 or name not in fields or msgspec.json.decode(fields[name]) in values


def _options(schema: Schema, named: Mapping[str, Schema]) -> Iterator[Schema]:
    """The schema, or those of which a value need fit but one."""
    if (name := schema.get("$ref")) is not None:
        yield from _options(named.get(name.removeprefix("#/$defs/"), NO_SCHEMA), named)
    elif (options := schema.get("anyOf")) is not None:
        for option in options:
            yield from _options(option, named)
    else:
        yield schema


def _schema_of(said: object) -> Schema:
    """What is said of a value; nothing where only whether it may be there is told, or not even that."""
    return cast("Schema", said) if isinstance(said, Mapping) else NO_SCHEMA


def _takes_null(schema: Schema, named: Mapping[str, Schema]) -> bool:
    return any(option.get("type", "null") == "null" and None in option.get("enum", (None,)) for option in _options(schema, named))


def _or_same(freed: bytes | None, raw: msgspec.Raw) -> msgspec.Raw:
    return raw if freed is None else msgspec.Raw(freed)


def _are_same(some: Collection[msgspec.Raw], others: Collection[msgspec.Raw]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))
