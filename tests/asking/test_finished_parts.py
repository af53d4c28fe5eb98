"""Branches and items that have finished are not run again by a recovery or a resume (design section 3, point 6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from strata import Backoff, Completed, Context, Failed, FatalError, Runner, StateGraph, TransientError, branch
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail
from tests.kinds.parts import first_of


class Work:
    """Parts a and b finish, c comes to grief as often as it has errors, behind them."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.ran: list[str] = []
        self.hangs = self.moves = False
        self.reached = asyncio.Event()

    async def part(self, state: Trail, ctx: Context) -> Trail:
        name = ctx.path.split("/")[1] if "/G/" not in ctx.path else ctx.path[-1]
        self.ran.append(name)
        if name == "c":
            await asyncio.sleep(0)
            if self.hangs:
                self.reached.set()
                await asyncio.Event().wait()
            if self.errors:
                raise self.errors.pop(0)
        return state.replace(trail=name)


def joins(state: Trail, results: list[Trail]) -> Trail:
    return state.replace(trail="".join(result.trail for result in results))


def group(work: Work, *, retries: int = 0, **options: Any) -> Any:
    graph = StateGraph(Trail).add_parallel_group("G", [branch(name, work.part) for name in "abc"], joins, **options)
    if retries:
        graph = graph.set_recovery_policy("G", retries=retries)
    return graph.compile(id="parts", version="1")


def items(work: Work, **options: Any) -> Any:
    child = StateGraph(Trail).add_node("Part", work.part).compile()
    graph = StateGraph(Trail).add_map("M", child, items=lambda _: list("abc"), key=str, enter=lambda state, _: state, merge=joins, **options)
    return graph.compile(id="parts", version="1")


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StoreBase]:
    made: StoreBase = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "t.db")
    async with made:
        yield made


@pytest.mark.parametrize("graph_of", [group, items])
async def test_dur_05_a_resume_after_a_failure_runs_only_what_had_not_finished(graph_of: Any, store: StoreBase) -> None:
    work = Work(FatalError("one"), FatalError("two"))
    runner = Runner(graph_of(work), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert isinstance(await runner.resume("t"), Failed)
    done = await runner.resume("t")
    assert isinstance(done, Completed)
    assert done.state.trail == "abc"
    assert work.ran == ["a", "b", "c", "c", "c"]


@pytest.mark.parametrize("graph_of", [group, items])
async def test_dur_05_a_recovery_runs_only_what_had_not_finished(graph_of: Any, store: StoreBase) -> None:
    work = Work()
    runner = Runner(graph_of(work), store)
    work.hangs = True
    starts: list[Callable[[], Coroutine[Any, Any, object]]] = [lambda: runner.run("t", Trail()), lambda: runner.recover("t")]
    for start in starts:
        work.reached.clear()
        run = asyncio.create_task(start())
        await work.reached.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        work.ran.append("died")
    work.hangs = False
    done = await runner.recover("t")
    assert isinstance(done, Completed)
    assert done.state.trail == "abc"
    assert work.ran == ["a", "b", "c", "died", "c", "died", "c"]


async def test_a_retry_of_the_group_runs_all_parts(store: StoreBase) -> None:
    work = Work(TransientError("one"))
    assert isinstance(await Runner(group(work, retries=1), store).run("t", Trail()), Completed)
    assert work.ran == ["a", "b", "c", "a", "b", "c"]


async def test_without_progress_all_parts_run_again(store: StoreBase) -> None:
    work = Work(FatalError("one"))
    runner = Runner(group(work, keep_progress=False), store)
    await runner.run("t", Trail())
    await runner.resume("t")
    assert work.ran == ["a", "b", "c", "a", "b", "c"]


async def test_another_state_makes_other_parts(store: StoreBase) -> None:
    work = Work(FatalError("one"))
    graph = group(work)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    await runner.resume("t", graph.amend().override(n=2))
    assert work.ran == ["a", "b", "c", "a", "b", "c"]


async def test_what_has_committed_leaves_nothing_behind(store: StoreBase) -> None:
    runner = Runner(group(Work()), store)
    await runner.run("t", Trail())
    sequence = (await runner.thread("t")).sequence
    assert sequence is not None
    assert [await store.load_progress("t", number) for number in range(sequence + 1)] == [{}] * (sequence + 1)


def nested(work: Work, around: str) -> Any:
    """The group inside another node, behind a node that gives another state whenever it runs."""
    runs: list[int] = []

    def counts(state: Trail) -> Trail:
        runs.append(1)
        return state.replace(n=len(runs) if work.moves else 1)

    child = StateGraph(Trail).add_node("Count", counts).add_parallel_group("G", [branch(name, work.part) for name in "abc"], joins_alike)
    inner = child.add_edge("Count", "G").compile(id="inner", version="1")
    graph = StateGraph(Trail)
    if around == "subgraph":
        graph.add_subgraph("M", inner, enter=lambda state: state, leave=lambda _, inside: inside)
    else:
        graph.add_map("M", inner, items=lambda _: ["x"], key=str, enter=lambda state, _: state, merge=first_of)
    return graph.set_recovery_policy("M", retries=1, backoff=Backoff(initial=0.001, maximum=0.01)).compile(id="parts", version="1")


def joins_alike(state: Trail, results: list[Trail]) -> Trail:
    assert {result.n for result in results} == {state.n}, "parts of two states were merged"
    return joins(state, results)


@pytest.mark.parametrize("around", ["subgraph", "map"])
async def test_a_retry_around_a_group_never_mixes_parts_of_two_states(around: str, store: StoreBase) -> None:
    work = Work(TransientError("one"))
    work.moves = True
    done = await Runner(nested(work, around), store).run("t", Trail())
    assert isinstance(done, Completed)
    assert work.ran == ["a", "b", "c", "a", "b", "c"]


@pytest.mark.parametrize(("moves", "ran"), [(True, ["a", "b", "c", "a", "b", "c"]), (False, ["a", "b", "c", "c"])])
async def test_a_recovery_of_an_item_keeps_the_parts_of_a_group_in_it_only_with_their_state(moves: bool, ran: list[str], store: StoreBase) -> None:
    work = Work()
    work.moves, work.hangs = moves, True
    runner = Runner(nested(work, "map"), store)
    run = asyncio.create_task(runner.run("t", Trail()))
    await work.reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    work.hangs = False
    assert isinstance(await runner.recover("t"), Completed)
    assert work.ran == ran
