"""Stopping a run from outside, while its handlers run in the task of their level."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any, Literal, TypeAlias

from strata.graph.clock import Clock, Timer

GRACE = 2.0  # seconds that a cancelled handler has for its clean-up before it is told again

TASK_GROUPS_TAKE_BACK = sys.version_info >= (3, 13)
"""Before, an `asyncio.TaskGroup` that is left when one of its tasks fails asks its own task to stop, and never takes it back."""

StopReason: TypeAlias = Literal["requested", "deadline", "lease_lost", "timeout", "part_timeout", "lost_race", "sibling_failed"]

logger = logging.getLogger("strata")


def requests_to_cancel() -> int:
    """How often the task that runs this was told to stop; those that it has outlived without taking them back still count."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


class Interrupt:
    """Cancels a task while it is in user code, and tells its own cancellations from other people's.

    A hop has no task of its own, so a timeout, a deadline and `runner.cancel` all have to cancel the task of the run,
    the branch or the item; only what they sent is taken back, and a cancellation that nobody here sent abandons the
    run. A store call is never interrupted: `calling` is set around user code alone. `cancelling()` counts the requests to
    cancel the task that stand, `baseline` those from before the run.
    """

    __slots__ = ("_clock", "_nudge", "baseline", "calling", "cancelling", "sent", "task", "timed_out")

    def __init__(self, clock: Clock) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.task: asyncio.Task[Any] = task
        self.cancelling = task.cancelling
        self.baseline = task.cancelling()
        self._clock = clock
        self._nudge: Timer | None = None
        self.sent = 0
        self.calling = False
        self.timed_out = False

    def time_out(self) -> None:
        """The timeout of the attempt that runs is over."""
        self.timed_out = True
        self.send()

    @property
    def abandoned(self) -> bool:
        """Somebody else cancelled the task that runs this."""
        return self.cancelling() - self.sent > self.baseline

    async def outlived(self) -> None:
        """The handler has ended, and not of being cancelled: a request that may be one of its task groups abandons nothing."""
        if TASK_GROUPS_TAKE_BACK or not self.abandoned:
            return
        await asyncio.sleep(0)  # one that has not reached the task yet does so here
        while self.abandoned:
            self.task.uncancel()

    def send(self) -> None:
        """Cancel the user code that runs, if any does; and its clean-up, if that is what runs."""
        if not self.calling:
            return
        if asyncio.current_task() is self.task:  # the handler itself asks: before 3.13 a running task cannot take a cancellation back
            self.task.get_loop().call_soon(self.send)
            return
        self.sent += 1
        self.task.cancel()
        if self._nudge is not None:
            self._nudge.cancel()
        self._nudge = self._clock.call_later(GRACE, self._insist)

    def settle(self) -> None:
        """The handler has ended: take back what was sent, so that the task can go on."""
        if self._nudge is not None:
            self._nudge.cancel()
            self._nudge = None
        while self.sent:
            self.sent -= 1
            self.task.uncancel()
        self.timed_out = False

    def _insist(self) -> None:
        logger.warning("a handler has not stopped %g s after it was cancelled; cancelling it again", GRACE)
        self.send()


class Scope:
    """What can be told to stop as one: a run, a child graph with a timeout of its own, a branch, an item.

    What stops a scope stops all below it. The first reason stands.
    """

    __slots__ = ("_below", "_parent", "interrupt", "reason")

    def __init__(self, interrupt: Interrupt, parent: Scope | None = None) -> None:
        self.interrupt = interrupt
        self.reason: StopReason | None = None
        self._parent = parent
        self._below: dict[Scope, None] | None = None  # in the order of their start, and so they are told
        if parent is not None:
            self.reason = parent.reason
            if parent._below is None:
                parent._below = {}
            parent._below[self] = None

    def stop(self, reason: StopReason) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        for scope in tuple(self._below or ()):
            scope.stop(reason)
        self.interrupt.send()

    def close(self) -> None:
        """Nothing of it runs any more."""
        if self._parent is not None and self._parent._below is not None:
            self._parent._below.pop(self, None)
