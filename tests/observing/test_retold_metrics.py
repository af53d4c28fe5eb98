"""The recorded leases, recoveries and admissions, gone through by runners of our own on a clock that the test moves: the metrics are the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from strata import (
    Cancelled,
    Completed,
    Interrupted,
    Lease,
    LeaseHeld,
    NotAdmitted,
    OptionRefused,
    Runner,
    Scheduler,
    StateGraph,
    StoreError,
    ThreadRunning,
)
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.testing import FaultyStore
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES
from tests.graphs.orders import Order, orders_with_routes
from tests.graphs.stopped_orders import Death, dying_orders
from tests.graphs.trails import Trail, adds
from tests.observing.test_recorded_runs import FRESH, recorded_metrics
from tests.telemetry.test_recorded_runs import Collected
from tests.wire.policies import every

TTL = 30.0
ORDER = Order(order_id="o-1", amount=100)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=sorted(FACTORIES))
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> AsyncIterator[StoreBase]:
    async with FACTORIES[request.param](tmp_path, clock) as opened:
        yield opened


class Office:
    """Its workers measure with one instrument; each call has a worker of its own, as if the processes were many."""

    def __init__(self, graph: Any, store: StoreBase, clock: HandClock) -> None:
        self.graph = every(graph)
        self.store = store
        self.clock = clock
        self._collected = Collected()

    def worker(self, **options: Any) -> Runner[Any]:
        return Runner(self.graph, self.store, instrument=self._collected.instrument, clock=self.clock, **options)

    def metrics(self) -> dict[tuple[str, str], Any]:
        return {key: value for key, value in self._collected.metrics().items() if key != FRESH}


async def abandoned(death: Death, call: Coroutine[Any, Any, object]) -> None:
    """What a process leaves that dies when `death` is near: an abandoned durable run writes nothing."""
    run = asyncio.ensure_future(call)
    await death.is_near.wait()
    run.cancel()
    await asyncio.wait({run})


# Leases


async def test_lr2_mt1_a_lease_that_another_holds_is_counted_as_held(store: StoreBase, clock: HandClock) -> None:
    office = Office(orders_with_routes(), store, clock)
    answer = office.graph.approve("ana@example.com")
    assert isinstance(await office.worker(lease=Lease("worker-a", TTL)).run("order-1", ORDER), Interrupted)
    await store.try_acquire_lease("order-1", "worker-b", 60)
    with pytest.raises(LeaseHeld):
        await office.worker(lease=Lease("worker-a", TTL)).resume("order-1", answer)
    await clock.pass_time(60)
    assert isinstance(await office.worker(lease=Lease("worker-a", TTL)).resume("order-1", answer), Completed)
    for unusable in (Lease(" ", TTL), Lease("w", 0.000_01)):
        with pytest.raises(OptionRefused):
            await office.worker(lease=unusable).run("order-2", ORDER)
    assert office.metrics() == recorded_metrics("lease")


async def test_lr9_mt1_a_lease_that_another_worker_took_over_is_counted_as_lost(store: StoreBase, clock: HandClock) -> None:
    entered, pay = asyncio.Semaphore(0), asyncio.Event()

    async def pays(order: Order) -> Order:
        entered.release()
        await pay.wait()
        return order.replace(paid=True)

    graph = dying_orders().add_node("pay", pays)
    slow, quick = Office(graph, store, HandClock()), Office(graph, store, clock)
    running = asyncio.create_task(slow.worker(lease=Lease("worker-a", TTL)).run("order-1", ORDER))
    await entered.acquire()
    await clock.pass_time(TTL)  # by the store's clock, which worker-a does not see
    recovering = asyncio.create_task(quick.worker(lease=Lease("worker-b", TTL)).recover("order-1"))
    await entered.acquire()
    pay.set()
    lost, recovered = await asyncio.gather(running, recovering)
    assert isinstance(lost, Cancelled)
    assert lost.reason == "lease_lost"
    assert isinstance(recovered, Completed)
    assert slow.metrics() == recorded_metrics("lease_lost")
    assert [name for name, _ in quick.metrics() if name.startswith(("strata.lease", "strata.thread"))] == [
        "strata.lease.acquisitions",
        "strata.thread.recoveries",
    ]


# Recoveries


async def test_mt6_mt1_each_recovery_that_claims_the_thread_is_counted(store: StoreBase, clock: HandClock) -> None:
    office = Office(dying_orders(), store, clock)
    first, second, third = Death(), Death(), Death()
    await abandoned(first, office.worker(services=[first]).run("order-1", ORDER))
    with pytest.raises(ThreadRunning):
        await office.worker().resume("order-1", office.graph.approve("ana@example.com"))
    await abandoned(second, office.worker(services=[second]).recover("order-1"))
    await abandoned(third, office.worker(services=[third]).recover("order-1"))
    with pytest.raises(OptionRefused):
        await office.worker().recover_stale()
    assert (await office.worker().recover_stale(stale_after=60)).recovered == ()
    await clock.pass_time(120)
    [skipped] = (await office.worker().recover_stale(stale_after=1, max_recoveries=2)).skipped
    assert skipped.reason == "it was recovered 2 time(s) without a node completing"
    [recovered] = (await office.worker().recover_stale(stale_after=60)).recovered
    assert isinstance(recovered.outcome, Completed)
    assert office.metrics() == recorded_metrics("recovery")


async def test_mt6_mt7_a_sweep_counts_the_thread_that_it_wakes_and_one_that_finds_none_or_fails_counts_nothing(clock: HandClock) -> None:
    store = FaultyStore(MemoryStore(clock=clock))
    office = Office(ticking(), store, clock)
    await office.worker().run("t", Trail())
    before = office.metrics()
    assert (await office.worker().wake_due()).woken == ()
    store.disconnect()
    for _ in range(3):
        with pytest.raises(StoreError):
            await office.worker().wake_due()
    store.reconnect()
    assert office.metrics() == before
    await clock.pass_time(60)
    assert [one.thread_id for one in (await office.worker().wake_due()).woken] == ["t"]
    assert {key: value for key, value in office.metrics().items() if key[0] == "strata.thread.wakes"} == {
        ("strata.thread.wakes", '{"strata.wake.reason": "timer"}'): 1
    }


def ticking() -> StateGraph[Trail]:
    return StateGraph(Trail).add_timer("Tick", 60).add_node("Tock", adds("t"), inline=True).add_edge("Tick", "Tock")


# Admissions


async def test_mt5_mt1_each_decision_of_a_scheduler_is_counted(store: StoreBase, clock: HandClock) -> None:
    office, elsewhere = Office(orders_with_routes(), store, clock), Office(dying_orders(), store, clock)
    small = Order(order_id="o-1", amount=1)

    async def refused(scheduler: Scheduler, reason: str, **options: Any) -> None:
        with pytest.raises(NotAdmitted) as refusal:
            await office.worker(scheduler=scheduler).run("order-2", small, **options)
        assert refusal.value.reason == reason

    assert isinstance(await office.worker(scheduler=Scheduler(1, max_queued=0)).run("order-1", small, priority=5), Interrupted)
    taken, death = Scheduler(1, max_queued=0), Death()
    holding = asyncio.ensure_future(elsewhere.worker(scheduler=taken, services=[death]).run("order-3", small))
    await death.is_near.wait()
    await refused(taken, "queue_full")
    holding.cancel()
    await asyncio.wait({holding})
    paused = Scheduler(4, tenant_limits={"acme": 0}, max_queue_time=0.030)
    waiting = asyncio.create_task(refused(paused, "queue_timeout", metadata={"tenant": "acme"}))
    await clock.pass_time(0.030)
    await waiting
    closed = Scheduler()
    closed.close()
    await refused(closed, "closed")
    assert Counter(office.metrics()) + of_the_scheduler(elsewhere) == Counter(recorded_metrics("scheduler"))


def of_the_scheduler(office: Office) -> Counter[tuple[str, str]]:
    """What a slot that was taken by hand there, and by a run here, leaves beside the metrics of that run."""
    return Counter({key: value for key, value in office.metrics().items() if key[0].startswith("strata.scheduler")})
