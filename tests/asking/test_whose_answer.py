"""Which question an answer belongs to: of several that a node asks side by side, and of those asked after a fresh start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations
from pathlib import Path

import pytest

from strata import Completed, Context, Failed, Interrupted, Resume, Runner, StateGraph
from strata.errors import PauseSwallowed
from strata.graph.clock import SYSTEM
from strata.stores.memory import MemoryStore
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail, line


class Tools:
    """A node with three tools at work side by side, each of which asks; `order` is the order in which they come to ask."""

    def __init__(self) -> None:
        self.order: tuple[str, ...] = ("a", "b", "c")

    async def node(self, state: Trail, ctx: Context) -> Trail:
        answers = await asyncio.gather(*(self._asks(ctx, tool) for tool in "abc"))
        return state.replace(trail=" ".join(answers))

    async def in_a_task_group(self, state: Trail, ctx: Context) -> Trail:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._asks(ctx, tool)) for tool in "abc"]
        return state.replace(trail=" ".join(task.result() for task in tasks))

    async def _asks(self, ctx: Context, tool: str) -> str:
        for _ in range(self.order.index(tool) + 1):
            await asyncio.sleep(0)
        return f"{tool}={ctx.interrupt({'tool': tool}, returns=str, key=tool)}"


Gathers = Callable[[Tools, Trail, Context], Awaitable[Trail]]


@pytest.mark.parametrize("kind", FACTORIES)
@pytest.mark.parametrize("gathers", [Tools.node, Tools.in_a_task_group])
async def test_int_01_questions_asked_side_by_side_get_each_its_own_answer_whoever_comes_first(gathers: Gathers, kind: str, tmp_path: Path) -> None:
    """By their keys: without, answers count in the order of asking."""
    tools = Tools()
    orders = list(permutations("abc"))

    async def node(state: Trail, ctx: Context) -> Trail:
        return await gathers(tools, state, ctx)

    graph = StateGraph(Trail).add_node("Tools", node).compile()
    async with FACTORIES[kind](tmp_path, SYSTEM) as store:
        for number, tools.order in enumerate(orders):
            thread_id = f"t{number}"
            outcome = await Runner(graph, store).run(thread_id, Trail())
            for turn in range(3):
                assert isinstance(outcome, Interrupted)
                [question] = outcome.questions
                tools.order = orders[(number + 2 * turn + 1) % len(orders)]
                outcome = await Runner(graph, store).resume(thread_id, Resume(f"for {question.id}"))
            assert outcome.unwrap().trail == "a=for a b=for b c=for c"


async def test_int_10_a_question_beside_work_that_fails_does_not_hide_the_failure() -> None:
    async def fails() -> None:
        raise ValueError("no such order")

    async def node(state: Trail, ctx: Context) -> Trail:
        async def asks() -> None:
            ctx.interrupt("Send it?")

        await asyncio.gather(fails(), asks())
        return state

    outcome = await Runner(StateGraph(Trail).add_node("A", node).compile(), MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, PauseSwallowed)
    assert isinstance(outcome.error.__cause__, ValueError)


# A fresh start


async def asks(state: Trail, ctx: Context) -> Trail:
    return state.replace(trail=f"{state.trail}{ctx.interrupt('Which?', returns=str)}")


@pytest.mark.parametrize("ends", ["answered", "open", "failed"])
async def test_tt_01_a_thread_that_is_started_over_asks_again(ends: str) -> None:
    """Whatever was answered before the fresh start answers nothing behind it."""

    async def stops(state: Trail, ctx: Context) -> Trail:
        if ends == "failed":
            raise ValueError("stopped")
        return state

    graph = StateGraph(Trail).add_node("Ask", asks).add_node("Stop", stops).add_edge("Ask", "Stop").compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    if ends != "open":
        await runner.resume("t", Resume("old"))
    again = await runner.run("t", Trail(), start_over=True)
    assert isinstance(again, Interrupted)
    assert [question.asked for question in again.questions] == ["Which?"]
    await runner.resume("t", Resume("new"))
    assert (await runner.thread("t")).state.trail == "new"


async def test_tt_01_a_boundary_behind_a_fresh_start_waits_for_a_decision_of_its_own() -> None:
    seen: list[object] = []

    async def looks(state: Trail, ctx: Context) -> Trail:
        seen.append(None if ctx.decision is None else ctx.decision.reviewer)
        return state

    graph = line("A").add_node("Look", looks).add_edge("A", "Look").add_interrupt_boundary("A").compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", graph.approve("ana"))
    assert isinstance(await runner.run("t", Trail(), start_over=True), Interrupted)
    assert isinstance(await runner.resume("t", graph.approve("bob")), Completed)
    assert seen == ["ana", "bob"]
