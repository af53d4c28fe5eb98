"""The JSON Schema of an answer in words, for the person who gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from strata.graph.answer_schema import referred_to

Definitions: TypeAlias = Mapping[str, Any]

_LIMITS: Final = (
    *("format", "contentEncoding", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)


def in_words(schema: Mapping[str, Any]) -> str:
    """`integer (minimum 1)`, `one of "yes", "no"`, `object with score: integer, why: string (optional)`.

    An object is told with its fields, one inside it only by its kind. What was stored by somebody else and is no schema
    of msgspec's is shown as it is.
    """
    try:
        return _words(schema, schema.get("$defs", {}), tells_fields=True)
    except (LookupError, TypeError, AttributeError, RecursionError):
        return _json(schema)


def _words(schema: Any, definitions: Definitions, *, tells_fields: bool) -> str:
    if (reference := schema.get("$ref")) is not None:
        return _words(referred_to(reference, definitions), definitions, tells_fields=tells_fields)
    if (choices := schema.get("anyOf")) is not None:
        return " or ".join(_words(choice, definitions, tells_fields=tells_fields) for choice in choices)
    if (allowed := schema.get("enum")) is not None:
        options = ", ".join(_json(option) for option in allowed)
        return options if len(allowed) == 1 else f"one of {options}"
    return f"{_kind(schema, definitions, tells_fields=tells_fields)}{_limits(schema)}"


def _kind(schema: Any, definitions: Definitions, *, tells_fields: bool) -> str:
    kind: str = schema.get("type", "any JSON")
    if kind == "array" and (places := schema.get("prefixItems")) is not None:
        return f"array of {', '.join(_words(place, definitions, tells_fields=False) for place in places)}"
    if kind == "array" and (items := schema.get("items")):
        return f"array of {_words(items, definitions, tells_fields=False)}"
    if kind == "object" and tells_fields and (fields := schema.get("properties")) is not None:
        required = schema.get("required", ())
        told = (_field(name, field, definitions, is_required=name in required) for name, field in fields.items())
        return f"object with {', '.join(told)}"
    return kind


def _field(name: str, schema: Any, definitions: Definitions, *, is_required: bool) -> str:
    return f"{name}: {_words(schema, definitions, tells_fields=False)}{'' if is_required else ' (optional)'}"


def _limits(schema: Any) -> str:
    limits = ", ".join(f"{limit} {schema[limit]}" for limit in _LIMITS if limit in schema)
    return f" ({limits})" if limits else ""


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
