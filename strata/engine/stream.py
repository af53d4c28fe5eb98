"""What a reader of a run's stream gets, and the bounded buffer between run and reader."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Literal, TypeAlias

import msgspec

ROOM = 1024  # events; strata-execution.md 8

Overflow: TypeAlias = Literal["wait", "drop"]


class StreamEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at a node. `path` is qualified, `attempt` from 1, `sequence` counts the run's events from 1."""

    path: str
    attempt: int
    sequence: int = 0


class NodeStarted(StreamEvent, frozen=True, kw_only=True):
    """A node is about to run."""

    node: str


class Token(StreamEvent, frozen=True, kw_only=True):
    """Text that a handler sent."""

    text: str


class Diagnostic(StreamEvent, frozen=True, kw_only=True):
    """What a handler says of its work, for people who watch and programs that show progress; it is stored nowhere."""

    message: str
    details: Mapping[str, object]


class NodeEnded(StreamEvent, frozen=True, kw_only=True):
    """A node has returned a state that the run goes on with; `Committed` says when it is stored."""

    node: str


class NodeFailed(StreamEvent, frozen=True, kw_only=True):
    """A node failed for good."""

    node: str
    message: str


class Retried(StreamEvent, frozen=True, kw_only=True):
    """An attempt failed and another follows after `delay` seconds: tokens of this attempt are void."""

    node: str
    message: str
    delay: float


class Committed(StreamEvent, frozen=True, kw_only=True):
    """A record was stored: `record` is its number in the thread's log."""

    record: int | None
    status: str


class Channel:
    """The buffer. A full one makes producers wait, or drops what handlers send where `overflow` says so.

    Nobody waits once it is closed, nor once the run's end is certain: what is still said then goes past the limit.
    """

    def __init__(self, *, overflow: Overflow, select: Collection[type[StreamEvent]] | None) -> None:
        self._queue: asyncio.Queue[StreamEvent | None] = asyncio.Queue()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._drops = overflow == "drop"
        self._select = tuple(select) if select is not None else (StreamEvent,)
        self._sent = 0
        self._closed = False
        self._is_limited = True
        self.started = asyncio.Event()
        """Set when every refusal is behind the run."""

    async def put(self, event: StreamEvent, *, is_open: Callable[[], bool]) -> None:
        """Hand `event` to the reader, waiting for room. Events that were not selected are numbered all the same.

        What is no longer `is_open` when there is room is dropped: the attempt that it comes from is over.
        """
        await self.room_for(event)
        if not self._is_limited:
            await asyncio.sleep(0)  # or a handler that does nothing but talk would never hear that its run was abandoned
        if not is_open():
            self._let_one_in()
        elif self._waits_with(event):
            self.put_past_the_limit(event)
        else:
            self.put_now(event)

    async def room_for(self, event: StreamEvent) -> None:
        """Wait until `event` can be handed over, if it is of those that wait."""
        waits = isinstance(event, self._select) and self._waits_with(event)
        while waits and self._is_full and self._is_limited:
            await self._a_place()

    def put_now(self, event: StreamEvent) -> None:
        """Hand over what the loop's own thread cannot wait with: a sync handler that runs in place. Without room it is dropped."""
        self._hand_over(event, drops=self._is_full)

    def put_past_the_limit(self, event: StreamEvent) -> None:
        """Hand over what is neither waited with nor dropped."""
        self._hand_over(event, drops=False)

    def lift_limit(self) -> None:
        """The run has been told to stop, or has written its last record: a reader who does not read holds up nothing of it any more."""
        self._is_limited = False
        while self._waiting:
            self._let_one_in()

    async def finish(self) -> None:
        """No more events; readers end after those that are buffered."""
        if not self._closed:
            self._queue.put_nowait(None)

    def close(self) -> None:
        """The reader has left: drop what is buffered and let waiting producers go."""
        self._closed = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
        self.lift_limit()

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        while (event := await self._queue.get()) is not None:
            if not self._is_full:
                self._let_one_in()
            yield event
        self._queue.put_nowait(None)  # for the next reader, who would wait for ever

    @property
    def _is_full(self) -> bool:
        return self._queue.qsize() >= ROOM

    def _waits_with(self, event: StreamEvent) -> bool:
        return not (self._drops and isinstance(event, Token | Diagnostic))

    def _hand_over(self, event: StreamEvent, *, drops: bool) -> None:
        self._sent += 1  # here, so that events come in the order of their numbers
        if isinstance(event, self._select) and not drops and not self._closed:
            self._queue.put_nowait(msgspec.structs.replace(event, sequence=self._sent))

    async def _a_place(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._let_one_in()
            elif place in self._waiting:  # nobody has passed it over meanwhile
                self._waiting.remove(place)
            raise

    def _let_one_in(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
