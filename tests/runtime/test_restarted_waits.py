"""Waits as users report them: over the end of their process, with durations that are none, and woken before their time."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from strata import Completed, Event, Interrupted, NotDue, Runner, StateGraph, ThreadNotFound, timer
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def sleeping() -> StateGraph[Trail]:
    return StateGraph(Trail).add_timer("Sleep", 3600).add_node("Wake", adds("w"), inline=True).add_edge("Sleep", "Wake")


def later(minutes: float) -> HandClock:
    return HandClock(at=(NOON + timedelta(minutes=minutes)).timestamp())


async def test_tmr_01_tmr_02_a_new_process_wakes_a_thread_at_the_time_that_was_set_and_once(tmp_path: Path) -> None:
    path, graph = tmp_path / "t.db", sleeping().compile()
    async with SqliteStore(path) as store:
        assert isinstance(await Runner(graph, store, clock=later(0)).run("t", Trail()), Interrupted)
    async with SqliteStore(path) as store:
        assert (await Runner(graph, store, clock=later(50)).wake_due()).woken == ()
        wait = (await Runner(graph, store).thread("t")).wait
        assert wait is not None
        assert wait.wake_at == NOON + HOUR
    async with SqliteStore(path) as one, SqliteStore(path) as other:
        reports = await asyncio.gather(*(Runner(graph, store, clock=later(60)).wake_due() for store in (one, other)))
        assert [woken.outcome.unwrap().trail for report in reports for woken in report.woken] == ["w"]


@pytest.mark.parametrize("delay", [math.nan, math.inf])
def test_tmr_02_a_duration_that_is_not_finite_is_refused(delay: float) -> None:
    with pytest.raises(ValueError, match="a duration is finite"):

        @timer(delay)
        def sleep(state: Trail) -> Trail:
            return state

    with pytest.raises(ValueError, match="a duration is finite"):
        StateGraph(Trail).add_timer("Sleep", delay)


def test_tmr_02_a_delay_below_zero_does_not_compile() -> None:
    [problem] = StateGraph(Trail).add_timer("Sleep", -1).add_node("Wake", adds("w")).add_edge("Sleep", "Wake").validate()
    assert (problem.severity, problem.node) == ("error", "Sleep")


def test_wt42_a_wait_whose_timeout_is_zero_does_not_compile() -> None:
    graph = StateGraph(Trail).add_wait_for_event("Pay", "paid", timeout=0).add_node("Ship", adds("s")).add_edge("Pay", "Ship")
    assert [problem.text for problem in graph.validate()] == ["wait 'Pay' has a timeout of zero; it must be greater than zero"]


async def test_tmr_06_a_long_sleep_is_ended_early_by_its_thread_id() -> None:
    graph, store = sleeping().compile(), MemoryStore()
    runner = Runner(graph, store, clock=later(0))
    await runner.run("t", Trail())
    with pytest.raises(NotDue):
        await runner.wake("t")
    assert isinstance(await runner.wake("t", now=NOON + HOUR), Completed)


async def test_tmr_05_an_event_for_a_thread_that_does_not_exist_is_told_so() -> None:
    runner = Runner(sleeping().compile(), MemoryStore())
    with pytest.raises(ThreadNotFound):
        await runner.signal("t", Event("paid"))
