"""Many who want one thread at the same time: an event, an end and sweeps of several workers; and a worker that comes back too late."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from strata import Cancelled, CompiledGraph, Completed, Context, Event, Lease, Refused, Runner, StateGraph
from strata.stores import StoreBase
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail
from tests.logs import checkpoints

WAIT = 60.0
TTL = 30.0
THREADS = [f"t{number}" for number in range(6)]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=sorted(FACTORIES))
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> AsyncIterator[StoreBase]:
    async with FACTORIES[request.param](tmp_path, clock) as opened:
        yield opened


class Shipping:
    """Wait, for an event or a minute, then Ship, which counts how often a thread was shipped."""

    def __init__(self) -> None:
        self.shipped = Counter[str]()

    async def ship(self, state: Trail, ctx: Context) -> Trail:
        self.shipped[ctx.thread_id] += 1
        await asyncio.sleep(0)
        return state.replace(trail="shipped")

    def graph(self, *, durable: bool) -> CompiledGraph[Trail]:
        graph = StateGraph(Trail).add_wait_for_event("Wait", "paid", timeout=WAIT, on_timeout="Ship").add_node("Ship", self.ship)
        return graph.add_edge("Wait", "Ship").compile(durable=durable)


@pytest.mark.parametrize("durable", [True, False], ids=["durable", "bounds"])
@pytest.mark.parametrize("leased", [True, False], ids=["leased", "free"])
async def test_tmr_01_of_an_event_an_end_and_three_sweeps_at_once_one_has_the_thread(
    store: StoreBase, clock: HandClock, leased: bool, durable: bool
) -> None:
    shipping = Shipping()
    graph = shipping.graph(durable=durable)
    workers = [Runner(graph, store, lease=Lease(name, TTL) if leased else None, clock=clock) for name in ("a", "b", "c")]
    for thread_id in THREADS:
        await workers[0].run(thread_id, Trail())
    await clock.pass_time(WAIT)
    signals = [workers[0].signal(thread_id, Event("paid")) for thread_id in THREADS[::2]]
    ends = [workers[1].end(thread_id) for thread_id in THREADS[1::2]]
    told = await asyncio.gather(*(worker.wake_due(max_concurrent=2) for worker in workers), *signals, *ends, return_exceptions=True)
    assert [fault for fault in told if isinstance(fault, BaseException) and not isinstance(fault, Refused)] == []
    assert max(shipping.shipped.values(), default=0) <= 1
    for thread_id in THREADS:
        records = await checkpoints(store, thread_id)
        was_ended = records[-1].status == "ended"
        assert shipping.shipped[thread_id] == 1 or was_ended, "nobody had it"
        assert records[-1].state_name in ("completed", "ended", "resumed")


async def test_host_01_a_worker_that_stalled_is_fenced_off_though_its_successor_has_the_same_name(store: StoreBase, clock: HandClock) -> None:
    entered, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def charge(state: Trail, ctx: Context) -> Trail:
        entered.release()
        await go_on.wait()
        return state.replace(trail="recovered" if ctx.is_recovery else "stalled")

    graph = StateGraph(Trail).add_node("Charge", charge).compile()
    stalled = asyncio.create_task(Runner(graph, store, lease=Lease("worker", TTL), clock=HandClock()).run("t", Trail()))
    await entered.acquire()
    await clock.pass_time(TTL)  # by the store's clock; the worker's own stands still, as a machine does that sleeps
    successor = asyncio.create_task(Runner(graph, store, lease=Lease("worker", TTL), clock=clock).recover("t"))
    await entered.acquire()
    go_on.set()
    late, first = await stalled, await successor
    assert isinstance(late, Cancelled)
    assert late.reason == "lease_lost"
    assert isinstance(first, Completed)
    assert (first.state.trail, (await Runner(graph, store).thread("t")).state.trail) == ("recovered", "recovered")
    assert await store.get_lease("t") is None
