"""What a model sends reaches the tool as its declared types, or the model is told what is wrong (strata-tools.md 6, 14)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from strata import ToolArgumentParseFailure, ToolExecutionFailure, ToolInvalid, ToolRegistry, strata_tool
from strata.tools import ToolContext
from tests.tools.calls import Order, refund


class Severity(Enum):
    LOW = "low"
    HIGH = "high"


class Line(msgspec.Struct, forbid_unknown_fields=True):
    sku: str
    quantity: int


@strata_tool(inline=True)
def everything(
    flag: bool,
    items: list[str],
    meta: dict[str, Any],
    ratio: float = 1.0,
    count: int = 0,
    tags: list[str] = [],  # noqa: B006 - each call has a list of its own
    lines: list[Line] | None = None,
    severity: Severity = Severity.LOW,
    kind: Literal["a", "b"] = "a",
    day: date | None = None,
) -> str:
    """Takes what there is."""
    return msgspec.json.encode([flag, items, meta, ratio, count, tags, lines, severity, kind, day]).decode()


@strata_tool(forbid_unknown_fields=True, inline=True)
def closed(name: str, limit: int = 3) -> str:
    """Takes two and no more."""
    return f"{name} {limit}"


@strata_tool(inline=True)
def nothing() -> str:
    """Takes nothing."""
    return "done"


TOOLS = ToolRegistry([refund, everything, closed, nothing])
NEEDED = '"flag": true, "items": [], "meta": {}'


async def refused(tool: str, arguments: str) -> str:
    with pytest.raises(ToolArgumentParseFailure) as raised:
        await TOOLS.dispatch(tool, arguments)
    assert str(raised.value) == f"invalid tool arguments: {raised.value.text}"
    return raised.value.text


async def test_ta1_a_missing_argument_is_named() -> None:
    assert await refused("refund", '{"amount":5}') == "argument 'order_id' is missing"


async def test_ta2_all_problems_are_told_in_the_order_of_their_names() -> None:
    told = await refused("refund", '{"order_id":42,"amount":"five"}')
    assert told == "argument 'amount' must be an integer; argument 'order_id' must be a string"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("[]", "the arguments aren't a JSON object"),
        ("{", "the arguments aren't valid JSON"),
        ("not json", "the arguments aren't valid JSON"),
        ("", "the arguments aren't valid JSON"),
        ('"text"', "the arguments aren't a JSON object"),
        ("5", "the arguments aren't a JSON object"),
        ("null", "the arguments aren't a JSON object"),
    ],
)
async def test_ta3_ta7_ta9_what_is_no_object_is_refused(arguments: str, told: str) -> None:
    assert await refused("refund", arguments) == told


async def test_arguments_by_position_are_refused_even_where_none_are_needed() -> None:
    assert await refused("refund", '["o-1", 5, null]') == "the arguments aren't a JSON object"
    assert await refused("nothing", "[]") == "the arguments aren't a JSON object"


async def test_ta4_a_value_out_of_range_is_told_in_the_decoders_words() -> None:
    assert await refused("refund", '{"order_id":"o-1","amount":-5}') == "argument 'amount': Expected `int` >= 0"


@pytest.mark.parametrize("note", ["", ', "note": null', ', "note": "broken"'])
async def test_ta5_an_optional_argument_may_be_null_or_absent(note: str) -> None:
    order = Order()
    context = ToolContext().with_service(order)
    assert await TOOLS.dispatch("refund", f'{{"order_id":"o-1","amount":5{note}}}', context) == "refunded 5 of o-1"
    assert order.refunds == [("o-1", 5, "broken" if "broken" in note else None)]


async def test_ta6_what_the_function_refuses_is_no_fault_of_the_arguments() -> None:
    context = ToolContext().with_service(Order(refused=ValueError("nothing to refund")))
    with pytest.raises(ToolExecutionFailure) as raised:
        await TOOLS.dispatch("refund", '{"order_id":"o-1","amount":0}', context)
    assert (raised.value.name, str(raised.value)) == ("refund", "tool 'refund' failed")
    assert raised.value.message == "ValueError: nothing to refund"
    assert isinstance(raised.value.__cause__, ValueError)


async def test_ta8_tool_04_tool_16_the_function_gets_values_of_its_types() -> None:
    given: list[object] = []

    @strata_tool(inline=True)
    def keep(tags: list[str], line: Line, severity: Severity, day: date, levels: set[Literal[1, 2]]) -> None:
        """Keeps what it gets."""
        given.extend([tags, line, severity, day, levels])

    arguments = '{"tags":["a","b"],"line":{"sku":"s","quantity":2},"severity":"high","day":"2026-11-02","levels":[1,2]}'
    assert await ToolRegistry([keep]).dispatch("keep", arguments) == "null"
    assert given == [["a", "b"], Line("s", 2), Severity.HIGH, date(2026, 11, 2), {1, 2}]


async def test_ta10_ta11_each_type_has_its_words() -> None:
    assert await refused("everything", '{"flag":"yes","items":[],"meta":{}}') == "argument 'flag' must be true or false"
    assert await refused("everything", '{"flag":true,"items":1,"meta":2}') == "argument 'items' must be an array; argument 'meta' must be an object"


async def test_ta12_null_is_no_value_of_a_needed_argument() -> None:
    assert await refused("refund", '{"order_id":null,"amount":5}') == "argument 'order_id' must be a string"


async def test_ta14_a_number_may_be_an_integer_and_an_integer_no_fraction() -> None:
    assert "1.0,0" in await TOOLS.dispatch("everything", f'{{{NEEDED}, "ratio": 1}}')
    assert await refused("refund", '{"order_id":"o-1","amount":5.5}') == "argument 'amount' must be an integer"


@pytest.mark.parametrize("number", ["5.0", "1e3"])
async def test_a_float_is_no_integer_even_if_it_is_one_in_value(number: str) -> None:
    assert await refused("refund", f'{{"order_id":"o-1","amount":{number}}}') == "argument 'amount' must be an integer"


async def test_ta15_an_argument_that_is_none_is_ignored() -> None:
    assert await TOOLS.dispatch("refund", '{"order_id":"o-1","amount":5,"colour":"red"}') == "refunded 5 of o-1"


async def test_tool_13_a_closed_tool_names_what_it_knows() -> None:
    assert await TOOLS.dispatch("closed", '{"name":"a"}') == "a 3"
    assert await refused("closed", '{"name":"a","limt":4}') == "argument 'limt' is unknown, only 'name' and 'limit' are known"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ('{"order_id":"o-1","amount":5,"amount":6}', "amount"),
        (r'{"order_id":"o-1","amount":5,"\u0061mount":6}', "amount"),
        ('{"order_id":"o-1","amount":5,"note":null,"note":null}', "note"),
        ('{"order_id":"o-1","amount":5,"x":{"a":[[{"b":1,"b":1}]]}}', "x.a[0][0].b"),
        ('{"order_id":"o:1","amount":5,"extra":1,"extra":2}', "extra"),
    ],
)
async def test_a_name_that_stands_twice_is_refused_since_readers_differ_in_which_counts(arguments: str, name: str) -> None:
    assert await refused("refund", arguments) == f"argument '{name}' is given twice"


async def test_the_same_name_in_different_objects_is_no_double() -> None:
    lines = '[{"sku":"a:b","quantity":1},{"sku":"c","quantity":2}]'
    assert '"quantity":2' in await TOOLS.dispatch("everything", f'{{{NEEDED}, "lines":{lines}}}')


async def test_null_means_the_default_where_null_is_no_value() -> None:
    """OpenAI's strict form lets a model leave nothing out."""
    given = f'{{{NEEDED}, "ratio":null, "count":null, "tags":null, "severity":null, "kind":null, "day":null}}'
    assert await TOOLS.dispatch("everything", given) == '[true,[],{},1.0,0,[],null,"low","a",null]'


