"""What a store need not write itself: everything but `save` and `load`, and the loop of a synchronous program."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Collection, Coroutine
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from strata.checkpoint.record import Checkpoint, ThreadState
from strata.errors import LoopRunning, StoreError, StoreLacksLeases
from strata.ports.checkpoints import LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquisition, ThreadLease

T = TypeVar("T")


class StoreBase(ABC):
    """A checkpoint store of which `save` and `load` are enough (strata-stores.md 1).

    Such a store knows no sequences: conditional saves always succeed, so only one process may work on a thread, and
    logs, listings, purges and leases are refused. Override what the store can do better.

    `async with store:` opens it, and closes it at the end. A synchronous program says `with store:`, which also keeps
    one event loop for all `..._sync` calls made inside.
    """

    _runner: asyncio.Runner | None = None

    @abstractmethod
    async def save(self, checkpoint: Checkpoint, /) -> int | None:
        """Append `checkpoint` as its thread's newest record and give its sequence, None if the store has none."""

    @abstractmethod
    async def load(self, thread_id: str, /) -> Checkpoint | None:
        """The thread's newest record."""

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        checkpoint = await self.load(thread_id)
        return None if checkpoint is None else Stored(checkpoint, None)

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int | None:
        return await self.save(checkpoint)

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        raise StoreError("this checkpoint store has no log")

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        raise StoreError("this checkpoint store has no thread listing")

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        raise StoreError("this checkpoint store has no purge")

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        raise StoreLacksLeases()

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        raise StoreLacksLeases()

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        raise StoreLacksLeases()

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        raise StoreLacksLeases()

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int | None:
        raise StoreLacksLeases()

    async def open(self) -> None:  # noqa: B027 - there may be nothing to do
        """Connect, if the store connects to anything; called on entering `with`."""

    async def close(self) -> None:  # noqa: B027 - there may be nothing to do
        """Let go of what the store holds; called on leaving `with`."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        await self.close()

    def __enter__(self) -> Self:
        name = type(self).__name__
        if _loop_is_running():
            raise LoopRunning(name, text=f"`with {name}` was used inside a running event loop, which it would block: write `async with` there")
        if self._runner is not None:
            raise StoreError(f"this {name} is in a `with` block already")
        self._runner = asyncio.Runner()
        try:
            self._runner.run(self.open())
        except BaseException:
            self._end_loop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        try:
            self.run_in_loop(self.close())
        finally:
            self._end_loop()

    @property
    def has_loop(self) -> bool:
        """Whether the store is inside a synchronous `with`, and so has the loop that `run_in_loop` uses."""
        return self._runner is not None

    def run_in_loop(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Run `coroutine` to its end on the loop of the surrounding `with store:`.

        Raises:
            LoopRunning: called inside a running event loop.
            StoreError: there is no such block around the call.
        """
        try:
            if _loop_is_running():
                raise LoopRunning("run_in_loop", text="run_in_loop() was called inside a running event loop, which it would block: await there")
            if self._runner is None:
                raise StoreError(f"this {type(self).__name__} has no loop of its own: use it in a `with` block")
        except BaseException:
            coroutine.close()
            raise
        return self._runner.run(coroutine)

    def _end_loop(self) -> None:
        if self._runner is not None:
            runner, self._runner = self._runner, None
            runner.close()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
