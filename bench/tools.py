"""`python -m bench.tools`: what dispatching a call of a tool takes, beside decoding its arguments and calling its function."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from strata.tools import ToolContext, ToolMiddleware, ToolRegistry, strata_tool

CALLS = 100
ROUNDS = 3_000

ARGUMENTS = '{"order_id":"o-1","amount":5,"note":"broken on arrival"}'


class Arguments(msgspec.Struct):
    order_id: str
    amount: int
    note: str | None = None


async def refund(order_id: str, amount: int, note: str | None = None) -> str:
    """Refund part of an order."""
    return order_id


class _Instrument:
    """Records nothing, as one that is not sampled."""

    def span(self, name: str, attributes: Any, /, *, kind: str = "internal", within: Any = None) -> AbstractContextManager[Any]:
        return nullcontext(self)

    def record(self, metric: Any, value: float, labels: Any, /) -> None: ...

    def rename(self, name: str, /) -> None: ...

    def note(self, message: str, fields: Any, /) -> None: ...

    def set(self, key: str, value: Any, /) -> None: ...

    def fail(self, message: str, /) -> None: ...


TOOL = strata_tool(refund)
PLAIN = ToolRegistry([TOOL])
AROUND = ToolRegistry([TOOL], [ToolMiddleware()])
MEASURED = ToolRegistry([TOOL], instrument=_Instrument())
CONTEXT = ToolContext(thread_id="t", caller_id="agent", call_id="c1")


async def decoded() -> None:
    arguments = msgspec.json.decode(ARGUMENTS, type=Arguments)
    await refund(arguments.order_id, arguments.amount, arguments.note)


async def by_name() -> None:
    await refund(**msgspec.json.decode(ARGUMENTS))


async def dispatched() -> None:
    await PLAIN.dispatch("refund", ARGUMENTS)


async def with_context() -> None:
    await PLAIN.dispatch("refund", ARGUMENTS, CONTEXT)


async def with_middleware() -> None:
    await AROUND.dispatch("refund", ARGUMENTS, CONTEXT)


async def measured() -> None:
    await MEASURED.dispatch("refund", ARGUMENTS, CONTEXT)


WAYS: dict[str, Callable[[], Awaitable[None]]] = {
    "decoded by type, and the call": decoded,
    "decoded to a dict, and the call": by_name,
    "dispatch": dispatched,
    "dispatch with a context": with_context,
    "dispatch through a middleware": with_middleware,
    "dispatch with an instrument": measured,
}


async def main() -> None:
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in range(ROUNDS):  # in turns, and the best of many short stretches: a shared machine disturbs all others
        for what, way in WAYS.items():
            began = time.perf_counter()
            for _ in range(CALLS):
                await way()
            best[what] = min(best[what], time.perf_counter() - began)
    bare = best["decoded by type, and the call"]
    for what, seconds in best.items():
        print(f"{what:32} {seconds / CALLS * 1e9:6.0f} ns   {seconds / bare:4.1f}x")


if __name__ == "__main__":
    asyncio.run(main())
