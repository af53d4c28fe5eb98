"""A checkpoint store that fails, is slow, or loses a race, when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import TypeVar

from strata.checkpoint.record import Checkpoint, ThreadState
from strata.errors import StoreError, ThreadChanged
from strata.ports import CheckpointStore, LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquisition, ThreadLease
from strata.ports.progress import Items, ProgressStore
from strata.stores.base import StoreBase

R = TypeVar("R")


class FaultyStore(StoreBase):
    """Any store, with faults laid over it. Without one it does what `store` does.

        store = FaultyStore(MemoryStore())
        store.fail_save(2)                      # the second save from now on raises, and nothing is written
        store.fail_save(2, written=True)        # it is written, and raises all the same: the answer was lost
        store.lose_race(1)                      # somebody else is quicker: the save raises ThreadChanged
        store.disconnect(); store.reconnect()   # every call in between raises
        store.hold_saves(); store.let_saves_go()

    The runner keeps to the rules of a store with all of them: see what your graph and your program make of it. Opening and
    closing are the inner store's business.
    """

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._faults: dict[int, _Fault] = {}
        self._load_faults = 0
        self._is_connected = True
        self._gate = asyncio.Event()
        self._gate.set()
        self.saves = 0
        """How many saves were asked for."""
        self.saving = asyncio.Event()
        """Set when a save has begun since `hold_saves`."""

    # What goes wrong

    def fail_save(self, number: int = 1, *, written: bool | None = False) -> None:
        """Let the save of that number, counted from now on, raise `StoreError`.

        `written` is what the error says of it: False (it fails before anything is written), True (it is written first), or
        None: it is written, and nobody can tell.
        """
        self._faults[self.saves + number] = _Fault(written=written)

    def fail_load(self, times: int = 1) -> None:
        """Let the next loads raise `StoreError`."""
        self._load_faults = times

    def lose_race(self, number: int = 1) -> None:
        """Let the save of that number, counted from now on, raise `ThreadChanged`, as if somebody had appended just before."""
        self._faults[self.saves + number] = _Fault(is_race=True)

    def disconnect(self) -> None:
        """Let every call raise `StoreError` until `reconnect`."""
        self._is_connected = False

    def reconnect(self) -> None:
        self._is_connected = True

    def hold_saves(self) -> None:
        """Let saves wait, with their record already taken over, until `let_saves_go`."""
        self._gate.clear()
        self.saving.clear()

    def let_saves_go(self) -> None:
        self._gate.set()

    # The store

    async def save(self, checkpoint: Checkpoint, /) -> int | None:
        return await self._saved(checkpoint.thread_id, lambda: self._store.save(checkpoint))

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int | None:
        return await self._saved(checkpoint.thread_id, lambda: self._store.save_if_latest(checkpoint, expected))

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int | None:
        return await self._saved(checkpoint.thread_id, lambda: self._store.save_under_lease(checkpoint, lease, expected))

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        stored = await self.load_latest(thread_id)
        return None if stored is None else stored.checkpoint

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        self._check_connection()
        if self._load_faults:
            self._load_faults -= 1
            raise StoreError("this load was told to fail")
        return await self._store.load_latest(thread_id)

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        self._check_connection()
        return await self._store.get_log(thread_id, after=after, limit=limit)

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        self._check_connection()
        return await self._store.list_threads(query)

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        self._check_connection()
        return await self._store.purge(older_than=older_than, states=states, limit=limit)

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        self._check_connection()
        return await self._store.try_acquire_lease(thread_id, owner, ttl)

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        self._check_connection()
        return await self._store.renew_lease(lease, ttl)

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        self._check_connection()
        return await self._store.release_lease(lease)

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        self._check_connection()
        return await self._store.get_lease(thread_id)

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        self._check_connection()
        if isinstance(self._store, ProgressStore):
            await self._store.keep_progress(thread_id, base, items)

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        self._check_connection()
        return await self._store.load_progress(thread_id, base) if isinstance(self._store, ProgressStore) else {}

    async def _saved(self, thread_id: str, save: Callable[[], Awaitable[int | None]]) -> int | None:
        self.saves += 1
        fault = self._faults.pop(self.saves, None)
        self._check_connection()
        if fault is not None and fault.is_race:
            raise ThreadChanged(f"thread '{thread_id}' was told to have changed", thread_id=thread_id)
        if fault is not None and fault.written is False:
            raise StoreError("this save was told to fail", written=False)
        sequence = await save()
        self.saving.set()
        await self._gate.wait()
        if fault is not None:
            raise StoreError("the answer to this save was told to be lost", written=fault.written)
        return sequence

    def _check_connection(self) -> None:
        if not self._is_connected:
            raise StoreError("this store was told to be disconnected", written=False)


class _Fault:
    def __init__(self, *, written: bool | None = None, is_race: bool = False) -> None:
        self.written, self.is_race = written, is_race