async def test_tool_14_a_default_that_can_change_is_fresh_for_each_call() -> None:
    @strata_tool(inline=True)
    def gather(item: str, into: list[str] = []) -> list[str]:  # noqa: B006
        """Adds to a list."""
        into.append(item)
        return into

    tools = ToolRegistry([gather])
    assert [await tools.dispatch("gather", '{"item":"a"}') for _ in range(2)] == ['["a"]', '["a"]']


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('"severity": "medium"', "argument 'severity': Invalid enum value 'medium': it must be 'low' or 'high'"),
        ('"kind": "c"', "argument 'kind': Invalid enum value 'c': it must be 'a' or 'b'"),
        ('"lines": [{"sku":"a","quantity":1},{"sku":"a","quantity":"1"}]', "argument 'lines[1].quantity': Expected `int`, got `str`"),
        ('"lines": [{"sku":"a"}]', "argument 'lines[0]': Object missing required field `quantity`"),
        ('"lines": [{"sku":"a","quantity":1,"size":2}]', "argument 'lines[0].size' is unknown, only 'sku' and 'quantity' are known"),
        ('"items": ["a", 1]', "argument 'items[1]': Expected `str`, got `int`"),
        ('"day": "tomorrow"', "argument 'day': Invalid RFC3339 encoded date"),
    ],
)
async def test_what_is_wrong_inside_is_told_with_its_path_and_what_would_fit(arguments: str, told: str) -> None:
    needed = NEEDED.replace(', "items": []', "").replace('"items": [], ', "") if '"items"' in arguments else NEEDED
    assert await refused("everything", f"{{{needed}, {arguments}}}") == told


