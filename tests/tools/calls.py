"""Tools for tests, and nodes that call them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from msgspec import Meta

from strata import CompiledGraph, Context, StateGraph
from strata.ports.events import RunEvent
from strata.testing import EventRecorder
from strata.tools import Proceed, ToolCall, ToolContext, ToolMiddleware, strata_tool
from tests.graphs.trails import Trail


class Order:
    """An order that `refund` gives money back of; `refused` is why it does not."""

    def __init__(self, *, refused: Exception | None = None) -> None:
        self.refunds: list[tuple[str, int, str | None]] = []
        self.refused = refused


@strata_tool(description="Refunds part of an order.")
async def refund(order_id: str, amount: Annotated[int, Meta(ge=0)], ctx: ToolContext, note: str | None = None) -> str:
    order = ctx.service(Order)
    if order is not None:
        order.refunds.append((order_id, amount, note))
        if order.refused is not None:
            raise order.refused
    return f"refunded {amount} of {order_id}"


def echo(name: str = "echo") -> Any:
    """A tool that gives back its text."""

    @strata_tool(name, description="Gives back its text.")
    async def repeat(text: str = "") -> str:
        return text

    return repeat


def seeing(seen: list[ToolContext], name: str = "look") -> Any:
    """A tool that keeps the context it gets."""

    @strata_tool(name, description="Looks at its context.")
    async def look(ctx: ToolContext) -> str:
        seen.append(ctx)
        return "seen"

    return look


class Diary(ToolMiddleware):
    """Writes down what passes."""

    def __init__(self, name: str = "diary", lines: list[str] | None = None) -> None:
        self.name = name
        self.lines: list[str] = [] if lines is None else lines
        self.calls: list[ToolCall] = []

    async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
        self.calls.append(call)
        self.lines.append(f"{self.name} in")
        try:
            return await proceed(call)
        finally:
            self.lines.append(f"{self.name} out")

    async def on_refused(self, call: ToolCall, refusal: Exception) -> None:
        self.calls.append(call)
        self.lines.append(f"{self.name} told: {refusal}")


def asking(work: Callable[[Context], Awaitable[object]], *, durable: bool = True) -> CompiledGraph[Trail]:
    """One node, `Ask`, that keeps as its trail what `work` gives."""

    async def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=str(await work(ctx)))

    return StateGraph(Trail).add_node("Ask", ask).compile(id="asks", version="1", durable=durable)


def pairs(context: ToolContext) -> Mapping[str, Any]:
    """What a context says, without what it holds."""
    fields = ("thread_id", "run_id", "node_path", "attempt", "metadata", "caller_id", "call_id")
    return {field: getattr(context, field) for field in fields}


async def until(recorder: EventRecorder, kind: type[RunEvent]) -> None:
    """Let the loop turn until that has happened."""
    for _ in range(100):
        if recorder.lines(kind):
            return
        await asyncio.sleep(0)
    raise AssertionError(f"no {kind.__name__}")
