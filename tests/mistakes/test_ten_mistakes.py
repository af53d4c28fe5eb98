"""The mistakes that everybody makes once, each with the whole text that answers it.

Checkers find most of them earlier; these tests are for who runs none, so the wrong calls go through `Any`.
"""

from __future__ import annotations

import asyncio
import gc
import traceback
from collections.abc import Coroutine
from inspect import currentframe
from pathlib import Path
from typing import Any

import pytest

from strata import (
    Failed,
    GraphInvalid,
    Interrupted,
    LoopRunning,
    Runner,
    SignalRefused,
    StateGraph,
    StoreError,
    StrataError,
    ThreadExists,
    ThreadFinished,
    WrongGraph,
    edge,
    node,
    when,
)
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.mistakes.essay import Essay, Order, builder, draft, essays, orders, publish, receive, review, score_of, sign_off

ESSAY = str(Path(__file__).with_name("essay.py"))


def told(error: BaseException) -> str:
    """The error as the end of a traceback shows it, its notes included."""
    return "".join(traceback.format_exception_only(error)).rstrip("\n")


def here(above: int) -> str:
    """The place so many lines above the call."""
    frame = currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno - above}"


async def paused() -> Runner[Essay]:
    """A runner with the thread `essay-1`, which waits at `sign_off`."""
    runner = Runner(essays, MemoryStore())
    assert isinstance(await runner.run("essay-1", Essay(min_score=3)), Interrupted)
    return runner


# 1. A wrong name


def test_a_wrong_name_of_a_target() -> None:
    @node("draft")
    @edge("reviw")
    def first(essay: Essay) -> Essay:
        return essay

    place = here(above=4)
    wrong: Any = StateGraph(Essay).start(first)
    with pytest.raises(GraphInvalid) as caught:
        wrong.nodes(review, sign_off, publish).compile()
    assert told(caught.value) == (
        "strata.errors.GraphInvalid: the graph has 4 errors:\n"
        f"  {place}: error: Edge 'draft' -> 'reviw' points at 'reviw', which is not a node in the graph. "
        "Did you mean 'review'? [STRATA_ERR_DANGLING_EDGE]\n"
        f"  {ESSAY}:29: error: Node 'review' is isolated and unreachable from the entry point 'draft'. [STRATA_ERR_ORPHAN]\n"
        f"  {ESSAY}:36: error: Node 'sign_off' is isolated and unreachable from the entry point 'draft'. [STRATA_ERR_ORPHAN]\n"
        f"  {ESSAY}:43: error: Node 'publish' is isolated and unreachable from the entry point 'draft'. [STRATA_ERR_ORPHAN]"
    )


# 2. A guard of another state


def test_a_guard_of_another_state() -> None:
    def is_cheap(order: Order) -> bool:
        return order.amount < 10

    guard: Any = is_cheap

    @node("review")
    @when(guard, to="sign_off")
    @edge("publish")
    def other(essay: Essay) -> Essay:
        return essay

    place = here(above=5)
    with pytest.raises(TypeError) as caught:
        StateGraph(Essay).start(draft).nodes(other, sign_off, publish)
    assert told(caught.value) == (
        f"TypeError: {place}: node 'review' has a guard over Order, 'is_cheap', and its graph is over Essay: give @when a function of Essay"
    )


# 3. No return


async def test_a_node_that_returns_nothing() -> None:
    def forgetful(essay: Essay) -> Any:
        essay.replace(revision=2)

    graph = StateGraph(Essay).add_node("draft", forgetful).compile()
    outcome = await Runner(graph, MemoryStore()).run("essay-1", Essay(min_score=3))
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'draft' returned None: did you forget to return the state?"
    with pytest.raises(StrataError) as caught:
        outcome.unwrap()
    assert told(caught.value) == (
        "strata.errors.RunFailed: thread 'essay-1' failed at node 'draft': node 'draft' returned None: did you forget to return the state?"
    )


# 4. Two entries


def test_two_entries_one_after_the_other() -> None:
    started: Any = StateGraph(Essay).start(draft)
    with pytest.raises(TypeError) as caught:
        started.start(review)
    assert told(caught.value) == "TypeError: the graph starts at 'draft', and there is one start: list the other nodes with .nodes(...)"


def test_two_entries_at_once() -> None:
    graph: Any = StateGraph(Essay)
    with pytest.raises(TypeError) as caught:
        graph.start(draft, review)
    assert told(caught.value) == "TypeError: start() takes one node, where every run starts: list the others with .nodes(...)"


