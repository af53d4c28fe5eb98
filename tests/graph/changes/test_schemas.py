"""Which changes of a state's fields are found, held against what msgspec really reads."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest

from strata import State
from strata.graph.answer_schema import schema_of
from strata.graph.changes.schemas import field_changes
from strata.graph.state_schemas import schema_of_state


class Line(msgspec.Struct):
    item: str
    cents: int = 0


class Shipped(msgspec.Struct, tag=True):
    on: date


class Lost(msgspec.Struct, tag=True):
    why: str


class Stop(msgspec.Struct):
    name: str
    after: Stop | None = None


class Halt(msgspec.Struct):
    name: int
    after: Halt | None = None


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Seen(msgspec.Struct, tag=True):
    at: datetime


class Heard(msgspec.Struct, tag=True):
    at: str


class Row(msgspec.Struct, array_like=True, tag=True):
    number: int
    at: datetime


NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
Zoned = Annotated[datetime, msgspec.Meta(tz=True)]

SAMPLES: dict[Any, list[Any]] = {
    int: [0, -5, 1_000_000],
    float: [1.5, 2.0],
    bool: [True],
    str: ["", "text", "two words"],
    bytes: [b"text"],
    date: [date(2026, 11, 2)],
    UUID: [UUID(int=5)],
    Colour: [Colour.RED, Colour.GREEN],
    Literal["red"]: ["red"],
    Literal[1, 2, 3]: [1, 3],
    int | None: [1, None],
    int | str: [1, "text"],
    None: [None],
    Annotated[int, msgspec.Meta(ge=1)]: [1, 1_000_000],
    Annotated[int, msgspec.Meta(ge=-9, le=9)]: [-9, 9],
    Annotated[str, msgspec.Meta(max_length=4)]: ["text", "a w"],
    Annotated[str, msgspec.Meta(pattern="^t")]: ["text", "two words"],
    list[int]: [[], [1, 2]],
    list[int | None]: [[None]],
    list[Any]: [["text", 1]],
    tuple[int, str]: [(1, "text")],
    tuple[int, ...]: [(), (1, 2, 3)],
    dict[str, int]: [{}, {"elsewhere": 1}],
    dict[Literal["a", "b"], int]: [{"a": 1}],
    datetime: [NOON, NOON.replace(tzinfo=None)],
    Zoned: [NOON],
    time: [time(12), time(12, tzinfo=UTC)],
    datetime | None: [NOON, None],
    list[datetime]: [[NOON, NOON.replace(tzinfo=None)]],
    tuple[int, datetime]: [(1, NOON.replace(tzinfo=None))],
    dict[str, datetime]: [{"a": NOON.replace(tzinfo=None)}],
    Seen: [Seen(NOON.replace(tzinfo=None))],
    Seen | Heard: [Seen(NOON.replace(tzinfo=None)), Heard("text")],
    Row: [Row(1, NOON.replace(tzinfo=None))],
    dict[str, Any]: [{"a": "text"}],
    Line: [Line("pen"), Line("pen", 5)],
    Line | None: [Line("pen"), None],
    list[Line]: [[Line("pen")]],
    Shipped | Lost: [Shipped(date(2026, 11, 2)), Lost("fire")],
    Shipped: [Shipped(date(2026, 11, 2))],
    Stop: [Stop("a", Stop("b"))],
    Any: [None, 1, "text", [1], {"a": 1}],
}


@pytest.mark.parametrize("old", SAMPLES, ids=str)
def test_what_is_found_readable_is_read_and_what_is_not_is_refused(old: Any) -> None:
    """Each type against each: all samples are read where no change says otherwise, and one is refused where one does."""
    for new in SAMPLES:
        changes = field_changes(_holding(old), _holding(new))
        is_read = all(_is_read(sample, new) for sample in SAMPLES[old])
        kinds = {change.kind for change in changes}
        assert is_read == (not kinds & {"retyped", "added_without_default"}), (old, new, changes)


def test_a_type_is_no_change_of_itself() -> None:
    assert all(field_changes(_holding(kind), _holding(kind)) == () for kind in SAMPLES)


def _holding(kind: Any) -> dict[str, Any]:
    schema = schema_of_state(msgspec.defstruct("Holder", [("field", kind)]))
    assert isinstance(schema, dict)
    return schema


def _is_read(sample: Any, kind: Any) -> bool:
    try:
        msgspec.json.decode(msgspec.json.encode(sample), type=kind)
    except msgspec.ValidationError:
        return False
    return True


# Paths and kinds


class Order(State):
    cents: int
    lines: list[Line]
    sent: Shipped | Lost | None = None
    places: dict[str, Line]
    note: str = ""


def _found(old: type[Any], new: type[Any]) -> list[tuple[str, str]]:
    return [(change.path, change.kind) for change in field_changes(schema_of(old), schema_of(new))]


def test_fields_are_found_at_any_depth() -> None:
    class Line(msgspec.Struct):
        item: str
        shipped: bool

    class Lost(msgspec.Struct, tag=True):
        why: int

    fields: list[Any] = [("cents", int), ("lines", list[Line]), ("sent", Shipped | Lost | None, None), ("places", dict[str, Line]), ("note", str)]
    new = msgspec.defstruct("Order", [*fields, ("extra", int, 0)], kw_only=True)
    assert _found(Order, new) == [
        ("lines[].cents", "removed"),
        ("lines[].shipped", "added_without_default"),
        ("sent.why", "retyped"),
        ("places{}.cents", "removed"),
        ("places{}.shipped", "added_without_default"),
        ("note", "default_removed"),
        ("extra", "added"),
    ]


def test_a_field_is_known_by_the_name_that_is_stored() -> None:
    class Camel(State, rename="camel"):
        unit_price: int

    class Snake(State):
        price: int = msgspec.field(name="unitPrice")

    assert _found(Camel, Snake) == []


def test_a_type_that_holds_itself_ends() -> None:
    assert _found(Stop, Halt) == [("name", "retyped")]


def test_text_that_becomes_a_time_is_retyped_wherever_it_stands() -> None:
    as_text = msgspec.defstruct("Note", [("at", str)])
    as_time = msgspec.defstruct("Note", [("at", datetime)])

    def kinds(part: Any) -> list[Any]:
        return [part, part | None, list[part], dict[str, part], tuple[int, part]]

    for old, new in zip(kinds(as_text), kinds(as_time), strict=True):
        (change,) = field_changes(_holding(old), _holding(new))
        assert (change.path[-3:], change.kind) == (".at", "retyped")
        assert field_changes(_holding(new), _holding(new)) == ()


def test_a_retyped_field_says_what_it_was_and_is() -> None:
    (change,) = field_changes(schema_of(msgspec.defstruct("A", [("n", int)])), schema_of(msgspec.defstruct("A", [("n", Literal["x", "y"])])))
    assert (change.was, change.now) == ("integer", 'one of "x", "y"')
