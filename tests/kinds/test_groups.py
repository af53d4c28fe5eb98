"""Parallel groups: what branches get, how many run, how they stop, what the group comes to."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from strata import (
    Cancelled,
    Completed,
    Context,
    Failed,
    FatalError,
    HandlerCancelled,
    Interrupted,
    MapperFailed,
    Runner,
    StateGraph,
    TransientError,
    branch,
    map_each,
    node,
    on_failure,
    parallel,
    subgraph,
)
from strata.engine.faults import ChildFailed
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.kinds.parts import HANG, Calls, Merges, fallback, fatal, gather, transient
from tests.logs import checkpoints, log


async def test_ex2_gn8_a_thousand_branches_of_two_hundred_runs_wait_at_once() -> None:
    gate, waiting = asyncio.Event(), 0

    async def wait(state: Trail) -> Trail:
        nonlocal waiting
        waiting += 1
        await gate.wait()
        return state

    graph = gather(dict.fromkeys("bcdef", wait)).compile(durable=False)
    runner = Runner(graph, max_threads=2)
    running = [asyncio.ensure_future(runner.run(f"t{number}", Trail())) for number in range(200)]
    await settle()
    assert waiting == 1000
    gate.set()
    assert {type(outcome) for outcome in await asyncio.gather(*running)} == {Completed}


async def test_ex69_branches_run_at_once_and_are_merged_in_the_order_of_declaration() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"s": calls.takes(0.240), "m": calls.takes(0.120), "f": calls.takes(0.010)})
    running = asyncio.ensure_future(Runner(graph.compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(0.3)
    outcome = await running
    assert outcome.unwrap().trail == "AsmfZ"
    assert calls.ended == ["f", "m", "s"]
    assert calls.peak == 3
    assert clock.timers == 0


async def test_ex70_a_branch_starts_from_the_state_of_the_group_and_the_merge_gets_it_as_its_base() -> None:
    merges, seen = Merges(), list[str]()

    def look(state: Trail) -> Trail:
        seen.append(state.trail)
        return state.replace(trail=state.trail + "b")

    await Runner(gather({"b": look, "c": look}, merges).compile()).run("t", Trail())
    assert seen == ["A", "A"]
    assert [base.trail for base in merges.bases] == ["A"]


@pytest.mark.parametrize("durable", [True, False])
async def test_ex71_ck34_can_10_a_fatal_branch_stops_its_siblings_and_fails_the_group(durable: bool) -> None:
    calls, clock, store, blocked = Calls(), HandClock(), MemoryStore(), threading.Event()
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def blocks(state: Trail) -> Trail:
        loop.call_soon_threadsafe(started.set)
        blocked.wait()
        return state

    async def broken(state: Trail) -> Trail:
        await started.wait()
        raise FatalError("card declined")

    graph = gather({"broken": broken, "hangs": calls.hangs(), "blocks": blocks}).compile(durable=durable)
    running = asyncio.ensure_future(Runner(graph, store, clock=clock).run("t", Trail()))
    try:
        await started.wait()
        await clock.pass_time(1.9)
        assert not running.done()  # the thread has its grace
        await clock.pass_time(0.2)
        outcome = await running
    finally:
        blocked.set()
    assert isinstance(outcome, Failed)
    assert (outcome.node, outcome.attempts, outcome.message, outcome.kind) == ("Gather", 1, "branch 'broken': card declined", "fatal")
    assert calls.cancelled == ["hangs"]
    last = (await checkpoints(store))[-1]
    assert (last.status, last.suspended_node, last.next_node, last.nested) == ("failed", "Gather", "Gather", None)
    assert bytes(last.frozen_state) == b'{"trail":"A","n":1}'
    assert clock.timers == 0


async def test_ex72_ex84_what_would_have_failed_later_is_not_named() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"slow": calls.fails(transient("later"), after=9), "broken": calls.fails(fatal("now"))}).set_recovery_policy("Gather", retries=5)
    outcome = await Runner(graph.compile(), clock=clock).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.attempts, outcome.message) == (1, "branch 'broken': now")
    assert calls.cancelled == ["slow"]


async def test_ex84_a_sync_sibling_that_ends_within_the_grace_is_waited_for() -> None:
    clock, released, ended = HandClock(), threading.Event(), list[str]()
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def blocks(state: Trail) -> Trail:
        loop.call_soon_threadsafe(started.set)
        released.wait()
        ended.append("blocks")
        return state

    async def broken(state: Trail) -> Trail:
        await started.wait()
        loop.call_later(0.01, released.set)
        raise FatalError("no")

    outcome = await Runner(gather({"blocks": blocks, "broken": broken}).compile(), clock=clock).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert ended == ["blocks"]
    assert clock.timers == 0


async def test_ex4_ex73_a_retry_runs_every_branch_again_from_the_same_state() -> None:
    calls, attempts = Calls(), list[tuple[str, int]]()

    async def steady(state: Trail, ctx: Context) -> Trail:
        attempts.append((state.trail, ctx.attempt))
        return state.replace(trail=state.trail + "s")

    graph = gather({"s": steady, "f": calls.fails(transient("busy"), times=2)}).set_recovery_policy("Gather", retries=3).compile()
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "AsfZ"
    assert attempts == [("A", 1), ("A", 2), ("A", 3)]


async def test_ex73_out_of_retries_the_fallback_sees_the_state_from_before_the_group() -> None:
    calls = Calls()
    graph = fallback(gather({"b": calls.takes(0), "f": calls.fails(transient("busy"))}), "Gather", retries=1)
    outcome = await Runner(graph.compile()).run("t", Trail())
    assert outcome.unwrap().trail == "AR"
    assert calls.started == ["b", "f"] * 2


async def test_ex74_a_group_may_pause_once_it_has_merged() -> None:
    calls, store = Calls(), MemoryStore()
    graph = gather({"b": calls.takes(0), "c": calls.takes(0)}).add_interrupt_boundary("Gather").compile()
    runner = Runner(graph, store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert (outcome.state.trail, outcome.next_node) == ("Abc", "End")
    assert (await runner.resume("t", graph.approve("ed"))).unwrap().trail == "AbcZ"


async def test_ex75_a_failed_group_goes_to_its_fallback_once_the_others_have_stopped() -> None:
    calls = Calls()
    graph = fallback(gather({"Slow": calls.hangs(), "Broken": calls.fails(fatal("no"))}), "Gather").compile()
    assert (await Runner(graph, clock=HandClock()).run("t", Trail())).unwrap().trail == "AR"
    assert (calls.started, calls.cancelled) == (["Slow", "Broken"], ["Slow"])


@pytest.mark.parametrize("retries", [0, 3])
async def test_ex77_a_cancelled_run_is_cancelled_not_failed_and_every_branch_is_told(retries: int) -> None:
    calls, clock, store = Calls(), HandClock(), MemoryStore()
    graph = fallback(gather({"b": calls.hangs(), "c": calls.hangs()}), "Gather", retries=retries).compile()
    runner = Runner(graph, store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.stopped_at, outcome.reason) == ("Gather", ("Gather",), "requested")
    assert sorted(calls.cancelled) == ["b", "c"]
    assert (await checkpoints(store))[-1].nested is None
    assert clock.timers == 0


async def test_a_branch_that_answers_its_cancellation_with_an_error_does_not_fail_the_group() -> None:
    clock, store = HandClock(), MemoryStore()

    async def stubborn(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        except asyncio.CancelledError:
            raise FatalError("I was cancelled") from None
        return state

    runner = Runner(fallback(gather({"b": stubborn}), "Gather").compile(), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    runner.cancel("t")
    assert isinstance(await running, Cancelled)
    assert (await log(store))[-1] == "cancelled:Gather>Gather"


async def test_ex77_the_timeout_of_a_group_stops_every_branch() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"b": calls.hangs(), "c": calls.hangs()}, timeout=0.050).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(0.05)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.kind) == ("node 'Gather' timed out after 50 ms", "transient")
    assert sorted(calls.cancelled) == ["b", "c"]
    assert clock.timers == 0


async def test_ex78_no_more_run_than_the_limit_and_they_start_in_order() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"a": calls.takes(9), "b": calls.takes(1), "c": calls.takes(1), "d": calls.takes(1), "e": calls.takes(1)}, max_concurrency=2)
    running = asyncio.ensure_future(Runner(graph.compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(10)
    assert (await running).unwrap().trail == "AabcdeZ"
    assert calls.started == ["a", "b", "c", "d", "e"]
    assert calls.peak == 2


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6])
async def test_par_04_all_branches_run_under_every_limit(limit: int) -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({name: calls.takes(seconds) for name, seconds in zip("abcde", (2, 1, 3, 1, 1), strict=True)}, max_concurrency=limit)
    running = asyncio.ensure_future(Runner(graph.compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(20)
    assert (await running).unwrap().trail == "AabcdeZ"
    assert calls.peak == min(limit, 5)


async def test_ex78_a_branchs_time_runs_from_its_own_start() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"b": calls.takes(30), "c": calls.takes(30)}, max_concurrency=1, branch_timeout=45)
    running = asyncio.ensure_future(Runner(graph.compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(60)
    assert (await running).unwrap().trail == "AbcZ"


async def test_ex79_a_branch_that_runs_over_has_failed_alone() -> None:
    calls, clock, merges = Calls(), HandClock(), Merges()
    branches = {"b": calls.takes(1), "kubernetes": calls.hangs(), "c": calls.takes(2)}
    graph = gather(branches, merges, outcomes=True, branch_timeout=45, partial="keep_succeeded").compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(45)
    assert (await running).unwrap().trail == "AbcZ"
    assert merges.statuses == ["b succeeded", "kubernetes timed_out", "c succeeded"]
    assert merges.outcomes[0][1].error == "branch 'kubernetes' timed out after 45000 ms"
    assert calls.cancelled == ["kubernetes"]
    assert clock.timers == 0


async def test_a_branch_timeout_is_transient_for_the_group_and_stands_behind_its_name() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"b": calls.hangs()}, branch_timeout=1).set_recovery_policy("Gather", retries=1, on=LookupError).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(2)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert (outcome.attempts, outcome.kind) == (2, "transient")
    assert outcome.message == "branch 'b': branch 'b' timed out after 1000 ms"


async def test_ex80_what_succeeded_is_merged_where_the_rest_may_fail() -> None:
    calls, merges = Calls(), Merges()
    branches = {"a": calls.takes(0), "b": calls.fails(fatal("no")), "c": calls.fails(transient("busy")), "d": calls.takes(0)}
    assert (await Runner(gather(branches, merges, outcomes=True, partial="keep_succeeded").compile()).run("t", Trail())).unwrap().trail == "AadZ"
    assert merges.statuses == ["a succeeded", "b failed", "c failed", "d succeeded"]
    outcomes = merges.outcomes[0]
    assert (outcomes.join_met, outcomes.deciding) == (False, ())
    assert [outcome.error for outcome in outcomes] == [None, "no", "busy", None]
    assert [outcome.state is None for outcome in outcomes] == [False, True, True, False]
    assert calls.cancelled == []
    plain = gather(branches, partial="keep_succeeded").compile()
    assert (await Runner(plain).run("t", Trail())).unwrap().trail == "AadZ"


async def test_where_nothing_succeeded_there_is_nothing_to_keep() -> None:
    calls = Calls()
    graph = gather({"b": calls.fails(fatal("no")), "c": calls.fails(transient("busy"))}, partial="keep_succeeded").compile()
    outcome = await Runner(graph).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "branch 'b': no; branch 'c': busy"


async def test_ex82_siblings_may_be_left_to_finish() -> None:
    calls, clock = Calls(), HandClock()
    graph = gather({"a": calls.fails(fatal("no")), "b": calls.takes(0.05)}, cancel_siblings=False).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await settle()
    assert not running.done()
    await clock.pass_time(0.05)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert outcome.message == "branch 'a': no"
    assert (calls.ended, calls.cancelled) == (["a", "b"], [])


async def test_the_longest_hint_of_the_branches_is_the_groups() -> None:
    calls, clock, store = Calls(), HandClock(), MemoryStore()
    branches = {
        "b": calls.fails(transient("busy", retry_after=2)),
        "c": calls.fails(transient("full", retry_after=5)),
        "d": calls.takes(0),
    }
    outcome = await Runner(gather(branches, cancel_siblings=False).compile(), store, clock=clock).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.retry_after) == ("transient", 5.0)
    metadata = (await checkpoints(store))[-1].metadata or {}
    assert metadata["strata.retry_after_ms"] == "5000"


async def test_a_branchs_error_is_judged_by_the_groups_retry() -> None:
    calls = Calls()
    graph = gather({"b": calls.fails(LookupError("gone"), times=1)}).set_recovery_policy("Gather", retries=1, on=LookupError).compile()
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "AbZ"


async def test_a_merge_that_raises_fails_the_group_by_name() -> None:
    calls, store = Calls(), MemoryStore()

    def broken(state: Trail, results: list[Trail]) -> Trail:
        raise LookupError("no such result")

    graph = gather({}).add_parallel_group("Gather", [branch("b", calls.takes(0))], broken).compile()
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, MapperFailed)
    assert outcome.message == "the merge of node 'Gather' raised LookupError: no such result"
    assert (await log(store))[-1] == "failed:Gather>Gather"


async def test_can_02_a_branch_whose_own_task_is_cancelled_from_inside_fails_the_group_and_stops_the_others() -> None:
    calls = Calls()

    async def gives_up(state: Trail) -> Trail:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(HANG)
        return state

    async def raises(state: Trail) -> Trail:
        raise asyncio.CancelledError

    for odd in (gives_up, raises):
        outcome = await Runner(gather({"slow": calls.hangs(), "odd": odd}).compile(), MemoryStore(), clock=HandClock()).run("t", Trail())
        assert isinstance(outcome, Failed)
        assert outcome.kind == "fatal"
        assert outcome.message == f"branch 'odd': {HandlerCancelled('odd')}"
    assert calls.cancelled == ["slow", "slow"]


async def test_a_state_that_a_branch_may_not_return_fails_it() -> None:
    async def wrong(state: Trail) -> Trail:
        return None  # type: ignore[return-value]

    outcome = await Runner(gather({"wrong": wrong}).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("branch 'wrong': node 'Gather/wrong' returned None")


async def test_a_branch_that_cleans_up_for_long_is_waited_for_however_often_it_is_told() -> None:
    clock, cleaned = HandClock(), list[str]()

    async def tidy(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        finally:
            for step in "123":
                try:
                    await ctx.sleep(10)
                except asyncio.CancelledError:
                    cleaned.append(step)
        return state

    runner = Runner(gather({"b": tidy, "c": tidy}).compile(), MemoryStore(), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    runner.cancel("t")
    await clock.pass_time(7)
    assert isinstance(await running, Cancelled)
    assert sorted(cleaned) == ["1", "1", "2", "2", "3", "3"]
    assert clock.timers == 0


async def test_an_abandoned_run_waits_for_its_branches() -> None:
    calls, clock, store, ended = Calls(), HandClock(), MemoryStore(), list[str]()

    async def tidy(state: Trail, ctx: Context) -> Trail:
        try:
            await ctx.sleep(HANG)
        finally:
            await asyncio.sleep(0)
            ended.append(ctx.node)
        return state

    running = asyncio.ensure_future(Runner(gather({"b": tidy, "c": calls.hangs()}).compile(), store, clock=clock).run("t", Trail()))
    await settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended == ["b"]
    assert calls.cancelled == ["c"]
    assert await log(store) == ["running:->A", "running:A>Gather"]
    assert clock.timers == 0


async def test_a_timeout_that_meets_a_cancellation_is_a_cancellation() -> None:
    calls, clock = Calls(), HandClock()
    runner = Runner(fallback(gather({"b": calls.hangs()}, timeout=5), "Gather", retries=3).compile(), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail(), deadline=5))
    await clock.pass_time(5)
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "deadline"
    assert clock.timers == 0


async def test_all_kinds_of_branches_mix() -> None:
    def sync(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "s")

    def with_context(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=f"{state.trail}({ctx.path} {ctx.attempt} {ctx.hop})")

    async def awaited(state: Trail) -> Trail:
        await asyncio.sleep(0)
        return state.replace(trail=state.trail + "a")

    graph = gather({"s": sync, "ctx": with_context, "a": awaited}).compile()
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "As(Gather/ctx 1 2)aZ"


@pytest.mark.parametrize("error", [TransientError("busy"), FatalError("no")])
async def test_a_failed_group_is_resumed_whole(error: Exception) -> None:
    calls, store = Calls(), MemoryStore()
    runner = Runner(gather({"b": calls.takes(0), "f": calls.fails(error, times=1)}).compile(), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert (await runner.resume("t")).unwrap().trail == "AbfZ"


class Broken(Exception):
    """What a handler raises that nobody declared."""


async def breaks(state: Trail) -> Trail:
    raise Broken("inside")


def rescue(state: Trail) -> Trail:
    return state.replace(trail=state.trail + "R")


def part_of(kind: str, on: type[Exception]) -> Any:
    """Work, in which a handler breaks in the part of that kind, and Rescue for errors of type `on`."""
    child = StateGraph(Trail).add_node("Inner", breaks).compile()
    graph: Any = StateGraph(Trail)
    rescued: Any = on_failure("Rescue", on=on)

    def merge(state: Trail, results: list[Trail]) -> Trail:
        return state

    def items(state: Trail) -> list[str]:
        return ["one"]

    def enter(state: Trail, item: str) -> Trail:
        return state

    def leave(state: Trail, inner: Trail) -> Trail:
        return inner

    makers: dict[str, tuple[Any, Any]] = {
        "branch": (parallel(branch("b", breaks), name="Work"), merge),
        "item": (map_each(child, items=items, key=str, enter=enter, name="Work"), merge),
        "subgraph": (subgraph(child, enter=rescue, name="Work"), leave),
    }
    make, function = makers[kind]
    rescuer: Any = node("Rescue", inline=True)(rescue)
    return graph.start(make(rescued(function))).nodes(rescuer)


@pytest.mark.parametrize("kind", ["branch", "item", "subgraph"])
async def test_a_fallback_looks_for_what_a_handler_inside_raised(kind: str) -> None:
    assert (await Runner(part_of(kind, Broken).compile()).run("t", Trail())).unwrap().trail == "R"


@pytest.mark.parametrize("kind", ["branch", "item", "subgraph"])
async def test_ex14_what_a_handler_inside_raised_is_the_cause_of_the_failure(kind: str) -> None:
    outcome = await Runner(part_of(kind, KeyError).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    cause = outcome.error
    while cause is not None and not isinstance(cause, Broken):
        cause = cause.__cause__
    assert isinstance(cause, Broken)
    assert cause.__traceback__ is not None


async def test_several_branches_that_failed_are_a_group_of_errors() -> None:
    outcome = await Runner(gather({"a": breaks, "b": breaks}, partial="keep_succeeded").compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.error is not None
    cause: Any = outcome.error.__cause__
    assert isinstance(cause, BaseExceptionGroup)
    assert list(map(str, outcome.error.errors if isinstance(outcome.error, ChildFailed) else ())) == ["inside", "inside"]