def test_the_entry_listed_twice() -> None:
    with pytest.raises(GraphInvalid) as caught:
        StateGraph(Essay).start(draft).nodes(draft, review, sign_off, publish).compile()
    assert told(caught.value) == (
        "strata.errors.GraphInvalid: the graph has 1 error:\n"
        f"  {ESSAY}:15: error: node 'draft' stands twice in the graph: a node has one place; "
        "list it once, or give the second a name of its own [STRATA_PY_DOUBLED_NODE]"
    )


# 5. Resume of a finished thread


async def test_resume_of_a_finished_thread() -> None:
    runner = await paused()
    (await runner.resume("essay-1", essays.approve("editor"))).unwrap()
    with pytest.raises(ThreadFinished) as caught:
        await runner.resume("essay-1", essays.approve("editor"))
    assert told(caught.value) == (
        "strata.errors.ThreadFinished: checkpoint for thread 'essay-1' is not resumable (status: Completed): "
        "only an interrupted, failed or cancelled checkpoint can be\n"
        "start a new thread, or this one anew with run()"
    )


async def test_run_of_a_thread_that_waits() -> None:
    runner = await paused()
    with pytest.raises(ThreadExists) as caught:
        await runner.run("essay-1", Essay(min_score=3))
    assert told(caught.value) == (
        "strata.errors.ThreadExists: thread 'essay-1' exists and has not finished: its latest checkpoint is interrupted; "
        "continue it with resume(), signal(), wake() or recover(), finish it with end(), use another id, or pass start_over=True"
    )


async def test_resume_without_an_answer() -> None:
    runner = await paused()
    with pytest.raises(SignalRefused) as caught:
        await runner.resume("essay-1")
    assert told(caught.value) == (
        "strata.errors.SignalRefused: thread 'essay-1' is waiting for a human at [sign_off]: "
        "resume it with an answer, graph.approve(reviewer) or graph.reject(reviewer)"
    )


# 6. An override of a wrong type or name


async def test_an_override_of_a_wrong_type() -> None:
    runner = await paused()
    answer: Any = essays.approve("editor")
    with pytest.raises(SignalRefused) as caught:
        await runner.resume("essay-1", answer.override(score="nine"))
    assert (
        told(caught.value)
        == "strata.errors.SignalRefused: failed to rehydrate state for thread 'essay-1': override of 'score': expected int, found str"
    )
    assert (await runner.thread("essay-1")).state_name == "interrupted"


async def test_an_override_of_a_wrong_name() -> None:
    runner = await paused()
    answer: Any = essays.approve("editor")
    with pytest.raises(SignalRefused) as caught:
        await runner.resume("essay-1", answer.override(scor=9))
    assert told(caught.value) == "strata.errors.SignalRefused: cannot resume thread 'essay-1': Essay has no field 'scor': did you mean 'score'?"
    assert (await runner.thread("essay-1")).state_name == "interrupted"


# 7. A missing store block


def test_a_store_without_its_block(tmp_path: Path) -> None:
    path = tmp_path / "essays.db"

    async def main() -> None:
        outcome = await Runner(essays, SqliteStore(path)).run("essay-1", Essay(min_score=3))
        assert isinstance(outcome, Interrupted)
        del outcome
        gc.collect()

    with pytest.warns(ResourceWarning) as caught:
        asyncio.run(main())
    ours = [str(warning.message) for warning in caught if "SQLite" in str(warning.message)]
    assert ours == [f"the SQLite store of '{path}' was never closed: use it in an `async with` or `with` block"]


async def test_a_store_after_its_block(tmp_path: Path) -> None:
    path = tmp_path / "essays.db"
    async with SqliteStore(path) as store:
        runner = Runner(essays, store)
    with pytest.raises(StoreError) as caught:
        await runner.run("essay-1", Essay(min_score=3))
    assert told(caught.value) == (
        f"strata.errors.StoreError: the SQLite store of '{path}' is closed\nopen it again with `async with`, or await store.open()"
    )


async def test_the_wrong_kind_of_block(tmp_path: Path) -> None:
    with pytest.raises(LoopRunning) as caught, SqliteStore(tmp_path / "essays.db"):
        pass
    assert told(caught.value) == (
        "strata.errors.LoopRunning: `with SqliteStore` was used inside a running event loop, which it would block: write `async with` there"
    )


# 8. An `await` forgotten


