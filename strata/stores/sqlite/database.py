"""One file and the two connections that a store has to it: one for the loop's own quick writes, one on a thread for all the rest."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import aiosqlite
from aiosqlite.core import _STOP_RUNNING_SENTINEL  # pyright: ignore[reportPrivateUsage]

from strata.stores.sqlite import faults, migration, standing, statements

T = TypeVar("T")

Durability: TypeAlias = Literal["full", "normal"]


class DatabaseThread(aiosqlite.Connection):
    """A connection on a thread of its own, which takes whole pieces of work.

    aiosqlite's own calls cost a change of threads for each statement, and let others in between those of a transaction.
    Its thread is not a daemon, so a connection that nobody closed would keep the process from ending; ours is.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connect, iter_chunk_size=64)
        self._thread.daemon = True
        self._stopped: asyncio.Future[None] | None = None

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Have `work` done on the thread, after what was submitted before. Cancelling the future does not stop it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._tx.put_nowait((None, _Job(work, self._conn, loop, future)))  # pyright: ignore[reportUnknownMemberType]
        return future

    def stop(self) -> asyncio.Future[None] | None:
        self._stopped = super().stop()  # pyright: ignore[reportUnknownMemberType]
        return self._stopped

    async def wait_stopped(self) -> None:
        """aiosqlite stops a thread whose connection failed and does not wait: it would then report to a loop that is gone."""
        if self._stopped is not None:
            await self._stopped

    def __del__(self) -> None:
        if self._connection is not None:  # nobody closed it, which its store has said already, and no loop may be left to tell
            self._tx.put_nowait((None, partial(_close_and_end, self._connection)))  # pyright: ignore[reportUnknownMemberType]


class _Job:
    """Work to do once, and who waits for it. aiosqlite's thread keeps its last call until the next one comes, and would keep the store."""

    __slots__ = ("_parts",)

    def __init__(
        self, work: Callable[[sqlite3.Connection], Any], connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]
    ) -> None:
        self._parts: tuple[Any, ...] = (work, connection, loop, future)

    def __call__(self) -> None:
        parts, self._parts = self._parts, ()
        _carry_out(*parts)


def _carry_out(
    work: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop, future: asyncio.Future[T]
) -> None:
    """Do `work` and tell the loop. One that has ended meanwhile is told nothing; aiosqlite's own telling would end the thread."""
    try:
        tell = partial(_tell, future.set_result, future, work(connection))
    except BaseException as error:
        tell = partial(_tell, future.set_exception, future, error)
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(tell)


def _close_and_end(connection: sqlite3.Connection) -> object:
    connection.close()
    return _STOP_RUNNING_SENTINEL


def _tell(settle: Callable[[Any], None], future: asyncio.Future[Any], what: object) -> None:
    if not future.done():
        settle(what)


class Database:
    """An open file. `in_place` never waits for a lock, `thread` waits for the busy timeout."""

    def __init__(self, in_place: sqlite3.Connection, thread: DatabaseThread) -> None:
        self.in_place, self.thread = in_place, thread
        self.process = os.getpid()

    @classmethod
    async def open(cls, path: Path, *, durability: Durability, busy_timeout: float) -> Database:
        """Open `path`, creating or completing its tables.

        Raises:
            sqlite3.Error: the file cannot be opened, read, or brought up to date.
            DatabaseNewer: a newer build made it; nothing was changed.
            DatabaseOlder: an older build made it, and it may only be read.
        """
        try:
            return cls(
                *await _connections(
                    for_thread=lambda: _connect_for_thread(path, durability, busy_timeout),
                    in_place=lambda: connect_in_place(path, durability, busy_timeout),
                )
            )
        except sqlite3.OperationalError as error:
            if not standing.stands_alone(path, error):
                raise
        connect = partial(standing.connect, path)
        return StandingDatabase(path, *await _connections(for_thread=connect, in_place=connect))

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Have `work` done on the thread, after what was submitted before. Cancelling the future does not stop it."""
        return self.thread.submit(work)

    async def close(self) -> None:
        """Close both, after what the thread still has to do. The last connection to a file folds its log into it."""
        self.in_place.close()
        await self.thread.close()


class StandingDatabase(Database):
    """A file that is read as it stands: nobody may write to it here. Its connections are there to refuse what would."""

    def __init__(self, path: Path, in_place: sqlite3.Connection, thread: DatabaseThread) -> None:
        super().__init__(in_place, thread)
        self.path = path

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        return self.thread.submit(lambda _: standing.read(self.path, work))


async def _connections(
    *, for_thread: Callable[[], sqlite3.Connection], in_place: Callable[[], sqlite3.Connection]
) -> tuple[sqlite3.Connection, DatabaseThread]:
    thread = DatabaseThread(for_thread)
    try:
        await thread
    except BaseException:
        await thread.wait_stopped()
        raise
    try:
        return await thread.submit(lambda _: in_place()), thread
    except BaseException:
        await thread.close()
        raise


def _connect_for_thread(path: Path, durability: Durability, busy_timeout: float) -> sqlite3.Connection:
    connection = _connect(path, durability, busy_timeout=busy_timeout)
    try:
        if not migration.is_blank(connection):  # refuses a newer database and another program's, before anything is touched
            migration.bring_up_to_date(connection)
        _set_write_ahead(path, durability, busy_timeout)
        migration.bring_up_to_date(connection)
    except BaseException:
        connection.close()
        raise
    connection.text_factory = bytes  # one text that is not UTF-8 must not hide the rows around it
    return connection


def connect_in_place(path: Path, durability: Durability, busy_timeout: float) -> sqlite3.Connection:
    """A connection that never waits for a lock, once it is open: whoever opens a file after a crash holds it while the log is read."""
    connection = _connect(path, durability, busy_timeout=busy_timeout)
    connection.execute(statements.WAIT_FOR_NOBODY)
    return connection


def _connect(path: Path, durability: Durability, *, busy_timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(statements.SYNCHRONOUS[durability])
    except BaseException:
        connection.close()
        raise
    return connection


def _set_write_ahead(path: Path, durability: Durability, busy_timeout: float) -> None:
    """Write ahead, so that readers and a writer do not wait for each other.

    Changing the mode takes the whole file for a moment. If others will not let go of it, or it may not be written, it
    stays as it is: everything works in either mode.
    """
    connection = _connect(path, durability, busy_timeout=busy_timeout)
    try:
        connection.execute(statements.WAIT_A_MOMENT)
        connection.execute(statements.WRITE_AHEAD)
    except sqlite3.OperationalError as error:
        if not faults.keeps_from_writing(error):
            raise
    finally:
        connection.close()
