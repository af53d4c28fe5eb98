"""The kinds of values as the Rust engine describes the types that it has for them (strata-tools.md 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from strata.tools.kinds import (
    Again,
    Anything,
    Choices,
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


class NoRustTwin(Exception):
    """The Rust engine would not build such a tool."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


def rust_schema(arguments: Record) -> Schema:
    """The schema of a tool's arguments, word for word as the Rust engine gives it.

    Raises:
        NoRustTwin: there is no such type in Rust, or none that the engine takes.
    """
    return _record(arguments, "")


def _schema(kind: Kind, path: str) -> Schema:
    match kind:
        case Noted():
            return _schema(kind.kind, path)
        case Scalar(written_as=written_as):
            return {"type": "object"} if written_as else {"type": kind.type}  # a type of a library, which nobody derived for
        case Choices():
            return {"type": kind.type, "enum": list(kind.values)}
        case Listing():
            return {"type": "array", "items": _schema(kind.item, f"{path}[]")}
        case Table(value=Anything()) | Anything() | Row(is_class=False):
            return {"type": "object"}
        case Table():
            return {"type": "object", "additionalProperties": _schema(kind.value, f"{path}{{}}")}
        case Record():
            return _record(kind, path)
        case OneOf() if kind.takes_null and not isinstance(kind.without_null(), OneOf):
            return _schema(kind.without_null(), path)
        case OneOf() | Row() | Null() | Named() | Again():
            raise NoRustTwin(path, _NO_TWINS[type(kind)])


_NO_TWINS: Final[Mapping[type[Kind], str]] = {
    OneOf: "a union is an enum with data",
    Row: "a class that is an array is a tuple struct",
    Null: "null alone is a unit struct",
    Named: "a type that holds itself has a schema without end",
    Again: "a type that holds itself has a schema without end",
}


def _record(record: Record, path: str) -> Schema:
    if record.tag is not None:
        raise NoRustTwin(path, "a tagged struct is a member of an enum with data")
    return {
        "type": "object",
        "properties": {field.name: _schema(field.kind, f"{path}.{field.name}".removeprefix(".")) for field in record.fields},
        "required": [field.name for field in record.fields if field.is_required],
    }
