"""Runs under a lease: nobody else works on the thread, and who lost it writes nothing more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strata import (
    Cancelled,
    Completed,
    Event,
    Interrupted,
    Lease,
    LeaseHeld,
    OptionRefused,
    Outcome,
    Refused,
    Runner,
    SignalRefused,
    StateGraph,
    StoreLacksLeases,
    ThreadNotFound,
)
from strata.checkpoint.record import Checkpoint
from strata.errors import ThreadFinished
from strata.ports import Acquired, Stored, ThreadLease
from strata.stores.memory import MemoryStore
from tests.clocks import START, HandClock
from tests.graphs.trails import Trail, adds, line
from tests.logs import log
from tests.odd_stores import BareStore

TTL = 30.0


class Shared:
    """A store by whose clock leases run, and workers with clocks of their own."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.store = MemoryStore(clock=self.clock)

    def worker(self, graph: StateGraph[Trail], name: str = "worker-1", *, durable: bool = False, clock: HandClock | None = None) -> Runner[Trail]:
        return Runner(graph.compile(durable=durable), self.store, lease=Lease(name, TTL), clock=self.clock if clock is None else clock)

    async def taken(self, by: str = "worker-2", thread_id: str = "t") -> ThreadLease:
        got = await self.store.try_acquire_lease(thread_id, by, TTL)
        assert isinstance(got, Acquired)
        return got.lease

    async def taken_over(self) -> ThreadLease:
        """The lease runs out by the store's clock, which the worker does not see, and worker-2 takes the thread."""
        await self.clock.pass_time(TTL)
        return await self.taken()

    async def holder(self, thread_id: str = "t") -> str | None:
        held = await self.store.get_lease(thread_id)
        return None if held is None else held.owner


class Gate:
    """A node that waits until it is let on, and says whether it was cancelled."""

    def __init__(self) -> None:
        self.entered, self.open = asyncio.Event(), asyncio.Event()
        self.was_cancelled = False

    async def node(self, state: Trail) -> Trail:
        self.entered.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return state.replace(trail=state.trail + "g")

    def graph(self) -> StateGraph[Trail]:
        """Charge, which waits -> Ship; it pauses between the two."""
        return pausing(StateGraph(Trail).add_node("Charge", self.node))


def pausing(graph: StateGraph[Trail] | None = None) -> StateGraph[Trail]:
    first = StateGraph(Trail).add_node("Charge", adds("c"), inline=True) if graph is None else graph
    return first.add_node("Ship", adds("s"), inline=True).add_edge("Charge", "Ship").add_interrupt_boundary("Charge")


def lost(outcome: Outcome[Trail]) -> Cancelled[Trail]:
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "lease_lost"
    return outcome


async def test_lr1_ls8_ex55_a_run_holds_its_thread_and_gives_it_back() -> None:
    shared, gate = Shared(), Gate()
    running = asyncio.create_task(shared.worker(gate.graph()).run("t", Trail()))
    await gate.entered.wait()
    assert await shared.store.get_lease("t") == ThreadLease("t", "worker-1", token=1, expires_at=int((START + TTL) * 1000))
    gate.open.set()
    assert isinstance(await running, Interrupted)
    assert await shared.holder() is None


@pytest.mark.parametrize("name", ["worker-1", "worker-2"])
async def test_lr2_lr3_ls9_ck113_a_held_thread_refuses_every_call_even_to_its_holders_name(name: str) -> None:
    shared = Shared()
    runner = shared.worker(pausing(), name)
    text = r"^thread 't' is held by 'worker-2' until 2026-11-02T12:00:30Z"
    held = await shared.taken()
    with pytest.raises(LeaseHeld, match=text):
        await runner.run("t", Trail())
    with pytest.raises(LeaseHeld, match=text):
        async with runner.stream("t", Trail()):
            pass
    assert await log(shared.store) == []
    await shared.store.release_lease(held)
    await runner.run("t", Trail())
    before = await log(shared.store)
    held = await shared.taken()
    answer = pausing().compile().approve("ana")
    for call in (runner.resume("t", answer), runner.end("t")):
        with pytest.raises(LeaseHeld, match=text):
            await call
    assert await log(shared.store) == before
    await shared.store.release_lease(held)
    assert isinstance(await runner.resume("t", answer), Completed)


async def test_lr3_an_event_for_a_held_thread_is_refused() -> None:
    shared = Shared()
    graph = StateGraph(Trail).add_wait_for_event("Wait", "paid").add_node("Ship", adds("s"), inline=True).add_edge("Wait", "Ship")
    runner = shared.worker(graph)
    await runner.run("t", Trail())
    held = await shared.taken()
    with pytest.raises(LeaseHeld):
        await runner.signal("t", Event("paid"))
    await shared.store.release_lease(held)
    assert isinstance(await runner.signal("t", Event("paid")), Completed)


