"""Stopping a run at every turn of the loop: whatever a group, a map or a graph inside a node awaits just then, it ends well."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strata import CompiledGraph, Context, Runner, State, StateGraph, branch
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.kinds.nests import inside, steps
from tests.kinds.parts import fallback, first_of
from tests.logs import checkpoints


class Step(State):
    key: str = ""


async def busy(state: Trail, ctx: Context) -> Trail:
    """Waits a few turns of the loop, in its clean-up too."""
    await ctx.sleep(0)
    try:
        await asyncio.sleep(0)
    finally:
        await asyncio.sleep(0)
    await ctx.token(ctx.node)
    return state


async def busy_step(state: Step, ctx: Context) -> Step:
    await busy(Trail(), ctx)
    return state


def busy_graph(kind: str, *, durable: bool) -> CompiledGraph[Trail]:
    """Work, of that kind, with timeouts that never fire, a retry and a fallback that are never needed."""
    item = StateGraph(Step).add_node("Step", busy_step).compile(durable=durable)
    keys = ["b", "c", "d"]
    graphs: dict[str, StateGraph[Trail]] = {
        "child": inside("Work", steps(("X", busy), ("Y", busy)).compile(durable=durable), timeout=5),
        "group": StateGraph(Trail).add_parallel_group("Work", [branch(key, busy) for key in keys], first_of, timeout=5, branch_timeout=3),
        "map": StateGraph(Trail).add_map(
            "Work",
            item,
            items=lambda _: keys,
            key=str,
            enter=lambda _, key: Step(key=key),
            merge=lambda state, _: state,
            max_concurrency=2,
            item_timeout=3,
        ),
    }
    return fallback(graphs[kind], "Work", retries=1).compile(durable=durable)


async def ended(run: asyncio.Future[Any], clock: HandClock) -> str:
    """What a run came to, of which no timer and no task may be left; sleeps of nothing need the clock."""
    while not run.done():
        await clock.pass_time(0)
    assert clock.timers == 0
    assert len([task for task in asyncio.all_tasks() if task is not asyncio.current_task()]) <= 1
    return "abandoned" if run.cancelled() else type(run.result()).__name__


KINDS = ["child", "group", "map"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("durable", [True, False])
async def test_can_01_at_every_turn_of_the_loop_an_abandoned_run_leaves_nothing_behind(kind: str, durable: bool) -> None:
    """Its task is cancelled after 0, 1, 2, ... turns, whatever is awaited just then."""
    graph, outcomes = busy_graph(kind, durable=durable), set[str]()
    for turns in range(60):
        clock, memory = HandClock(), MemoryStore()
        running = asyncio.ensure_future(Runner(graph, memory, clock=clock).run("t", Trail(), deadline=60))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        outcomes.add(await ended(running, clock))
        statuses = [record.status for record in await checkpoints(memory)]
        assert durable or statuses in ([], ["cancelled"]), turns
    await settle()
    assert "abandoned" in outcomes


@pytest.mark.parametrize("how", ["request", "deadline"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("durable", [True, False])
async def test_at_every_turn_of_the_loop_a_cancelled_run_is_cancelled_or_has_completed_and_never_fails(kind: str, durable: bool, how: str) -> None:
    """The thread is cancelled after 0, 1, 2, ... turns; a cancelled one can be resumed."""
    graph, outcomes = busy_graph(kind, durable=durable), set[str]()
    for turns in range(60):
        clock, memory = HandClock(), MemoryStore()
        runner = Runner(graph, memory, clock=clock)
        running = asyncio.ensure_future(runner.run("t", Trail(), deadline=60))
        for _ in range(turns):
            await asyncio.sleep(0)
        if how == "request":
            runner.cancel("t")
        else:
            await clock.pass_time(60)
        outcome = await ended(running, clock)
        outcomes.add(outcome)
        if outcome == "Cancelled":
            assert (await checkpoints(memory))[-1].status == "cancelled"
            resumed = asyncio.ensure_future(runner.resume("t"))
            assert await ended(resumed, clock) == "Completed", turns
    assert outcomes == {"Cancelled", "Completed"} or how == "deadline"


@pytest.mark.parametrize("kind", KINDS)
async def test_at_every_turn_of_the_loop_a_reader_may_leave(kind: str) -> None:
    graph = busy_graph(kind, durable=True)
    for turns in range(60):
        clock, memory = HandClock(), MemoryStore()
        async with Runner(graph, memory, clock=clock).stream("t", Trail()):
            for _ in range(turns):
                await asyncio.sleep(0)
            await clock.pass_time(0)
        assert clock.timers == 0
        assert len([task for task in asyncio.all_tasks() if task is not asyncio.current_task()]) <= 1
