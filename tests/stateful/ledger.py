"""A store that writes down who saved what, and knows when nobody is waiting for it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Collection
from datetime import datetime
from typing import NamedTuple, TypeVar

from strata.checkpoint.record import Checkpoint, ThreadState
from strata.ports import LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquisition, ThreadLease
from strata.ports.progress import Items
from strata.stores.base import StoreBase

R = TypeVar("R")


class Saved(NamedTuple):
    """A record, and the task that saved it."""

    writer: str
    checkpoint: Checkpoint


class Ledger(StoreBase):
    """`saved`: by thread and sequence, whatever the store said was saved."""

    def __init__(self, store: StoreBase) -> None:
        self._store = store
        self.saved: defaultdict[str, dict[int, Saved]] = defaultdict(dict)
        self.under_way = 0

    async def save(self, checkpoint: Checkpoint, /) -> int | None:
        return self._note(checkpoint, await self._counted(self._store.save(checkpoint)))

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int | None:
        return self._note(checkpoint, await self._counted(self._store.save_if_latest(checkpoint, expected)))

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int | None:
        return self._note(checkpoint, await self._counted(self._store.save_under_lease(checkpoint, lease, expected)))

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        stored = await self.load_latest(thread_id)
        return None if stored is None else stored.checkpoint

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        return await self._counted(self._store.load_latest(thread_id))

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        return await self._counted(self._store.get_log(thread_id, after=after, limit=limit))

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        return await self._counted(self._store.list_threads(query))

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        return await self._counted(self._store.purge(older_than=older_than, states=states, limit=limit))

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        return await self._counted(self._store.try_acquire_lease(thread_id, owner, ttl))

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        return await self._counted(self._store.renew_lease(lease, ttl))

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        return await self._counted(self._store.release_lease(lease))

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        return await self._counted(self._store.get_lease(thread_id))

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        await self._counted(self._store.keep_progress(thread_id, base, items))

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        return await self._counted(self._store.load_progress(thread_id, base))

    async def settle(self) -> None:
        """Let everything run that can, the store's threads included, while time stands still."""
        quiet = 0
        while quiet < 30:
            await asyncio.sleep(0)
            quiet = 0 if self.under_way else quiet + 1

    async def _counted(self, call: Awaitable[R]) -> R:
        self.under_way += 1
        try:
            return await call
        finally:
            self.under_way -= 1

    def _note(self, checkpoint: Checkpoint, sequence: int | None) -> int | None:
        assert sequence is not None
        task = asyncio.current_task()
        assert task is not None
        self.saved[checkpoint.thread_id][sequence] = Saved(task.get_name(), checkpoint)
        return sequence
