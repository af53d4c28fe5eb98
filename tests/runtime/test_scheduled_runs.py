"""Runs that ask a scheduler for their slot: what waits, what is refused, and that every ending gives the slot back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from strata import (
    CompiledGraph,
    Completed,
    Event,
    Interrupted,
    NotAdmitted,
    Outcome,
    Runner,
    RunStream,
    Scheduler,
    StateGraph,
    ThreadPage,
    ThreadQuery,
    branch,
)
from strata.checkpoint.record import Checkpoint
from strata.ports import Stored
from strata.ports.events import RunEvent, RunStarted
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds, line
from tests.records import record


class Counting(MemoryStore):
    """Says which of its calls were made."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        self.calls.append("load")
        return await super().load_latest(thread_id)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        self.calls.append("save")
        return await super().save_if_latest(checkpoint, expected)

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        self.calls.append("list")
        return await super().list_threads(query)


def asking() -> CompiledGraph[Trail]:
    return line("A", "B").add_interrupt_boundary("A").compile(durable=False)


@asynccontextmanager
async def taken(scheduler: Scheduler, clock: HandClock, **metadata: str) -> AsyncGenerator[None]:
    """Another run has a slot, and keeps it while in the block."""
    entered, gate = asyncio.Event(), asyncio.Event()

    async def wait(state: Trail) -> Trail:
        entered.set()
        await gate.wait()
        return state

    runner = Runner(StateGraph(Trail).add_node("Wait", wait).compile(), scheduler=scheduler, clock=clock)
    running = asyncio.create_task(runner.run("other", Trail(), metadata=metadata))
    await entered.wait()
    try:
        yield
    finally:
        gate.set()
        await running


async def test_waits_sc13_what_waits_for_a_slot_asks_nothing_of_the_store() -> None:
    clock, store = HandClock(), Counting()
    scheduler, graph = Scheduler(1), asking()
    runner = Runner(graph, store, scheduler=scheduler, clock=clock)
    for call in (runner.run("t", Trail()), runner.resume("t", graph.approve("ana"))):
        store.calls.clear()
        async with taken(scheduler, clock):
            waiting = asyncio.create_task(call)
            await settle()
            assert store.calls == []
        assert isinstance(await waiting, Interrupted | Completed)
        assert scheduler.snapshot().active == 0


async def test_waits_sc14_without_a_queue_every_call_is_refused_and_nothing_is_asked_or_told() -> None:
    clock, store = HandClock(), Counting()
    scheduler, graph = Scheduler(1, max_queued=0), asking()
    told: list[RunEvent] = []
    runner = Runner(graph, store, scheduler=scheduler, clock=clock, observers=[told.append])

    async def entered(stream: RunStream[Trail]) -> None:
        async with stream:
            pass

    answer = graph.approve("ana")
    calls: list[Coroutine[Any, Any, object]] = [
        runner.run("t", Trail()),
        runner.resume("t", answer),
        runner.signal("t", Event("paid")),
        runner.recover("t"),
        entered(runner.stream("t", Trail())),
        entered(runner.stream_resume("t", answer)),
        entered(runner.stream_recover("t")),
    ]
    async with taken(scheduler, clock):
        for call in calls:
            with pytest.raises(NotAdmitted) as refused:
                await call
            assert refused.value.reason == "queue_full"
    assert (store.calls, told) == ([], [])


def breaks(state: Trail) -> Trail:
    raise ValueError


ENDINGS: list[tuple[StateGraph[Trail], float | None, str]] = [
    (line("A"), None, "Completed"),
    (line("A", "B").add_interrupt_boundary("A"), None, "Interrupted"),
    (StateGraph(Trail).add_node("A", breaks, inline=True), None, "Failed"),
    (line("A"), 0, "Cancelled"),
]


@pytest.mark.parametrize(("graph", "deadline", "ending"), ENDINGS, ids=[ending for *_, ending in ENDINGS])
async def test_waits_sc15_ex135_every_ending_gives_the_slot_back(graph: StateGraph[Trail], deadline: float | None, ending: str) -> None:
    scheduler = Scheduler(1)
    runner = Runner(graph.compile(), MemoryStore(), scheduler=scheduler, clock=HandClock())
    outcome = await (runner.run("t", Trail()) if deadline is None else runner.run("t", Trail(), deadline=deadline))
    assert type(outcome).__name__ == ending
    assert (scheduler.snapshot().active, scheduler.snapshot().queued) == (0, 0)


