"""Timeouts of nodes and of graphs inside nodes, and where they meet other things."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from strata import Cancelled, Completed, Context, Failed, GraphInvalid, NodeTimedOut, Runner, StateGraph
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds
from tests.kinds.nests import alone, inside, steps
from tests.kinds.parts import HANG, Calls, fallback, first_of
from tests.logs import checkpoints, log


class HangsOnce:
    """Hangs on its first call only; keeps whether each call's context says that it is cancelled."""

    def __init__(self, times: int = 1) -> None:
        self.times = times
        self.contexts = list[Context]()

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.contexts.append(ctx)
        if len(self.contexts) <= self.times:
            await ctx.sleep(HANG)
        return state.replace(trail=state.trail + "S")


async def test_ex46_an_attempt_that_runs_over_is_tried_again_with_a_time_of_its_own() -> None:
    hangs, clock = HangsOnce(2), HandClock()
    graph = StateGraph(Trail).add_node("Slow", hangs, timeout=0.1).set_recovery_policy("Slow", retries=2).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(0.15)
    assert not running.done()  # the second attempt has been running for 50 ms
    assert [ctx.cancelled for ctx in hangs.contexts] == [True, False]
    await clock.pass_time(0.05)
    assert (await running).unwrap().trail == "S"
    assert [ctx.attempt for ctx in hangs.contexts] == [1, 2, 3]
    assert clock.timers == 0


@pytest.mark.parametrize("durable", [True, False])
async def test_ex47_without_a_policy_a_timeout_fails_at_once(durable: bool) -> None:
    store, clock = MemoryStore(), HandClock()
    graph = StateGraph(Trail).add_node("Slow", Calls().hangs(), timeout=0.05).compile(durable=durable)
    running = asyncio.ensure_future(Runner(graph, store, clock=clock).run("t", Trail()))
    await clock.pass_time(0.05)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, NodeTimedOut)
    assert (outcome.node, outcome.attempts, outcome.message, outcome.kind) == ("Slow", 1, "node 'Slow' timed out after 50 ms", "transient")
    assert (await checkpoints(store))[-1].schema_version == "1.0.0"


