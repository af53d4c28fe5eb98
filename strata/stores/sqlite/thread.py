"""A thread for what would keep the loop waiting, and futures of what becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from aiosqlite.core import (
    _STOP_RUNNING_SENTINEL,  # pyright: ignore[reportPrivateUsage]
    _connection_worker_thread,  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]
)

T = TypeVar("T")

_WORK: Final = cast("Callable[[object], None]", _connection_worker_thread)
"""Calls what it gets of a queue, one after another, until a call gives the sentinel."""

Behind: TypeAlias = Literal["goes on", "ends", "ends if it failed"]
"""What the thread does behind a piece of work."""


class DatabaseThread:
    """aiosqlite's thread and its queue, for whole pieces of work, done in the order in which they were submitted.

    aiosqlite's own calls cost a change of threads for each statement, and let others in between those of a transaction.
    They are coroutines besides, and stop where they are cancelled: a file that was just opened would be nobody's. Here
    nothing is a task, so that a program which cancels every task it finds stops nothing halfway.

    aiosqlite's thread is not a daemon, so a connection that nobody closed would keep the process from ending; ours is.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[None, Callable[[], object]]] = SimpleQueue()

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have `work` done first, without which there is nothing to do: if it fails, the thread ends."""
        future = self._put(work, "ends if it failed")
        try:
            Thread(target=_WORK, args=(self._work,), name="strata-sqlite", daemon=True).start()
        except RuntimeError as error:  # the system has no thread left
            future.set_exception(error)
        return future

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have `work` done. Cancelling the future does not stop it."""
        return self._put(work, "goes on")

    def end(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have `work` done last: the thread ends, and nothing may be submitted any more."""
        return self._put(work, "ends")

    def end_untold(self, work: Callable[[], object]) -> None:
        """The same where no loop is left that could be told."""
        self._work.put_nowait((None, partial(_do_and_end, work)))

    def _put(self, work: Callable[[], T], behind: Behind) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._work.put_nowait((None, _Job(work, loop, future, behind)))
        return future


class _Job:
    """Work to do once, and who waits for it. aiosqlite's thread keeps its last call until the next one comes, and would keep the store."""

    __slots__ = ("_behind", "_parts")

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], behind: Behind) -> None:
        self._parts: tuple[Any, ...] = (work, loop, future)
        self._behind = behind

    def __call__(self) -> object:
        parts, self._parts = self._parts, ()
        went_well = _carry_out(*parts)
        ends = self._behind == "ends" or (self._behind == "ends if it failed" and not went_well)
        return _STOP_RUNNING_SENTINEL if ends else None


def _carry_out(work: Callable[[], T], loop: asyncio.AbstractEventLoop, future: asyncio.Future[T]) -> bool:
    """Do `work`, tell the loop, and say whether it went well.

    A loop that has ended meanwhile is told nothing; aiosqlite's own telling would end the thread.
    """
    went_well = True
    try:
        tell = partial(_tell, future.set_result, future, work())
    except BaseException as error:
        went_well = False
        tell = partial(_tell, future.set_exception, future, error)
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(tell)
    return went_well


def _tell(settle: Callable[[Any], None], future: asyncio.Future[Any], what: object) -> None:
    if not future.done():
        settle(what)


def _do_and_end(work: Callable[[], object]) -> object:
    work()
    return _STOP_RUNNING_SENTINEL
