"""Random types and random values: the codec accepts exactly what a plain round trip gives back, types and all."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Callable
from decimal import Decimal
from types import GenericAlias
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import StateRefused
from strata.graph.codec import StateCodec
from strata.graph.nesting import depth_of
from strata.graph.state import State, StateMeta


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Card(msgspec.Struct, tag=True, frozen=True):
    number: int | None = None


class Cash(msgspec.Struct, tag=True, frozen=True):
    number: int | None = None


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Address:
    street: str


class Typed(msgspec.Struct):
    """An annotation, and the values that are meant for it."""

    annotation: Any
    values: st.SearchStrategy[Any]


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
INTEGERS = st.integers(-(2**63), 2**64 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
FIRST, LAST = dt.datetime(2, 1, 1), dt.datetime(9998, 1, 1)  # noqa: DTZ001


def unfolded(moment: dt.datetime) -> dt.datetime:
    return moment.replace(fold=0)


MOMENTS = (st.datetimes(FIRST, LAST) | st.datetimes(FIRST, LAST, timezones=OFFSETS)).map(unfolded)
NUMBERS = st.none() | INTEGERS
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)

SCALARS = [
    Typed(int, INTEGERS),
    Typed(float, FLOATS),
    Typed(str, st.text()),
    Typed(bool, st.booleans()),
    Typed(bytes, st.binary()),
    Typed(dt.datetime, MOMENTS),
    Typed(dt.date, st.dates()),
    Typed(dt.timedelta, st.timedeltas()),
    Typed(UUID, st.uuids()),
    Typed(Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    Typed(Colour, st.sampled_from(Colour)),
    Typed(Level, st.sampled_from(Level)),
]

LEAVES = [
    *SCALARS,
    Typed(Any, JSON),
    Typed(Card | Cash, st.builds(Card, NUMBERS) | st.builds(Cash, NUMBERS)),
    Typed(Card, st.builds(Card, NUMBERS)),
    Typed(Point, st.builds(Point, INTEGERS, FLOATS)),
    Typed(Address, st.builds(Address, st.text())),
    Typed(int | float, INTEGERS | FLOATS),
]


def listed(item: Typed) -> Typed:
    return Typed(GenericAlias(list, (item.annotation,)), st.lists(item.values, max_size=4))


def row(item: Typed) -> Typed:
    return Typed(GenericAlias(tuple, (item.annotation, ...)), st.lists(item.values, max_size=3).map(tuple))


def pair(item: Typed) -> Typed:
    return Typed(GenericAlias(tuple, (item.annotation, str)), st.tuples(item.values, st.text()))


def optional(item: Typed) -> Typed:
    return Typed(item.annotation | None, st.none() | item.values)


def by_name(item: Typed) -> Typed:
    return Typed(GenericAlias(dict, (str, item.annotation)), st.dictionaries(st.text(), item.values, max_size=3))


def by_number(item: Typed) -> Typed:
    return Typed(GenericAlias(dict, (int, item.annotation)), st.dictionaries(INTEGERS, item.values, max_size=3))


WRAPS: list[Callable[[Typed], Typed]] = [listed, row, pair, optional, by_name, by_number]

SETS = st.sampled_from(SCALARS).map(lambda item: Typed(GenericAlias(set, (item.annotation,)), st.sets(item.values, max_size=3)))


def wrapped(wrap: Callable[[Typed], Typed], item: Typed) -> Typed:
    return wrap(item)


def wider(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.builds(wrapped, st.sampled_from(WRAPS), inner)


FIELDS: st.SearchStrategy[Typed] = st.recursive(st.sampled_from(LEAVES) | SETS, wider, max_leaves=4)


def holder(annotation: Any) -> Any:
    return StateMeta("Holder", (State,), {"__annotations__": {"field": annotation, "other": int}, "other": 0, "__module__": __name__})


def shown(value: Any) -> Any:
    """A value with every type in it spelled out: the measure of "the same" that owes nothing to the codec."""
    kind: Any = value.__class__
    if issubclass(kind, dict):
        return kind.__name__, [(shown(key), shown(item)) for key, item in value.items()]
    if issubclass(kind, set):
        return kind.__name__, sorted(repr(shown(item)) for item in value)
    if issubclass(kind, list | tuple):
        return kind.__name__, [shown(item) for item in value]
    if issubclass(kind, msgspec.Struct):
        return kind.__name__, [shown(getattr(value, field)) for field in kind.__struct_fields__]
    if issubclass(kind, Address):
        return kind.__name__, shown(value.street)
    if issubclass(kind, dt.datetime):
        return kind.__name__, value.isoformat(), value.fold
    return kind.__name__, str(value)


def comes_back(kind: Any, state: Any) -> bool:
    try:
        return bool(shown(msgspec.json.decode(msgspec.json.encode(state), type=kind)) == shown(state))
    except (TypeError, ValueError):
        return False


def has_wide_integer(value: Any) -> bool:
    kind: Any = value.__class__
    if issubclass(kind, dict):
        return any(has_wide_integer(key) or has_wide_integer(item) for key, item in value.items())
    if issubclass(kind, list | tuple | set):
        return any(has_wide_integer(item) for item in value)
    return kind is int and not -(2**63) <= value < 2**64


@given(data=st.data(), field=FIELDS)
def test_what_a_type_is_meant_for_is_accepted_and_comes_back(data: st.DataObject, field: Typed) -> None:
    kind = holder(field.annotation)
    codec: StateCodec[Any] = StateCodec(kind)
    before, state = kind(field=data.draw(field.values)), kind(field=data.draw(field.values))
    assert codec.check_result(None, state, "draft") is state
    assert codec.check_result(before, state, "draft") is state
    assert shown(codec.decode(codec.storable(before, state, "draft"))) == shown(state)


ODD = (
    st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(codec=None), max_size=3)
    | st.sampled_from([(1, 2), {1: 2}, [True], {"a": (1,)}, [1.0], [1], ["red"], {1}, Card(), Address("a"), Colour.RED, Level.LOW, {"number": 1}])
)


@given(data=st.data(), field=FIELDS, other=FIELDS)
def test_a_value_meant_for_another_type_is_accepted_exactly_if_it_comes_back(data: st.DataObject, field: Typed, other: Typed) -> None:
    kind = holder(field.annotation)
    codec: StateCodec[Any] = StateCodec(kind)
    state = kind(field=data.draw(other.values | ODD | st.lists(ODD, max_size=2)))
    good = comes_back(kind, state) and not has_wide_integer(state.field)
    for before in (None, kind(field=data.draw(field.values))):
        if good:
            codec.check_result(before, state, "draft")
            codec.storable(before, state, "draft")
        else:
            with pytest.raises(StateRefused):
                codec.check_result(before, state, "draft")
            with pytest.raises(StateRefused):
                codec.storable(before, state, "draft")


@given(data=st.data(), field=FIELDS)
def test_bytes_of_another_state_are_refused_exactly_if_they_hold_another(data: st.DataObject, field: Typed) -> None:
    kind = holder(field.annotation)
    codec: StateCodec[Any] = StateCodec(kind)
    state, other = kind(field=data.draw(field.values)), kind(field=data.draw(field.values))
    if shown(state) == shown(other):
        codec.check_stored(state, codec.encode(other), "draft")
    else:
        with pytest.raises(StateRefused):
            codec.check_stored(state, codec.encode(other), "draft")


@given(JSON)
def test_depth_is_that_of_a_walk(value: Any) -> None:
    def walked(part: Any) -> int:
        kind: Any = part.__class__
        inner: list[Any] = list(part.values()) if kind is dict else part if kind is list else []
        return (kind in (dict, list)) + max(map(walked, inner), default=0)

    assert depth_of(msgspec.json.encode(value)) == walked(value)


@given(old=st.dictionaries(st.text(), JSON, max_size=4), changes=st.dictionaries(st.text(), JSON, max_size=4))
def test_overrides_are_an_update_of_the_object(old: dict[str, Any], changes: dict[str, Any]) -> None:
    codec = StateCodec(State)
    replaced = codec.with_overrides(msgspec.json.encode(old), {key: msgspec.json.encode(value) for key, value in changes.items()})
    assert replaced == msgspec.json.encode({**old, **changes})
