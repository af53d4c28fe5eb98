"""The file of a store: opened on first use, closed and opened again, by one running loop at a time.

Nothing here is a task but the caller's own, which may be cancelled at any moment: the thread does what takes time, and
callbacks go on from there.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from strata.errors import StoreError
from strata.graph.clock import Clock
from strata.stores.sqlite import faults
from strata.stores.sqlite.appends import Refusal
from strata.stores.sqlite.database import Database, Durability
from strata.stores.sqlite.rows import Row
from strata.stores.sqlite.writing import Writer

T = TypeVar("T")


class DatabaseFile:
    """What a store appends to and reads from; the first call of a loop begins to open it."""

    def __init__(self, path: Path, *, durability: Durability, busy_timeout: float, clock: Clock) -> None:
        self.path = path
        self.durability: Durability = durability
        self.busy_timeout = busy_timeout
        self.clock = clock
        self._writer: Writer | None = None
        self._database: Database | None = None
        self._closing: asyncio.Future[None] | None = None
        self._is_closed = False

    async def append(self, row: Row, expected: int | None, token: int | None = None) -> int | Refusal:
        """Append `row`, see `Writer.put`. It is handed over before this first suspends.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            written = self._writer_here().put(row, expected, token)
            return await written if isinstance(written, asyncio.Future) else written
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise self._told(error, is_write=True) from error

    async def submit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` gives, done on the thread.

        Raises:
            StoreError: the file cannot be opened, or `work` failed.
        """
        database = await self._opened()
        try:
            return await database.submit(work)
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise self._told(error) from error

    async def open(self) -> None:
        """Open the file, behind a close that is not done yet; see `SqliteStore.open`."""
        if self._closing is not None and self._closing.get_loop() is asyncio.get_running_loop():
            await asyncio.shield(self._closing)
        self._closing = None
        self._is_closed = False
        await self._opened()

    def close(self) -> asyncio.Future[None]:
        """Close the file behind everything that was handed over, whether or not anybody waits for the future."""
        self._is_closed = True
        loop = asyncio.get_running_loop()
        writer, self._writer = self._writer, None
        if writer is None and self._closing is not None and self._closing.get_loop() is loop:
            return self._closing
        closing = self._closing = loop.create_future()
        if writer is None or writer.loop is not loop:  # a loop that has ended waits for nothing
            self._close_behind(None, closing)
        else:
            writer.opened.add_done_callback(lambda _: self._close_behind(writer, closing))
        return closing

    def __del__(self) -> None:
        database = self._database
        if database is not None and not _is_of_the_parent(database):
            warnings.warn(
                f"the SQLite store of '{self.path}' was never closed: use it in an `async with` or `with` block",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )
            database.abandon()

    # Opening

    def _writer_here(self) -> Writer:
        """The writer of the running loop."""
        loop = asyncio.get_running_loop()
        writer = self._writer
        if writer is not None and writer.loop is loop:
            return writer
        if self._is_closed:
            raise self._closed_error()
        if self._database is not None and _is_of_the_parent(self._database):
            self._database = None
        elif writer is not None and writer.loop.is_running():
            raise StoreError(
                f"the SQLite store of '{self.path}' is in use by another running event loop",
                hint="give each loop a store of its own: they may share the file",
            )
        self._writer = writer = Writer(loop, self.clock.monotonic)
        if self._database is None:
            opening = Database.open(self.path, durability=self.durability, busy_timeout=self.busy_timeout)
            opening.add_done_callback(partial(self._has_opened, writer))
        else:
            writer.begin(self._database)
        return writer

    async def _opened(self) -> Database:
        writer = self._writer_here()
        database = await asyncio.shield(writer.opened) if writer.database is None else writer.database
        if self._is_closed:  # meanwhile
            raise self._closed_error()
        return database

    def _has_opened(self, writer: Writer, opening: asyncio.Future[Database]) -> None:
        """Give `writer` its database; an error goes to everybody who waits, and the next call tries again."""
        error = opening.exception()
        if error is None:
            self._database = opening.result()
            writer.begin(self._database)
        else:
            if self._writer is writer:
                self._writer = None
            writer.fail(self._told(error))

    # Closing

    def _close_behind(self, writer: Writer | None, closing: asyncio.Future[None]) -> None:
        """Close behind what `writer` still has to write."""
        database, self._database = self._database, None
        if database is None or _is_of_the_parent(database):
            closing.set_result(None)
            return
        if writer is not None:
            writer.finish()
        database.close().add_done_callback(partial(self._has_closed, closing))

    def _has_closed(self, closing: asyncio.Future[None], closed: asyncio.Future[None]) -> None:
        error = closed.exception()
        if error is None:
            closing.set_result(None)
        else:
            closing.set_exception(self._told(error))

    # Errors

    def _closed_error(self) -> StoreError:
        return StoreError(f"the SQLite store of '{self.path}' is closed", hint="open it again with `async with`, or await store.open()")

    def _told(self, error: BaseException, *, is_write: bool = False) -> StoreError:
        return faults.store_error(error, self.path, busy_timeout=self.busy_timeout, is_write=is_write)


def _is_of_the_parent(database: Database) -> bool:
    """Whether this process inherited it by a fork; it is then kept, untouched, until the process ends."""
    if database.process == os.getpid():
        return False
    _of_the_parent.append(database)
    return True


_of_the_parent: list[Database] = []
"""Databases that a forked child has inherited. SQLite forbids to use them there, and to close them."""