@pytest.mark.leaves_leases("worker-2")
async def test_lr4_ls10_ck114_what_is_refused_for_itself_takes_no_lease() -> None:
    shared = Shared()
    runner = shared.worker(pausing())
    await runner.run("t", Trail())
    misfit = pausing().compile().approve("ana").override(n="many")  # pyright: ignore[reportArgumentType]
    with pytest.raises(SignalRefused):
        await runner.resume("t", misfit)
    for call in (runner.resume("nobody", misfit), runner.end("nobody")):
        with pytest.raises(ThreadNotFound):
            await call
    assert (await shared.taken()).token == 2
    assert (await shared.taken(thread_id="nobody")).token == 1


@pytest.mark.leaves_leases("worker-2")
async def test_lr5_a_resume_and_an_end_take_a_lease_each_and_an_end_again_takes_none() -> None:
    shared = Shared()
    runner = shared.worker(pausing())
    await runner.run("t", Trail())
    await runner.end("t")
    assert (await runner.end("t")).reason == "ended"
    assert (await shared.taken()).token == 3
    with pytest.raises(ThreadFinished):
        await runner.resume("t", pausing().compile().approve("ana"))


async def test_lr6_a_node_that_takes_longer_than_the_lease_keeps_it() -> None:
    shared, gate = Shared(), Gate()
    running = asyncio.create_task(shared.worker(gate.graph()).run("t", Trail()))
    await gate.entered.wait()
    await shared.clock.pass_time(2.5 * TTL)
    held = await shared.store.get_lease("t")
    assert held is not None
    assert held.expires_at > (START + 2.5 * TTL) * 1000
    gate.open.set()
    await running
    assert shared.clock.timers == 0


@pytest.mark.leaves_leases("worker-2")
async def test_lr9_ls13_ck115_a_run_whose_thread_was_taken_stops_at_its_next_renewal_and_writes_nothing() -> None:
    shared, gate, own = Shared(), Gate(), HandClock()
    running = asyncio.create_task(shared.worker(gate.graph(), clock=own).run("t", Trail(trail="x")))
    await gate.entered.wait()
    await shared.taken_over()
    await own.pass_time(TTL / 3)
    outcome = lost(await running)
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("Charge", ("Charge",), "x")
    assert gate.was_cancelled
    assert await log(shared.store) == []
    assert await shared.holder() == "worker-2"


@pytest.mark.leaves_leases("worker-2")
async def test_lr10_ls14_a_pause_that_may_not_be_stored_is_a_lost_lease_with_the_state_behind_its_node() -> None:
    shared, gate = Shared(), Gate()
    running = asyncio.create_task(shared.worker(gate.graph(), clock=HandClock()).run("t", Trail(trail="x")))
    await gate.entered.wait()
    await shared.taken_over()
    gate.open.set()
    outcome = lost(await running)
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("Charge", ("Charge",), "xg")
    assert await log(shared.store) == []


@pytest.mark.leaves_leases("worker-2")
@pytest.mark.parametrize("ends", ["failed", "cancelled"])
async def test_lr10_ls14_nor_is_a_failure_or_a_cancellation(ends: str) -> None:
    shared, gate = Shared(), Gate()

    async def fails(state: Trail) -> Trail:
        await gate.node(state)
        raise ValueError

    runner = shared.worker(pausing(StateGraph(Trail).add_node("Charge", fails)), clock=HandClock())
    running = asyncio.create_task(runner.run("t", Trail(trail="x")))
    await gate.entered.wait()
    await shared.taken_over()
    if ends == "failed":
        gate.open.set()
    else:
        runner.cancel("t")
    outcome = lost(await running)
    assert (outcome.node, outcome.state.trail) == ("Charge", "x")
    assert await log(shared.store) == []


@pytest.mark.leaves_leases("worker-2")
async def test_ls14_a_resume_that_lost_its_lease_before_its_stamp_runs_nothing_and_can_be_made_again() -> None:
    shared = Shared()
    ran: list[str] = []

    def ship(state: Trail) -> Trail:
        ran.append("Ship")
        return state

    graph = pausing().add_node("Ship", ship, inline=True)
    await shared.worker(graph).run("t", Trail())

    class Overtaken(MemoryStore):
        """Its lease is given, and taken by another before anything is saved."""

        async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int:
            await self.release_lease(lease)
            await self.try_acquire_lease(lease.thread_id, "worker-2", TTL)
            return await super().save_under_lease(checkpoint, lease, expected)

    store = Overtaken(clock=shared.clock)
    stored = await shared.store.load_latest("t")
    assert isinstance(stored, Stored)
    await store.save(stored.checkpoint)
    compiled = graph.compile(durable=False)
    outcome = lost(await Runner(compiled, store, lease=Lease("worker-1", TTL), clock=shared.clock).resume("t", compiled.approve("ana")))
    assert (outcome.node, outcome.stopped_at) == ("Ship", ("Charge",))
    assert (ran, await log(store)) == ([], ["interrupted:Charge>Ship"])


