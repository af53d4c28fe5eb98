"""Which question an answer belongs to: of several that a node asks side by side, and of those asked after a fresh start."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strata import Completed, Context, Failed, Interrupted, QuestionChanged, Resume, Runner, StateGraph
from strata.errors import PauseSwallowed
from strata.graph.clock import SYSTEM
from strata.stores.memory import MemoryStore
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail, line
from tests.logs import checkpoints


class Tools:
    """A node with three tools at work side by side, each of which asks; `order` is the order in which they come to ask."""

    def __init__(self, *, keyed: bool) -> None:
        self.keyed = keyed
        self.order: tuple[str, ...] = ("a", "b", "c")

    async def node(self, state: Trail, ctx: Context) -> Trail:
        answers = await asyncio.gather(*(self._asks(ctx, tool) for tool in "abc"))
        return state.replace(trail=" ".join(answers))

    async def in_a_task_group(self, state: Trail, ctx: Context) -> Trail:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._asks(ctx, tool)) for tool in "abc"]
        return state.replace(trail=" ".join(task.result() for task in tasks))

    async def on_threads(self, state: Trail, ctx: Context) -> Trail:
        answers = dict[str, str]()
        for tool in self.order:
            answers[tool] = await asyncio.to_thread(self._ask, ctx, tool)
        return state.replace(trail=" ".join(answers[tool] for tool in "abc"))

    async def _asks(self, ctx: Context, tool: str) -> str:
        for _ in range(self.order.index(tool) + 1):
            await asyncio.sleep(0)
        return self._ask(ctx, tool)

    def _ask(self, ctx: Context, tool: str) -> str:
        return f"{tool}={ctx.interrupt({'tool': tool}, returns=str, key=tool if self.keyed else None)}"


Gathers = Callable[[Tools, Trail, Context], Awaitable[Trail]]


@pytest.mark.parametrize("kind", FACTORIES)
@pytest.mark.parametrize("gathers", [Tools.node, Tools.in_a_task_group, Tools.on_threads])
@pytest.mark.parametrize("keyed", [True, False])
async def test_int_01_questions_asked_side_by_side_get_each_its_own_answer_whoever_comes_first(
    keyed: bool, gathers: Gathers, kind: str, tmp_path: Path
) -> None:
    """By their keys, or else by what they ask."""
    tools = Tools(keyed=keyed)
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
                assert question.id == (question.asked["tool"] if keyed else f"#{turn + 1}")
                outcome = await Runner(graph, store).resume(thread_id, Resume(f"for {question.asked['tool']}"))
            assert outcome.unwrap().trail == "a=for a b=for b c=for c"


async def test_threads_that_ask_at_once_get_each_its_own_answer() -> None:
    def node(state: Trail, ctx: Context) -> Trail:
        together = threading.Barrier(4)

        def asks(tool: str) -> str:
            together.wait()
            return ctx.interrupt(f"{tool}?", returns=str)

        with ThreadPoolExecutor(4) as pool:
            return state.replace(trail=" ".join(pool.map(asks, "abcd")))

    runner = Runner(StateGraph(Trail).add_node("Ask", node).compile(), MemoryStore())
    outcome = await runner.run("t", Trail())
    for _ in range(4):
        assert isinstance(outcome, Interrupted)
        outcome = await runner.resume("t", Resume(outcome.questions[0].asked[0]))
    assert outcome.unwrap().trail == "a b c d"


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


# Without a key, one after another


def asker(*questions: Callable[[], object], inline: bool = True) -> Any:
    """A node that asks them one after another, each for a text; the answers are its trail."""

    def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=" ".join([ctx.interrupt(question(), returns=str) for question in questions]))

    return StateGraph(Trail).add_node("Ask", ask, inline=inline).compile()


class Words:
    """A question that is put in other words whenever the node runs."""

    def __init__(self, text: str) -> None:
        self.text, self.times = text, 0

    def __call__(self) -> str:
        self.times += 1
        return f"{self.text} ({self.times})"


async def answered(graph: Any, *answers: str) -> Any:
    """What the run comes to when each of its questions is given the next answer."""
    runner = Runner[Trail](graph, MemoryStore())
    outcome = await runner.run("t", Trail())
    for answer in answers:
        outcome = await runner.resume("t", Resume(answer))
    return outcome


@pytest.mark.parametrize("inline", [True, False])
async def test_a_question_in_other_words_is_the_one_whose_answer_is_left(inline: bool) -> None:
    done = await answered(asker(Words("at noon?"), inline=inline), "yes")
    assert done.unwrap().trail == "yes"
    done = await answered(asker(lambda: "which?", Words("at noon?"), inline=inline), "this", "yes")
    assert done.unwrap().trail == "this yes"


async def test_the_same_question_asked_again_and_again_gets_its_answers_in_their_order() -> None:
    done = await answered(asker(*[lambda: "which?"] * 3), "a", "b", "c")
    assert done.unwrap().trail == "a b c"


async def test_questions_of_one_node_that_come_in_another_order_get_each_its_own_answer() -> None:
    order = ["a?", "b?", "c?"]

    async def ask(state: Trail, ctx: Context) -> Trail:
        answers = {question: ctx.interrupt(question, returns=str) for question in order}
        return state.replace(trail=" ".join(answers[question] for question in sorted(order)))

    runner = Runner(StateGraph(Trail).add_node("Ask", ask).compile(), MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", Resume("a"))
    await runner.resume("t", Resume("b"))
    order[:] = ["c?", "a?", "b?"]
    assert (await runner.resume("t", Resume("c"))).unwrap().trail == "a b c"


async def test_a_question_whose_answer_went_to_another_in_its_place_fails_and_is_told_to_take_a_key() -> None:
    """Nothing but the order told the first one that its words had changed."""
    order = ["a?", "b?"]

    async def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=" ".join([ctx.interrupt(question, returns=str) for question in order]))

    runner = Runner(StateGraph(Trail).add_node("Ask", ask).compile(), MemoryStore())
    await runner.run("t", Trail())
    order.reverse()
    failed = await runner.resume("t", Resume("a"))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, QuestionChanged)
    assert failed.message == (
        "node 'Ask' was given an answer to its question '#2' that is not what it asks for now: "
        'it asks "a?", and the answer to that was given to what it asked before'
    )


async def test_two_questions_in_other_words_fail_and_are_told_to_take_keys() -> None:
    failed = await answered(asker(Words("at noon?"), Words("today?")), "yes", "no")
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, QuestionChanged)
    assert failed.message == (
        "node 'Ask' was given an answer to its question '#1' that is not what it asks for now: "
        'it asks "at noon? (3)", and the answers it has are to "at noon? (1)" and "today? (1)"'
    )
    assert failed.error.hint is not None
    assert "key=" in failed.error.hint


async def test_an_answer_of_another_type_is_no_answer_to_the_question_whose_words_have_changed() -> None:
    kind: type[Any] = int
    words = Words("how many?")

    def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=str(ctx.interrupt(words(), returns=kind)))

    runner = Runner(StateGraph(Trail).add_node("Ask", ask, inline=True).compile(), MemoryStore())
    await runner.run("t", Trail())
    kind = str
    failed = await runner.resume("t", Resume(1))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, QuestionChanged)


async def test_a_task_that_asks_in_other_words_asks_another_question() -> None:
    words = Words("at noon?")

    async def ask(state: Trail, ctx: Context) -> Trail:
        async def asks() -> str:
            return ctx.interrupt(words(), returns=str)

        return state.replace(trail=await asyncio.create_task(asks()))

    again = await answered(StateGraph(Trail).add_node("Ask", ask).compile(), "yes")
    assert isinstance(again, Interrupted)
    assert [(question.id, question.asked) for question in again.questions] == [("#2", "at noon? (2)")]


async def test_answers_of_a_record_that_does_not_say_what_was_asked_count_in_their_order() -> None:
    """As records were written before they said it."""
    store = MemoryStore()
    runner = Runner[Trail](asker(Words("which?"), Words("how many?"), lambda: "where?"), store)
    await runner.run("t", Trail())
    asked = (await checkpoints(store))[-1]
    answers = '[{"key":null,"returns":{"type":"string"},"answer":"this","by":""},{"key":null,"returns":{"type":"string"},"answer":"two","by":""}]'
    await store.save(msgspec.structs.replace(asked, metadata={**(asked.metadata or {}), "strata.answers": answers}))
    assert (await runner.resume("t", Resume("here"))).unwrap().trail == "this two here"


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
