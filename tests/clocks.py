"""The clock of `strata.testing`, in seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

from strata.testing.clock import START as START_TIME
from strata.testing.clock import TestClock

START = START_TIME.timestamp()
"""2026-11-02T12:00:00Z."""


class HandClock(TestClock):
    """Time stands still until `pass_time`; ids count from 1."""

    def __init__(self, *, at: float = START) -> None:
        super().__init__(at=datetime.fromtimestamp(at, UTC))

    async def pass_time(self, seconds: float) -> None:
        """Move on, calling what falls due in its order; the loop runs in between."""
        await self.advance(seconds)


async def settle() -> None:
    """Let everything that can run on the loop run."""
    await HandClock().settle()
