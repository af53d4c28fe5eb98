"""Where a value cannot be stored, or came back as another one: the slow walk, taken once something is wrong.

This is the rule in full; the generated checks only answer "certainly fine" quickly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from math import isfinite
from typing import Any, cast
from uuid import UUID

import msgspec
from msgspec import inspect

from strata.graph.shapes import HIGHEST_INTEGER, JSON_VALUE, LOWEST_INTEGER, RECORD_DEPTH, Shape, class_of, describe, may_be_unset, name_of

SCALARS: dict[type[Shape], type[Any]] = {
    inspect.BoolType: bool,
    inspect.IntType: int,
    inspect.FloatType: float,
    inspect.StrType: str,
    inspect.BytesType: bytes,
    inspect.ByteArrayType: bytearray,
    inspect.DateTimeType: datetime,
    inspect.DateType: date,
    inspect.TimeType: time,
    inspect.TimeDeltaType: timedelta,
    inspect.UUIDType: UUID,
    inspect.DecimalType: Decimal,
}


class Unfit(msgspec.Struct, frozen=True):
    """The first place where a value does not fit; `path` is in Python names: `Order.lines[3].shipped`."""

    path: str
    expected: str
    found: str


def first_unfit(shape: Shape, value: Any, path: str, room: int) -> Unfit | None:
    """The first place in `value` that is not exactly of the type or that JSON would lose; `room` is how many levels may nest."""
    match shape:
        case inspect.AnyType():
            return _unfit_json(value, path, room)
        case inspect.Metadata():
            return first_unfit(shape.type, value, path, room)
        case inspect.UnionType():
            return _unfit_union(shape, value, path, room)
        case inspect.NoneType():
            return None if value is None else _of_type(value, path, "None")
        case inspect.LiteralType():
            fits = any(type(value) is type(one) and value == one for one in shape.values)
            return None if fits else _of_type(value, path, describe(shape))
        case inspect.EnumType():
            return None if type(value) is shape.cls else _of_type(value, path, describe(shape))
        case _ if type(shape) in SCALARS:
            return _unfit_scalar(shape, value, path)
        case _:
            return _unfit_container(shape, value, path, room)


def _unfit_container(shape: Shape, value: Any, path: str, room: int) -> Unfit | None:
    if not is_made_of(shape, value):
        return _of_type(value, path, describe(shape))
    if room <= 0:
        return Unfit(path, f"no level of nesting more (other engines read {RECORD_DEPTH} in one record)", "more levels")
    parts = members(shape, value, path)
    if isinstance(parts, Unfit):
        return parts
    for part, item, step in parts:
        if (unfit := first_unfit(part, item, path + step, room - 1)) is not None:
            return unfit
    return _unfit_length(shape, value, path)


def is_made_of(shape: Shape, value: Any) -> bool:
    """The value is exactly of the container's own type, its parts aside."""
    match shape:
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType():
            return type(value) is class_of(shape)
        case inspect.ListType():
            return type(value) is list
        case inspect.DictType() | inspect.TypedDictType():
            return type(value) is dict
        case inspect.SetType():
            return type(value) is set
        case inspect.FrozenSetType():
            return type(value) is frozenset
        case inspect.VarTupleType():
            return type(value) is tuple
        case inspect.TupleType():
            return type(value) is tuple and len(cast("tuple[object, ...]", value)) == len(shape.item_types)
        case _:
            return False


Member = tuple[Shape, Any, str]


def members(shape: Shape, value: Any, path: str) -> Sequence[Member] | Unfit:
    """The parts of a container with their shapes and steps of the path, or what keeps it from having these parts."""
    match shape:
        case inspect.StructType() | inspect.DataclassType():
            return _attributes(shape, value, path)
        case inspect.TypedDictType():
            return _entries(shape, value, path)
        case inspect.NamedTupleType():
            return [(field.type, item, f".{field.name}") for field, item in zip(shape.fields, value, strict=True)]
        case inspect.TupleType():
            return [(part, item, f"[{index}]") for index, (part, item) in enumerate(zip(shape.item_types, value, strict=True))]
        case inspect.DictType():
            return list(_pairs(shape, value))
        case inspect.ListType() | inspect.VarTupleType():
            return [(shape.item_type, item, f"[{index}]") for index, item in enumerate(value)]
        case inspect.SetType() | inspect.FrozenSetType():
            return [(shape.item_type, item, "[]") for item in value]
        case _:
            return []


