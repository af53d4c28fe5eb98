"""The clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import gc
import weakref
from datetime import UTC, datetime, timedelta

import pytest

from strata.testing import TestClock


async def test_time_stands_still_until_it_is_moved() -> None:
    clock = TestClock(at=datetime(2030, 1, 1, tzinfo=UTC))
    await clock.settle()
    assert clock.now == datetime(2030, 1, 1, tzinfo=UTC)
    await clock.advance(timedelta(days=365))
    assert clock.now == datetime(2031, 1, 1, tzinfo=UTC)


async def test_what_falls_due_on_the_way_happens_in_order_and_at_its_time() -> None:
    clock, happened = TestClock(), list[tuple[str, float]]()
    began = clock.time()

    async def sleeps(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            happened.append((name, clock.time() - began))

    tasks = [asyncio.create_task(sleeps("a", 10, 3600, 5)), asyncio.create_task(sleeps("b", 10, 20))]
    await clock.advance(timedelta(days=1))
    assert happened == [("a", 10), ("b", 10), ("b", 30), ("a", 3610), ("a", 3615)]
    assert clock.timers == 0
    await asyncio.gather(*tasks)


async def test_a_cancelled_sleep_leaves_no_timer() -> None:
    clock = TestClock()
    sleeping = asyncio.create_task(clock.sleep(60))
    await clock.settle()
    assert clock.timers == 1
    sleeping.cancel()
    await clock.settle()
    assert clock.timers == 0


def test_a_cancelled_timer_lets_go_of_what_it_would_have_called() -> None:
    class Run:
        def times_out(self) -> None: ...

    clock, run = TestClock(), Run()
    timer, is_alive = clock.call_later(60, run.times_out), weakref.ref(run)
    timer.cancel()
    del run
    gc.collect()
    assert is_alive() is None


@pytest.mark.parametrize("duration", [-1, timedelta(seconds=-1), float("nan")])
async def test_a_clock_goes_forward(duration: float | timedelta) -> None:
    with pytest.raises(ValueError, match=r"forward|finite"):
        await TestClock().advance(duration)
