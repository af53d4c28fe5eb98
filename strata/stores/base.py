"""What a store need not write itself: everything but `save` and `load`, and the loop of a synchronous program."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Coroutine
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from strata.checkpoint.record import Checkpoint, ThreadState
from strata.errors import LoopRunning, OptionRefused, StoreError, StoreLacksLeases
from strata.ports.checkpoints import LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquisition, ThreadLease
from strata.ports.progress import Items

T = TypeVar("T")


class StoreBase(ABC):
    """A checkpoint store of which `save` and `load` are enough (strata-stores.md 1).

    Such a store knows no sequences: conditional saves always succeed, so only one process may work on a thread, and
    logs, listings, purges and leases are refused. Override what the store can do better.

    `async with store:` opens it, and closes it at the end. A synchronous program says `with store:`, which also keeps
    one event loop for all `..._sync` calls made inside.
    """

    _block: _Block | None = None

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

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:  # noqa: B027 - what is not kept is done again
        """Keep what a node has done before it commits; here nothing is kept."""

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        return {}

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
        if self._block is not None:
            raise StoreError(f"this {name} is in a `with` block already")
        self._block = _Block()
        try:
            self._block.runner.run(self.open())
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
        return self._block is not None

    def run_in_loop(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Run `coroutine` to its end on the loop of the surrounding `with store:`.

        A child that was forked inside the block gets a loop of its own.

        Raises:
            LoopRunning: called inside a running event loop.
            StoreError: there is no such block around the call, or another thread is using its loop.
            OptionRefused: it is no coroutine.
        """
        if not asyncio.iscoroutine(coroutine):
            raise OptionRefused(f"run_in_loop() runs a coroutine, as in store.run_in_loop(store.load('t')), not {coroutine!r:.80}")
        try:
            if _loop_is_running():
                raise LoopRunning("run_in_loop", text="run_in_loop() was called inside a running event loop, which it would block: await there")
            turn = self._take_turn()
        except BaseException:
            coroutine.close()
            raise
        with turn as runner:
            return runner.run(coroutine)

    def _take_turn(self) -> _Block:
        name = type(self).__name__
        if self._block is None:
            raise StoreError(f"this {name} has no loop of its own: use it in a `with` block")
        if self._block.process != os.getpid():
            _of_the_parent.append(self._block)
            self._block = _Block()
        if not self._block.turn.acquire(blocking=False):
            raise StoreError(
                f"this {name} is in use by another thread: its `with` block has one loop, for one call at a time",
                hint=f"give each thread a {name} of its own",
            )
        return self._block

    def _end_loop(self) -> None:
        if self._block is not None:
            block, self._block = self._block, None
            block.runner.close()


class _Block:
    """The loop of a `with store:`, and whose turn it is."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.turn = threading.Lock()
        self.process = os.getpid()

    def __enter__(self) -> asyncio.Runner:
        return self.runner

    def __exit__(self, *_: object) -> None:
        self.turn.release()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


_of_the_parent: list[_Block] = []
"""Loops that a forked child has inherited. They share what they listen to with the parent's: to close them here would deafen it."""