def _attributes(shape: inspect.StructType | inspect.DataclassType, value: Any, path: str) -> Sequence[Member] | Unfit:
    found: list[Member] = []
    for field in shape.fields:
        try:
            item = getattr(value, field.name)
        except AttributeError:
            return Unfit(f"{path}.{field.name}", describe(field.type), "nothing: the field was never set")
        if item is not msgspec.UNSET or not may_be_unset(field):
            found.append((field.type, item, f".{field.name}"))
    return found


def _entries(shape: inspect.TypedDictType, value: dict[Any, Any], path: str) -> Sequence[Member] | Unfit:
    known = {field.name: field for field in shape.fields}
    for name, field in known.items():
        if field.required and name not in value:
            return Unfit(f"{path}.{name}", describe(field.type), "no such key")
    for key in value:
        if type(key) is not str or key not in known:
            return Unfit(path, f"the keys of {describe(shape)}", f"the key {key!r}")
    return [(known[key].type, item, f".{key}") for key, item in value.items()]


def _pairs(shape: inspect.DictType, value: dict[Any, Any]) -> Iterator[Member]:
    key_shape = inspect.StrType() if isinstance(shape.key_type, inspect.AnyType) else shape.key_type
    for key, item in value.items():
        yield key_shape, key, _step(key)
        yield shape.value_type, item, _step(key)


def _step(key: object) -> str:
    text = repr(key)
    return f"[{text if len(text) <= 40 else text[:37] + '...'}]"


def _unfit_json(value: Any, path: str, room: int) -> Unfit | None:
    kind: object = value.__class__
    if value is None or kind is bool:
        return None
    if kind is str or kind is int or kind is float:
        return _unfit_scalar(_JSON_SCALARS[kind], value, path)
    if kind is list or kind is dict:
        return _unfit_container(_ANY_LIST if kind is list else _ANY_DICT, value, path, room)
    return _of_type(value, path, JSON_VALUE)


_ANY_LIST = inspect.ListType(inspect.AnyType())
_ANY_DICT = inspect.DictType(inspect.StrType(), inspect.AnyType())
_JSON_SCALARS: dict[type[Any], Shape] = {str: inspect.StrType(), int: inspect.IntType(), float: inspect.FloatType()}


def _unfit_union(shape: inspect.UnionType, value: Any, path: str, room: int) -> Unfit | None:
    """A value belongs to the one member of its type (msgspec allows no two that JSON would confuse); that one says what is wrong."""
    verdicts = [(member, first_unfit(member, value, path, room)) for member in shape.types]
    if any(verdict is None for _, verdict in verdicts):
        return None
    of_its_type = [verdict for member, verdict in verdicts if SCALARS.get(type(member)) is type(value) or is_made_of(member, value)]
    return next(iter(of_its_type), None) or _of_type(value, path, describe(shape))


def _unfit_scalar(shape: Shape, value: Any, path: str) -> Unfit | None:
    kind = SCALARS[type(shape)]
    if type(value) is not kind:
        hint = ", which comes back as a float: write float(...)" if kind is float and type(value) is int else ""
        return Unfit(path, describe(shape), found(value) + hint)
    check = _EXACT.get(kind)
    lost = None if check is None else check(value)
    if lost is not None:
        return Unfit(path, lost[0], lost[1])
    return _unfit_bounds(shape, value, path) or _unfit_length(shape, value, path)


def _lost_int(value: int) -> tuple[str, str] | None:
    if LOWEST_INTEGER <= value <= HIGHEST_INTEGER:
        return None
    return "an integer from -2^63 to 2^64-1 (keep larger ones as str)", f"an integer of {value.bit_length()} bits"


def _lost_float(value: float) -> tuple[str, str] | None:
    return None if isfinite(value) else ("a finite float (JSON has no other)", repr(value))


def _lost_str(value: str) -> tuple[str, str] | None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return "text that UTF-8 can encode", f"a str with a lone surrogate at index {error.start}"
    return None


def _lost_moment(value: datetime | time) -> tuple[str, str] | None:
    expected = f"a {type(value).__name__} that is naive, in UTC, or at a fixed offset of whole minutes"
    zone = value.tzinfo
    if value.fold:
        return expected, "fold=1, which JSON loses: use UTC"
    if zone is None or zone is UTC:
        return None
    offset = zone.utcoffset(None) if type(zone) is timezone else None
    if offset is None or zone.tzname(None) != timezone(offset).tzname(None):
        return expected, f"the zone {str(zone)!r}, whose name JSON loses: use astimezone(UTC) and keep the name in a field of its own"
    if offset % timedelta(minutes=1):
        return expected, f"the offset {offset}"
    return None


