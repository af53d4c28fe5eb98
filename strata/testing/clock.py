"""A clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from strata.checkpoint import given
from strata.graph.times import seconds_of

START: Final = datetime(2026, 11, 2, 12, 0, 0, tzinfo=UTC)
"""Where a test clock starts, unless it is told otherwise."""

TURNS = 20  # of the loop: enough for what a timer sets off to come to its next wait on something outside


class TestClock:
    """Time that stands still until `advance`; chance is always the middle, and ids count from `run-1`.

    Give it to the runner, and to a store whose leases, due times or purges the test is about:

        clock = TestClock()
        runner = Runner(orders, MemoryStore(clock=clock), clock=clock)
        running = asyncio.create_task(runner.run("order-1", order))
        await clock.advance(timedelta(days=30))

    Args:
        at: the time to start with, aware; by default `START`.

    Raises:
        OptionRefused: that is no aware datetime.
    """

    __test__ = False  # for pytest, which collects what is called Test...

    def __init__(self, *, at: datetime = START) -> None:
        self._now = given.moment(at, "the at= of a test clock").timestamp()
        self._due: list[_Due] = []
        self._numbers = count(1)
        self._ids = count(1)

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.fromtimestamp(self._now, UTC)

    @property
    def timers(self) -> int:
        """How many sleeps, timeouts and deadlines are pending."""
        return sum(not due.cancelled for due in self._due)

    async def advance(self, duration: timedelta | float) -> None:
        """Move on by a timedelta or seconds.

        What falls due happens in its order and at its time: a day in one step is the same as a day second by second. Before
        and in between, everything runs that can run on this loop; worker threads and files are not waited for.

        Raises:
            ValueError: the duration is negative or not finite.
        """
        seconds = seconds_of(duration)
        if seconds < 0:
            raise ValueError(f"a clock goes forward, and not by {duration!r}")
        end = self._now + seconds
        await self.settle()
        while self._due and self._due[0].at <= end:
            due = heapq.heappop(self._due)
            self._now = max(self._now, due.at)
            if not due.cancelled:
                due.callback()
                await self.settle()
        self._now = end
        await self.settle()

    async def settle(self) -> None:
        """Let everything run that can, while time stands still."""
        for _ in range(TURNS):
            await asyncio.sleep(0)

    # What the engine asks

    def time(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def call_later(self, seconds: float, callback: Callable[[], object], /) -> _Due:
        due = _Due(self._now + seconds, next(self._numbers), callback)
        heapq.heappush(self._due, due)
        return due

    async def sleep(self, seconds: float, /) -> None:
        woken = asyncio.Event()
        due = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            due.cancel()

    def random(self) -> float:
        return 0.5

    def new_id(self) -> str:
        return f"run-{next(self._ids)}"


class _Due:
    """A callback and when it is due; of two at the same time the one that was asked for first comes first."""

    def __init__(self, at: float, number: int, callback: Callable[[], object]) -> None:
        self.at, self.number, self.callback, self.cancelled = at, number, callback, False

    def cancel(self) -> None:
        """It waits on in the heap until its time, and lets go of what it would have called: a runner, and the runner's threads."""
        self.cancelled, self.callback = True, _nothing

    def __lt__(self, other: _Due) -> bool:
        return (self.at, self.number) < (other.at, other.number)


def _nothing() -> None: ...
