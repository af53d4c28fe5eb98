"""Observers of real runs that raise, block, or are for another run: the run goes its way, and everybody else hears all (sheet 2.1)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from strata import Completed, Failed, Interrupted, NodeEnded, Runner, StateGraph, TransientError
from strata.ports.events import RunCompleted, RunEvent
from strata.runtime.event_channel import EventChannel
from strata.runtime.observers import Observer
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder, TestClock
from tests.clocks import settle
from tests.graphs.trails import Trail, line
from tests.logs import log
from tests.observing.test_run_events import FIRST, SECOND, fails, reviewed
from tests.telemetry.test_recorded_runs import Collected


class Raises:
    """Hears every event, and raises at the events of those numbers (None: at each)."""

    def __init__(self, *numbers: int, error: type[BaseException] = ValueError) -> None:
        self.numbers = numbers
        self.error = error
        self.heard: list[RunEvent] = []

    def __call__(self, event: RunEvent) -> None:
        self.heard.append(event)
        if not self.numbers or event.sequence in self.numbers:
            raise self.error("no room in the diary")


async def waits_in_vain(event: RunEvent) -> None:
    """Waits for something that was cancelled: nobody cancels the observer itself."""
    other = asyncio.get_running_loop().create_future()
    other.cancel()
    await other


class Reviewed:
    """The graph of EV1, run to its boundary and resumed, over a store of its own."""

    def __init__(self, *observers: Observer, **options: Any) -> None:
        self.graph = reviewed().compile(durable=True)
        self.store = MemoryStore(clock=TestClock())
        self.runner = Runner(self.graph, self.store, observers=observers, clock=TestClock(), **options)

    async def run_and_resume(self) -> Trail:
        assert isinstance(await self.runner.run("t", Trail()), Interrupted)
        return (await self.runner.resume("t", self.graph.approve("ana"))).unwrap()


# EV11, MT2: an observer that raises


EVENTS_OF_THE_RUN = 11
"""Those of EV1, and the two records of a durable run before its boundary."""


@pytest.mark.parametrize("number", range(1, EVENTS_OF_THE_RUN + 1))
async def test_ev11_wherever_an_observer_raises_the_run_its_records_and_its_other_observers_are_as_without(number: int) -> None:
    alone, raises, beside = EventRecorder(), Raises(number), EventRecorder()
    undisturbed, disturbed = Reviewed(alone), Reviewed(raises, beside)
    assert await disturbed.run_and_resume() == await undisturbed.run_and_resume()
    assert await log(disturbed.store) == await log(undisturbed.store)
    assert beside.lines() == alone.lines()
    assert raises.heard == beside.events
    assert isinstance(beside.events[EVENTS_OF_THE_RUN - 1], RunCompleted)


async def test_ev11_an_observer_that_raises_at_first_hears_the_run_and_its_resume_to_the_end(caplog: pytest.LogCaptureFixture) -> None:
    raises, recorder = Raises(1), EventRecorder()
    graph = reviewed().compile(durable=False)
    runner = Runner(graph, MemoryStore(), observers=[raises, recorder], clock=TestClock())
    with caplog.at_level(logging.WARNING, "strata"):
        await runner.run("t", Trail())
        await runner.resume("t", graph.approve("ana"))
    assert recorder.lines() == FIRST + SECOND
    assert raises.heard == recorder.events
    assert warnings_of(caplog) == ["a run observer failed on RunStarted of thread 't'"] * 2


@pytest.mark.parametrize("observer", [Raises(error=asyncio.CancelledError), Raises(error=asyncio.TimeoutError), waits_in_vain])
async def test_ev11_what_looks_like_a_cancellation_of_the_run_is_still_only_the_observers_error(observer: Observer) -> None:
    collected, recorder = Collected(), EventRecorder()
    disturbed = Reviewed(observer, recorder, instrument=collected.instrument)
    assert (await disturbed.run_and_resume()).trail == "Classifyax"
    assert errors_in(collected) == len(recorder.events)


async def test_ev11_an_observer_that_raises_does_not_end_a_reader_of_the_run() -> None:
    runner = Runner(line("A", "B").compile(), MemoryStore(), observers=[Raises()])
    async with runner.stream("t", Trail()) as events:
        ended = [event.path async for event in events if isinstance(event, NodeEnded)]
    assert ended == ["A", "B"]
    assert isinstance(events.outcome, Completed)


def test_ev11_nor_does_one_of_a_program_without_a_loop() -> None:
    raises = Raises()
    outcome = Runner(line("A").compile(), MemoryStore(), observers=[raises]).run_sync("t", Trail())
    assert outcome.unwrap().trail == "A"
    assert isinstance(raises.heard[-1], RunCompleted)


async def test_ev11_the_failure_of_a_run_is_its_own_and_not_its_observers() -> None:
    graph = StateGraph(Trail).add_node("A", fails(1, lambda: LookupError("no such word")), inline=True).compile()
    outcome = await Runner(graph, MemoryStore(), observers=[Raises()]).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "LookupError: no such word"


async def test_mt2_each_error_of_an_observer_is_counted() -> None:
    collected = Collected()
    runner = Runner(line("A").compile(durable=False), MemoryStore(), observers=[Raises()], instrument=collected.instrument)
    assert isinstance(await runner.run("t", Trail()), Completed)
    assert errors_in(collected) == 4


async def test_mt2_two_observers_count_apart_and_those_that_hear_all_count_nothing() -> None:
    collected, recorder = Collected(), EventRecorder()
    observers: list[Observer] = [Raises(), Raises(2), recorder]
    runner = Runner(line("A").compile(durable=False), MemoryStore(), observers=observers, instrument=collected.instrument)
    await runner.run("t", Trail())
    assert (errors_in(collected), len(recorder.events)) == (4 + 1, 4)


# EV12: an observer that blocks


class Blocked:
    """Waits at its first event until it is let go on, and hears the others then."""

    def __init__(self) -> None:
        self.gate, self.recorder = asyncio.Event(), EventRecorder()
        self.at_once = 0

    async def __call__(self, event: RunEvent) -> None:
        assert self.at_once == 0, "told of an event while it was still at another one"
        self.at_once += 1
        await self.gate.wait()
        self.at_once -= 1
        self.recorder(event)


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strata.runtime.observers.PATIENCE", 0.01)


@pytest.mark.usefixtures("little_patience")
async def test_ev12_a_run_returns_before_its_blocked_observer_which_hears_all_in_order_once_it_is_freed() -> None:
    blocked, recorder = Blocked(), EventRecorder()
    runner = Runner(line("A", "B").compile(), MemoryStore(), observers=[blocked, recorder])
    assert isinstance(await runner.run("t", Trail()), Completed)
    assert blocked.recorder.events == []
    assert recorder.lines()[-1] == "RunCompleted completed"
    blocked.gate.set()
    await settle()
    assert blocked.recorder.events == recorder.events


@pytest.mark.usefixtures("little_patience")
async def test_ev12_a_run_that_fails_or_is_refused_does_not_wait_for_it_either() -> None:
    blocked = Blocked()
    graph = StateGraph(Trail).add_node("A", fails(9, lambda: TransientError("busy")), inline=True).compile()
    runner = Runner(graph, MemoryStore(), observers=[blocked])
    assert isinstance(await runner.run("t", Trail()), Failed)
    blocked.gate.set()
    await settle()
    assert blocked.recorder.lines()[-1] == 'RunCompleted failed "busy"'


# EV13: a channel for one run


async def test_ev13_a_channel_ends_with_its_run_and_refuses_the_next_which_completes() -> None:
    channel, recorder, collected = EventChannel(), EventRecorder(), Collected()
    runner = Runner(line("A").compile(durable=False), MemoryStore(), observers=[channel, recorder], instrument=collected.instrument)
    first = await runner.run("t", Trail())
    second = await runner.run("u", Trail())
    assert isinstance(second, Completed)
    assert [event async for event in channel] == [event for event in recorder.events if event.run_id == first.run_id]
    assert errors_in(collected) == len([event for event in recorder.events if event.run_id == second.run_id]) == 4


async def test_ev13_a_reader_of_a_channel_is_told_while_the_run_goes_on() -> None:
    channel, gate = EventChannel(), asyncio.Event()

    async def waits(state: Trail) -> Trail:
        await gate.wait()
        return state

    runner = Runner(StateGraph(Trail).add_node("A", waits).compile(durable=False), MemoryStore())
    running = asyncio.create_task(runner.run("t", Trail(), observers=[channel]))
    told: list[str] = []
    async for event in channel:
        told.append(type(event).__name__)
        if told[-1] == "NodeStarted":
            gate.set()
    assert told == ["RunStarted", "NodeStarted", "NodeCompleted", "RunCompleted"]
    assert isinstance(await running, Completed)


def errors_in(collected: Collected) -> int:
    return int(sum(value for (name, _), value in collected.metrics().items() if name == "strata.observer.errors"))


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
