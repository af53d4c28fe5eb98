"""Waits of graphs inside graphs, waits that a reader follows, and graphs inside that have a name of their own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
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
    Runner,
    Scheduler,
    StateGraph,
    StreamEvent,
    ThreadFinished,
    ThreadQuery,
    Token,
    WrongGraph,
)
from strata.graph.identity import Identity
from strata.ports import Acquired
from strata.runtime.stream import RunStream
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds
from tests.logs import checkpoints, log

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


async def talks(state: Trail, ctx: Context) -> Trail:
    await ctx.token(f"here is {ctx.node}")
    return state.replace(trail=state.trail + "t")


def ticking() -> StateGraph[Trail]:
    """A timer of a minute -> Talk, which sends text."""
    return StateGraph(Trail).add_timer("Tick", 60).add_node("Talk", talks).add_edge("Tick", "Talk")


def deploying(*, timeout: float | None = None) -> StateGraph[Trail]:
    """Waits for an event -> Check."""
    graph = StateGraph(Trail).add_wait_for_event("Deploying", "deployment.finished", timeout=timeout)
    return graph.add_node("Check", adds("c"), inline=True).add_edge("Deploying", "Check")


def approving(*, route: bool) -> StateGraph[Trail]:
    graph = StateGraph(Trail).add_node("Approve", adds("a"), inline=True).add_node("Ship", adds("s"), inline=True).add_edge("Approve", "Ship")
    if route:
        graph.add_node("Escalate", adds("e"), inline=True)
    return graph.add_interrupt_boundary("Approve", timeout=60, on_timeout="Escalate" if route else None)


def around(child: CompiledGraph[Trail]) -> StateGraph[Trail]:
    """Verify, which is the child -> After."""

    def enter(state: Trail) -> Trail:
        return Trail(n=state.n)

    def leave(state: Trail, inside: Trail) -> Trail:
        return state.replace(trail=f"{state.trail}({inside.trail})", n=inside.n)

    return StateGraph(Trail).add_subgraph("Verify", child, enter=enter, leave=leave).add_node("After", talks).add_edge("Verify", "After")


def nested(child: StateGraph[Trail]) -> CompiledGraph[Trail]:
    return around(child.compile(durable=False)).compile(durable=False)


async def paused(graph: CompiledGraph[Trail], store: MemoryStore, **options: Any) -> tuple[Runner[Trail], Interrupted[Trail]]:
    runner = Runner(graph, store, clock=HandClock(), **options)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    return runner, outcome


async def read(stream: RunStream[Trail]) -> tuple[list[StreamEvent], object]:
    async with stream as events:
        seen = [event async for event in events]
    return seen, events.outcome


async def test_wt19_a_timer_inside_is_found_by_its_time_and_goes_on_inside() -> None:
    store = MemoryStore()
    runner, outcome = await paused(nested(ticking()), store)
    [row] = await checkpoints(store)
    assert [level.wait is None for level in row.levels()] == [True, False]
    assert outcome.wait is not None
    assert (outcome.wait.kind, outcome.wait.wake_at, outcome.waiting_at) == ("timer", NOON + timedelta(minutes=1), ("Verify", "Tick"))
    due = await store.list_threads(ThreadQuery(due_by=NOON + timedelta(minutes=1)))
    assert [(each.thread_id, each.wait is not None) for each in due.threads] == [("t", True)]
    report = await runner.wake_due(now=NOON + timedelta(minutes=1))
    assert report.woken[0].outcome.unwrap().trail == "(t)t"


async def test_wt20_an_event_reaches_the_state_of_the_graph_inside() -> None:
    runner, _ = await paused(nested(deploying()), MemoryStore())
    outcome = await runner.signal("t", Event("deployment.finished", overrides={"n": 7}))
    assert isinstance(outcome, Completed)
    assert (outcome.state.trail, outcome.state.n) == ("(c)t", 8)


async def test_wt21_ck82_a_wait_inside_that_times_out_ends_every_level() -> None:
    store = MemoryStore()
    runner, _ = await paused(nested(deploying(timeout=60)), store)
    outcome = (await runner.wake_due(now=LATER)).woken[0].outcome
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, outcome.stopped_at) == ("ended", ("Verify", "Deploying"))
    assert [(level.status, level.wait) for level in (await checkpoints(store))[-1].levels()] == [("ended", None), ("ended", None)]


async def test_wt27_a_wake_with_a_reader_starts_with_the_node_behind_the_timer() -> None:
    store = MemoryStore()
    runner, _ = await paused(ticking().compile(durable=False), store)
    events, outcome = await read(runner.stream_wake("t", now=LATER))
    assert isinstance(outcome, Completed)
    assert [(type(event).__name__, event.path) for event in events] == [("NodeStarted", "Talk"), ("Token", "Talk"), ("NodeEnded", "Talk")]
    rows = await checkpoints(store)
    assert (len(rows), rows[-1].decision) == (2, None)


async def test_wt28_text_of_a_graph_inside_is_told_with_its_path_and_the_outer_nodes_follow() -> None:
    runner, _ = await paused(nested(ticking()), MemoryStore())
    events, _ = await read(runner.stream_wake("t", now=LATER))
    assert [event.path for event in events if isinstance(event, Token)] == ["Verify/Talk", "After"]


async def test_wt29_an_approval_that_timed_out_goes_on_at_its_route() -> None:
    runner, _ = await paused(approving(route=True).compile(durable=False), MemoryStore())
    events, outcome = await read(runner.stream_wake("t", now=LATER))
    assert [event.node for event in events if isinstance(event, NodeStarted)] == ["Escalate"]
    assert isinstance(outcome, Completed)


async def test_wt30_without_a_route_nothing_is_told_and_the_thread_is_ended() -> None:
    store = MemoryStore()
    runner, _ = await paused(approving(route=False).compile(durable=False), store)
    events, outcome = await read(runner.stream_wake("t", now=LATER))
    assert events == []
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, len(await checkpoints(store))) == ("ended", 2)
    with pytest.raises(ThreadFinished, match="was ended"):
        await runner.wake("t", now=LATER)


async def test_wt37_an_event_with_a_reader() -> None:
    graph = deploying().add_node("Check", talks).compile(durable=False)
    runner, _ = await paused(graph, MemoryStore())
    with pytest.raises(NotWaiting, match="not waiting for event"):
        await read(runner.stream_resume("t", Event("deployment.started")))
    events, _ = await read(runner.stream_resume("t", Event("deployment.finished")))
    assert [event.text for event in events if isinstance(event, Token)] == ["here is Check"]


async def test_wt34_a_wake_waits_for_nobodys_lease() -> None:
    clock = HandClock()
    store = MemoryStore(clock=clock)
    holders: list[str | None] = []

    async def looks(state: Trail) -> Trail:
        lease = await store.get_lease("t")
        holders.append(None if lease is None else lease.owner)
        return state

    graph = ticking().add_node("Talk", looks)
    runner, _ = await paused(graph.compile(durable=False), store, lease=Lease("worker-1", 30))
    got = await store.try_acquire_lease("t", "worker-2", 30)
    assert isinstance(got, Acquired)
    with pytest.raises(LeaseHeld, match=r"^thread 't' is held by 'worker-2' until "):
        await runner.wake("t", now=LATER)
    assert len(await checkpoints(store)) == 1
    await store.release_lease(got.lease)
    assert isinstance(await runner.wake("t", now=LATER), Completed)
    assert (holders, await store.get_lease("t")) == (["worker-1"], None)


async def test_wt35_of_two_wakes_that_wait_for_a_slot_the_important_one_goes_first() -> None:
    store, gate, entered, ran = MemoryStore(), asyncio.Event(), asyncio.Event(), list[str]()

    async def waits(state: Trail) -> Trail:
        entered.set()
        await gate.wait()
        return state

    async def tells(state: Trail, ctx: Context) -> Trail:
        ran.append(ctx.thread_id)
        return state

    graph = ticking().add_node("Talk", tells).compile(durable=False)
    scheduler = Scheduler(1)
    runner = Runner(graph, store, scheduler=scheduler, clock=HandClock())
    for thread in ("low", "high"):
        await runner.run(thread, Trail())
    other = asyncio.create_task(Runner(StateGraph(Trail).add_node("Wait", waits).compile(), scheduler=scheduler, clock=HandClock()).run("o", Trail()))
    await entered.wait()
    woken = [asyncio.create_task(runner.wake(thread, now=LATER, priority=priority)) for thread, priority in (("low", 0), ("high", 5))]
    await settle()
    assert [await log(store, thread) for thread in ("low", "high")] == [["interrupted:Tick>Talk"]] * 2
    gate.set()
    await asyncio.gather(other, *woken)
    assert ran == ["high", "low"]


# Names of graphs inside


def pausing(**identity: Any) -> CompiledGraph[Trail]:
    graph = StateGraph(Trail).add_node("Approve", adds("a"), inline=True).add_node("Send", adds("s"), inline=True).add_edge("Approve", "Send")
    return graph.add_interrupt_boundary("Approve").compile(durable=False, **identity)


async def test_gi2_each_level_carries_the_identity_of_its_own_graph() -> None:
    async def identities(child: CompiledGraph[Trail], **outer: Any) -> list[tuple[Identity | None, str]]:
        store = MemoryStore()
        await paused(around(child).compile(durable=False, **outer), store)
        return [(level.graph, level.schema_version) for level in (await checkpoints(store))[0].levels()]

    assert await identities(pausing(id="approval", version="3"), id="incident", version="1") == [
        (Identity("incident", "1"), "1.6.0"),
        (Identity("approval", "3"), "1.6.0"),
    ]
    assert await identities(pausing(), id="incident") == [(Identity("incident", None), "1.6.0"), (None, "1.0.0")]


async def test_gi6_a_graph_inside_of_another_version_is_refused_naming_its_level() -> None:
    store = MemoryStore()
    await paused(around(pausing(id="approval", version="3")).compile(durable=False, id="incident", version="1"), store)
    child = pausing(id="approval", version="4")
    runner = Runner(around(child).compile(durable=False, id="incident", version="1"), store)
    with pytest.raises(WrongGraph) as refused:
        await runner.resume("t", child.approve("ana"))
    assert str(refused.value) == (
        "thread 't' at level [Verify] was written by graph 'approval' version 3, not version 4, and this graph has no migration"
    )
    assert len(await checkpoints(store)) == 1
