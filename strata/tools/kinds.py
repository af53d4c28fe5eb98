"""The kinds of values that an argument may be: what is left of a Python type when it is told to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec

ScalarType: TypeAlias = Literal["string", "integer", "number", "boolean"]
Keywords: TypeAlias = Mapping[str, Any]
"""Keywords of JSON Schema."""

Kind: TypeAlias = "Anything | Null | Scalar | Choices | Listing | Row | Table | Record | Named | Again | OneOf | Noted"


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON."""


@dataclass(frozen=True, slots=True)
class Null:
    """Only null."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Text, a number or a truth. `written_as` says how a text is to be read that stands for something else: a date, bytes."""

    type: ScalarType
    written_as: Keywords = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Choices:
    """One of these values, all of one type, as they were declared."""

    type: ScalarType
    values: tuple[str | int, ...]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Any number of items of one kind."""

    item: Kind


@dataclass(frozen=True, slots=True)
class Row:
    """Items with a kind for each place; those from `needed` on may be absent.

    Attributes:
        is_class: it has named fields, which JSON does not see.
        is_closed: more items than these are refused.
        text: what its class says of it.
    """

    items: tuple[Kind, ...]
    needed: int
    is_class: bool = False
    is_closed: bool = True
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """An object whose keys are data."""

    key: Kind
    value: Kind


@dataclass(frozen=True, slots=True)
class Field:
    """One of an object.

    Attributes:
        name: in JSON.
        default: in JSON; UNSET where there is none that JSON could tell.
    """

    name: str
    kind: Kind
    is_required: bool
    default: Any = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named fields.

    Attributes:
        tag: the field and the value by which it is told from others; None where it is not.
        is_closed: other fields are refused.
        text: what its class says of it.
        own: fields that its class gives itself, and nobody is told of.
    """

    fields: tuple[Field, ...]
    tag: tuple[str, str | int] | None = None
    is_closed: bool = False
    text: str | None = None
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Named:
    """A kind that holds itself: `Again` with its name stands somewhere inside."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Again:
    """The kind of that name, inside itself."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of these kinds; null stands last, where it is one."""

    members: tuple[Kind, ...]

    @property
    def takes_null(self) -> bool:
        return any(isinstance(member, Null) for member in self.members)

    def without_null(self) -> Kind:
        """What is left when null is not one of them."""
        return one_of(tuple(member for member in self.members if not isinstance(member, Null)))


@dataclass(frozen=True, slots=True)
class Noted:
    """A kind with what its annotation says beside the type: `text` for the reader, and `limits`, which never change the kind."""

    kind: Kind
    text: str | None = None
    limits: Keywords = field(default_factory=dict[str, Any])


def one_of(members: tuple[Kind, ...]) -> Kind:
    """The members as one kind: a single one is itself."""
    return members[0] if len(members) == 1 else OneOf(members)


def without_null(kind: Kind) -> Kind:
    """The kind of the same values but null."""
    match kind:
        case OneOf() if kind.takes_null:
            return kind.without_null()
        case Noted():
            return Noted(without_null(kind.kind), kind.text, kind.limits)
        case _:
            return kind
