"""`SqliteStore`: checkpoints in one SQLite file, shared with the Rust and .NET engines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Self, cast

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint, ThreadState
from strata.errors import OptionRefused
from strata.graph.clock import SYSTEM, Clock
from strata.ports.checkpoints import LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquisition, ThreadLease
from strata.ports.progress import Items
from strata.stores.asked import check_checkpoint, check_expected, check_items, check_progress, check_thread_id
from strata.stores.base import StoreBase
from strata.stores.lease_terms import check_lease, check_owner, check_thread, milliseconds_of
from strata.stores.refusals import lease_lost, thread_changed
from strata.stores.sqlite import leases, progress, reading, retention
from strata.stores.sqlite.appends import Refusal
from strata.stores.sqlite.database import Durability
from strata.stores.sqlite.file import DatabaseFile
from strata.stores.sqlite.rows import as_integer, row_of
from strata.wire.listing import check_limit, check_states, check_time, conditions_of, first_behind

LONGEST_WAIT: Final = 2**31 // 1000
"""Seconds: SQLite counts in milliseconds of 32 bits."""


class SqliteStore(StoreBase):
    """Keeps checkpoints in the SQLite file `path`, which is created or completed on first use.

    Several stores and processes, of any of the engines, may use one file. New files get a write-ahead log; a file that
    others hold open in another mode keeps it. One store belongs to one running event loop.

    `durability` is what a save has come to when it returns: "full" is on the disk; "normal" survives the death of the
    process, and of the machine up to the last checkpoint of the write-ahead log. `busy_timeout`, a timedelta or seconds,
    is how long a call waits for a lock that another program holds; the loop itself never waits.

    Where it may not be written, a file is read all the same, and what would write is a `StoreError`.

    An application may keep its own tables in the same file: they are left as they are, and ours are added. A file that
    carries a program's mark (`PRAGMA application_id`) and no table of an engine is refused, and left as it is.

    `async with store:` opens and closes it. Without, it opens on first use; `await store.close()` then closes it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        busy_timeout: timedelta | float = 5.0,
        clock: Clock = SYSTEM,
    ) -> None:
        given.one_of(durability, ("full", "normal"), "durability")
        given.answering(clock, ("time", "monotonic"), "a store's clock tells the time")
        self.path = _path_of(path)
        self.durability: Durability = durability
        self.busy_timeout = _seconds_to_wait(busy_timeout)
        self.clock = clock
        self._file = DatabaseFile(self.path, durability=durability, busy_timeout=self.busy_timeout, clock=clock)

    # Checkpoints

    async def save(self, checkpoint: Checkpoint, /) -> int:
        check_checkpoint(checkpoint)
        return _sequence_of(await self._file.append(row_of(checkpoint), None), checkpoint, None)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        check_checkpoint(checkpoint)
        check_expected(expected)
        return _sequence_of(await self._file.append(row_of(checkpoint), as_integer(expected)), checkpoint, expected)

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        stored = await self.load_latest(thread_id)
        return None if stored is None else stored.checkpoint

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        check_thread_id(thread_id)
        return await self._file.submit(lambda connection: reading.latest(connection, thread_id))

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        check_thread_id(thread_id)
        check_limit(limit)
        first = first_behind(after)
        return await self._file.submit(lambda connection: reading.log_page(connection, thread_id, first=first, limit=limit))

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        conditions = conditions_of(query)
        return await self._file.submit(lambda connection: reading.thread_page(connection, conditions))

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        check_limit(limit)
        wanted, cutoff = check_states(states), check_time(older_than, "older_than")
        now = self._now()
        return await self._file.submit(lambda connection: retention.purge(connection, states=wanted, cutoff=cutoff, now=now, limit=limit))

    # Leases: the clock is read before the call, so that a call that had to wait gives a lease too short and never too long

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        check_thread_id(thread_id)
        check_owner(owner)
        now = self._now()
        expires_at = now + milliseconds_of(ttl)
        return await self._file.submit(lambda connection: leases.acquire(connection, thread_id, owner, now=now, expires_at=expires_at))

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        check_lease(lease)
        expires_at = self._now() + milliseconds_of(ttl)
        return await self._file.submit(lambda connection: leases.renew(connection, lease, expires_at=expires_at))

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        check_lease(lease)
        return await self._file.submit(lambda connection: leases.release(connection, lease))

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        check_thread_id(thread_id)
        now = self._now()
        return await self._file.submit(lambda connection: leases.live_lease(connection, thread_id, now=now))

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int:
        check_checkpoint(checkpoint)
        check_thread(lease, checkpoint)
        check_expected(expected)
        written = await self._file.append(row_of(checkpoint), as_integer(expected), lease.token)
        if written == "lease lost":
            raise lease_lost(lease)
        return _sequence_of(written, checkpoint, expected)

    # Progress

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        check_progress(thread_id, base)
        check_items(items)
        await self._file.submit(lambda connection: progress.keep(connection, thread_id, as_integer(base), items))

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        check_progress(thread_id, base)
        return await self._file.submit(lambda connection: progress.load(connection, thread_id, as_integer(base)))

    # Open and closed

    async def open(self) -> None:
        """Open the file, creating or completing its tables; done by itself on first use.

        Raises:
            StoreError: it cannot be opened; the text names the file and the reason.
            DatabaseNewer: a newer build made it; nothing was changed.
            DatabaseOlder: an older build made it, and it may only be read.
        """
        await self._file.open()

    async def close(self) -> None:
        """Wait for what was handed over, and close the file; that goes on even if the caller is cancelled meanwhile.

        A closed store can be opened again with `async with`.
        """
        await asyncio.shield(self._file.close())

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except asyncio.CancelledError:  # the file may be open by now, and nobody is left to close it
            self._file.close()
            raise

    def _now(self) -> int:
        return int(self.clock.time() * 1000)


def _path_of(path: object) -> Path:
    given.instance(path, (str, os.PathLike), "SqliteStore takes the path of a file as text or a Path")
    name = os.fspath(cast("str | os.PathLike[str]", path))
    given.instance(name, str, "SqliteStore takes the path of a file as text")
    if not name or name == ":memory:":
        raise OptionRefused("SqliteStore keeps a file: give it a path, or use MemoryStore")
    if "\0" in name:
        raise OptionRefused(f"SqliteStore keeps a file, and no path has a NUL in it, as {name!r} has")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise OptionRefused(f"SqliteStore keeps a file, and {name!r} can be no path here: it has half a surrogate pair") from None
    return Path(name)


def _seconds_to_wait(busy_timeout: timedelta | float) -> float:
    seconds = given.seconds(busy_timeout, "busy_timeout")
    if not 0 <= seconds <= LONGEST_WAIT:
        raise OptionRefused(f"busy_timeout is 0 to {LONGEST_WAIT} seconds, not {seconds:g}")
    return seconds


def _sequence_of(written: int | Refusal, checkpoint: Checkpoint, expected: int | None) -> int:
    if isinstance(written, int):
        return written
    assert expected is not None, "only a condition can be missed"
    raise thread_changed(checkpoint.thread_id, expected=expected)
