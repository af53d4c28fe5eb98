"""A node may use task groups of its own: one that failed inside it abandons no run (before Python 3.13 it leaves a request to cancel behind)."""

from __future__ import annotations

import asyncio

import pytest

from strata import Completed, Context, Failed, Interrupted, Runner, StateGraph
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds


async def _fails() -> None:
    await asyncio.sleep(0)
    raise ConnectionError("down")


async def grouped(state: Trail) -> Trail:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_fails())
    except* ConnectionError:
        pass
    return state.replace(trail=state.trail + "G")


async def hangs(state: Trail) -> Trail:
    await asyncio.get_running_loop().create_future()
    return state


@pytest.mark.parametrize("timeout", [None, 60.0], ids=["bare", "timed"])
async def test_a_node_that_outlives_a_failed_task_group_commits(timeout: float | None) -> None:
    graph = StateGraph(Trail).add_node("Group", grouped, timeout=timeout).add_node("Then", adds("T")).add_edge("Group", "Then").compile()
    outcome = await Runner(graph, MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Completed)
    assert outcome.state.trail == "GT"


async def test_a_timeout_behind_it_is_the_nodes_failure() -> None:
    clock = HandClock()
    graph = StateGraph(Trail).add_node("Group", grouped).add_node("Then", hangs, timeout=5).add_edge("Group", "Then").compile()
    run = asyncio.create_task(Runner(graph, MemoryStore(), clock=clock).run("t", Trail()))
    await settle()
    await clock.pass_time(5)
    outcome = await run
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'Then' timed out after 5000 ms"


async def test_an_attempt_that_failed_of_one_is_no_abandonment_of_the_next() -> None:
    attempts: list[int] = []

    async def flaky(state: Trail) -> Trail:
        attempts.append(len(attempts))
        if len(attempts) == 1:
            async with asyncio.TaskGroup() as group:
                group.create_task(_fails())
        return await hangs(state)

    clock = HandClock()
    graph = StateGraph(Trail).add_node("Flaky", flaky, timeout=5).set_recovery_policy("Flaky", retries=1, on=(ExceptionGroup,)).compile()
    run = asyncio.create_task(Runner(graph, MemoryStore(), clock=clock).run("t", Trail()))
    await settle()
    await clock.pass_time(5)
    outcome = await run
    assert isinstance(outcome, Failed)
    assert (outcome.attempts, outcome.message) == (2, "node 'Flaky' timed out after 5000 ms")


async def test_who_runs_the_graph_can_be_cancelled_and_timed_out_as_before() -> None:
    async def asks(state: Trail, ctx: Context) -> Trail:
        async with asyncio.TaskGroup() as group:
            group.create_task(_asks(ctx))
        return state

    async def _asks(ctx: Context) -> None:
        ctx.interrupt("Well?")

    task = asyncio.current_task()
    assert task is not None
    for node in (grouped, asks):
        outcome = await Runner(StateGraph(Trail).add_node("Node", node).compile(), MemoryStore()).run("t", Trail())
        assert isinstance(outcome, Completed | Interrupted)
        assert task.cancelling() == 0


async def test_a_cancellation_that_comes_with_it_abandons_the_run() -> None:
    async def stops(state: Trail) -> Trail:
        state = await grouped(state)
        run.cancel()  # it has not reached the task when the node ends
        return state

    graph = StateGraph(Trail).add_node("Node", stops).add_node("Then", adds("T")).add_edge("Node", "Then").compile()
    run = asyncio.create_task(Runner(graph, MemoryStore()).run("t", Trail()))
    with pytest.raises(asyncio.CancelledError):
        await run
