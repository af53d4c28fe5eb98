"""What a state's fields may be, and how a type that cannot be stored is reported."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import pathlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

import attrs
import msgspec
import pytest

from strata.graph.state import State, StateMeta
from strata.graph.storable import storable_faults

T = TypeVar("T")
Score = NewType("Score", int)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Point(NamedTuple):
    x: int
    y: int


class Options(TypedDict, total=False):
    depth: int


@dataclasses.dataclass
class Address:
    street: str


@dataclasses.dataclass
class Priced:
    price: int
    tax: dataclasses.InitVar[int]


@attrs.define
class Customer:
    name: str


@attrs.define
class Account:
    owner: str
    _balance: int = 0


@dataclasses.dataclass
class Ledger:
    _lines: list[int]


class Bank(State):
    accounts: list[Account]


class Card(msgspec.Struct, tag=True):
    number: str


class Cash(msgspec.Struct, tag=True):
    amount: int


class Line(msgspec.Struct):
    shipped: collections.deque[int]


class Plain(msgspec.Struct):
    a: int


class OtherPlain(msgspec.Struct):
    a: int


class Box(msgspec.Struct, Generic[T]):
    content: T


class Tree(State):
    kids: list[Tree]


class Order(State):
    lines: list[Line]


class Index(State):
    by_id: dict[str, Line]


class Lost(State):
    items: list[Nowhere]  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


class Deep(msgspec.Struct):
    what: Nowhere  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


class Deeper(State):
    inner: dict[str, Deep]


class Two(State):
    first: complex
    second: range


def state_with(annotation: Any) -> Any:
    return StateMeta("Holder", (State,), {"__annotations__": {"field": annotation}, "__module__": __name__})


GOOD: list[Any] = [
    int,
    str,
    float,
    bool,
    None,
    bytes,
    bytearray,
    int | str | None,
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    uuid.UUID,
    decimal.Decimal,
    list[int],
    list,
    dict,
    dict[str, int],
    dict[int, str],
    dict[Level, int],
    dict[uuid.UUID, int],
    dict[dt.date, int],
    dict[bytes, int],
    dict[float, int],
    dict[Literal["a", "b"], int],
    set[int],
    frozenset[str],
    tuple[int, ...],
    tuple[int, str],
    Point,
    Options,
    Address,
    Customer,
    Ledger,
    Card | Cash,
    Colour,
    Level,
    Literal["a", 1],
    Score,
    Annotated[int, msgspec.Meta(ge=0)],
    Any,
    Box[int],
    Tree,
    Sequence[int],
    Mapping[str, int],
    Plain | None,
    set[tuple[int, str]],
    int | float,
    dict[Score, int],
    int | msgspec.UnsetType,
]


@pytest.mark.parametrize("annotation", GOOD, ids=str)
def test_ser_10_types_that_come_back_are_good(annotation: Any) -> None:
    assert storable_faults(state_with(annotation)) == ()


BAD: list[tuple[Any, str]] = [
    (collections.deque[int], "use list"),
    (collections.OrderedDict[str, int], "use dict"),
    (collections.defaultdict[str, int], "use dict"),
    (collections.Counter[str], "use dict"),
    (fractions.Fraction, "use tuple[int, int], or Decimal"),
    (complex, "complex does not come back"),
    (range, "range does not come back"),
    (pathlib.Path, "use str"),
    (ipaddress.IPv4Address, "IPv4Address does not come back"),
    (ValueError, "keep its text as str"),
    (type, "keep its name as str"),
    (object, "use Any for plain JSON values"),
    (Callable[[int], int], "functions and other live objects cannot be stored"),
    (msgspec.Raw, "use bytes"),
    (memoryview, "use bytes"),
    (Plain | OtherPlain, "must be tagged"),
    (str | bytes, "may not contain more than one str-like type"),
    (Annotated[int, msgspec.Meta(ge=0)] | tuple[int, str], "crashes msgspec: make the tuple a NamedTuple"),
    (list[Annotated[str, msgspec.Meta(max_length=3)] | tuple[()] | None], "crashes msgspec"),
    (Mixed, "either all str or all int"),
    (dict[tuple[int, int], int], "use str or int keys"),
    (dict[str | int, int], "use str or int keys"),
    (dict[bool, int], "use str or int keys"),
    (set[Plain], "it has no hash"),
    (Box, "its type is the variable T"),
    (Priced, "not supported"),
    (Account, "name it without the '_', or make Account a dataclass"),
]


@pytest.mark.parametrize(("annotation", "says"), BAD, ids=str)
def test_ser_10_types_that_do_not_come_back_are_faults(annotation: Any, says: str) -> None:
    faults = storable_faults(state_with(annotation))
    assert len(faults) == 1
    assert faults[0].path.startswith("Holder.field")
    assert says in faults[0].reason


def test_ser_08_a_deque_is_refused_with_its_path() -> None:
    assert [fault.path for fault in storable_faults(Order)] == ["Order.lines[].shipped"]


def test_a_private_field_of_an_attrs_class_is_refused_with_its_path() -> None:
    assert [fault.path for fault in storable_faults(Bank)] == ["Bank.accounts[]._balance"]


def test_values_of_dicts_have_a_path_of_their_own() -> None:
    assert [fault.path for fault in storable_faults(Index)] == ["Index.by_id{}.shipped"]


def test_all_faults_are_found_at_once() -> None:
    assert [fault.path for fault in storable_faults(Two)] == ["Two.first", "Two.second"]


def test_names_that_are_not_found_are_faults_that_say_so() -> None:
    (fault,) = storable_faults(Lost)
    assert fault.path == "Lost.items"
    assert "'Nowhere', which is not found in module" in fault.reason


def test_names_that_are_not_found_are_reported_where_they_stand() -> None:
    assert [fault.path for fault in storable_faults(Deeper)] == ["Deeper.inner{}.what"]


def test_ser_17_hints_are_resolved_when_the_graph_is_compiled_not_when_the_class_is_made() -> None:
    late = state_with("collections.deque[int]")
    late.__annotations__["field"] = int
    assert storable_faults(late) == ()
