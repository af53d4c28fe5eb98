"""Waits inside a subgraph: what is stored, who answers, what a timeout ends (strata-waits.md WT19 to WT28, WT34, WT35)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    Context,
    Event,
    Interrupted,
    Lease,
    LeaseHeld,
    NodeStarted,
    NotWaiting,
    Refused,
    Runner,
    Scheduler,
    StateGraph,
    ThreadQuery,
    Token,
)
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder, TestClock
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints, log

CHECK = adds("C")


def around(child: CompiledGraph[Trail]) -> CompiledGraph[Trail]:
    """Verify, which is the child, and then Done."""
    graph = StateGraph(Trail).add_subgraph("Verify", child, enter=lambda state: state, leave=lambda _, inner: inner)
    return graph.add_node("Done", adds("D"), inline=True).add_edge("Verify", "Done").compile(durable=False)


def timed(then: Any = CHECK) -> StateGraph[Trail]:
    """A timer of five minutes, and what comes then."""
    return StateGraph(Trail).add_timer("Window", 300).add_node("Check", then).add_edge("Window", "Check")


def deploying(**options: Any) -> StateGraph[Trail]:
    graph = StateGraph(Trail).add_wait_for_event("Deploying", "deployment.finished", **options)
    return graph.add_node("Check", adds("C"), inline=True).add_edge("Deploying", "Check")


async def says(state: Trail, ctx: Context) -> Trail:
    await ctx.token("well")
    return adds("C")(state)


class Paused:
    """A thread that waits, on a clock that the test moves."""

    def __init__(self, graph: CompiledGraph[Trail], **options: Any) -> None:
        self.clock = TestClock()
        self.store = MemoryStore(clock=self.clock)
        self.recorder = EventRecorder()
        self.runner = Runner(graph, self.store, clock=self.clock, observers=[self.recorder], **options)

    async def started(self) -> Interrupted[Trail]:
        outcome = await self.runner.run("t", Trail())
        assert isinstance(outcome, Interrupted)
        self.recorder.clear()
        return outcome


async def test_wt19_a_timer_inside_is_the_threads_and_goes_on_inside() -> None:
    paused = Paused(around(timed().compile(durable=False)))
    outcome = await paused.started()
    [record] = await checkpoints(paused.store)
    assert record.nested is not None
    assert (record.wait, record.nested.wait) == (None, record.innermost.wait)
    assert outcome.wait is not None
    due = outcome.wait.wake_at
    assert due is not None
    assert [thread.thread_id for thread in (await paused.store.list_threads(ThreadQuery(due_by=due))).threads] == ["t"]
    await paused.clock.advance(300)
    assert (await paused.runner.wake("t")).unwrap().trail == "CD"


async def test_wt20_an_event_reaches_the_child_that_waits_for_it() -> None:
    paused = Paused(around(deploying().compile(durable=False)))
    await paused.started()
    outcome = await paused.runner.signal("t", Event("deployment.finished", overrides={"trail": "x"}))
    assert outcome.unwrap().trail == "xCD"


async def test_wt21_a_timeout_without_a_route_ends_every_level() -> None:
    paused = Paused(around(deploying(timeout=60).compile(durable=False)))
    await paused.started()
    await paused.clock.advance(61)
    outcome = await paused.runner.wake("t")
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, outcome.stopped_at) == ("ended", ("Verify", "Deploying"))
    assert (await log(paused.store))[-1] == "ended:Verify>- / ended:Deploying>-"
    assert [level.wait for level in (await checkpoints(paused.store))[-1].levels()] == [None, None]
    with pytest.raises(Refused, match="was ended"):
        await paused.runner.signal("t", Event("deployment.finished"))


async def test_wt27_a_woken_thread_has_a_reader() -> None:
    paused = Paused(timed(says).compile(durable=False))
    await paused.started()
    await paused.clock.advance(300)
    async with paused.runner.stream_wake("t") as events:
        seen = [event async for event in events]
    assert [event.path for event in seen if isinstance(event, NodeStarted | Token)] == ["Check", "Check"]
    assert len(await checkpoints(paused.store)) == 2
    assert paused.recorder.lines()[0:3:2] == ["RunStarted resume Check", "Resumed interrupted Window (timer)"]


async def test_wt28_inside_a_subgraph_its_tokens_are_named_by_the_way() -> None:
    paused = Paused(around(timed(says).compile(durable=False)))
    await paused.started()
    await paused.clock.advance(300)
    async with paused.runner.stream_wake("t") as events:
        seen = [event async for event in events]
    assert [event.path for event in seen if isinstance(event, Token)] == ["Verify/Check"]
    assert [event.path for event in seen if isinstance(event, NodeStarted)][-1] == "Done"


async def test_wt34_a_thread_that_another_worker_holds_is_not_woken() -> None:
    holders: list[str] = []

    async def looks(state: Trail, ctx: Context) -> Trail:
        held = await paused.store.get_lease(ctx.thread_id)
        holders.append("" if held is None else held.owner)
        return adds("C")(state)

    paused = Paused(timed(looks).compile(durable=False), lease=Lease("worker-1", 30))
    await paused.started()
    await paused.clock.advance(300)
    taken = await paused.store.try_acquire_lease("t", "worker-2", 30)
    with pytest.raises(LeaseHeld) as refusal:
        await paused.runner.wake("t")
    assert str(refusal.value) == "thread 't' is held by 'worker-2' until 2026-11-02T12:05:30Z"
    assert len(await checkpoints(paused.store)) == 1
    await paused.store.release_lease(taken.lease)
    assert isinstance(await paused.runner.wake("t"), Completed)
    assert holders == ["worker-1"]
    assert await paused.store.get_lease("t") is None


async def test_wt35_of_two_that_wait_for_a_slot_the_more_important_wakes_the_thread() -> None:
    scheduler = Scheduler(1)
    paused = Paused(timed().compile(durable=False), scheduler=scheduler)
    await paused.started()
    await paused.clock.advance(timedelta(minutes=5))
    async with scheduler.slot(clock=paused.clock):
        low = asyncio.create_task(paused.runner.wake("t", priority=0))
        high = asyncio.create_task(paused.runner.wake("t", priority=5))
        await paused.clock.settle()
        assert len(await checkpoints(paused.store)) == 1
    assert isinstance(await high, Completed)
    with pytest.raises(Refused):
        await low


async def test_a_flat_event_does_not_answer_a_child_that_waits_for_a_time() -> None:
    paused = Paused(around(timed().compile(durable=False)))
    await paused.started()
    with pytest.raises(NotWaiting) as refusal:
        await paused.runner.signal("t", Event("deployment.finished"))
    assert str(refusal.value) == "thread 't' is not waiting for event 'deployment.finished': it is waiting for a timer at [Verify/Window]"


async def test_hs5_a_child_that_starts_behind_an_approval_sees_none_of_it() -> None:
    seen: list[tuple[str, str | None]] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.append((ctx.path, None if ctx.decision is None else ctx.decision.reviewer))
        return state

    child = StateGraph(Trail).add_node("inner", look, inline=True).compile(durable=False)
    graph = line("Approve").add_subgraph("Work", child, enter=lambda state: state, leave=lambda _, inner: inner)
    whole = graph.add_node("After", look, inline=True).add_edge("Approve", "Work").add_edge("Work", "After")
    paused = Paused(whole.add_interrupt_boundary("Approve").compile(durable=False))
    await paused.started()
    await paused.runner.resume("t", whole.compile(durable=False).approve("ana"))
    assert seen == [("Work/inner", None), ("After", "ana")]
