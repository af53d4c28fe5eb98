"""The runner: a graph, a store, and every call that works on a thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from strata.errors import LoopRunning
from strata.graph.clock import SYSTEM
from strata.graph.state import State
from strata.runtime.loops import is_inside_asyncio, require_asyncio

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from strata.engine.outcomes import Cancelled, Outcome
    from strata.engine.stream import Channel, Overflow, StreamEvent
    from strata.graph.answers import Event, Resume, Signal
    from strata.graph.clock import Clock
    from strata.graph.compiled import CompiledGraph
    from strata.ports import CheckpointStore, ThreadPage, ThreadQuery
    from strata.ports.instrument import Instrument
    from strata.runtime.leases import Lease
    from strata.runtime.observers import Observer
    from strata.runtime.operations import Operations
    from strata.runtime.options import RunOptions, SweepOptions
    from strata.runtime.scheduler import Scheduler
    from strata.runtime.stream import RunStream
    from strata.runtime.sweeps import RecoveryReport, StopToken, Sweep, WakeReport
    from strata.runtime.thread import Record, Thread

S = TypeVar("S", bound=State)
R = TypeVar("R")


class Runner(Generic[S]):
    """Runs threads of a graph.

    Args:
        graph: what to run.
        store: where records go. Without one a thread that paused, failed or was cancelled is in this runner's memory alone:
            no other runner and no other process can answer it, and it is gone with the runner. Nothing is encoded between
            nodes, and nothing can be recovered.
        services: objects that nodes ask for by type (`ctx.service(Type)`).
        observers: callables, sync or async, that get the events of every run (`strata.ports.events`), in order.
        instrument: takes spans and metrics; `strata.telemetry` has one for OpenTelemetry.
        lease: only one worker at a time on a thread; all workers have one, or none.
        scheduler: bounds how many runs go on at once; may serve several runners.
        clock: time, ids and chance; for tests.
        max_threads: worker threads for sync nodes, made when needed.

    An outcome says what a run came to; a refusal (`Refused`) raises and has written nothing. `StoreError` may come after
    work: the thread's last record stands.

    Raises:
        TypeError: the graph is not compiled, or the store is none.
        OptionRefused: another option is not what it is said to be.
    """

    def __init__(
        self,
        graph: CompiledGraph[S],
        store: CheckpointStore | None = None,
        *,
        services: Iterable[object] = (),
        observers: Iterable[Observer] = (),
        instrument: Instrument | None = None,
        lease: Lease | None = None,
        scheduler: Scheduler | None = None,
        clock: Clock = SYSTEM,
        max_threads: int = 40,
    ) -> None:
        from strata.graph.compiled import CompiledGraph
        from strata.runtime.equipment import Equipment
        from strata.runtime.operations import Operations  # loads the engine, which a program that makes no runner does not pay for

        if not isinstance(graph, CompiledGraph):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a runner runs what compile() gave, not {type(graph).__name__}: Runner(graph.compile(...), store)")
        if store is not None and (isinstance(store, type) or not hasattr(store, "load_latest")):
            raise TypeError(f"a runner's store keeps checkpoints, as SqliteStore(path) or MemoryStore() do; {store!r:.60} does not")
        self._operations = Operations(
            Equipment(
                graph,
                store,
                services=services,
                observers=observers,
                instrument=instrument,
                lease=lease,
                scheduler=scheduler,
                clock=clock,
                max_threads=max_threads,
            )
        )

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
        answer: Signal[Any] | Resume | Event | None = None,
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

    async def signal(self, thread_id: str, event: Event, /, *, at_sequence: int | None = None, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Tell a thread that waits for it that something has happened: `await_payment.event(payload)`, or an `Event`.

        Raises:
            NotWaiting: the thread waits for something else, or for nothing.
            SignalRefused: the payload or an override does not fit.
            Refused, StoreError: see `resume`.
        """
        return await self._here().signal(thread_id, event, options, at_sequence=at_sequence)

    async def wake(self, thread_id: str, /, *, now: datetime | None = None, **options: Unpack[RunOptions]) -> Outcome[S]:
        """Go on with a thread whose timer is due, or whose wait or boundary has timed out, at `now` (by default the clock's).

        Raises:
            NotDue: its time has not come, or it waits for none.
            Refused, StoreError: see `resume`.
        """
        return await self._here().wake(thread_id, now, options, channel=None)

    async def wake_due(
        self,
        *,
        now: datetime | None = None,
        metadata: Mapping[str, str] | None = None,
        limit: int = 100,
        match_graph: bool = True,
        max_concurrent: int = 1,
        stop: StopToken | None = None,
        **options: Unpack[SweepOptions],
    ) -> WakeReport[S]:
        """Wake what is due, oldest first, up to `limit` threads (skipped ones do not count).

        `metadata` are pairs that the threads must have; they are laid over the metadata of each run too. With an identity
        and `match_graph` only threads of this graph are looked at. `stop.is_set()` ends the sweep before the next thread.

        Raises:
            OptionRefused: a limit is out of its range.
            StoreError: the threads cannot be listed.
        """
        from strata.runtime.drivers import wake_due

        sweep = self._sweep(metadata, limit, match_graph, max_concurrent, stop)
        return await wake_due(self._here(), sweep, now, options)

    async def recover_stale(
        self,
        *,
        now: datetime | None = None,
        stale_after: timedelta | float | None = None,
        max_recoveries: int | None = None,
        metadata: Mapping[str, str] | None = None,
        limit: int = 100,
        match_graph: bool = True,
        max_concurrent: int = 1,
        stop: StopToken | None = None,
        **options: Unpack[SweepOptions],
    ) -> RecoveryReport[S]:
        """Recover running threads whose process died, oldest first, up to `limit` of them (skipped ones do not count).

        A thread is dead if nobody holds its lease and it was last written more than `stale_after` (a timedelta or seconds)
        ago; runs without a lease must give that age. One that was recovered `max_recoveries` times without a node
        committing since is left alone.

        Raises:
            NotDurable: the graph does not record every node, or the runner has no store.
            OptionRefused: a limit is out of its range, or nothing says when a thread is dead.
            StoreError: the threads cannot be listed.
        """
        from strata.runtime.drivers import recover_stale

        sweep = self._sweep(metadata, limit, match_graph, max_concurrent, stop)
        return await recover_stale(self._here(), sweep, now, options, stale_after=stale_after, max_recoveries=max_recoveries)

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
        return await self._here().end(thread_id, {"metadata": {} if metadata is None else metadata}, by=by, force=force)

    async def reopen(self, thread_id: str, /, *, by: str | None = None) -> Thread[S]:
        """Make a thread resumable again that is stuck as `resumed`: its run died after the resume was stamped.

        Raises:
            ThreadChanged: it is not stuck.
            Refused, StoreError: see the class.
        """
        return await self._here().reopen(thread_id, by=by)

    def cancel(self, thread_id: str, /) -> bool:
        """Cancel this runner's run of the thread: its handler is cancelled, and the thread can be resumed. Whether there was one."""
        return self._operations.cancel(thread_id)

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
        and diagnostics with `overflow="drop"`. A run that has been told to stop, or has written its last record, waits for
        no reader: what it still says goes past the limit.
        """

        async def start(channel: Channel) -> Outcome[S]:
            return await self._here().start(thread_id, state, options, start_over=start_over, channel=channel)

        return self._operations.stream(start, select=select, overflow=overflow)

    def stream_resume(
        self,
        thread_id: str,
        answer: Signal[Any] | Resume | Event | None = None,
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

    def stream_wake(
        self,
        thread_id: str,
        /,
        *,
        now: datetime | None = None,
        select: Collection[type[StreamEvent]] | None = None,
        overflow: Overflow = "wait",
        **options: Unpack[RunOptions],
    ) -> RunStream[S]:
        """`wake`, with its events to read."""

        async def start(channel: Channel) -> Outcome[S]:
            return await self._here().wake(thread_id, now, options, channel=channel)

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

        return await self._here().lent.store.list_threads(ThreadQuery() if query is None else query)

    def log(self, thread_id: str, /, *, after: int | None = None) -> AsyncIterator[Record[S]]:
        """The thread's records, oldest first, from the one behind `after`.

        Raises:
            CheckpointUnreadable: at a row that cannot be read; go on behind it with `after=error.sequence`.
        """
        return self._here().log(thread_id, after=after)

    def owns(self, record: Record[Any] | Thread[Any], /) -> bool:
        """Whether this runner's graph would take the thread over: it has no identity, or this graph's id and a version that is taken."""
        return self._operations.owns(record)

    def run_sync(self, thread_id: str, state: S, /, *, start_over: bool = False, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`run` for a program without an event loop; sync nodes run in place. `with store:` keeps one loop for all such calls."""
        return self._wait("run", lambda calls: calls.start(thread_id, state, options, start_over=start_over, channel=None))

    def resume_sync(
        self,
        thread_id: str,
        answer: Signal[Any] | Resume | Event | None = None,
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

    def signal_sync(self, thread_id: str, event: Event, /, *, at_sequence: int | None = None, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`signal` for a program without an event loop."""
        return self._wait("signal", lambda calls: calls.signal(thread_id, event, options, at_sequence=at_sequence))

    def recover_sync(self, thread_id: str, /, **options: Unpack[RunOptions]) -> Outcome[S]:
        """`recover` for a program without an event loop."""
        return self._wait("recover", lambda calls: calls.recover(thread_id, options, channel=None))

    def end_sync(self, thread_id: str, /, *, by: str | None = None, metadata: dict[str, str] | None = None, force: bool = False) -> Cancelled[S]:
        """`end` for a program without an event loop."""
        return self._wait("end", lambda calls: calls.end(thread_id, {"metadata": {} if metadata is None else metadata}, by=by, force=force))

    def thread_sync(self, thread_id: str, /) -> Thread[S]:
        """`thread` for a program without an event loop."""
        return self._wait("thread", lambda calls: calls.thread(thread_id))

    def _sweep(
        self,
        metadata: Mapping[str, str] | None,
        limit: int,
        match_graph: bool,
        max_concurrent: int,
        stop: StopToken | None,
    ) -> Sweep:
        from strata.checkpoint import given
        from strata.runtime.sweeps import Sweep

        pairs = {} if metadata is None else given.pairs(metadata, "a sweep's metadata")
        return Sweep(metadata=pairs, limit=limit, match_graph=match_graph, max_concurrent=max_concurrent, stop=stop)

    def _here(self) -> Operations:
        require_asyncio()
        return self._operations

    def _wait(self, name: str, call: Callable[[Operations], Coroutine[Any, Any, R]]) -> R:
        if is_inside_asyncio():
            raise LoopRunning(name)
        return self._operations.wait(call(self._operations.in_place))