async def test_waits_sc16_ex135_a_graph_of_many_parts_runs_in_one_slot_and_an_end_takes_none() -> None:
    clock, scheduler = HandClock(), Scheduler(1)

    def first(state: Trail, results: list[Trail]) -> Trail:
        return results[0]

    def same(state: Trail) -> Trail:
        return state

    def leave(state: Trail, inside: Trail) -> Trail:
        return inside

    def items(state: Trail) -> list[str]:
        return ["x", "y"]

    def item(state: Trail, name: str) -> Trail:
        return state

    child = line("C", "D").compile()
    graph = (
        StateGraph(Trail)
        .add_parallel_group("Group", [branch("one", adds("1"), inline=True), branch("two", adds("2"), inline=True)], first)
        .add_subgraph("Work", child, enter=same, leave=leave)
        .add_map("Fan", child, items=items, key=str, enter=item, merge=first)
        .add_edge("Group", "Work")
        .add_edge("Work", "Fan")
    )
    runner = Runner(graph.compile(), MemoryStore(), scheduler=scheduler, clock=clock)
    outcome: Outcome[Trail] = await runner.run("t", Trail())
    assert outcome.unwrap().trail == "1CDCD"
    store = MemoryStore()
    await Runner(asking(), store).run("paused", Trail())
    async with taken(scheduler, clock):
        assert (await Runner(asking(), store, scheduler=scheduler, clock=clock).end("paused")).reason == "ended"


async def test_waits_sc18_the_metadata_of_a_run_says_whose_it_is() -> None:
    clock, scheduler = HandClock(), Scheduler(2, tenant_limit=1)
    runner = Runner(line("A").compile(), scheduler=scheduler, clock=clock)
    async with taken(scheduler, clock, tenant="acme"):
        held_back = asyncio.create_task(runner.run("t1", Trail(), metadata={"tenant": "acme"}))
        await settle()
        assert isinstance(await runner.run("t2", Trail(), metadata={"tenant": "brick"}), Completed)
        assert not held_back.done()
    assert isinstance(await held_back, Completed)


async def test_waits_sc19_the_first_event_says_how_long_the_run_waited() -> None:
    clock, scheduler = HandClock(), Scheduler(1)
    told: list[RunEvent] = []
    graph = line("A").compile()
    async with taken(scheduler, clock):
        waiting = asyncio.create_task(Runner(graph, scheduler=scheduler, clock=clock, observers=[told.append]).run("t", Trail()))
        await settle()
        await clock.pass_time(3)
    await waiting
    await Runner(graph, clock=clock, observers=[told.append]).run("t", Trail())
    assert [event.queued_for for event in told if isinstance(event, RunStarted)] == [3.0, None]


async def test_waits_sc20_a_sweep_that_gets_no_slot_leaves_the_thread_for_the_next_round() -> None:
    clock, store, scheduler = HandClock(), MemoryStore(), Scheduler(1, max_queued=0)
    graph = StateGraph(Trail).add_timer("Tick", 60).add_node("Tock", adds("t"), inline=True).add_edge("Tick", "Tock").compile()
    runner = Runner(graph, store, scheduler=scheduler, clock=clock)
    await runner.run("t", Trail())
    await clock.pass_time(60)
    async with taken(scheduler, clock):
        skipped = (await runner.wake_due()).skipped
    assert [(one.thread_id, one.reason) for one in skipped] == [("t", "it was not admitted: run not admitted: the scheduler's queue is full")]
    assert (await runner.thread("t")).state_name == "interrupted"
    assert [one.thread_id for one in (await runner.wake_due()).woken] == ["t"]


async def test_waits_sc21_a_recovery_that_gets_no_slot_has_only_listed() -> None:
    clock, store, scheduler = HandClock(), Counting(), Scheduler(1, max_queued=0)
    await store.save(record("t", status="running", suspended_node="A", next_node="B", state={"trail": "A"}, metadata={"strata.hops": "1"}))
    runner = Runner(line("A", "B").compile(), store, scheduler=scheduler, clock=clock)
    async with taken(scheduler, clock):
        report = await runner.recover_stale(stale_after=0)
    assert ([one.thread_id for one in report.skipped], report.recovered) == (["t"], ())
    assert store.calls == ["list"]
