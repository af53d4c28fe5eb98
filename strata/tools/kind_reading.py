"""From the types of a tool's parameters to the kinds of values that they take."""

from __future__ import annotations

import datetime
import decimal
import enum
import re
import uuid
from collections import abc
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from itertools import chain, count
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from strata.graph.meanings import Meaning, hints_of, meaning_of
from strata.graph.shapes import Fields, name_of
from strata.tools.defaults import Default
from strata.tools.docstrings import Docstring, read_docstring
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
    one_of,
    without_null,
)
from strata.tools.notes import noted
from strata.tools.signature import ToolSignature
from strata.tools.unoffered import leave_out_own_fields, own_fields

DURATION: Final = (
    "^[+-]?P([0-9]+(\\.[0-9]+)?D|([0-9]+D)?T(([0-9]+H)?([0-9]+M)?[0-9]+(\\.[0-9]+)?S|([0-9]+H)?[0-9]+(\\.[0-9]+)?M|[0-9]+(\\.[0-9]+)?H))$"
)
"""Of the durations of ISO 8601 those that msgspec reads: days, hours, minutes and seconds, of which the last may have a fraction."""

SCALARS: Final[Mapping[Any, Scalar]] = MappingProxyType(
    {
        str: Scalar("string"),
        bool: Scalar("boolean"),
        int: Scalar("integer"),
        float: Scalar("number"),
        bytes: Scalar("string", {"contentEncoding": "base64"}),
        bytearray: Scalar("string", {"contentEncoding": "base64"}),
        datetime.datetime: Scalar("string", {"format": "date-time"}),
        datetime.date: Scalar("string", {"format": "date"}),
        datetime.time: Scalar("string", {"format": "time"}),
        datetime.timedelta: Scalar("string", {"format": "duration", "pattern": DURATION}),
        uuid.UUID: Scalar("string", {"format": "uuid"}),
        decimal.Decimal: Scalar("string", {"format": "decimal"}),
    }
)
_CLOCK: Final = "[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?"
_ZONE: Final = "([Zz]|[+-][0-9]{2}:?[0-9]{2})$"
WITH_ZONE: Final[Mapping[Any, Scalar]] = MappingProxyType(
    {
        datetime.datetime: Scalar("string", {"format": "date-time", "pattern": _ZONE}),
        datetime.time: Scalar("string", {"format": "time", "pattern": _ZONE}),
    }
)
"""Of `Meta(tz=True)`: a time without a zone is refused, which is read where nothing is said."""
WITHOUT_ZONE: Final[Mapping[Any, Scalar]] = MappingProxyType(
    {
        datetime.datetime: Scalar("string", {"format": "date-time-local", "pattern": f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{_CLOCK}$"}),
        datetime.time: Scalar("string", {"format": "time-local", "pattern": f"^{_CLOCK}$"}),
    }
)
"""Of `Meta(tz=False)`: the formats of JSON Schema have a zone; these names are those of OpenAPI's registry."""

LISTINGS: Final = frozenset({list, set, frozenset, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet})
TABLES: Final = frozenset({dict, abc.Mapping, abc.MutableMapping})


def arguments_of(signature: ToolSignature) -> Record:
    """The object that a model gives: each parameter is a field.

    Raises:
        TypeError: a type is none that JSON could hold. `arguments_type` says which, and what to do.
    """
    read = _Reading()
    return Record(
        fields=tuple(
            read.field(parameter.json_name, parameter.type, Default.of(parameter.default), said=parameter.description)
            for parameter in signature.parameters
        ),
        is_closed=signature.forbid_unknown_fields,
    )


class _Reading:
    """The types of one tool on their way: those that the reading is inside of, and the names of those that hold themselves."""

    def __init__(self) -> None:
        self._inside: set[Hashable] = set()
        self._names: dict[Hashable, str] = {}

    def kind(self, annotation: Any, said: str | None = None) -> Kind:
        """`said` is what is told of the value where the annotation has no text of its own."""
        meaning = meaning_of(annotation)
        return noted(self._bare(meaning), meaning, said)

    def field(self, name: str, annotation: Any, default: Default, *, is_required: bool | None = None, said: str | None = None) -> Field:
        """A field without a default is required, where nothing is said about that."""
        kind = self.kind(annotation, said)
        if default.value is None:  # absent and null are the same then, and a model need not choose (strata-tools.md 3.5)
            kind = without_null(kind)
        told = default.in_json(annotation)
        leave_out_own_fields(told, kind)
        return Field(
            name=name,
            kind=kind,
            is_required=not default.is_there if is_required is None else is_required,
            default=told,
        )

    def _bare(self, meaning: Meaning) -> Kind:
        kind, arguments = meaning.kind, meaning.arguments or ()
        if kind in WITHOUT_ZONE and (zones := [limit.tz for limit in meaning.limits if limit.tz is not None]):
            return (WITH_ZONE if zones[-1] else WITHOUT_ZONE)[kind]
        if _is_one_of(kind, SCALARS):
            return SCALARS[kind]
        if _is_one_of(kind, LISTINGS):
            return Listing(self.kind(arguments[0]) if arguments else Anything())
        if _is_one_of(kind, TABLES):
            key, value = arguments or (Any, Any)
            return Table(self.kind(key), self.kind(value))
        if kind is tuple:
            return self._tuple(meaning)
        if meaning.is_union:
            return _union([member for argument in arguments for member in self._members(argument)])
        if kind is Literal:
            return _union(list(_choices(meaning.arguments or ())))
        if kind is None or kind is NoneType:
            return Null()
        if kind is Any:
            return Anything()
        if isinstance(kind, TypeVar):
            return Anything() if kind.__bound__ is None else self.kind(kind.__bound__)
        if isinstance(kind, enum.EnumType):
            return _enumeration(kind)
        return self._class(meaning.written)

    def _tuple(self, meaning: Meaning) -> Kind:
        arguments = meaning.arguments
        if arguments is None:
            return Listing(Anything())
        if len(arguments) == 2 and arguments[1] is ...:
            return Listing(self.kind(arguments[0]))
        items = tuple(self.kind(argument) for argument in arguments)
        return Row(items, needed=len(items))

    def _members(self, annotation: Any) -> Iterator[Kind]:
        """One, or those of a union inside the union."""
        if annotation is msgspec.UnsetType:
            return
        match self.kind(annotation):
            case OneOf(members):
                yield from members
            case Noted(OneOf(members), text):
                yield from (member if isinstance(member, Noted | Null) else Noted(member, text) for member in members)
            case kind:
                yield kind

    def _class(self, written: Any) -> Kind:
        if written in self._inside:
            if written not in self._names:
                self._names[written] = self._new_name(written)
            return Again(self._names[written])
        self._inside.add(written)
        try:
            kind = self._with_fields(written)
        finally:
            self._inside.remove(written)
        return Named(self._names[written], kind) if written in self._names else kind

    def _with_fields(self, written: Any) -> Row | Record:
        shape = inspect.type_info(written)
        said = _docstring_of(written)
        text = said.description or None
        match shape:
            case inspect.StructType(array_like=True):
                tag = () if shape.tag is None else (_choice(shape.tag),)
                row = self._row(shape, said)
                return Row((*tag, *row.items), len(tag) + row.needed, is_class=True, is_closed=shape.forbid_unknown_fields, text=text)
            case inspect.NamedTupleType():
                return self._row(shape, said)
            case inspect.StructType():
                tag_field = None if shape.tag_field is None or shape.tag is None else (shape.tag_field, shape.tag)
                return Record(self._fields(shape, said), tag_field, shape.forbid_unknown_fields, text)
            case inspect.DataclassType():
                return Record(self._fields(shape, said), text=text, own=own_fields(shape))
            case inspect.TypedDictType():
                return Record(self._fields(shape, said), text=text)
            case _:
                raise TypeError(f"{name_of(written)} has no schema")

    def _row(self, shape: Fields, said: Docstring) -> Row:
        hints = hints_of(shape.cls)
        items = tuple(self.kind(hints[field.name], said.parameters.get(field.name)) for field in shape.fields)
        needed = max((place for place, field in enumerate(shape.fields, start=1) if field.required), default=0)
        return Row(items, needed, is_class=True, text=said.description or None)

    def _fields(self, shape: Fields, said: Docstring) -> tuple[Field, ...]:
        """In the order of declaration, which msgspec does not keep: it puts required ones first, or sorts them."""
        hints = hints_of(shape.cls)
        places = {name: place for place, name in enumerate(hints)}
        own = own_fields(shape)
        return tuple(
            self.field(
                field.encode_name,
                hints[field.name],
                Default(field.default, field.default_factory),
                is_required=field.required,
                said=said.parameters.get(field.name),
            )
            for field in sorted(shape.fields, key=lambda field: places[field.name])
            if field.name not in own
        )

    def _new_name(self, written: Any) -> str:
        """As a key of `$defs`."""
        plain = re.sub(r"\W+", "_", "_".join(_words_in(written))).strip("_")
        taken = set(self._names.values())
        return next(name for name in chain((plain,), (f"{plain}_{number}" for number in count(2))) if name not in taken)


def _words_in(written: Any) -> Iterator[str]:
    """`Page`, and `Page_list_Line` for `Page[list[Line]]`."""
    origin, arguments = get_origin(written), get_args(written)
    if written is NoneType:
        yield "None"
    elif origin is not Annotated and origin is not Union and origin is not UnionType:
        yield getattr(origin or written, "__name__", str(written))
    for argument in arguments[:1] if origin is Annotated else arguments:
        yield from _words_in(argument)


def _is_one_of(kind: Any, known: Container[Any]) -> bool:
    return isinstance(kind, Hashable) and kind in known


def _union(members: Sequence[Kind]) -> Kind:
    """In an order of our own, by what JSON the members are: Python takes unions of the same members for one, whatever their order."""
    if any(isinstance(member, Anything) for member in members):
        return Anything()
    return one_of(tuple(sorted(members, key=_rank)))


def _rank(member: Kind) -> tuple[int, str]:
    match member:
        case Scalar(kind) | Choices(kind):
            return ("string", "integer", "number", "boolean").index(kind), ""
        case Listing() | Row():
            return 4, ""
        case Record(tag=tag):
            return 5, "" if tag is None else str(tag[1])
        case Noted(kind) | Named(kind=kind):
            return _rank(kind)
        case Null():
            return 6, ""
        case _:
            return 5, ""


def _choices(values: Sequence[Any]) -> Iterator[Kind]:
    """The values of a `Literal`, those of one type together."""
    texts = tuple(value for value in values if isinstance(value, str))
    truths = tuple(value for value in values if isinstance(value, bool))
    numbers = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    if texts:
        yield Choices("string", texts)
    if numbers:
        yield Choices("integer", numbers)
    if truths:
        yield Choices("boolean", truths)
    if None in values:
        yield Null()


def _choice(value: str | int) -> Choices:
    return Choices("string" if isinstance(value, str) else "integer", (value,))


def _enumeration(kind: enum.EnumType) -> Kind:
    """The values of its members. Those of a flag are sums, of which the members are but the parts."""
    members = cast("dict[str, enum.Enum]", dict(kind.__members__))
    if issubclass(kind, enum.Flag):
        return Scalar("integer")
    values = tuple(dict.fromkeys(member.value for member in members.values()))
    return Choices("string" if isinstance(values[0], str) else "integer", values, _docstring_of(kind).description or None)


def _docstring_of(written: Any) -> Docstring:
    """What was written of the class, and not what Python made up for it (`Point(x: int, y: int)`)."""
    cls: type[Any] = get_origin(written) or written
    match vars(cls).get("__doc__"):
        case str() as text if not (text.startswith(f"{cls.__name__}(") and text.endswith(")")):
            return read_docstring(text)
        case _:
            return Docstring()
