"""Stores with a will of their own: with nothing but `save` and `load`, busy, counting, slow to save, overtaken by others, out of order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from strata import StoreError
from strata.checkpoint.record import Checkpoint
from strata.ports import Stored, ThreadLease, ThreadPage, ThreadQuery
from strata.ports.progress import Items
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore


class BareStore(StoreBase):
    """Keeps the newest record of each thread, and offers nothing else: no log, no listing, no leases."""

    def __init__(self) -> None:
        self.newest: dict[str, Checkpoint] = {}

    async def save(self, checkpoint: Checkpoint, /) -> None:
        self.newest[checkpoint.thread_id] = checkpoint

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        return self.newest.get(thread_id)


class SlowStore(MemoryStore):
    """A save is kept at once, and returns only when `gate` is open; `saving` says that one has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.saving = asyncio.Event()
        self.gate = asyncio.Event()

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        sequence = await super().save_if_latest(checkpoint, expected)
        self.saving.set()
        await self.gate.wait()
        return sequence


class BusyStore(MemoryStore):
    """Suspends around all that it does, as a store does that talks to something; it gives leases at once."""

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        async with _round_trip():
            return await super().load_latest(thread_id)

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        async with _round_trip():
            return await super().list_threads(query)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        sequence = await super().save_if_latest(checkpoint, expected)  # a store has the record before it first suspends
        await asyncio.sleep(0)
        return sequence

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        async with _round_trip():
            return await super().load_progress(thread_id, base)

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        async with _round_trip():
            return await super().get_lease(thread_id)

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        async with _round_trip():
            return await super().renew_lease(lease, ttl)

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        async with _round_trip():
            return await super().release_lease(lease)


@asynccontextmanager
async def _round_trip() -> AsyncGenerator[None]:
    await asyncio.sleep(0)
    yield
    await asyncio.sleep(0)


class CountingStore(MemoryStore):
    """Tells the status of each record that was asked to be saved, under a lease or not, kept or not."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[str] = []

    async def save(self, checkpoint: Checkpoint, /) -> int:
        self.saved.append(checkpoint.status)
        return await super().save(checkpoint)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        self.saved.append(checkpoint.status)
        return await super().save_if_latest(checkpoint, expected)


class OvertakenStore(MemoryStore):
    """Somebody else gets in between this process's load and its save, `times` times."""

    def __init__(self, meanwhile: Callable[[MemoryStore], Awaitable[object]], *, times: int = 1) -> None:
        super().__init__()
        self._meanwhile = meanwhile
        self._times = times

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        stored = await super().load_latest(thread_id)
        if self._times:
            self._times -= 1
            await self._meanwhile(self)
        return stored


class FailingStore(MemoryStore):
    """Fails the calls that are named (`load`, or the number of a save from 1)."""

    def __init__(self, *fails: int | str, written: bool | None = False) -> None:
        super().__init__()
        self._fails = fails
        self._written = written
        self.saves = 0

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        if "load" in self._fails:
            raise StoreError("the disk is on fire")
        return await super().load_latest(thread_id)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        self.saves += 1
        if self.saves in self._fails:
            raise StoreError("the disk is full", written=self._written)
        return await super().save_if_latest(checkpoint, expected)
