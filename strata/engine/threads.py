"""Worker threads for sync handlers: daemons of our own, counted even when the call they run was given up on."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any

from strata.engine.interrupt import GRACE
from strata.engine.shielding import shielded
from strata.errors import ThreadsExhausted
from strata.graph.clock import Clock

PATIENCE = 5.0  # seconds that a node waits for a thread to come free


class Return:
    """Where the result of a call goes; `over` is where somebody waits for the end of one that was given up, if that has not `ended`."""

    __slots__ = ("ended", "future", "over")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()
        self.over: asyncio.Future[bool] | None = None
        self.ended = False


class Job:
    """One call."""

    __slots__ = ("abandoned", "back", "call", "context", "loop")

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.context = contextvars.copy_context()
        self.loop = asyncio.get_running_loop()
        self.back = Return(self.loop)
        self.abandoned = False


class WorkerThreads:
    """At most `limit` threads, made when needed and kept.

    A `SimpleQueue` out and `call_soon_threadsafe` back cost 90 us a call where `asyncio.to_thread` costs 295. An
    abandoned call keeps its slot until it returns, so that `limit` is what really runs. A forked child has none of its
    parent's threads, and makes its own.
    """

    def __init__(self, limit: int, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._hire()

    def _hire(self) -> None:
        self._crew, self._process = _Crew(), os.getpid()
        self._dismissal = weakref.finalize(self, _Crew.dismiss, self._crew)

    async def call(self, node: str, function: Callable[[], object], *, given_up: Callable[[], object] | None = None) -> object:
        """Run `function` on a thread, in a copy of this task's context variables.

        Cancelling the caller gives the call up, unless its result is there already: `given_up` is called, the thread runs on,
        and what it gives is dropped. The caller leaves only when the call has ended, or the grace is over, or it is told again.

        Raises:
            ThreadsExhausted: no thread came free within 5 s.
        """
        if self._process != os.getpid():
            self._dismissal.detach()  # the parent may have held its lock while it forked
            self._hire()
        await self._take_slot(node)
        job = Job(function)
        try:
            self._crew.post(job)
        except BaseException:  # the system has no thread left
            self._crew.free_slot()
            raise
        future = job.back.future
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():  # it came in the same turn: a result that is there wins
                return future.result()
            job.abandoned = True
            if given_up is not None:
                given_up()
            if not job.back.ended:  # it may have, since the caller was cancelled
                await self._see_out(job)
            raise

    async def _see_out(self, job: Job) -> None:
        """Wait for a call that was given up, but not for ever."""
        over = job.back.over = job.loop.create_future()
        timer = self._clock.call_later(GRACE, partial(_give_up, over))
        try:
            await shielded(over)
        finally:
            timer.cancel()

    async def _take_slot(self, node: str) -> None:
        waiter = self._crew.take_slot(self._limit)
        if waiter is None:
            return
        timer = self._clock.call_later(PATIENCE, partial(_give_up, waiter))
        try:
            if not await waiter:
                raise ThreadsExhausted(node, limit=self._limit, waited=PATIENCE)
        except asyncio.CancelledError:
            self._crew.give_back(waiter)
            raise
        finally:
            timer.cancel()


class _Crew:
    """The threads and their counters; it does not know its owner, so that the owner can be collected and the threads end."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._busy = 0
        self._threads = 0
        self._waiters: deque[asyncio.Future[bool]] = deque()

    def take_slot(self, limit: int) -> asyncio.Future[bool] | None:
        """A slot at once (None), or a future that is True when one came free."""
        with self._lock:
            if self._busy < limit:
                self._busy += 1
                return None
            waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            return waiter

    def give_back(self, waiter: asyncio.Future[bool]) -> None:
        """The waiter was cancelled; if it had been given a slot, the next one gets it."""
        if waiter.done() and not waiter.cancelled() and waiter.result():
            self.free_slot()

    def post(self, job: Job) -> None:
        with self._lock:
            if self._threads < self._busy:
                threading.Thread(target=self._work, name=f"strata-worker-{self._threads + 1}", daemon=True).start()
                self._threads += 1
        self._jobs.put(job)

    def dismiss(self) -> None:
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            result: object = None
            error: BaseException | None = None
            if not job.abandoned:
                try:
                    result = job.context.run(job.call)
                except BaseException as raised:
                    error = raised
            self.free_slot()
            _told(job.loop, _settle, job.back, result, error)
            del job, result, error  # an idle thread keeps nothing of the run alive

    def _grant(self, waiter: asyncio.Future[bool]) -> None:
        if waiter.done():  # it gave up meanwhile
            self.free_slot()
        else:
            waiter.set_result(True)

    def free_slot(self) -> None:
        with self._lock:
            while self._waiters:
                waiter = self._waiters.popleft()
                loop = waiter.get_loop()
                if not waiter.done() and _told(loop, self._grant, waiter):
                    return
            self._busy -= 1


def _give_up(waiter: asyncio.Future[bool]) -> None:
    if not waiter.done():
        waiter.set_result(False)


def _told(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: object) -> bool:
    """Whether `loop` will call back; a closed one will not, and nobody waits there."""
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return False
    return True


def _settle(back: Return, result: object, error: BaseException | None) -> None:
    future = back.future
    if future.done():
        back.ended = True
        if back.over is not None:
            _give_up(back.over)
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # which no future takes
        told = RuntimeError("the handler raised StopIteration")
        told.__cause__ = error
        future.set_exception(told)
    else:
        future.set_exception(error)