_EXACT: dict[type[Any], Callable[[Any], tuple[str, str] | None]] = {
    int: _lost_int,
    float: _lost_float,
    str: _lost_str,
    datetime: _lost_moment,
    time: _lost_moment,
}


def _unfit_bounds(shape: Shape, value: Any, path: str) -> Unfit | None:
    match shape:
        case inspect.IntType() | inspect.FloatType():
            wrong = (
                (shape.gt is not None and not value > shape.gt, f"> {shape.gt}"),
                (shape.ge is not None and not value >= shape.ge, f">= {shape.ge}"),
                (shape.lt is not None and not value < shape.lt, f"< {shape.lt}"),
                (shape.le is not None and not value <= shape.le, f"<= {shape.le}"),
                (shape.multiple_of is not None and value % shape.multiple_of != 0, f"a multiple of {shape.multiple_of}"),
            )
            return next((Unfit(path, f"{describe(shape)} {bound}", repr(value)) for is_wrong, bound in wrong if is_wrong), None)
        case inspect.StrType(pattern=str() as pattern) if re.search(pattern, value) is None:
            return Unfit(path, f"str that matches {pattern!r}", "another")
        case inspect.DateTimeType(tz=bool() as aware) | inspect.TimeType(tz=bool() as aware) if aware != (value.tzinfo is not None):
            return Unfit(path, f"{describe(shape)} {'with' if aware else 'without'} a zone", f"one {'without' if aware else 'with'}")
        case _:
            return None


def _unfit_length(shape: Shape, value: Any, path: str) -> Unfit | None:
    least, most = getattr(shape, "min_length", None), getattr(shape, "max_length", None)
    if least is not None and len(value) < least:
        return Unfit(path, f"length >= {least}", f"length {len(value)}")
    if most is not None and len(value) > most:
        return Unfit(path, f"length <= {most}", f"length {len(value)}")
    return None


def _of_type(value: object, path: str, expected: str) -> Unfit:
    return Unfit(path, expected, found(value))


def found(value: object) -> str:
    """What a value is, without what is in it: these texts are stored and logged, and states hold private things."""
    return "None" if value is None else name_of(type(value))


def first_difference(shape: Shape, value: Any, back: Any, path: str) -> Unfit | None:
    """The first place where `back`, decoded from what was written, is not what `value` was; `value` itself fits."""
    if isinstance(shape, inspect.Metadata):
        return first_difference(shape.type, value, back, path)
    if type(value) is not type(back):
        return Unfit(path, f"{found(value)}, as it was returned", f"{found(back)}, as it would be read back")
    if isinstance(shape, inspect.UnionType):
        shape = next((member for member in shape.types if first_unfit(member, value, path, 1000) is None), inspect.AnyType())
    if isinstance(shape, inspect.AnyType):
        shape = _ANY_LIST if type(value) is list else _ANY_DICT if type(value) is dict else shape
    if not is_made_of(shape, value):
        return None if is_same_scalar(value, back) else Unfit(path, "the value that was returned", "another, as it would be read back")
    return _difference_in(shape, value, back, path)


def _difference_in(shape: Shape, value: Any, back: Any, path: str) -> Unfit | None:
    if isinstance(shape, inspect.SetType | inspect.FrozenSetType):
        same = value == back and sorted(map(repr, value)) == sorted(map(repr, back))
        return None if same else Unfit(path, "the set that was returned", "another, as it would be read back")
    ours, theirs = members(shape, value, path), members(shape, back, path)
    if isinstance(ours, Unfit) or isinstance(theirs, Unfit) or len(ours) != len(theirs):
        return Unfit(path, "as many parts as were returned", "others, as it would be read back")
    for (part, item, step), (_, other, other_step) in zip(ours, theirs, strict=True):
        if step != other_step:
            return Unfit(path + step, "the key or field that was returned", f"{other_step}, as it would be read back")
        if (difference := first_difference(part, item, other, path + step)) is not None:
            return difference
    return None


def is_same_scalar(value: Any, back: Any) -> bool:
    """Equal, and what `==` overlooks too: the sign of zero, the digits of a Decimal, the offset of a time."""
    if isinstance(value, float):
        return value == back and str(value) == str(back)
    if isinstance(value, Decimal):
        return str(value) == str(back)
    if isinstance(value, datetime | time):
        return bool(value == back) and value.utcoffset() == back.utcoffset()
    return bool(value == back)
