"""The same calls for programs without an event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import trio

from strata import (
    Completed,
    Context,
    Failed,
    Interrupted,
    LoopRunning,
    NodeTimedOut,
    OptionRefused,
    Runner,
    StateGraph,
    StoreError,
    ThreadExists,
    ThreadNotFound,
    UnsupportedEventLoop,
)
from strata.stores.base import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail, adds, line
from tests.records import record

GRAPH = line("A", "B").add_interrupt_boundary("A").compile()


@pytest.fixture(params=["memory", "memory in its block", "sqlite in its block"])
def kind(request: pytest.FixtureRequest) -> str:
    """A SqliteStore belongs to one event loop, so it wants its block."""
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> StoreBase:
    return SqliteStore(tmp_path / "threads.db") if "sqlite" in kind else MemoryStore()


@pytest.fixture
def block(kind: str, store: StoreBase) -> AbstractContextManager[Any]:
    return store if "block" in kind else nullcontext()


def test_a_thread_is_run_looked_at_answered_and_ended(store: StoreBase, block: AbstractContextManager[Any]) -> None:
    with block:
        runner = Runner(GRAPH, store)
        assert isinstance(runner.run_sync("t", Trail()), Interrupted)
        assert runner.thread_sync("t").waiting_at == ("A",)
        assert runner.resume_sync("t", GRAPH.approve("ana").override(n=4)).unwrap() == Trail(trail="AB", n=5)
        assert isinstance(runner.run_sync("t", Trail(), metadata={"tenant": "acme"}), Interrupted)
        assert runner.end_sync("t", by="ana").reason == "ended"
        assert runner.thread_sync("t").metadata["tenant"] == "acme"


def test_a_dead_thread_is_recovered(store: StoreBase, block: AbstractContextManager[Any]) -> None:
    with block:
        runner = Runner(line("A", "B").compile(), store)
        runner.run_sync("t", Trail(), deadline=0)

    async def die() -> None:
        await store.save(record("u", status="running", suspended_node="A", next_node="B", state={"trail": "A", "n": 1}))

    with block:
        if store.has_loop:
            store.run_in_loop(die())
        else:
            asyncio.run(die())
        assert runner.recover_sync("u").unwrap().trail == "AB"


def test_refusals_raise_and_leave_the_next_call_alone(store: StoreBase, block: AbstractContextManager[Any]) -> None:
    with block:
        runner = Runner(GRAPH, store)
        with pytest.raises(ThreadNotFound):
            runner.thread_sync("t")
        with pytest.raises(OptionRefused):
            runner.run_sync("t", Trail(), metadata={"error": "x"})
        runner.run_sync("t", Trail())
        with pytest.raises(ThreadExists):
            runner.run_sync("t", Trail())
        assert isinstance(runner.resume_sync("t", GRAPH.approve("ana")), Completed)


def test_sync_nodes_run_in_the_calling_thread_and_async_ones_too() -> None:
    threads: set[int] = set()

    def look(state: Trail, ctx: Context) -> Trail:
        threads.add(threading.get_ident())
        ctx.token_sync("to nobody")
        ctx.sleep_sync(0)
        return state

    async def look_async(state: Trail) -> Trail:
        threads.add(threading.get_ident())
        return state

    graph = StateGraph(Trail).add_node("A", look).add_node("B", look_async).add_edge("A", "B").compile()
    assert isinstance(Runner(graph).run_sync("t", Trail()), Completed)
    assert threads == {threading.get_ident()}


def test_a_timeout_holds_in_a_sync_program_too() -> None:
    release = threading.Event()

    def block(state: Trail) -> Trail:
        release.wait()
        return state

    outcome = Runner(StateGraph(Trail).add_node("A", block, timeout=0.02).compile()).run_sync("t", Trail())
    release.set()
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, NodeTimedOut)


def test_an_error_of_the_program_goes_up() -> None:
    def leave(state: Trail) -> Trail:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Runner(StateGraph(Trail).add_node("A", leave).compile(), MemoryStore()).run_sync("t", Trail())


@pytest.mark.parametrize("call", ["run", "resume", "recover", "end", "thread"])
async def test_loop_01_inside_a_running_loop_the_async_call_is_named(call: str, store: StoreBase) -> None:
    runner = Runner(GRAPH, store)
    arguments = ("t", Trail()) if call == "run" else ("t",)
    with pytest.raises(LoopRunning) as raised:
        getattr(runner, f"{call}_sync")(*arguments)
    assert str(raised.value) == f"{call}_sync() was called inside a running event loop, which it would block: await {call}() there"


async def test_loop_01_from_inside_a_handler_too() -> None:
    errors: list[Exception] = []

    async def calls(state: Trail) -> Trail:
        try:
            runner.thread_sync("t")
        except LoopRunning as error:
            errors.append(error)
        return state

    runner = Runner(StateGraph(Trail).add_node("A", calls).compile(), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Completed)
    assert len(errors) == 1


async def test_a_worker_thread_may_use_the_sync_calls_of_another_runner() -> None:
    def calls(state: Trail) -> Trail:
        return Runner(line("X").compile()).run_sync("inner", state).unwrap()

    assert (await Runner(StateGraph(Trail).add_node("A", calls).compile()).run("t", Trail())).unwrap().trail == "X"


def test_outside_asyncio_every_entry_says_so() -> None:
    runner = Runner(GRAPH, MemoryStore())
    for call in (runner.run("t", Trail()), runner.resume("t"), runner.recover("t"), runner.end("t"), runner.thread("t"), runner.threads()):
        with pytest.raises(UnsupportedEventLoop):
            call.send(None)
    with pytest.raises(UnsupportedEventLoop):
        runner.stream("t", Trail()).__aenter__().send(None)


def test_under_trio_every_entry_says_so() -> None:
    async def main() -> None:
        runner = Runner(GRAPH, MemoryStore())
        with pytest.raises(UnsupportedEventLoop, match="asyncio"):
            await runner.run("t", Trail())
        with pytest.raises(UnsupportedEventLoop, match="asyncio"):
            async with runner.stream("t", Trail()):
                pytest.fail("entered")

    trio.run(main)


def test_one_runner_serves_many_loops() -> None:
    runner = Runner(line("A").add_node("B", adds("B")).add_edge("A", "B").compile(), MemoryStore())
    for number in range(3):
        assert isinstance(runner.run_sync(f"t{number}", Trail()), Completed)


def test_threads_that_share_a_block_are_told_to_have_a_store_each(tmp_path: Path) -> None:
    inside, told = threading.Event(), threading.Event()

    def waits(state: Trail) -> Trail:
        inside.set()
        told.wait(10)
        return state

    graph = StateGraph(Trail).add_node("A", waits).compile()
    with SqliteStore(tmp_path / "threads.db") as store, ThreadPoolExecutor(1) as others:
        running = others.submit(Runner(graph, store).run_sync, "t", Trail())
        assert inside.wait(10)
        with pytest.raises(StoreError, match="in use by another thread"):
            Runner(graph, store).thread_sync("t")
        told.set()
        assert isinstance(running.result(10), Completed)
        assert Runner(graph, store).thread_sync("t").status == "completed"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_inside_a_block_goes_on_with_a_loop_of_its_own(store: StoreBase, block: AbstractContextManager[Any], kind: str) -> None:
    with block:
        runner = Runner(GRAPH, store)
        assert isinstance(runner.run_sync("t", Trail()), Interrupted)
        assert exit_code_of_child(resume_and_leave, runner, store, "block" in kind) == 0
        assert runner.thread_sync("t").sequence == (3 if "sqlite" in kind else 1)  # only a file is shared
        assert isinstance(runner.run_sync("u", Trail()), Interrupted)


def resume_and_leave(runner: Runner[Trail], store: StoreBase, has_block: bool) -> None:
    assert isinstance(runner.resume_sync("t", GRAPH.approve("ana")), Completed)
    if has_block:
        store.__exit__(None, None, None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_makes_worker_threads_of_its_own() -> None:
    runner = Runner(line("A").compile())
    assert isinstance(asyncio.run(runner.run("t", Trail())), Completed)
    assert exit_code_of_child(run_on_threads, runner) == 0


def run_on_threads(runner: Runner[Trail]) -> None:
    assert isinstance(asyncio.run(asyncio.wait_for(runner.run("u", Trail()), 10)), Completed)


def exit_code_of_child(work: Any, *arguments: Any) -> int | None:
    child = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    child.start()
    child.join(30)
    child.kill()
    child.join()
    return child.exitcode