async def test_tool_18_arguments_that_broke_off_never_run_the_tool() -> None:
    order = Order()
    whole = '{"order_id":"o-1","amount":5,"note":"broken"}'
    for end in range(len(whole)):
        with pytest.raises(ToolArgumentParseFailure, match="the arguments aren't valid JSON"):
            await TOOLS.dispatch("refund", whole[:end], ToolContext().with_service(order))
    assert order.refunds == []


async def test_a_default_may_be_of_another_type_than_the_argument() -> None:
    @strata_tool(inline=True)
    def page(number: int = None) -> str:  # type: ignore[assignment]  # noqa: RUF013  # pyright: ignore[reportArgumentType]
        """Turns to a page."""
        return str(number)

    tools = ToolRegistry([page])
    assert [await tools.dispatch("page", arguments) for arguments in ("{}", '{"number":3}', '{"number":null}')] == ["None", "3", "None"]
    with pytest.raises(ToolArgumentParseFailure, match="argument 'number' must be an integer"):
        await tools.dispatch("page", f'{{"number":{2**64}}}')


async def test_a_default_may_be_what_no_json_holds_and_is_in_no_schema_then() -> None:
    nothing: Any = object()

    @strata_tool(inline=True)
    def look(
        mark: str = nothing,
        limit: int | msgspec.UnsetType = msgspec.UNSET,
        serial: int = 2**70,
        table: dict[str, int] = {"a": 2**70},  # noqa: B006
    ) -> str:
        """Looks."""
        return f"{mark is nothing} {limit} {serial} {table}"

    tools = ToolRegistry([look])
    assert await tools.dispatch("look", "{}") == f"True UNSET {2**70} {{'a': {2**70}}}"
    assert await tools.dispatch("look", '{"mark":"m","limit":1,"serial":2,"table":{}}') == "False 1 2 {}"
    assert [kind.get("default") for kind in look.manifest["parameters"]["properties"].values()] == [None] * 4
    with pytest.raises(ToolArgumentParseFailure, match="argument 'serial' must be an integer"):
        await tools.dispatch("look", f'{{"serial":{2**70}}}')
    with pytest.raises(ToolArgumentParseFailure, match="an integer of more than 64 bits"):
        await tools.dispatch("look", f'{{"table":{{"a":{2**70}}}}}')


