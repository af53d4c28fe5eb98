"""Reading a run while it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

from strata.engine.outcomes import Outcome
from strata.engine.stream import Channel, StreamEvent
from strata.errors import StrataError
from strata.runtime.loops import require_asyncio

S = TypeVar("S")


class RunStream(Generic[S]):
    """A run under way, and its events to iterate over.

        async with runner.stream("essay-1", Essay(min_score=8)) as events:
            async for event in events:
                ...
        print(events.outcome)

    Refusals raise on entering. Leaving the block early abandons the run, as cancelling its task does.
    """

    def __init__(self, start: Callable[[Channel], Awaitable[Outcome[S]]], channel: Channel) -> None:
        self._start = start
        self._channel = channel
        self._task: asyncio.Task[Outcome[S]] | None = None

    @property
    def outcome(self) -> Outcome[S]:
        """What the run came to.

        Raises:
            StrataError: it has not ended: read the events to their end first.
        """
        if self._task is None or not self._task.done() or self._task.cancelled():
            raise StrataError("the run has no outcome yet: read its events to their end first")
        return _result_of(self._task)

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise StrataError("this stream was entered before: make a new one, a stream is one run")
        require_asyncio()
        self._task = asyncio.create_task(self._run(), name="strata-stream")
        started = asyncio.create_task(self._channel.started.wait(), name="strata-stream-start")
        try:
            await asyncio.wait({self._task, started}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            started.cancel()
        if self._task.done() and not self._channel.started.is_set():
            _result_of(self._task)  # raises the refusal
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        assert self._task is not None
        if not self._task.done():
            await self._abandon()
        failure = None if self._task.cancelled() else self._task.exception()
        if kind is None and failure is not None:
            _result_of(self._task)  # raises the store's error, which the reader has not met

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        if self._task is None:
            raise StrataError("a stream is entered before it is read: async with runner.stream(...) as events: async for event in events: ...")
        async for event in self._channel:
            yield event
        await asyncio.wait({self._task})
        _result_of(self._task)

    async def _run(self) -> Outcome[S]:
        try:
            return await self._start(self._channel)
        except (SystemExit, KeyboardInterrupt) as error:
            raise _Leaves(error) from error
        finally:
            await self._channel.finish()

    async def _abandon(self) -> None:
        assert self._task is not None
        self._channel.close()
        told_again: asyncio.CancelledError | None = None
        while not self._task.done():
            self._task.cancel()
            try:
                await asyncio.wait({self._task})
            except asyncio.CancelledError as error:  # the reader leaves nothing behind, however often it is told
                told_again = error
        if told_again is not None:
            raise told_again


class _Leaves(Exception):
    """A node has raised what ends programs. A task raises that out of its event loop; whoever reads the run is to have it first."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__(repr(error))


def _result_of(task: asyncio.Task[Outcome[S]]) -> Outcome[S]:
    try:
        return task.result()
    except _Leaves as left:
        raise left.error from None
