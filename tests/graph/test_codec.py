"""What is stored comes back, or the node fails: the codec of a state at its three depths of checking."""

# ruff: noqa: RUF012  (defaults of structs are copied)
from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import time
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from zoneinfo import ZoneInfo

import attrs
import msgspec
import pytest

from strata.errors import OverrideRefused, StateRefused, StateUnreadable
from strata.graph.codec import Check, StateCodec
from strata.graph.nesting import depth_of
from strata.graph.state import State, StateMeta


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Shade(enum.StrEnum):
    DARK = "dark"


class Point(NamedTuple):
    x: int
    y: int


class Options(TypedDict, total=False):
    depth: int


@dataclasses.dataclass
class Address:
    street: str
    number: int = dataclasses.field(init=False, default=0)


@dataclasses.dataclass(eq=False)
class Faceless:
    street: str


@attrs.define
class Customer:
    name: str


class Line(msgspec.Struct, frozen=True):
    name: str
    colour: Colour = Colour.RED
    count: int = 1


class Card(msgspec.Struct, tag=True):
    number: str


class Cash(msgspec.Struct, tag=True):
    number: str


class Upper(msgspec.Struct):
    name: str

    def __post_init__(self) -> None:
        self.name = self.name.upper()


class Order(State, rename="camel"):
    order_id: str = "o"
    total: float = 0.0
    count: int = 0
    paid: bool = False
    lines: list[Line] = []
    by_id: dict[str, Line] = {}
    tags: list[str] = []
    prices: list[float] = []
    counts: list[int] = []
    tree: list[Any] = []
    note: str | None = None
    when: dt.datetime | None = None
    clock: dt.time | None = None
    customer: Customer | None = None
    extra: Any = None
    price: decimal.Decimal = decimal.Decimal("1.00")
    address: Address | None = None
    faceless: Faceless | None = None
    payment: Card | Cash | None = None
    point: Point = Point(1, 2)
    pair: tuple[int, str] = (1, "a")
    seen: set[int] = set()
    amounts: set[decimal.Decimal] = set()
    options: Options = {}
    number: int | float = 0
    score: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0
    code: Annotated[str, msgspec.Meta(pattern="^[a-z]+$", max_length=3)] = "a"
    kind: Literal["new", 1] = "new"
    shade: Shade = Shade.DARK
    level: Level = Level.LOW
    key: uuid.UUID | None = None
    data: bytes = b""
    by_number: dict[int, int] = {}
    absent: int | msgspec.UnsetType = msgspec.UNSET


class Larger(Order):
    more: int = 1


class Lively(State):
    upper: Upper | None = None
    items: list[int] = []
    words: list[str] = []


class Nested(State):
    inner: Nested | None = None
    free: Any = None


class Empty(State):
    pass


CHECKS: list[Check] = ["type", "fields", "full"]
full = StateCodec(Order)


def nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def refused(call: Callable[[], object]) -> StateRefused:
    with pytest.raises(StateRefused) as caught:
        call()
    return caught.value


def checked(state: State, before: State | None = None, check: Check = "full") -> Any:
    """What an engine does with the state that a node returned."""
    codec: StateCodec[Any] = StateCodec(type(state), check=check)
    assert codec.check_result(before, state, "draft") is state
    return codec.decode(codec.storable(before, state, "draft"))


RICH = Order(
    total=1.5,
    lines=[Line(name="é"), Line(name="b", colour=Colour.BLUE)],
    by_id={"a": Line(name="a")},
    tags=["a", "ü"],
    prices=[0.0, -0.0, 1e308],
    counts=[-(2**63), 2**64 - 1],
    extra={"a": [1, 2.5, None, True, {"b": "c"}], "__type__": "Order", "$type": "x"},
    when=dt.datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    clock=dt.time(1, 2, 3, tzinfo=dt.UTC),
    price=decimal.Decimal("1.10"),
    address=Address("x"),
    customer=Customer("c"),
    payment=Cash("1"),
    seen={1, 2},
    amounts={decimal.Decimal("1.0")},
    options={"depth": 3},
    number=1.0,
    score=10,
    code="abc",
    kind=1,
    key=uuid.UUID(int=5),
    data=b"\x00\xff",
    by_number={1: 2},
)


