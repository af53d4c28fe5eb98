"""What a hostile or broken model sends: a clear refusal, no crash, in bounded time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import ToolArgumentParseFailure, ToolError, ToolRegistry, strata_tool
from strata.tools import ToolContext
from tests.tools.calls import Order, refund

NO_JSON = "the arguments aren't valid JSON"
INTEGER = "argument 'amount' must be an integer"


@strata_tool(inline=True)
def anything(value: Any = None, name: str = "", rows: list[dict[str, int]] = []) -> str:  # noqa: B006
    """Takes anything."""
    return f"{name}{len(rows)}"


TOOLS = ToolRegistry([refund, anything])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"order_id":"o","amount":1e400}', NO_JSON),
        ('{"order_id":"o","amount":NaN}', NO_JSON),
        ('{"order_id":"o","amount":-Infinity}', NO_JSON),
        ('{"order_id":"o","amount":true}', INTEGER),
        ('{"order_id":"o","amount":18446744073709551616}', INTEGER),
        ('{"order_id":"o","amount":-9223372036854775809}', INTEGER),
        (f'{{"order_id":"o","amount":{"9" * 100}}}', INTEGER),
        (f'{{"order_id":"o","amount":{"9" * 100_000}}}', NO_JSON),
        (f'{{"order_id":"o","amount":5,"x":{"[" * 5000}{"]" * 5000}}}', NO_JSON),
        (f'{{"order_id":"o","amount":5,"x":{"[" * 127}{"]" * 127}}}', NO_JSON),
        (f'{{"order_id":"o","amount":{"[" * 5000}', NO_JSON),
        ('{"a":' * 5000, NO_JSON),
        ('{"order_id":"\\ud800","amount":5}', NO_JSON),
        ('{"order_id":"\ud800","amount":5}', NO_JSON),
        ('{"order_id":"o","amount":5}{"order_id":"o","amount":6}', NO_JSON),
        ('\ufeff{"order_id":"o","amount":5}', NO_JSON),
        ("\x00", NO_JSON),
        ('{"order_id":"o","amount":05}', NO_JSON),
        ("{'order_id':'o','amount':5}", NO_JSON),
        ('{"__class__":"Order","__init__":{}}', "argument 'amount' is missing; argument 'order_id' is missing"),
    ],
)
async def test_what_is_hostile_is_refused_and_never_reaches_the_tool(arguments: str, told: str) -> None:
    order = Order()
    with pytest.raises(ToolArgumentParseFailure) as raised:
        await TOOLS.dispatch("refund", arguments, ToolContext().with_service(order))
    assert (raised.value.text, order.refunds) == (told, [])


async def test_what_nests_as_deep_as_all_engines_read_is_taken() -> None:
    assert await TOOLS.dispatch("anything", f'{{"value":{"[" * 126}{"]" * 126}}}') == "0"
    assert await TOOLS.dispatch("anything", f'{{"name":"{"[" * 1000}"}}') == f"{'[' * 1000}0"


async def test_integers_of_64_bits_are_taken() -> None:
    for number in (2**64 - 1, 2**63, 0):
        assert await TOOLS.dispatch("refund", f'{{"order_id":"o","amount":{number}}}') == f"refunded {number} of o"


@pytest.mark.parametrize("arguments", ['{"value":[{"deep":[18446744073709551616]}]}', '{"rows":[{"a":1},{"b":-9223372036854775809}]}'])
async def test_an_integer_that_no_other_engine_has_is_refused_wherever_it_stands(arguments: str) -> None:
    with pytest.raises(ToolArgumentParseFailure, match="the arguments hold an integer of more than 64 bits"):
        await TOOLS.dispatch("anything", arguments)


async def test_a_text_of_ten_megabytes_is_taken_in_bounded_time() -> None:
    text = "x:" * 5_000_000
    began = time.process_time()
    assert len(await TOOLS.dispatch("anything", f'{{"name":"{text}"}}')) == 10_000_001
    with pytest.raises(ToolArgumentParseFailure, match="must be an integer"):
        await TOOLS.dispatch("refund", f'{{"order_id":"o","amount":"{text}"}}')
    with pytest.raises(ToolArgumentParseFailure, match="aren't valid JSON"):
        await TOOLS.dispatch("refund", f'{{"order_id":"{text}')
    assert time.process_time() - began < 5.0  # it takes a tenth of that


async def test_a_hundred_thousand_names_are_taken_in_bounded_time() -> None:
    names = ",".join(f'"n{number}":{{"n":{number}}}' for number in range(100_000))
    began = time.process_time()
    assert await TOOLS.dispatch("anything", f'{{"value":{{{names}}}}}') == "0"
    with pytest.raises(ToolArgumentParseFailure, match=r"argument 'value.n7' is given twice"):
        await TOOLS.dispatch("anything", f'{{"value":{{{names},"n7":{{}}}}}}')
    assert time.process_time() - began < 5.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["value", "name", "rows", "order_id", "amount", "x"]), inner, max_size=4)
    ),
)


@given(st.text() | JSON.map(repr) | st.binary().map(lambda data: data.decode("latin-1")), st.sampled_from(["refund", "anything"]))
async def test_whatever_a_model_sends_it_is_an_answer_or_a_tool_error(arguments: str, name: str) -> None:
    for call in (TOOLS.dispatch(name, arguments), TOOLS.dispatch(arguments, "{}"), answer(name, arguments)):
        try:
            assert isinstance(await call, str)
        except ToolError:
            continue


@given(JSON)
async def test_whatever_json_a_model_sends_it_is_an_answer_or_a_tool_error(value: object) -> None:
    import json

    arguments = json.dumps(value)
    for name in ("refund", "anything"):
        assert isinstance(await answer(name, arguments), str)


async def answer(name: str, arguments: str) -> str:
    return (await TOOLS.answer(name, arguments, on_failure="tell_model")).content
