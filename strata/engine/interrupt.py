"""Stopping a run from outside, while its handlers run in the run's own task."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Literal

from strata.graph.clock import Clock, Timer

GRACE = 2.0  # seconds that a cancelled handler has for its clean-up before it is told again

StopReason = Literal["requested", "deadline"]

logger = logging.getLogger("strata")


class Interrupt:
    """Cancels the run's task while it is in user code, and tells its own cancellations from other people's.

    A hop has no task of its own, so a timeout, a deadline and `runner.cancel` all have to cancel the run's task; only
    what they sent is taken back, and a cancellation that nobody here sent abandons the run. A store call is never
    interrupted: `calling` is set around user code alone.
    """

    __slots__ = ("_baseline", "_clock", "_nudge", "_task", "calling", "reason", "sent", "timed_out")

    def __init__(self, clock: Clock) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task: asyncio.Task[Any] = task
        self._baseline = task.cancelling()
        self._clock = clock
        self._nudge: Timer | None = None
        self.sent = 0
        self.calling = False
        self.reason: StopReason | None = None
        self.timed_out = False

    def stop(self, reason: StopReason) -> None:
        """Stop the run: its handler now, or the next node before it starts. The first reason stands."""
        if self.reason is None:
            self.reason = reason
            self._interrupt()

    def time_out(self) -> None:
        """The node's own timeout is over."""
        self.timed_out = True
        self._interrupt()

    @property
    def abandoned(self) -> bool:
        """Somebody else cancelled the task that runs this."""
        return self._task.cancelling() - self.sent > self._baseline

    def settle(self) -> None:
        """The handler has ended: take back what was sent, so that the task can go on."""
        if self._nudge is not None:
            self._nudge.cancel()
            self._nudge = None
        while self.sent:
            self.sent -= 1
            self._task.uncancel()
        self.timed_out = False

    def _interrupt(self) -> None:
        if not self.calling:
            return
        if asyncio.current_task() is self._task:  # the handler itself asks: before 3.13 a running task cannot take a cancellation back
            self._task.get_loop().call_soon(self._interrupt)
            return
        self.sent += 1
        self._task.cancel()
        if self._nudge is not None:
            self._nudge.cancel()
        self._nudge = self._clock.call_later(GRACE, self._insist)

    def _insist(self) -> None:
        logger.warning("a handler has not stopped %g s after it was cancelled; cancelling it again", GRACE)
        self._interrupt()