@pytest.mark.parametrize("check", CHECKS)
def test_a_state_of_every_kind_of_field_comes_back(check: Check) -> None:
    assert checked(RICH, check=check) == RICH
    assert checked(RICH, before=Order(), check=check) == RICH


def test_keys_stand_in_field_order_under_their_encoded_names() -> None:
    assert StateCodec(Line2).encode(Line2(first_name="a", last_name="b")) == b'{"firstName":"a","lastName":"b"}'


class Line2(State, rename="camel"):
    first_name: str
    last_name: str


# What a node returns


def test_none_asks_for_the_return() -> None:
    error = refused(lambda: full.check_result(Order(), None, "draft"))
    assert str(error) == "node 'draft' returned None: did you forget to return the state?"
    assert (error.expected, error.found) == ("Order", "None")


def test_a_coroutine_asks_for_the_await_and_leaves_no_warning() -> None:
    async def answer() -> Order:
        return Order()

    error = refused(lambda: full.check_result(Order(), answer(), "draft"))
    assert "an await was forgotten, or the function is not declared async" in str(error)


@pytest.mark.parametrize("check", CHECKS)
def test_ser_14_a_subclass_is_refused_for_its_fields_would_be_lost(check: Check) -> None:
    error = refused(lambda: StateCodec(Order, check=check).check_result(Order(), Larger(), "draft"))
    assert "returned Larger, a subclass of Order: its own fields would be lost" in str(error)


def test_another_type_names_both() -> None:
    assert "returned dict where Order is expected" in str(refused(lambda: full.check_result(Order(), {"total": 1}, "draft")))


def test_the_very_same_state_is_fine() -> None:
    order = Order()
    assert full.check_result(order, order, "draft") is order


# What is in it