@dataclass
class Parcel:
    weight: int
    price: int = field(init=False, default=5)
    more: list[Parcel] = field(default_factory=list["Parcel"])
    labels: list[str] = field(init=False, default_factory=list[str])

    def __post_init__(self) -> None:
        self.labels = [f"{self.weight} kg"]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"parcel":{"weight":2}}',
        '{"parcel":{"weight":2,"price":0,"labels":["free"],"more":[{"weight":1,"price":0}]}}',
        '{"parcel":{"weight":2,"pr\\u0069ce":0,"more":null}}',
        '{"parcel":{"weight":2},"several":{"a":[{"weight":1,"price":0}]}}',
    ],
)
async def test_a_field_that_a_class_gives_itself_is_neither_offered_nor_read(arguments: str) -> None:
    @strata_tool(inline=True)
    def send(parcel: Parcel, several: dict[str, list[Parcel] | None] | None = None, last: Parcel = Parcel(3)) -> str:  # noqa: B008
        """Sends."""
        parcels = [parcel, *parcel.more, *(one for some in (several or {}).values() for one in some or ()), last]
        return msgspec.json.encode([{one.price for one in parcels}, parcel.labels]).decode()

    schema = send.manifest["parameters"]
    parcel = next(iter(schema["$defs"].values()))
    assert list(parcel["properties"]) == ["weight", "more"]
    assert schema["properties"]["last"]["default"] == {"weight": 3, "more": []}
    assert await ToolRegistry([send]).dispatch("send", arguments) == '[[5],["2 kg"]]'


async def test_a_name_given_twice_is_refused_of_such_a_field_too() -> None:
    @strata_tool(inline=True)
    def send(parcel: Parcel) -> str:
        """Sends."""
        raise AssertionError("nothing was read")

    with pytest.raises(ToolArgumentParseFailure, match=r"argument 'parcel.price' is given twice"):
        await ToolRegistry([send]).dispatch("send", '{"parcel":{"weight":2,"price":1,"price":2}}')


@dataclass
class Total:
    net: int
    gross: int = field(init=False)

    def __post_init__(self) -> None:
        self.gross = self.net * 2


def test_a_field_that_a_class_gives_itself_and_that_has_no_default_is_refused_since_msgspec_asks_for_it() -> None:
    def add(totals: list[Total]) -> str:
        """Adds."""
        return ""

    with pytest.raises(ToolInvalid) as raised:
        strata_tool(add)
    told = "its argument 'totals[].gross': Total gives it to itself, and msgspec asks for it: give it a default, or make it a property"
    assert str(raised.value).endswith(told)


class Picky(msgspec.Struct):
    size: int = 1

    def __post_init__(self) -> None:
        raise {0: ValueError("too small"), 1: KeyError("sizes"), 2: ConnectionError("no sizes today")}[self.size]


async def test_what_a_class_raises_while_it_is_read_is_a_failure_of_the_tool_unless_it_speaks_of_the_value() -> None:
    @strata_tool(inline=True)
    def fit(what: Picky, note: str = "") -> str:
        """Fits."""
        raise AssertionError("nothing was read")

    tools = ToolRegistry([fit])
    with pytest.raises(ToolArgumentParseFailure, match="argument 'what': too small"):
        await tools.dispatch("fit", '{"what":{"size":0}}')
    for arguments, error, words in (
        ('{"what":{}}', KeyError, "KeyError: 'sizes'"),
        ('{"what":{"size":2},"note":null}', ConnectionError, "ConnectionError: no sizes today"),
    ):
        with pytest.raises(ToolExecutionFailure) as raised:
            await tools.dispatch("fit", arguments)
        assert isinstance(raised.value.__cause__, error)
        assert raised.value.message == f"reading its arguments failed: {words}"


async def test_a_keyword_of_python_is_an_argument_too() -> None:
    @strata_tool(inline=True)
    def sort(class_: str, *, from_: int = 0) -> str:
        """Sorts."""
        return f"{class_} {from_}"

    assert await ToolRegistry([sort]).dispatch("sort", '{"class":"c","from":2}') == "c 2"


class Page(msgspec.Struct):
    number: Annotated[int, Meta(ge=1)] = 1
    inner: list[Page] | None = None


async def test_a_type_that_holds_itself_is_read_and_explained() -> None:
    @strata_tool(inline=True)
    def turn(page: Page) -> int:
        """Turns."""
        return page.number

    tools = ToolRegistry([turn])
    assert await tools.dispatch("turn", '{"page":{"number":2,"inner":[{"number":3}]}}') == "2"
    with pytest.raises(ToolArgumentParseFailure, match=r"argument 'page.inner\[0\].number': Expected `int` >= 1"):
        await tools.dispatch("turn", '{"page":{"inner":[{"number":0}]}}')
