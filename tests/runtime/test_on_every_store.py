"""Threads on each kind of store: what one program leaves another takes up, and what is told was stored before it is told."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from strata import Cancelled, CompiledGraph, Completed, Interrupted, Runner, StoreError, ThreadChanged
from strata.graph.clock import SYSTEM
from strata.stores import StoreBase
from strata.stores.sqlite import SqliteStore
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail, line
from tests.logs import checkpoints, log
from tests.odd_stores import BareStore, FailingStore, SlowStore


def store_of(kind: str, folder: Path) -> StoreBase:
    return BareStore() if kind == "save and load only" else FACTORIES[kind](folder, SYSTEM)


def asking() -> CompiledGraph[Trail]:
    """A pauses for a person, then B; an instance of its own, as another program has."""
    return line("A", "B").add_interrupt_boundary("A").compile(durable=False)


@pytest.mark.parametrize("kind", [*FACTORIES, "save and load only"])
async def test_st10_another_instance_of_the_graph_resumes_and_a_second_resume_does_not(kind: str, tmp_path: Path) -> None:
    async with store_of(kind, tmp_path) as store:
        assert isinstance(await Runner(asking(), store).run("t", Trail()), Interrupted)
        again = asking()
        outcome = await Runner(again, store).resume("t", again.approve("ana"))
        assert isinstance(outcome, Completed)
        assert outcome.state == Trail(trail="AB", n=2)
        with pytest.raises(ThreadChanged, match="already resumed"):
            await Runner(again, store).resume("t", again.approve("bob"))


@pytest.mark.parametrize("kind", FACTORIES)
async def test_st10_an_end_is_one_record_however_often_it_is_asked_for(kind: str, tmp_path: Path) -> None:
    async with store_of(kind, tmp_path) as store:
        runner = Runner(asking(), store)
        await runner.run("t", Trail())
        first = await runner.end("t", by="ana")
        second = await Runner(asking(), store).end("t", by="bob")
        assert (second.reason, second.node, second.stopped_at) == (first.reason, first.node, first.stopped_at) == ("ended", "A", ("A",))
        assert await log(store) == ["interrupted:A>B", "ended:A>-"]
        metadata = (await checkpoints(store))[-1].metadata
        assert metadata is not None
        assert metadata["strata.ended_by"] == "ana"


async def test_st9_what_one_instance_of_a_store_saved_another_loads(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(SqliteStore(path))
        theirs = await stack.enter_async_context(SqliteStore(path))
        await Runner(asking(), ours).run("t", Trail())
        stored = await theirs.load_latest("t")
        assert stored is not None
        assert (stored.sequence, stored.checkpoint) == (0, (await checkpoints(ours))[0])


async def test_st12_a_pause_is_told_once_its_record_is_there() -> None:
    store, graph = SlowStore(), asking()
    running = asyncio.create_task(Runner(graph, store).run("t", Trail()))
    await store.saving.wait()
    assert not running.done()
    store.gate.set()
    assert isinstance(await running, Interrupted)
    assert await log(store) == ["interrupted:A>B"]
    assert isinstance(await Runner(graph, store).resume("t", graph.approve("ana")), Completed)
    assert await log(store) == ["interrupted:A>B", "resumed:A>B"]


@pytest.mark.parametrize("kind", FACTORIES)
async def test_st13_a_run_that_was_stopped_before_it_began_leaves_one_cancelled_record(kind: str, tmp_path: Path) -> None:
    async with store_of(kind, tmp_path) as store:
        outcome = await Runner(asking(), store, clock=HandClock()).run("t", Trail(), deadline=0)
        assert isinstance(outcome, Cancelled)
        assert await log(store) == ["cancelled:A>A"]


async def test_st15_the_end_of_a_run_that_cannot_be_stored_comes_out_of_the_call() -> None:
    graph = line("A", "B").compile()
    seen: list[str] = []

    async def read(saves: int) -> None:
        async with Runner(graph, FailingStore(saves)).stream("t", Trail()) as events:
            async for event in events:
                seen.append(type(event).__name__)  # noqa: PERF401 - what was read before the error counts

    with pytest.raises(StoreError, match="the disk is full"):
        await read(3)
    assert seen == ["NodeStarted", "NodeEnded", "Committed", "NodeStarted", "NodeEnded"]