async def test_ex48_the_fallback_of_a_node_that_ran_over_goes_on_with_the_state_from_before() -> None:
    clock = HandClock()
    graph = steps(("A", adds("A")), inline=True).add_node("Slow", Calls().hangs(), timeout=1).add_edge("A", "Slow")
    running = asyncio.ensure_future(Runner(fallback(graph, "Slow").compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "AR"


def test_ex48_a_timeout_of_zero_and_one_of_no_node_are_refused() -> None:
    for graph in (StateGraph(Trail).add_node("A", adds("A"), timeout=0), steps(("A", adds("A"))).set_timeout("B", 1)):
        with pytest.raises(GraphInvalid):
            graph.compile()


async def test_a_state_that_arrives_all_the_same_counts() -> None:
    async def stubborn(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        except asyncio.CancelledError:
            return state.replace(trail="made it")
        return state

    clock = HandClock()
    graph = steps(("Slow", stubborn), timeout=1).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "made it"


@pytest.mark.parametrize("where", ["node", "subgraph", "group"])
async def test_a_timeout_that_meets_a_deadline_is_the_runs_end(where: str) -> None:
    clock, calls = HandClock(), Calls()
    slow = steps(("Slow", calls.hangs())).compile()
    graphs: dict[str, StateGraph[Trail]] = {
        "node": steps(("Node", calls.hangs()), timeout=5),
        "subgraph": alone("Node", slow, timeout=5),
        "group": StateGraph(Trail).add_parallel_group("Node", [calls.hangs()], first_of, timeout=5),
    }
    runner = Runner(fallback(graphs[where], "Node", retries=3).compile(), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail(), deadline=5))
    await clock.pass_time(5)
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, len(calls.started)) == ("deadline", 1)
    assert clock.timers == 0


async def test_a_timeout_that_fires_while_a_cancelled_node_cleans_up_changes_nothing() -> None:
    clock, store = HandClock(), MemoryStore()

    async def tidy(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        finally:
            await ctx.sleep(1.5)
        return state

    runner = Runner(fallback(steps(("Slow", tidy), timeout=2), "Slow", retries=2).compile(), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await clock.pass_time(1)
    runner.cancel("t")
    await clock.pass_time(2)
    assert isinstance(await running, Cancelled)
    assert await log(store) == ["running:->Slow", "cancelled:Slow>Slow"]
    assert clock.timers == 0


async def test_ex51_ck4_a_childs_timeout_nests_where_it_stopped_and_a_resume_goes_on_from_there() -> None:
    clock, store, calls = HandClock(), MemoryStore(), Calls()
    send = HangsOnce()
    child = steps(("Draft", calls.takes(0)), ("Send", send)).compile(max_node_hops=9)
    runner = Runner(alone("Work", child, timeout=0.1).compile(), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await clock.pass_time(0.1)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.kind, outcome.attempts) == ("node 'Work' timed out after 100 ms", "transient", 1)
    last = (await checkpoints(store))[-1]
    assert (last.schema_version, last.status, last.suspended_node) == ("1.2.0", "failed", "Work")
    assert last.metadata == {"error": "node 'Work' timed out after 100 ms", "error_kind": "transient", "attempts": "1", "strata.hops": "0"}
    nested = last.nested
    assert nested is not None
    assert (nested.thread_id, nested.status, nested.suspended_node) == ("Work", "cancelled", "Send")
    assert nested.metadata == {"cancel_reason": "timeout", "strata.hops": "1"}
    assert bytes(nested.frozen_state) == b'{"trail":"Draft","n":0}'
    assert (await runner.resume("t")).unwrap().trail == "(DraftS)"
    assert calls.started == ["Draft"]
    assert clock.timers == 0


async def test_a_retry_of_a_child_that_ran_over_starts_where_the_first_attempt_did() -> None:
    clock, calls = HandClock(), Calls()
    child = steps(("Draft", calls.takes(0)), ("Send", HangsOnce())).compile()
    graph = alone("Work", child, timeout=1).set_recovery_policy("Work", retries=1).compile()
    running = asyncio.ensure_future(Runner(graph, MemoryStore(), clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "(DraftS)"
    assert calls.started == ["Draft", "Draft"]


async def test_a_child_that_fails_by_itself_while_it_is_stopped_has_run_over() -> None:
    clock = HandClock()

    async def stubborn(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        except asyncio.CancelledError:
            raise ValueError("late") from None
        return state

    running = asyncio.ensure_future(Runner(alone("Work", steps(("Send", stubborn)).compile(), timeout=1).compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, NodeTimedOut)


async def test_a_child_that_completes_all_the_same_counts() -> None:
    clock = HandClock()

    async def stubborn(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        except asyncio.CancelledError:
            return state.replace(trail="made it")
        return state

    running = asyncio.ensure_future(Runner(alone("Work", steps(("Send", stubborn)).compile(), timeout=1).compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "(made it)"


@pytest.mark.parametrize("nested", [False, True])
async def test_ex50_a_cancellation_inside_a_child_is_recorded_level_by_level(nested: bool) -> None:
    clock, store, calls, entered = HandClock(), MemoryStore(), Calls(), list[str]()
    send = HangsOnce()

    def enter(state: Trail) -> Trail:
        entered.append(state.trail)
        return Trail(n=7)

    child: Any = steps(("Draft", calls.takes(0)), ("Send", send)).compile()
    if nested:
        child = alone("Inner", child).compile()
    graph = StateGraph(Trail).add_node("A", adds("A"), inline=True).add_subgraph("Work", child, enter=enter, leave=lambda _, state: state)
    runner = Runner(graph.add_edge("A", "Work").compile(), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    path = ("Work", "Inner", "Send") if nested else ("Work", "Send")
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("Work", path, "A")
    last = (await checkpoints(store))[-1]
    levels = list(last.levels())
    assert [level.status for level in levels] == ["cancelled"] * len(path)
    assert [level.thread_id for level in levels] == ["t", *path[:-1]]
    assert [level.suspended_node for level in levels] == list(path)
    assert {(level.metadata or {})["cancel_reason"] for level in levels} == {"requested"}
    assert bytes(levels[-1].frozen_state) == (b'{"trail":"Draft","n":0}')
    assert isinstance(await runner.resume("t"), Completed)
    assert (calls.started, len(send.contexts), entered) == (["Draft"], 2, ["A"])


async def test_ex44_a_sync_node_inside_a_child_is_given_up() -> None:
    clock, blocked = HandClock(), threading.Event()

    def blocks(state: Trail) -> Trail:
        blocked.wait()
        return state

    runner = Runner(inside("Work", steps(("Send", blocks)).compile(), timeout=1).compile(), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    try:
        await clock.pass_time(1)
        await clock.pass_time(2)
        outcome = await running
    finally:
        blocked.set()
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'Work' timed out after 1000 ms"
    assert clock.timers == 0
