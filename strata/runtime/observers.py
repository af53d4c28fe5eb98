"""Handing a run's events to its observers, from a queue each, so that none of them holds the run or another one up.

An observer is a callable that takes a `RunEvent`: a `def` is called on the loop and must not block it; one that waits for
something is an `async def`. For each run an observer gets the events in order and one at a time.

- **A slow one** grows only its own queue, of 10,000 events a run. One that is further behind loses what follows until it has
  caught up, `RunCompleted` excepted; it sees the gap in `sequence`, and one warning is logged.
- **The end**: before a call returns, its events have been delivered, but nobody is waited for longer than a second: what is
  left is delivered behind the call's back, as long as the loop runs. (A `..._sync` call has no loop afterwards.)
- **One that raises** loses nothing: each error is counted (`strata.observer.errors`), the first of a run is logged, and the
  next event comes all the same (strata-observability.md 2.1).
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

from strata.engine.interrupt import requests_to_cancel
from strata.engine.watch import Watch
from strata.graph.clock import Clock
from strata.ports.events import RunCompleted, RunEvent, RunMode
from strata.ports.instrument import Instrument
from strata.ports.metrics import OBSERVER_ERRORS

logger = logging.getLogger("strata")

Observer: TypeAlias = Callable[[RunEvent], object]

ROOM = 10_000  # events
PATIENCE = 1.0  # seconds


@asynccontextmanager
async def watched(
    mode: RunMode,
    *,
    thread_id: str,
    run_id: str,
    clock: Clock,
    observers: Sequence[Observer],
    instrument: Instrument | None,
    priority: int | None = None,
) -> AsyncGenerator[Watch | None]:
    """Around a call that works on a thread: its watch, or None where nobody watches. Leaving it delivers what was recorded."""
    if not observers and instrument is None:
        yield None
        return
    deliveries = Deliveries(observers, instrument)
    watch = Watch(thread_id=thread_id, run_id=run_id, clock=clock, deliver=deliveries.put if observers else None, instrument=instrument)
    try:
        with watch.run(mode, priority=priority):
            yield watch
    except Exception:
        await deliveries.finish()
        raise
    await deliveries.finish()


class Deliveries:
    """Of one run, to all its observers."""

    def __init__(self, observers: Sequence[Observer], instrument: Instrument | None) -> None:
        self._all = [_Delivery(observer, instrument) for observer in observers]

    def put(self, event: RunEvent) -> None:
        for delivery in self._all:
            delivery.put(event)

    async def finish(self) -> None:
        """Let what was put be delivered, waiting a second at the most."""
        tasks = [delivery.task for delivery in self._all if delivery.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=PATIENCE)


class _Delivery:
    """To one observer. A task delivers while there is something to deliver; between two events there is none."""

    _running: set[asyncio.Task[None]] = set()  # noqa: RUF012 - the loop holds its tasks weakly, and these may outlive their run

    def __init__(self, observer: Observer, instrument: Instrument | None) -> None:
        self._observer = observer
        self._instrument = instrument
        self._queue: deque[RunEvent] = deque()
        self._has_failed = False
        self._has_lost = False
        self.task: asyncio.Task[None] | None = None

    def put(self, event: RunEvent) -> None:
        if len(self._queue) >= ROOM and not isinstance(event, RunCompleted):
            self._lose()
            return
        self._queue.append(event)
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self._deliver())
            self._running.add(self.task)
            self.task.add_done_callback(self._running.discard)

    async def _deliver(self) -> None:
        try:
            while self._queue:
                await self._tell(self._queue.popleft())
        finally:
            self.task = None

    async def _tell(self, event: RunEvent) -> None:
        before = requests_to_cancel()
        try:
            answer = self._observer(event)
            if inspect.isawaitable(answer):
                await answer
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and requests_to_cancel() > before:
                raise  # the loop ends; what else was cancelled is something that the observer waited for
            if self._instrument is not None:
                self._instrument.record(OBSERVER_ERRORS, 1, {})
            if not self._has_failed:
                logger.warning("a run observer failed on %s of thread '%s'", type(event).__name__, event.thread_id, exc_info=error)
            self._has_failed = True

    def _lose(self) -> None:
        if not self._has_lost:
            logger.warning("a run observer is %d events behind, and loses those that follow: %r", ROOM, self._observer)
        self._has_lost = True