async def test_an_await_forgotten_at_the_call() -> None:
    runner = await paused()
    outcome: Any = runner.resume("essay-1", essays.approve("editor"))
    with pytest.raises(AttributeError) as caught:
        outcome.unwrap()
    assert told(caught.value) == "AttributeError: 'coroutine' object has no attribute 'unwrap'"
    caught.value.obj = None
    with pytest.warns(RuntimeWarning) as warned:
        del outcome
    assert [str(warning.message) for warning in warned] == ["coroutine 'Runner.resume' was never awaited"]


async def test_an_await_forgotten_in_a_node() -> None:
    pending: list[Coroutine[Any, Any, int]] = []

    async def careless(essay: Essay) -> Essay:
        score: Any = score_of(essay)
        pending.append(score)
        return essay.replace(score=score)

    graph = StateGraph(Essay).add_node("review", careless).compile()
    outcome = await Runner(graph, MemoryStore()).run("essay-1", Essay(min_score=3))
    pending[0].close()
    assert isinstance(outcome, Failed)
    assert (
        outcome.message == "node 'review' returned a state that cannot be stored: Essay.score: expected int, found coroutine: an await was forgotten"
    )


async def test_a_node_that_returns_what_it_should_await() -> None:
    async def reviewed(essay: Essay) -> Essay:
        return essay

    def careless(essay: Essay) -> Any:
        return reviewed(essay)

    graph = StateGraph(Essay).add_node("review", careless).compile()
    outcome = await Runner(graph, MemoryStore()).run("essay-1", Essay(min_score=3))
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'review' returned a coroutine: an await was forgotten, or the function is not declared async"


async def test_a_stream_that_was_not_entered() -> None:
    runner = await paused()
    with pytest.raises(StrataError) as caught:
        async for _ in runner.stream("essay-2", Essay(min_score=3)):
            pass
    assert told(caught.value) == (
        "strata.errors.StrataError: a stream is entered before it is read: async with runner.stream(...) as events: async for event in events: ..."
    )


# 9. A run inside a running loop


async def test_a_sync_run_inside_a_running_loop() -> None:
    runner = await paused()
    with pytest.raises(LoopRunning) as caught:
        runner.run_sync("essay-2", Essay(min_score=3))
    assert told(caught.value) == (
        "strata.errors.LoopRunning: run_sync() was called inside a running event loop, which it would block: await run() there"
    )


# 10. Another graph's thread


async def test_another_graphs_thread() -> None:
    store = MemoryStore()
    await Runner(essays, store).run("essay-1", Essay(min_score=3))
    with pytest.raises(WrongGraph) as caught:
        await Runner(orders, store).resume("essay-1", orders.approve("editor"))
    assert told(caught.value) == (
        "strata.errors.WrongGraph: thread 'essay-1' was written by graph 'essays' version 1, not 'orders' version 1\n"
        "run the thread with the graph 'essays'"
    )


async def test_another_versions_thread() -> None:
    store = MemoryStore()
    await Runner(essays, store).run("essay-1", Essay(min_score=3))
    newer = builder.compile(id="essays", version="2")
    with pytest.raises(WrongGraph) as caught:
        await Runner(newer, store).resume("essay-1", newer.approve("editor"))
    assert told(caught.value) == (
        "strata.errors.WrongGraph: thread 'essay-1' was written by graph 'essays' version 1, not version 2, and this graph has no migration\n"
        "give compile(migrate=...) a function that accepts version 1, or run the thread with the version that wrote it"
    )


async def test_another_graphs_thread_where_no_graph_has_an_id() -> None:
    store = MemoryStore()
    await Runner(builder.compile(), store).run("essay-1", Essay(min_score=3))
    nameless = StateGraph(Order).start(receive).compile()
    with pytest.raises(WrongGraph) as caught:
        await Runner(nameless, store).resume("essay-1", nameless.approve("editor"))
    assert told(caught.value) == (
        "strata.errors.WrongGraph: the suspended node of thread 'essay-1' is 'sign_off', which this graph does not have: its nodes are receive\n"
        "run the thread with the graph that wrote it, or name the node's successor in a migration: compile(migrate=...)"
    )


def test_a_graph_that_is_not_compiled() -> None:
    uncompiled: Any = builder
    with pytest.raises(TypeError) as caught:
        Runner(uncompiled, MemoryStore())
    assert told(caught.value) == "TypeError: a runner runs what compile() gave, not Wiring: Runner(graph.compile(...), store)"
