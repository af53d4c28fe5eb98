"""One file and the two connections that a store has to it: one for the loop's own quick writes, one on a thread for all the rest."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from strata.errors import StoreError
from strata.stores.sqlite import faults, migration, standing, statements
from strata.stores.sqlite.thread import DatabaseThread

T = TypeVar("T")

Durability: TypeAlias = Literal["full", "normal"]
Connect: TypeAlias = Callable[[], sqlite3.Connection]


class Database:
    """An open file. What is done `in_place` never waits for a lock, what is submitted to its thread waits for the busy timeout.

    One that nobody closed, and nobody knows any more, closes itself: such is one whose loop ended while it opened.
    """

    def __init__(self, in_place: sqlite3.Connection, on_thread: sqlite3.Connection, thread: DatabaseThread) -> None:
        self.in_place = in_place
        self.process = os.getpid()
        self._on_thread, self._thread = on_thread, thread
        self._is_closed = False

    @staticmethod
    def open(path: Path, *, durability: Durability, busy_timeout: float) -> asyncio.Future[Database]:
        """Open `path`, creating or completing its tables. It is opened on the thread: nothing on the loop can be cancelled halfway.

        The future's errors:
            sqlite3.Error: the file cannot be opened, read, or brought up to date.
            DatabaseNewer: a newer build made it; nothing was changed.
            DatabaseOlder: an older build made it, and it may only be read.
            StoreError: it is in the format of another program.
        """
        thread = DatabaseThread()
        return thread.start(lambda: _open(path, thread, durability, busy_timeout))

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Have `work` done on the thread, after what was submitted before. Cancelling the future does not stop it."""
        return self._thread.submit(partial(work, self._on_thread))

    def close(self) -> asyncio.Future[None]:
        """Close both, after what the thread still has to do. The last connection to a file folds its log into it."""
        self._is_closed = True
        return self._thread.end(partial(_close, self.in_place, self._on_thread))

    def abandon(self) -> None:
        """The same where no loop is left that could wait for it."""
        self._is_closed = True
        self._thread.end_untold(partial(_close, self.in_place, self._on_thread))

    def __del__(self) -> None:
        if not self._is_closed and self.process == os.getpid():
            self.abandon()


class StandingDatabase(Database):
    """A file that is read as it stands: nobody may write to it here. Its connections are there to refuse what would."""

    def __init__(self, path: Path, in_place: sqlite3.Connection, on_thread: sqlite3.Connection, thread: DatabaseThread) -> None:
        super().__init__(in_place, on_thread, thread)
        self.path = path

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        return self._thread.submit(partial(standing.read, self.path, work))


def _open(path: Path, thread: DatabaseThread, durability: Durability, busy_timeout: float) -> Database:
    try:
        connections = _both(
            on_thread=lambda: _connect_for_thread(path, durability, busy_timeout),
            in_place=lambda: connect_in_place(path, durability, busy_timeout),
        )
    except sqlite3.OperationalError as error:
        if not standing.stands_alone(path, error):
            raise
        connect = partial(standing.connect, path)
        return StandingDatabase(path, *_both(on_thread=connect, in_place=connect), thread)
    return Database(*connections, thread)


def _both(*, on_thread: Connect, in_place: Connect) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """The connection in place, and the thread's; the latter is made first, and makes the tables."""
    first = on_thread()
    try:
        return in_place(), first
    except BaseException:
        first.close()
        raise


def _close(*connections: sqlite3.Connection) -> None:
    for connection in connections:
        connection.close()


def _connect_for_thread(path: Path, durability: Durability, busy_timeout: float) -> sqlite3.Connection:
    connection = _connect(path, durability, busy_timeout=busy_timeout)
    try:
        if not migration.is_blank(connection):  # refuses a newer database and another program's, before anything is touched
            _refuse_format_of_another_program(path, connection)
            migration.bring_up_to_date(connection)
        _set_write_ahead(path, durability, busy_timeout)
        migration.bring_up_to_date(connection)
    except BaseException:
        connection.close()
        raise
    connection.text_factory = bytes  # one text that is not UTF-8 must not hide the rows around it
    return connection


def _refuse_format_of_another_program(path: Path, connection: sqlite3.Connection) -> None:
    mark = migration.format_of_another_program(connection)
    if mark is not None:
        raise StoreError(
            f"the database '{path}' is in the format of another program: its application_id is {mark & 0xFFFF_FFFF:#010x}, and no engine has used it",
            hint="give the store a file of its own; if the program is yours, have it set application_id when the store has made its tables",
        )


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
