"""The kinds of values as JSON Schema 2020-12, with all that was said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from strata.tools.kinds import (
    Again,
    Anything,
    Choices,
    Field,
    Kind,
    Listing,
    Named,
    Noted,
    Null,
    OneOf,
    Record,
    Row,
    Scalar,
    Table,
)

Schema: TypeAlias = dict[str, Any]


def rich_schema(arguments: Record) -> Schema:
    """The schema of a tool's arguments: a plain object, everything in its place but for the kinds that hold themselves (`$defs`)."""
    named: dict[str, Schema] = {}
    root = _record(arguments, named, tag_is_needed=False)
    return {**root, "$defs": named} if named else root


def _schema(kind: Kind, named: dict[str, Schema]) -> Schema:
    match kind:
        case Anything() | Null() | Scalar() | Choices():
            return _value(kind)
        case Listing(item):
            return {"type": "array"} if isinstance(item, Anything) else {"type": "array", "items": _schema(item, named)}
        case Row():
            return _row(kind, named)
        case Table():
            return _table(kind, named)
        case Record():
            return _record(kind, named, tag_is_needed=False)
        case Named(name, inside):
            if name not in named:
                named[name] = {}  # its place, before those that stand inside it
                named[name] = _schema(inside, named)
            return _again(name)
        case Again(name):
            return _again(name)
        case OneOf():
            return {"anyOf": [_member(member, named) for member in kind.members]}
        case Noted(inside, text, limits):
            schema = _schema(inside, named)
            return _with_text({**schema, **{word: said for word, said in limits.items() if word not in schema}}, text)


def _value(kind: Anything | Null | Scalar | Choices) -> Schema:
    match kind:
        case Anything():
            return {}
        case Null():
            return {"type": "null"}
        case Scalar():
            return {"type": kind.type, **kind.written_as}
        case Choices():
            return _with_text({"type": kind.type, "enum": list(kind.values)}, kind.text)


def _again(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _member(kind: Kind, named: dict[str, Schema]) -> Schema:
    """One of a union, which is told from the others by its tag."""
    return _record(kind, named, tag_is_needed=True) if isinstance(kind, Record) else _schema(kind, named)


def _record(record: Record, named: dict[str, Schema], *, tag_is_needed: bool) -> Schema:
    properties = {field.name: _field(field, named) for field in record.fields}
    required = [field.name for field in record.fields if field.is_required]
    if record.tag is not None:
        tag_field, tag = record.tag
        properties = {tag_field: {"type": "string" if isinstance(tag, str) else "integer", "enum": [tag]}, **properties}
        required = [tag_field, *required] if tag_is_needed else required
    schema = {"type": "object", "properties": properties, "required": required}
    return _with_text({**schema, "additionalProperties": False} if record.is_closed else schema, record.text)


def _field(field: Field, named: dict[str, Schema]) -> Schema:
    schema = _schema(field.kind, named)
    return schema if field.default is msgspec.UNSET else {**schema, "default": field.default}


def _row(row: Row, named: dict[str, Schema]) -> Schema:
    schema: Schema = {"type": "array", "minItems": row.needed}
    if row.items:
        schema["prefixItems"] = [_schema(item, named) for item in row.items]
    if row.is_closed:
        schema["maxItems"] = len(row.items)
    return _with_text(schema, row.text)


def _table(table: Table, named: dict[str, Schema]) -> Schema:
    schema: Schema = {"type": "object"}
    if keys := _keys(_schema(table.key, named)):
        schema["propertyNames"] = keys
    if not isinstance(table.value, Anything):
        schema["additionalProperties"] = _schema(table.value, named)
    return schema


def _keys(schema: Mapping[str, Any]) -> Schema:
    """What limits the keys; they are text by themselves, whatever is read from them."""
    said = {word: said for word, said in schema.items() if word != "type"}
    match schema.get("type"):
        case "string":
            return said
        case "integer" if "enum" in said:
            return {**said, "enum": [str(value) for value in said["enum"]]}
        case "integer":
            return {"pattern": "^(0|-?[1-9][0-9]*)$"}
        case "number":
            return {"pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([Ee][+-]?[0-9]+)?$"}
        case _:
            return {}


def _with_text(schema: Schema, text: str | None) -> Schema:
    return {**schema, "description": text} if text else schema
