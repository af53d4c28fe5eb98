"""A clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

START = 1_793_620_800.0
"""2026-11-02T12:00:00Z."""


class _Due:
    def __init__(self, at: float, number: int, callback: Callable[[], object]) -> None:
        self.at, self.number, self.callback, self.cancelled = at, number, callback, False

    def cancel(self) -> None:
        self.cancelled = True

    def __lt__(self, other: _Due) -> bool:
        return (self.at, self.number) < (other.at, other.number)


class HandClock:
    """Time stands still until `pass_time`; ids count from 1."""

    def __init__(self, *, at: float = START) -> None:
        self._now = at
        self._due: list[_Due] = []
        self._numbers = count(1)
        self._ids = count(1)

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
        self.call_later(seconds, woken.set)
        await woken.wait()

    def random(self) -> float:
        return 0.5

    def new_id(self) -> str:
        return f"run-{next(self._ids)}"

    @property
    def timers(self) -> int:
        """How many callbacks are still due."""
        return sum(not due.cancelled for due in self._due)

    async def pass_time(self, seconds: float) -> None:
        """Move on, calling what falls due in its order; the loop runs in between."""
        end = self._now + seconds
        await settle()
        while self._due and self._due[0].at <= end:
            due = heapq.heappop(self._due)
            self._now = max(self._now, due.at)
            if not due.cancelled:
                due.callback()
                await settle()
        self._now = end
        await settle()


async def settle() -> None:
    """Let everything that can run on the loop run."""
    for _ in range(20):
        await asyncio.sleep(0)
