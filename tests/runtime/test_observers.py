"""Observers of a watched call: order, slowness, the end (strata-observability.md 2.1)."""

from __future__ import annotations

import asyncio
import logging

import pytest

from strata.engine.watch import Watch
from strata.errors import ThreadNotFound
from strata.ports.events import NodeEvent, RunEvent, RunStarted
from strata.runtime.observers import ROOM, Observer, watched
from strata.testing import EventRecorder, TestClock


async def run(*observers: Observer, nodes: int = 2, run_id: str = "run-1", clock: TestClock | None = None) -> None:
    """A call that runs a few nodes, as the engine would report it."""
    async with watched("run", thread_id="t", run_id=run_id, clock=clock or TestClock(), observers=observers, instrument=None) as watch:
        assert watch is not None
        play(watch, nodes)


def play(watch: Watch, nodes: int = 2) -> None:
    watch.emit(RunStarted(mode="run", node="n0"))
    for number in range(nodes):
        with watch.node(f"n{number}") as node, node.attempt(1):
            node.completed("committed")
    watch.completed("completed")


async def test_nobody_watches_and_nothing_is_made() -> None:
    async with watched("run", thread_id="t", run_id="r", clock=TestClock(), observers=(), instrument=None) as watch:
        assert watch is None


async def test_ev5_sequence_counts_without_gaps_and_timestamps_never_fall() -> None:
    class Backwards(TestClock):
        times = iter(range(1000, 0, -1))

        def time(self) -> float:
            return float(next(self.times))

    recorder = EventRecorder()
    await run(recorder, clock=Backwards())
    assert [event.sequence for event in recorder.events] == list(range(1, 7))
    stamps = [event.timestamp for event in recorder.events]
    assert stamps == sorted(stamps)
    assert {(event.thread_id, event.run_id) for event in recorder.events} == {("t", "run-1")}


async def test_all_events_are_there_when_the_call_returns() -> None:
    sync, waiting = EventRecorder(), EventRecorder()

    async def slowly(event: RunEvent) -> None:
        await asyncio.sleep(0)
        waiting(event)

    await run(sync, slowly)
    assert sync.lines() == waiting.lines()
    assert sync.lines()[-1] == "RunCompleted completed"


async def test_an_observer_that_is_too_far_behind_loses_events_but_not_the_end(caplog: pytest.LogCaptureFixture) -> None:
    recorder = EventRecorder()
    await run(recorder, nodes=ROOM)
    assert len(recorder.events) == ROOM + 1
    assert recorder.lines()[-1] == "RunCompleted completed"
    assert recorder.events[-1].sequence == 2 * ROOM + 2
    assert len(warnings_of(caplog)) == 1


async def test_ev28_a_refused_call_starts_and_fails_and_that_is_all() -> None:
    recorder = EventRecorder()
    with pytest.raises(ThreadNotFound):
        async with watched("resume", thread_id="t", run_id="r", clock=TestClock(), observers=[recorder], instrument=None):
            raise ThreadNotFound("t")
    assert [type(event).__name__ for event in recorder.events] == ["RunStarted", "RunCompleted"]
    assert recorder.lines()[0] == "RunStarted resume"


async def test_an_abandoned_run_records_nothing_more() -> None:
    recorder = EventRecorder()

    async def abandoned() -> None:
        async with watched("run", thread_id="t", run_id="r", clock=TestClock(), observers=[recorder], instrument=None) as watch:
            assert watch is not None
            watch.emit(RunStarted(mode="run", node="A"))
            with watch.node("A"):
                await asyncio.sleep(3600)

    task = asyncio.create_task(abandoned())
    await TestClock().settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert recorder.lines() == ["RunStarted run A", "NodeStarted A#1"]


async def test_what_comes_after_the_end_is_dropped() -> None:
    recorder = EventRecorder()
    async with watched("run", thread_id="t", run_id="r", clock=TestClock(), observers=[recorder], instrument=None) as watch:
        assert watch is not None
        play(watch, nodes=0)
        with watch.node("late") as node:
            node.completed("committed")
    assert not [event for event in recorder.events if isinstance(event, NodeEvent)]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
