"""The runner: a graph, a store, and every call that works on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable
from functools import cached_property
from typing import Any, Generic, TypeVar, Unpack

import msgspec

from strata.engine.decide.takeover import owns
from strata.engine.outcomes import Cancelled, Outcome
from strata.engine.plan import GraphPlan
from strata.engine.stream import Channel, Overflow, StreamEvent
from strata.engine.threads import WorkerThreads
from strata.errors import LoopRunning, OptionRefused, ThreadNotFound, UnsupportedEventLoop
from strata.graph.answers import Signal
from strata.graph.clock import SYSTEM, Clock
from strata.graph.compiled import CompiledGraph
from strata.graph.state import State
from strata.ports import CheckpointStore, ThreadPage, ThreadQuery
from strata.runtime import operations
from strata.runtime.active import ActiveRuns
from strata.runtime.operations import Surroundings
from strata.runtime.options import CheckedOptions, RunOptions, by_type, check_options
from strata.runtime.stream import RunStream
from strata.runtime.thread import Record, Thread
from strata.stores.base import StoreBase
from strata.stores.memory import MemoryStore

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
        if max_threads < 1:
            raise OptionRefused("max_threads must be at least 1")
        self._graph = graph
        self._services = by_type(services)
        self._around = Surroundings(
            plan=GraphPlan(graph, in_place=False),
            store=MemoryStore(clock=clock) if store is None else store,
            durable=graph.durable and store is not None,
            clock=clock,
            threads=WorkerThreads(max_threads, clock),
            active=ActiveRuns(),
        )

    async def run(self, thread_id: str, state: S, /, *, start_over: bool = False, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Run a thread from the graph's entry.

        Raises:
            ThreadExists: the thread has not finished, and `start_over` was not asked for.
            Refused, StoreError: see the class.
        """
        return await operations.start(self._here(), thread_id, state, self._check(options), start_over=start_over, channel=None)

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
        return await operations.resume(self._here(), thread_id, answer, self._check(options), at_sequence=at_sequence, channel=None)

    async def recover(self, thread_id: str, /, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Go on with a durable thread whose process died: the node that was running runs again, with the same idempotency key.

        Raises:
            NotRunning: its latest record is not `running`.
            NotDurable: the graph does not record every node, or the runner has no store.
            Refused, StoreError: see the class.
        """
        return await operations.recover(self._here(), thread_id, self._check(options), channel=None)

    async def end(self, thread_id: str, /, *, by: str | None = None, metadata: dict[str, str] | None = None, force: bool = False) -> Cancelled[S]:
        """End a thread for good, wherever it stands; one that was ended already gives the same answer again.

        `force` also ends one that was resumed and whose run left no further record.

        Raises:
            ThreadFinished: it has completed.
            ThreadChanged: it was resumed and may still be running.
            Refused, StoreError: see the class.
        """
        options = self._check({"metadata": metadata or {}})
        return await operations.end(self._here(), thread_id, options, by=by, force=force)

    async def reopen(self, thread_id: str, /, *, by: str | None = None) -> Thread[S]:
        """Make a thread resumable again that is stuck as `resumed`: its run died after the resume was stamped.

        Raises:
            ThreadChanged: it is not stuck.
            Refused, StoreError: see the class.
        """
        return Thread.of(await operations.reopen(self._here(), thread_id, by=by), self._graph.codec)

    def cancel(self, thread_id: str, /) -> bool:
        """Cancel this runner's run of the thread: its handler is cancelled, and the thread can be resumed. Whether there was one."""
        return self._around.active.stop(thread_id)

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
            return await operations.start(self._here(), thread_id, state, self._check(options), start_over=start_over, channel=channel)

        return RunStream(start, Channel(overflow=overflow, select=select))

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
            return await operations.resume(self._here(), thread_id, answer, self._check(options), at_sequence=at_sequence, channel=channel)

        return RunStream(start, Channel(overflow=overflow, select=select))

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
            return await operations.recover(self._here(), thread_id, self._check(options), channel=channel)

        return RunStream(start, Channel(overflow=overflow, select=select))

    async def thread(self, thread_id: str, /) -> Thread[S]:
        """Where the thread stands.

        Raises:
            ThreadNotFound: the store has no such thread.
            CheckpointUnreadable, StoreError: see the class.
        """
        stored = await self._here().store.load_latest(thread_id)
        if stored is None:
            raise ThreadNotFound(thread_id)
        return Thread.of(stored, self._graph.codec)

    async def threads(self, query: ThreadQuery | None = None, /) -> ThreadPage:
        """A page of threads, newest first; go on with `next_cursor`."""
        return await self._here().store.list_threads(ThreadQuery() if query is None else query)

    async def log(self, thread_id: str, /, *, after: int | None = None) -> AsyncIterator[Record[S]]:
        """The thread's records, oldest first, from the one behind `after`.

        Raises:
            CheckpointUnreadable: at a row that cannot be read; go on behind it with `after=error.sequence`.
        """
        next_after: int | None = after
        while True:
            page = await self._here().store.get_log(thread_id, after=next_after)
            for logged in page.records:
                yield Record.of(logged, self._graph.codec)
            if page.next_after is None:
                return
            next_after = page.next_after

    def owns(self, record: Record[Any] | Thread[Any], /) -> bool:
        """Whether this runner's graph would take the thread over: it has no identity, or this graph's id and a version that is taken."""
        return owns(record.checkpoint, self._graph)

    def run_sync(self, thread_id: str, state: S, /, *, start_over: bool = False, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`run` for a program without an event loop; sync nodes run in place. `with store:` keeps one loop for all such calls."""
        return self._wait("run", lambda around: operations.start(around, thread_id, state, self._check(options), start_over=start_over, channel=None))

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
            lambda around: operations.resume(around, thread_id, answer, self._check(options), at_sequence=at_sequence, channel=None),
        )

    def recover_sync(self, thread_id: str, /, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`recover` for a program without an event loop."""
        return self._wait("recover", lambda around: operations.recover(around, thread_id, self._check(options), channel=None))

    def end_sync(self, thread_id: str, /, *, by: str | None = None, metadata: dict[str, str] | None = None, force: bool = False) -> Cancelled[S]:
        """`end` for a program without an event loop."""
        return self._wait("end", lambda around: self.end(thread_id, by=by, metadata=metadata, force=force))

    def thread_sync(self, thread_id: str, /) -> Thread[S]:
        """`thread` for a program without an event loop."""
        return self._wait("thread", lambda around: self.thread(thread_id))

    def _check(self, options: RunOptions) -> CheckedOptions:
        return check_options(options, services=self._services, clock=self._around.clock)

    def _here(self) -> Surroundings:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise UnsupportedEventLoop("Strata runs on asyncio, and no asyncio loop is running here: under trio there is none") from None
        return self._around

    @cached_property
    def _in_place(self) -> Surroundings:
        """The same surroundings with sync nodes called in place: there is no loop to keep free."""
        return msgspec.structs.replace(self._around, plan=GraphPlan(self._graph, in_place=True))

    def _wait(self, name: str, call: Callable[[Surroundings], Coroutine[Any, Any, R]]) -> R:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            store = self._around.store
            if isinstance(store, StoreBase) and store.has_loop:
                return store.run_in_loop(call(self._in_place))
            return asyncio.run(call(self._in_place))
        raise LoopRunning(name)
