"""The runner: a graph, a store, and every call that works on a thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from strata.errors import LoopRunning
from strata.graph.clock import SYSTEM
from strata.graph.state import State
from strata.runtime.loops import is_inside_asyncio, require_asyncio

if TYPE_CHECKING:
    from strata.engine.outcomes import Cancelled, Outcome
    from strata.engine.stream import Channel, Overflow, StreamEvent
    from strata.graph.answers import Signal
    from strata.graph.clock import Clock
    from strata.graph.compiled import CompiledGraph
    from strata.ports import CheckpointStore, ThreadPage, ThreadQuery
    from strata.runtime.operations import Operations
    from strata.runtime.options import RunOptions
    from strata.runtime.stream import RunStream
    from strata.runtime.thread import Record, Thread

S = TypeVar("S", bound=State)
R = TypeVar("R")


class Runner(Generic[S]):
    """Runs threads of a graph.

    Args:
        graph: what to run.
        store: where records go. Without one the process keeps what paused, nothing is encoded between nodes, and
            nothing can be recovered.
        services: objects that nodes ask for by type (`ctx.service(Type)`).
        clock: time, ids and chance; for tests.
        max_threads: worker threads for sync nodes, made when needed.

    An outcome says what a run came to; a refusal (`Refused`) raises and has written nothing. `StoreError` may come after
    work: the thread's last record stands.
    """

    def __init__(
        self,
        graph: CompiledGraph[S],
        store: CheckpointStore | None = None,
        *,
        services: Iterable[object] = (),
        clock: Clock = SYSTEM,
        max_threads: int = 40,
    ) -> None:
        from strata.graph.compiled import CompiledGraph
        from strata.runtime.operations import Operations  # loads the engine, which a program that makes no runner does not pay for

        if not isinstance(graph, CompiledGraph):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a runner runs what compile() gave, not {type(graph).__name__}: Runner(graph.compile(...), store)")
        self._operations = Operations(graph, store, services=services, clock=clock, max_threads=max_threads)

    async def run(self, thread_id: str, state: S, /, *, start_over: bool = False, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Run a thread from the graph's entry.

        Raises:
            ThreadExists: the thread has not finished, and `start_over` was not asked for.
            Refused, StoreError: see the class.
        """
        return await self._here().start(thread_id, state, options, start_over=start_over, channel=None)

    async def resume(
        self,
        thread_id: str,
        answer: Signal[Any] | None = None,
        /,
        *,
        at_sequence: int | None = None,
        **options: Unpack[RunOptions],
    ) -> Outcome[S]:
        """Answer a waiting thread, or go on with a failed or cancelled one (which needs no answer).

        `at_sequence` is the record that the person saw: if the thread has moved on, the answer is refused.

        Raises:
            SignalRefused: the answer does not fit.
            ThreadFinished, ThreadRunning, ThreadChanged, WrongGraph, CheckpointUnreadable: it cannot go on.
            Refused, StoreError: see the class.
        """
        return await self._here().resume(thread_id, answer, options, at_sequence=at_sequence, channel=None)

    async def recover(self, thread_id: str, /, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Go on with a durable thread whose process died: the node that was running runs again, with the same idempotency key.

        Raises:
            NotRunning: its latest record is not `running`.
            NotDurable: the graph does not record every node, or the runner has no store.
            Refused, StoreError: see the class.
        """
        return await self._here().recover(thread_id, options, channel=None)

    async def end(self, thread_id: str, /, *, by: str | None = None, metadata: dict[str, str] | None = None, force: bool = False) -> Cancelled[S]:
        """End a thread for good, wherever it stands; one that was ended already gives the same answer again.

        `force` also ends one that was resumed and whose run left no further record.

        Raises:
            ThreadFinished: it has completed.
            ThreadChanged: it was resumed and may still be running.
            Refused, StoreError: see the class.
        """
        return await self._here().end(thread_id, {"metadata": metadata or {}}, by=by, force=force)

    async def reopen(self, thread_id: str, /, *, by: str | None = None) -> Thread[S]:
        """Make a thread resumable again that is stuck as `resumed`: its run died after the resume was stamped.

        Raises:
            ThreadChanged: it is not stuck.
            Refused, StoreError: see the class.
        """
        return await self._here().reopen(thread_id, by=by)

    def cancel(self, thread_id: str, /) -> bool:
        """Cancel this runner's run of the thread: its handler is cancelled, and the thread can be resumed. Whether there was one."""
        return self._operations.active.stop(thread_id)

    def stream(
        self,
        thread_id: str,
        state: S,
        /,
        *,
        start_over: bool = False,
        select: Collection[type[StreamEvent]] | None = None,
        overflow: Overflow = "wait",
        **options: Unpack[RunOptions],
    ) -> RunStream[S]:
        """`run`, with its events to read: `async with runner.stream(...) as events`.

        `select` are the kinds of events wanted (None: all). A full buffer (1,024) makes the run wait, or loses tokens
        with `overflow="drop"`.
        """

        async def start(channel: Channel) -> Outcome[S]:
            return await self._here().start(thread_id, state, options, start_over=start_over, channel=channel)

        return self._operations.stream(start, select=select, overflow=overflow)

    def stream_resume(
        self,
        thread_id: str,
        answer: Signal[Any] | None = None,
        /,
        *,
        at_sequence: int | None = None,
        select: Collection[type[StreamEvent]] | None = None,
        overflow: Overflow = "wait",
        **options: Unpack[RunOptions],
    ) -> RunStream[S]:
        """`resume`, with its events to read; they start with the node resumed into."""

        async def start(channel: Channel) -> Outcome[S]:
            return await self._here().resume(thread_id, answer, options, at_sequence=at_sequence, channel=channel)

        return self._operations.stream(start, select=select, overflow=overflow)

    def stream_recover(
        self,
        thread_id: str,
        /,
        *,
        select: Collection[type[StreamEvent]] | None = None,
        overflow: Overflow = "wait",
        **options: Unpack[RunOptions],
    ) -> RunStream[S]:
        """`recover`, with its events to read."""

        async def start(channel: Channel) -> Outcome[S]:
            return await self._here().recover(thread_id, options, channel=channel)

        return self._operations.stream(start, select=select, overflow=overflow)

    async def thread(self, thread_id: str, /) -> Thread[S]:
        """Where the thread stands.

        Raises:
            ThreadNotFound: the store has no such thread.
            CheckpointUnreadable, StoreError: see the class.
        """
        return await self._here().thread(thread_id)

    async def threads(self, query: ThreadQuery | None = None, /) -> ThreadPage:
        """A page of threads, newest first; go on with `next_cursor`."""
        from strata.ports import ThreadQuery

        return await self._here().store.list_threads(ThreadQuery() if query is None else query)

    def log(self, thread_id: str, /, *, after: int | None = None) -> AsyncIterator[Record[S]]:
        """The thread's records, oldest first, from the one behind `after`.

        Raises:
            CheckpointUnreadable: at a row that cannot be read; go on behind it with `after=error.sequence`.
        """
        return self._here().log(thread_id, after=after)

    def owns(self, record: Record[Any] | Thread[Any], /) -> bool:
        """Whether this runner's graph would take the thread over: it has no identity, or this graph's id and a version that is taken."""
        return self._operations.owns(record.checkpoint)

    def run_sync(self, thread_id: str, state: S, /, *, start_over: bool = False, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`run` for a program without an event loop; sync nodes run in place. `with store:` keeps one loop for all such calls."""
        return self._wait("run", lambda calls: calls.start(thread_id, state, options, start_over=start_over, channel=None))

    def resume_sync(
        self,
        thread_id: str,
        answer: Signal[Any] | None = None,
        /,
        *,
        at_sequence: int | None = None,
        **options: Unpack[RunOptions],
    ) -> Outcome[S]:
        """`resume` for a program without an event loop."""
        return self._wait(
            "resume",
            lambda calls: calls.resume(thread_id, answer, options, at_sequence=at_sequence, channel=None),
        )

    def recover_sync(self, thread_id: str, /, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`recover` for a program without an event loop."""
        return self._wait("recover", lambda calls: calls.recover(thread_id, options, channel=None))

    def end_sync(self, thread_id: str, /, *, by: str | None = None, metadata: dict[str, str] | None = None, force: bool = False) -> Cancelled[S]:
        """`end` for a program without an event loop."""
        return self._wait("end", lambda calls: calls.end(thread_id, {"metadata": metadata or {}}, by=by, force=force))

    def thread_sync(self, thread_id: str, /) -> Thread[S]:
        """`thread` for a program without an event loop."""
        return self._wait("thread", lambda calls: calls.thread(thread_id))

    def _here(self) -> Operations:
        require_asyncio()
        return self._operations

    def _wait(self, name: str, call: Callable[[Operations], Coroutine[Any, Any, R]]) -> R:
        if is_inside_asyncio():
            raise LoopRunning(name)
        return self._operations.wait(call(self._operations.in_place))
