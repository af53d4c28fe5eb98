"""Who goes on with a thread sees all that was kept for it until the thread was his: what was kept while he was on his way, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from strata import Completed, Context, Lease, Runner, StateGraph
from strata.ports.leases import Acquisition
from strata.stores.memory import MemoryStore
from tests.clocks import settle
from tests.graphs.trails import Trail

Meanwhile = Callable[[], Awaitable[None]]


class LastMoment(MemoryStore):
    """Something happens before the next lease is given."""

    meanwhile: Meanwhile | None = None

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await super().try_acquire_lease(thread_id, owner, ttl)


async def test_what_is_done_once_while_another_comes_for_the_thread_is_not_done_again() -> None:
    payments: list[str] = []
    may_pay, has_paid = asyncio.Event(), asyncio.Event()

    async def pay() -> str:
        payments.append("paid")
        return "receipt"

    async def charge(state: Trail, ctx: Context) -> Trail:
        await may_pay.wait()
        receipt = await ctx.once("pay", pay)
        if not has_paid.is_set():
            has_paid.set()
            await asyncio.get_running_loop().create_future()
        return state.replace(trail=receipt)

    store, graph = LastMoment(), StateGraph(Trail).add_node("Charge", charge).compile(durable=True)
    first = asyncio.create_task(Runner(graph, store, lease=Lease("first", 30)).run("t", Trail()))
    await settle()

    async def pays_and_dies() -> None:
        may_pay.set()
        await has_paid.wait()
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first

    store.meanwhile = pays_and_dies
    outcome = await Runner(graph, store, lease=Lease("second", 30)).recover("t")
    assert isinstance(outcome, Completed)
    assert (outcome.state.trail, payments) == ("receipt", ["paid"])
