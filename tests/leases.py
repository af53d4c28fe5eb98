"""Where a test asked for leases, for a look at what is left of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from strata.graph.clock import Clock
from strata.graph.texts import is_text
from strata.ports.leases import Acquisition, ThreadLease
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore

Store = TypeVar("Store", MemoryStore, SqliteStore)

LIVE_LEASES = "SELECT thread_id, coalesce(CAST(owner AS TEXT), '') FROM checkpoint_leases WHERE expires_at > ?"


class HeldThread(NamedTuple):
    thread_id: str
    owner: str


class AskedForLeases:
    """Which threads of which memory stores were asked for, and which SQLite files.

    What was only asked for counts too: a lease whose caller was cancelled meanwhile may have been given all the same.
    Of a SQLite store only its file and clock are kept, so that one which was never closed is still told of.
    """

    def __init__(self) -> None:
        self._threads: set[tuple[MemoryStore, str]] = set()
        self._files: set[tuple[Path, Clock]] = set()

    def note(self, store: MemoryStore | SqliteStore, thread_id: str) -> None:
        if isinstance(store, MemoryStore):
            self._threads.add((store, thread_id))
        else:
            self._files.add((store.path.resolve(), store.clock))

    def still_held(self) -> set[HeldThread]:
        """The threads whose lease lives, by the clock of the store that gave it; the stores are forgotten thereby."""
        in_memory = [HeldThread(thread_id, lease.owner) for store, thread_id in self._threads if (lease := _holder(store, thread_id))]
        self._threads.clear()
        return {*in_memory, *(held for path, clock in self._files for held in _held_in_file(path, clock))}


@contextmanager
def leases_asked_for() -> Generator[AskedForLeases]:
    """Notes each call for a lease of a `MemoryStore` or `SqliteStore`; the call itself is the store's own."""
    asked = AskedForLeases()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryStore, "try_acquire_lease", _noting(MemoryStore, asked))
        patch.setattr(SqliteStore, "try_acquire_lease", _noting(SqliteStore, asked))
        yield asked


def _noting(kind: type[Store], asked: AskedForLeases) -> Callable[[Store, str, str, float], Awaitable[Acquisition]]:
    acquire = kind.try_acquire_lease

    async def try_acquire_lease(store: Store, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        if is_text(thread_id):  # of anything else no store has a lease
            asked.note(store, thread_id)
        return await acquire(store, thread_id, owner, ttl)

    return try_acquire_lease


def _holder(store: MemoryStore, thread_id: str) -> ThreadLease | None:
    """The answer of `get_lease`, which never suspends and so needs no loop."""
    try:
        MemoryStore.get_lease(store, thread_id).send(None)
    except StopIteration as answer:
        holder: ThreadLease | None = answer.value
        return holder
    raise AssertionError("a memory store waited for something")


def _held_in_file(path: Path, clock: Clock) -> list[HeldThread]:
    """A file that is gone, or never got its tables, holds none."""
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return [HeldThread(*row) for row in connection.execute(LIVE_LEASES, (int(clock.time() * 1000),))]
        except sqlite3.DatabaseError:
            return []