BAD: list[tuple[str, Any, str, str]] = [
    ("total", float("nan"), "Order.total", "nan"),
    ("total", float("inf"), "Order.total", "inf"),
    ("total", 1e400, "Order.total", "inf"),
    ("total", 1, "Order.total", "int, which comes back as a float: write float(...)"),
    ("prices", [1.0, float("nan")], "Order.prices[1]", "nan"),
    ("prices", [1.0, 2], "Order.prices[1]", "int, which comes back as a float: write float(...)"),
    ("count", 2**64, "Order.count", "an integer of 65 bits"),
    ("count", -(2**63) - 1, "Order.count", "an integer of 64 bits"),
    ("count", True, "Order.count", "bool"),
    ("count", 1.0, "Order.count", "float"),
    ("count", Level.LOW, "Order.count", "Level"),
    ("counts", [1, 2**70], "Order.counts[1]", "an integer of 71 bits"),
    ("counts", [1, True], "Order.counts[1]", "bool"),
    ("by_number", {2**70: 1}, "Order.by_number[1180591620717411303424]", "an integer of 71 bits"),
    ("note", "a\ud800", "Order.note", "a str with a lone surrogate at index 1"),
    ("note", Shade.DARK, "Order.note", "Shade"),
    ("tags", ["a", "\udfff"], "Order.tags[1]", "a str with a lone surrogate at index 0"),
    ("tags", ("a",), "Order.tags", "tuple"),
    ("tags", collections.deque(["a"]), "Order.tags", "deque"),
    ("lines", [Line(name="a"), Line(name=1)], "Order.lines[1].name", "int"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ("lines", [Line(name="a"), {"name": "a"}], "Order.lines[1]", "dict"),
    ("by_id", {"a": Line(name="a", colour="red")}, "Order.by_id['a'].colour", "str"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ("by_id", collections.OrderedDict(), "Order.by_id", "OrderedDict"),
    ("by_id", {1: Line(name="a")}, "Order.by_id[1]", "int"),
    ("extra", {"a": [1, {"b": float("nan")}]}, "Order.extra['a'][1]['b']", "nan"),
    ("extra", {"a": (1, 2)}, "Order.extra['a']", "tuple"),
    ("extra", {1: 2}, "Order.extra[1]", "int"),
    ("extra", [2**64], "Order.extra[0]", "an integer of 65 bits"),
    ("extra", ["\ud800"], "Order.extra[0]", "a str with a lone surrogate at index 0"),
    ("extra", Line(name="a"), "Order.extra", "Line"),
    ("extra", Colour.RED, "Order.extra", "Colour"),
    ("when", dt.datetime(2026, 3, 1, tzinfo=ZoneInfo("Europe/Berlin")), "Order.when", "the zone 'Europe/Berlin'"),
    ("when", dt.datetime(2026, 3, 1, tzinfo=dt.timezone(dt.timedelta(hours=1), "CET")), "Order.when", "the zone 'CET'"),
    ("when", dt.datetime(2026, 3, 1, tzinfo=dt.timezone(dt.timedelta(seconds=3601))), "Order.when", "the offset 1:00:01"),
    ("when", dt.datetime(2026, 10, 25, 2, 30, fold=1), "Order.when", "fold=1"),  # noqa: DTZ001
    ("clock", dt.time(1, tzinfo=ZoneInfo("Europe/Berlin")), "Order.clock", "the zone 'Europe/Berlin'"),
    ("payment", Line(name="a"), "Order.payment", "Line"),
    ("payment", Card(1), "Order.payment.number", "int"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ("point", (1, 2), "Order.point", "tuple"),
    ("point", Point(1, "2"), "Order.point.y", "str"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ("pair", (1, 2), "Order.pair[1]", "int"),
    ("pair", (1,), "Order.pair", "tuple"),
    ("seen", {1, 2.0}, "Order.seen[]", "float"),
    ("options", {"deep": 1}, "Order.options", "the key 'deep'"),
    ("options", {"depth": "1"}, "Order.options.depth", "str"),
    ("score", 11, "Order.score", "11"),
    ("code", "A", "Order.code", "another"),
    ("code", "abcd", "Order.code", "length 4"),
    ("kind", True, "Order.kind", "bool"),
    ("shade", "dark", "Order.shade", "str"),
    ("level", 1, "Order.level", "int"),
    ("key", "0", "Order.key", "str"),
    ("address", Address(5), "Order.address.street", "int"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ("extra", ValueError("secret"), "Order.extra", "ValueError"),
]


@pytest.mark.parametrize("check", ["fields", "full"])
@pytest.mark.parametrize("before", [None, Order()], ids=["first", "later"])
@pytest.mark.parametrize(("field", "value", "path", "found"), BAD)
def test_mig_01_a_value_that_would_not_come_back_fails_the_node_with_its_path(
    field: str, value: Any, path: str, found: str, before: Order | None, check: Check
) -> None:
    changes: dict[str, Any] = {field: value}
    error = refused(lambda: StateCodec(Order, check=check).check_result(before, Order().replace(**changes), "draft"))
    assert error.path == path
    assert error.found.startswith(found)
    assert str(error).startswith(f"node 'draft' returned a state that cannot be stored: {path}: expected ")


@pytest.mark.parametrize(("field", "value", "path", "found"), BAD)
def test_full_finds_it_without_a_look_at_what_was_returned(field: str, value: Any, path: str, found: str) -> None:
    changes: dict[str, Any] = {field: value}
    error = refused(lambda: full.storable(Order(), Order().replace(**changes), "draft"))
    assert (error.path, error.found[: len(found)]) == (path, found)


def test_ser_05_the_error_names_the_place_and_the_node_and_not_the_content() -> None:
    error = refused(lambda: full.check_result(None, Order(extra={"deep": [ValueError("secret")]}), "draft"))
    assert error.path == "Order.extra['deep'][0]"
    assert "'draft'" in str(error)
    assert "secret" not in str(error)


def test_type_looks_at_nothing_but_the_type() -> None:
    order = Order(total=float("nan"))
    assert StateCodec(Order, check="type").check_result(None, order, "draft") is order


def test_fields_that_are_the_very_objects_of_before_are_not_looked_at() -> None:
    before = Order(total=float("nan"))
    assert StateCodec(Order, check="fields").check_result(before, before.replace(count=1), "draft").count == 1


def appended(old: list[Line], new: Line) -> list[Line]:
    return [*old, new]


def moved_along(old: list[Line], new: Line) -> list[Line]:
    return [*old[1:], new]


def put_first(old: list[Line], new: Line) -> list[Line]:
    return [new, *old]


@pytest.mark.parametrize("make", [appended, moved_along, put_first])
def test_what_a_list_gained_is_looked_at(make: Callable[[list[Line], Line], list[Line]]) -> None:
    before = Order(lines=[Line(name=str(index)) for index in range(20)])
    wrong: Any = Line(name=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    good = before.replace(lines=make(before.lines, Line(name="x")))
    assert full.check_result(before, good, "draft") is good
    error = refused(lambda: full.check_result(before, before.replace(lines=make(before.lines, wrong)), "draft"))
    assert error.path.endswith("].name")


# What full finds besides


def test_ser_18_a_value_that_is_read_back_otherwise_fails_the_node_that_wrote_it() -> None:
    upper = Upper("a")
    upper.name = "a"
    error = refused(lambda: checked(Lively(upper=upper)))
    assert error.path == "Lively.upper.name"


@pytest.mark.parametrize(("items", "path"), [([1, 2**70], "Lively.items[1]"), ([1, Level.LOW], "Lively.items[1]"), ([1, "a"], "Lively.items[1]")])
def test_a_change_made_in_place_is_found_where_it_is_stored(items: list[Any], path: str) -> None:
    codec = StateCodec(Lively)
    before = Lively(items=[])
    before.items.extend(items)
    after = codec.check_result(before, before.replace(words=["a"]), "draft")
    assert refused(lambda: codec.storable(before, after, "draft")).path == path


@pytest.mark.parametrize(
    ("ours", "stored"),
    [
        ({"number": 1}, b'{"number":1.0}'),
        ({"number": 1.0}, b'{"number":1}'),
        ({"total": 0.0}, b'{"total":-0.0}'),
        ({"prices": [0.0]}, b'{"prices":[-0.0]}'),
        ({"price": decimal.Decimal("1.0")}, b'{"price":"1.00"}'),
        ({"amounts": {decimal.Decimal("1.0")}}, b'{"amounts":["1.00"]}'),
        ({"when": dt.datetime(2026, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))}, b'{"when":"2026-01-01T00:00:00Z"}'),
        ({"faceless": Faceless("a")}, b'{"faceless":{"street":"b"}}'),
        ({"extra": [1]}, b'{"extra":[true]}'),
        ({"extra": {"a": 1}}, b'{"extra":{"b":1}}'),
        ({"payment": Card("1")}, b'{"payment":{"type":"Cash","number":"1"}}'),
        ({"lines": [Line(name="a")]}, b'{"lines":[]}'),
        ({"by_id": {"a": Line(name="a")}}, b'{"byId":{"b":{"name":"a"}}}'),
        ({"absent": 1}, b'{"absent":2}'),
    ],
)
def test_bytes_that_hold_another_state_are_refused(ours: dict[str, Any], stored: bytes) -> None:
    error = refused(lambda: full.check_stored(Order(**ours), stored, "draft"))
    assert error.path.startswith(f"Order.{next(iter(ours))}")


@pytest.mark.parametrize("value", [{"faceless": Faceless("a")}, {"address": Address("a")}, {"absent": 5}, {"price": decimal.Decimal("NaN")}])
def test_values_whose_equality_is_odd_come_back_all_the_same(value: dict[str, Any]) -> None:
    order = Order(**value)
    full.storable(None, order, "draft")


def test_an_absence_under_a_new_key_is_no_value_of_before() -> None:
    lines: Any = {"a": msgspec.UNSET}
    assert refused(lambda: full.check_result(Order(), Order(by_id=lines), "draft")).path == "Order.by_id['a']"


@pytest.mark.parametrize("check", ["type", "fields"])
def test_only_full_reads_what_was_written(check: Check) -> None:
    before = Lively(items=[])
    before.items.append(2**70)
    assert StateCodec(Lively, check=check).storable(before, before.replace(words=["a"]), "draft")


# Known faults of other engines


def test_ser_01_an_enum_inside_a_nested_model_comes_back_as_its_member() -> None:
    assert checked(Order(lines=[Line(name="a", colour=Colour.BLUE)])).lines[0].colour is Colour.BLUE


def test_ser_02_a_field_that_the_constructor_does_not_take_comes_back() -> None:
    address = Address("a")
    address.number = 7
    assert checked(Order(address=address)).address.number == 7


def test_ser_04_stored_data_of_an_unknown_kind_is_refused_at_load() -> None:
    with pytest.raises(StateUnreadable, match="Invalid value 'Cheque'") as caught:
        full.decode(b'{"payment":{"type":"Cheque","number":"1"}}')
    assert caught.value.path == "$.payment.type"


def test_ser_06_a_time_in_a_named_zone_is_refused_with_what_to_do() -> None:
    error = refused(lambda: full.check_result(None, Order(when=dt.datetime(2026, 3, 1, tzinfo=ZoneInfo("Europe/Berlin"))), "draft"))
    assert "use astimezone(UTC) and keep the name in a field of its own" in error.found


def test_ser_09_an_integer_beyond_64_bits_is_refused_with_what_to_do() -> None:
    assert "keep larger ones as str" in refused(lambda: full.check_result(None, Order(count=2**256), "draft")).expected


def test_ser_12_numbers_that_json_lacks_are_refused_before_anything_is_written() -> None:
    assert refused(lambda: full.check_result(None, Order(total=float("nan")), "draft")).expected == "a finite float (JSON has no other)"


def test_ser_13_nul_comes_back_and_a_lone_surrogate_is_refused_even_when_nothing_else_looks() -> None:
    assert checked(Order(note="a\x00b")).note == "a\x00b"
    codec = StateCodec(Order, check="type")
    assert refused(lambda: codec.encode(Order(note="\ud800"))).path == "Order.note"


def test_ser_16_every_field_is_decoded_to_its_type_however_many_are_stored() -> None:
    assert full.decode(b'{"lines":[{"name":"a"}]}').lines == [Line(name="a")]


@pytest.mark.parametrize("marker", ["__type__", "$type", "type", "__class__", "lc", "py/object", "$ref", "$id"])
def test_ser_20_user_data_that_looks_like_markers_is_user_data(marker: str) -> None:
    order = Order(extra={marker: {marker: ["Order", 1]}}, by_id={marker: Line(name=marker)})
    assert checked(order) == order


def test_ser_21_the_bytes_are_made_before_anything_else_runs() -> None:
    order = Order(tags=["a"])
    data = full.encode(order)
    order.tags.append("b")
    assert full.decode(data).tags == ["a"]


def test_mig_02_an_absent_field_takes_its_default_and_an_unknown_key_is_dropped() -> None:
    assert full.decode(b'{"gone":1,"count":3}') == Order(count=3)


def test_mig_02_an_absent_required_field_is_named() -> None:
    with pytest.raises(StateUnreadable, match="missing required field `lastName`"):
        StateCodec(Line2).decode(b'{"firstName":"a"}')


def test_mig_05_what_a_type_makes_of_a_value_is_what_is_stored_and_seen() -> None:
    state = Lively(upper=Upper("a"))
    assert state.upper is not None
    assert state.upper.name == "A"
    assert checked(state) == state


def test_mig_06_text_for_a_float_fails_the_node() -> None:
    text: Any = "1.5"
    assert refused(lambda: full.check_result(None, Order(total=text), "draft")).path == "Order.total"


# Reading


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"{", None),
        (b"", None),
        (b"[]", None),
        (b"1", None),
        (b"null", None),
        (b'{"total":"a"}', "$.total"),
        (b'{"total":1e400}', "$.total"),
        (b'{"lines":[{"name":1}]}', "$.lines[0].name"),
        (b'{"note":"\xff"}', None),
        (b'{"extra":' + b"[" * 200_000 + b"]" * 200_000 + b"}", None),
    ],
)
def test_bytes_that_hold_no_such_state_say_where(data: bytes, path: str | None) -> None:
    with pytest.raises(StateUnreadable) as caught:
        full.decode(data)
    assert caught.value.path == path


def test_a_type_that_refuses_what_it_reads_is_unreadable_too() -> None:
    class Picky(msgspec.Struct):
        name: str

        def __post_init__(self) -> None:
            raise KeyError(self.name)

    class Holder(State):
        picky: Picky | None = None

    Holder.__annotations__["picky"] = Picky | None
    with pytest.raises(StateUnreadable, match="KeyError: 'a'"):
        StateCodec(Holder).decode(b'{"picky":{"name":"a"}}')


def test_a_float_field_accepts_a_whole_number() -> None:
    assert type(full.decode(b'{"total":1}').total) is float


def test_raw_bytes_are_decoded_as_they_are() -> None:
    assert full.decode(msgspec.Raw(b'{"count":2}')).count == 2


def test_fields_that_python_has_no_syntax_for_are_checked_too() -> None:
    odd: Any = StateMeta("Odd", (State,), {"__annotations__": {"class": int}, "__module__": __name__})
    codec: StateCodec[Any] = StateCodec(odd)
    good, bad = odd(**{"class": 1}), odd(**{"class": "x"})
    assert checked(good) == good
    assert refused(lambda: codec.check_result(good, bad, "draft")).path == "Odd.class"


# Nesting


@pytest.mark.parametrize("check", CHECKS)
def test_126_levels_are_written_and_127_are_refused_with_the_place(check: Check) -> None:
    codec = StateCodec(Nested, check=check)
    assert depth_of(codec.encode(Nested(free=nest(125)))) == 126
    error = refused(lambda: codec.encode(Nested(free=nest(126))))
    assert error.path == "Nested.free" + "[0]" * 125


def test_each_record_around_costs_one_level() -> None:
    codec = StateCodec(Nested)
    assert codec.encode(Nested(free=nest(123)), level=2)
    refused(lambda: codec.encode(Nested(free=nest(124)), level=2))


@pytest.mark.parametrize("check", CHECKS)
def test_5000_levels_are_a_clear_error(check: Check) -> None:
    codec = StateCodec(Nested, check=check)
    assert refused(lambda: codec.encode(Nested(free=nest(5000)))).found == "more levels"


@pytest.mark.parametrize("check", ["fields", "full"])
def test_5000_levels_fail_the_node(check: Check) -> None:
    deep = Nested()
    for _ in range(5000):
        deep = Nested(inner=deep)
    codec = StateCodec(Nested, check=check)
    assert refused(lambda: codec.check_result(Nested(), deep, "draft")).found == "more levels"
    assert refused(lambda: codec.check_result(None, Nested(free=nest(5000)), "draft")).found == "more levels"


@pytest.mark.parametrize(
    ("data", "depth"), [(b"1", 0), (b"[]", 1), (b'{"a":[{"b":1}],"c":[]}', 3), (rb'{"a":"[[[\"[[","b\\":[1]}', 2), (b'["]]]{{{",{}]', 2)]
)
def test_depth_counts_brackets_outside_of_strings(data: bytes, depth: int) -> None:
    assert depth_of(data) == depth


# Overrides


def test_overrides_take_python_names_and_store_encoded_ones() -> None:
    assert full.override_bytes({"order_id": "x", "by_id": {}}) == {"orderId": b'"x"', "byId": b"{}"}


@pytest.mark.parametrize(
    ("field", "value", "stored"),
    [
        ("note", None, b"null"),
        ("lines", [Line(name="a")], b'[{"name":"a","colour":"red","count":1}]'),
        ("lines", [{"name": "a"}], b'[{"name":"a","colour":"red","count":1}]'),
        ("total", 5, b"5.0"),
        ("when", "2026-01-01T00:00:00Z", b'"2026-01-01T00:00:00Z"'),
        ("price", decimal.Decimal("2.50"), b'"2.50"'),
        ("shade", "dark", b'"dark"'),
        ("payment", {"type": "Card", "number": "1"}, b'{"type":"Card","number":"1"}'),
    ],
)
def test_a_value_of_the_type_or_plain_data_of_its_shape_is_taken(field: str, value: object, stored: bytes) -> None:
    assert list(full.override_bytes({field: value}).values()) == [stored]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("ordr_id", "x", "Order has no field 'ordr_id': did you mean 'order_id'?"),
        ("orderId", "x", "'order_id' is stored under that name; overrides take Python names"),
        ("count", "x", "override of 'count': expected int, found str"),
        ("count", None, "override of 'count': expected int, found None"),
        ("count", True, "override of 'count': expected int, found bool"),
        ("count", 2**64, "override of 'count': expected an integer from -2^63 to 2^64-1"),
        ("total", float("nan"), "override of 'total': expected a finite float"),
        ("note", uuid.UUID(int=1), "override of 'note': expected str | None, found UUID"),
        ("lines", [{"name": 1}], "override of 'lines': Expected `str`, got `int` - at `$[0].name`"),
        ("lines", [Line(name="a"), {"name": "b"}], "override of 'lines' at lines[1]: expected Line, found dict"),
        ("score", 11, "override of 'score': expected int <= 10, found 11"),
        ("absent", msgspec.UNSET, "UNSET cannot be stored"),
        ("extra", nest(126), "override of 'extra'"),
    ],
)
def test_an_override_that_does_not_fit_is_refused(field: str, value: object, says: str) -> None:
    with pytest.raises(OverrideRefused) as caught:
        full.override_bytes({field: value})
    assert says in str(caught.value)
    assert caught.value.field == field


def test_overrides_replace_top_level_keys_and_keep_everything_else() -> None:
    stored = b'{"count":1,"unknown":{"x" : 1.0},"orderId":"a"}'
    assert full.with_overrides(stored, {"count": b"2", "note": b"null"}) == b'{"count":2,"unknown":{"x" : 1.0},"orderId":"a","note":null}'


@pytest.mark.parametrize("stored", [b"1", b"[]", b'"a"', b"null", b"{"])
def test_a_stored_state_that_is_no_object_takes_no_override(stored: bytes) -> None:
    with pytest.raises(StateUnreadable):
        full.with_overrides(stored, {"count": b"2"})


# Size


def test_a_state_without_fields_is_fine() -> None:
    assert checked(Empty()) == Empty()
    assert StateCodec(Empty).encode(Empty()) == b"{}"


def test_a_state_of_100_megabytes_ends_in_seconds() -> None:
    state = Order(tags=["x" * 1_000_000] * 100)
    started = time.perf_counter()
    assert checked(state) == state
    assert time.perf_counter() - started < 30