@pytest.mark.leaves_leases("worker-2")
async def test_lr13_ls15_a_lease_lost_inside_a_graph_inside_stops_every_level() -> None:
    shared, gate, own = Shared(), Gate(), HandClock()
    child = StateGraph(Trail).add_node("Charge", gate.node).compile(durable=False)

    def leave(state: Trail, inside: Trail) -> Trail:
        return inside

    graph = StateGraph(Trail).add_subgraph("Work", child, enter=lambda state: state, leave=leave).add_node("After", adds("a"), inline=True)
    running = asyncio.create_task(shared.worker(graph.add_edge("Work", "After"), clock=own).run("t", Trail()))
    await gate.entered.wait()
    await shared.taken_over()
    await own.pass_time(TTL / 3)
    outcome = lost(await running)
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("Work", ("Work", "Charge"), "")
    assert await log(shared.store) == []


async def test_lr14_ls16_a_store_without_leases_runs_only_what_asks_for_none() -> None:
    store, graph = BareStore(), pausing().compile(durable=False)
    with pytest.raises(StoreLacksLeases, match=r"^this checkpoint store has no leases"):
        await Runner(graph, store, lease=Lease("worker-1", TTL)).run("t", Trail())
    assert store.newest == {}
    assert isinstance(await Runner(graph, store).run("t", Trail()), Interrupted)


BAD_LEASES = [(Lease(" ", TTL), "a run's lease needs an owner"), (Lease("worker-1", 0.0001), "a run's lease ttl must be at least 1 millisecond")]


@pytest.mark.parametrize(("lease", "text"), BAD_LEASES, ids=["owner", "ttl"])
async def test_lr14_ls16_a_lease_that_cannot_be_used_refuses_run_resume_and_end(lease: Lease, text: str) -> None:
    graph = pausing().compile(durable=False)

    async def refused(call: Any) -> None:
        with pytest.raises(OptionRefused, match=text):
            await call

    def runner() -> Runner[Trail]:
        return Runner(graph, MemoryStore(), lease=lease)

    await refused(runner().run("t", Trail()))
    await refused(runner().resume("t", graph.approve("ana")))
    await refused(runner().end("t"))


async def test_lr15_ls17_a_sweep_leaves_a_held_thread_alone_and_wakes_it_afterwards() -> None:
    shared = Shared()
    graph = StateGraph(Trail).add_timer("Tick", 1).add_node("Tock", adds("t"), inline=True).add_edge("Tick", "Tock")
    runner = shared.worker(graph)
    await runner.run("t", Trail())
    held = await shared.taken()
    await shared.clock.pass_time(1)
    skipped = (await runner.wake_due()).skipped
    assert [(one.thread_id, str(one.reason).splitlines()[0]) for one in skipped] == [("t", "it is held by 'worker-2' until 2026-11-02T12:00:30Z")]
    await shared.store.release_lease(held)
    assert [one.thread_id for one in (await runner.wake_due()).woken] == ["t"]
    assert await shared.holder() is None


@pytest.mark.parametrize("own", [True, False], ids=["with a lease", "without"])
async def test_rc17_ck92_a_thread_whose_worker_may_live_is_not_recovered(own: bool) -> None:
    shared = Shared()
    graph = line("A", "B").compile()
    await Runner(graph, shared.store, clock=shared.clock).run("t", Trail())
    died = (await shared.store.get_log("t", limit=1)).records[0].checkpoint
    assert isinstance(died, Checkpoint)
    await shared.store.save(died)
    await shared.taken("worker-9")
    runner = Runner(graph, shared.store, lease=Lease("worker-1", TTL) if own else None, clock=shared.clock)
    with pytest.raises(LeaseHeld, match=r"^thread 't' is held by 'worker-9' until 2026-11-02T12:00:30Z"):
        await runner.recover("t")
    await shared.clock.pass_time(TTL)
    assert isinstance(await runner.recover("t"), Completed)
    assert await shared.holder() is None


async def test_rc24_a_running_thread_is_not_ended_while_its_worker_may_live() -> None:
    shared = Shared()
    graph = line("A", "B").compile()
    await Runner(graph, shared.store, clock=shared.clock).run("t", Trail())
    died = (await shared.store.get_log("t", limit=2)).records[1].checkpoint
    assert isinstance(died, Checkpoint)
    await shared.store.save(died)
    await shared.taken("worker-9")
    runner = Runner(graph, shared.store, clock=shared.clock)
    with pytest.raises(LeaseHeld):
        await runner.end("t")
    await shared.clock.pass_time(TTL)
    assert (await runner.end("t")).reason == "ended"
    assert (await log(shared.store))[-1] == "ended:B>-"
    with pytest.raises(Refused, match="its latest checkpoint is ended"):
        await runner.recover("t")
