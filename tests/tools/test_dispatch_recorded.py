"""The calls that the Rust engine recorded, made here: the same answers and errors, but where we answer better."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import pytest
from msgspec import Meta

from strata import (
    DuplicateTool,
    ToolArgumentParseFailure,
    ToolCancelled,
    ToolError,
    ToolExecutionFailure,
    ToolNotFound,
    ToolNotPermitted,
    ToolRegistry,
    strata_tool,
)
from strata.tools import Cancellation, ToolContext
from tests.tools.rust_twins import TWINS, WIRE

RECORDED: Final = [json.loads(line) for line in (WIRE / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
CALLS: Final = [one for one in RECORDED if "dispatch" in one and "context" not in one and "registry" not in one]

KINDS: Final[dict[str, type[ToolError]]] = {
    "tool_argument_parse_failure": ToolArgumentParseFailure,
    "tool_execution_failure": ToolExecutionFailure,
    "tool_not_found": ToolNotFound,
    "tool_not_permitted": ToolNotPermitted,
    "tool_cancelled": ToolCancelled,
    "duplicate_tool": DuplicateTool,
}


@strata_tool("refund", description="Refunds part of an order.", inline=True)
def refund(order_id: str, amount: Annotated[int, Meta(ge=0, le=4_294_967_295)], note: str | None = None) -> str:
    if amount == 0:
        raise ValueError("nothing to refund")
    return f"refunded {amount} on {order_id}" + ("" if note is None else f" ({note})")


def tools() -> ToolRegistry:
    others = [strata_tool(inline=True)(twin) for twin in TWINS if twin.__name__ != "refund"]
    return ToolRegistry([*others, refund])


ACCEPTED: Final = {
    '"letter":"bb"': "Python has no type of one character",
    '"i_8":300': "Python has one integer",
    '"with_default":null': "null means the default",
}
"""What we take and the Rust engine does not."""

OTHERWISE: Final = {
    ("no_args", "[]"): "the arguments aren't a JSON object",
    ("containers", '"list":"x"'): (
        "argument 'deque' must be an array; argument 'list' must be an array; "
        "argument 'map' must be an object; argument 'nested_list' must be an array"
    ),
}
"""What we refuse in other words: arguments by position, which Rust takes where there are none; and any JSON at all is no object."""


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call['tool']} {call['arguments'][:40]}")
async def test_a_recorded_call_comes_to_the_same(call: dict[str, Any]) -> None:
    name, arguments, expected = call["tool"], call["arguments"], call["dispatch"]
    text = next((text for (tool, part), text in OTHERWISE.items() if tool == name and part in arguments), None)
    if text is None and ("ok" in expected or any(part in arguments for part in ACCEPTED) or is_any(call)):
        assert await tools().dispatch(name, arguments) == expected.get("ok", "ok")
        return
    with pytest.raises(ToolError) as raised:
        await tools().dispatch(name, arguments)
    assert type(raised.value) is (ToolArgumentParseFailure if text is not None else KINDS[expected["error"]])
    if isinstance(raised.value, ToolArgumentParseFailure) and (text is not None or call["argument_problems"] is not None):
        assert raised.value.text == (text or call["argument_problems"])


def is_any(call: dict[str, Any]) -> bool:
    """Rust describes tuples and any JSON as objects, and so refuses them."""
    return call["tool"] == "containers" and '"any":null' in call["arguments"]


async def test_a_recorded_subset_refuses_the_same() -> None:
    subset = tools().subset(["refund"])
    recorded = [one for one in RECORDED if one.get("registry") == "subset of refund"]
    for call in recorded:
        with pytest.raises(KINDS[call["dispatch"]["error"]]) as raised:
            await subset.dispatch(call["tool"], call["arguments"])
        assert getattr(raised.value, "name") == call["dispatch"]["text"]  # noqa: B009
    assert len(recorded) == 2


async def test_what_a_recorded_registry_refuses_is_refused() -> None:
    with pytest.raises(ToolNotFound) as unknown:
        tools().subset(["ghost"])
    with pytest.raises(DuplicateTool) as twice:
        tools().register(refund)
    recorded = [one["result"] for one in RECORDED if "result" in one]
    assert recorded == [{"error": "tool_not_found", "text": unknown.value.name}, {"error": "duplicate_tool", "text": twice.value.name}]


async def test_a_recorded_call_whose_token_has_fired_is_cancelled() -> None:
    [call] = [one for one in RECORDED if one.get("context") == "a token that has fired"]
    cancellation = Cancellation()
    cancellation.fire()
    with pytest.raises(KINDS[call["dispatch"]["error"]]) as raised:
        await tools().dispatch(call["tool"], "{}", ToolContext(cancellation=cancellation))
    assert getattr(raised.value, "name") == call["dispatch"]["text"]  # noqa: B009
