"""The calls that run something, each a few steps: check, load, admit, write the first record, walk, conclude."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from strata.checkpoint.metadata import merge, recoveries_of
from strata.checkpoint.record import Checkpoint
from strata.checkpoint.transitions import claimed, ended, reopened, stamped
from strata.engine.conclude import conclude, record_abandoned, superseded
from strata.engine.decide.admission import Due, Entry, admit_recover, admit_resume, admit_run, check_answer
from strata.engine.decide.ending import Endable, admit_end, admit_reopen
from strata.engine.decide.preflight import TimesOut
from strata.engine.decide.takeover import owns
from strata.engine.interrupt import Interrupt, Scope
from strata.engine.level import Level, Resumed
from strata.engine.outcomes import Cancelled, Outcome
from strata.engine.plan import GraphPlan, NodePlan
from strata.engine.recorder import Recorder, Superseded
from strata.engine.records import running_record
from strata.engine.run import Run
from strata.engine.stream import Channel, Overflow, StreamEvent
from strata.engine.threads import WorkerThreads
from strata.engine.walk import walk
from strata.errors import OptionRefused, StateRefused, ThreadChanged, ThreadNotFound
from strata.graph.answers import Event, Signal
from strata.graph.clock import Clock, Timer
from strata.graph.compiled import CompiledGraph
from strata.graph.times import wire_time
from strata.ports import CheckpointStore, Stored
from strata.runtime.active import ActiveRuns
from strata.runtime.options import CheckedOptions, RunOptions, by_type, check_id, check_options
from strata.runtime.stream import RunStream
from strata.runtime.thread import Record, Thread
from strata.stores.base import StoreBase
from strata.stores.memory import MemoryStore

R = TypeVar("R")

ROUNDS = 3  # how often an end decides anew when the thread changes under it (strata-waits.md 6)


class Operations:
    """The calls of one runner, over what it lends to each of them. Sync nodes run where `plan` says.

    It stands behind the runner's door so that importing the door does not load the engine.
    """

    def __init__(
        self,
        graph: CompiledGraph[Any],
        store: CheckpointStore | None,
        *,
        services: Iterable[object],
        clock: Clock,
        max_threads: int,
    ) -> None:
        if max_threads < 1:
            raise OptionRefused("max_threads must be at least 1")
        self.plan = GraphPlan(graph, in_place=False)
        self.store = MemoryStore(clock=clock) if store is None else store
        self.durable = graph.durable and store is not None
        self.clock = clock
        self.services = by_type(services)
        self.threads = WorkerThreads(max_threads, clock)
        self.active = ActiveRuns()

    @cached_property
    def in_place(self) -> Operations:
        """The same with sync nodes called in place, for programs without a loop: there is none to keep free."""
        twin = copy(self)
        twin.plan = GraphPlan(self.plan.graph, in_place=True)
        return twin

    async def start(
        self,
        thread_id: str,
        state: Any,
        given: RunOptions,
        *,
        start_over: bool,
        channel: Channel | None,
    ) -> Outcome[Any]:
        """Run a thread from the entry node."""
        options = self._check(given)
        stored = _storable(self, state)
        sequence = admit_run(await _load(self, thread_id), thread_id, start_over=start_over)
        run = _run(self, thread_id, options, options.metadata, sequence, channel)
        level = _level(run, self, options, at=self.plan.entry, state=state)
        level.stored = stored
        first = running_record(level, run.stamp(), after=None) if self.durable else None
        changed = f"thread '{thread_id}' changed before it could be started: another run got there first"
        return await _drive(self, run, level, options, first=first, changed=changed)

    async def resume(
        self,
        thread_id: str,
        answer: Signal[Any] | Event | Due | None,
        given: RunOptions,
        *,
        at_sequence: int | None,
        channel: Channel | None,
    ) -> Outcome[Any]:
        """Go on with a waiting, failed or cancelled thread; a timeout without a route ends it."""
        options = self._check(given)
        if answer is not None:
            check_answer(answer, thread_id)
        stored = await _load(self, thread_id)
        now = wire_time(self.clock.time())
        try:
            entry = admit_resume(stored, thread_id, self.plan, answer, at_sequence=at_sequence, now=now)
        except TimesOut:
            assert stored is not None
            return await _time_out(self, stored, thread_id, options)
        changed = f"checkpoint for thread '{thread_id}' changed before it could be resumed: another resume or end got there first"
        return await _go_on(self, thread_id, entry, options, now=now, changed=changed, channel=channel)

    async def recover(self, thread_id: str, given: RunOptions, *, channel: Channel | None) -> Outcome[Any]:
        """Go on with a running thread whose process died."""
        options = self._check(given)
        stored = await _load(self, thread_id)
        entry = admit_recover(stored, thread_id, self.plan, durable=self.durable, now=wire_time(self.clock.time()))
        changed = f"thread '{thread_id}' changed before it could be recovered: its run went on, or another recovery got there first"
        now = wire_time(self.clock.time())
        return await _go_on(self, thread_id, entry, options, now=now, changed=changed, channel=channel, recovers=True)

    async def end(self, thread_id: str, given: RunOptions, *, by: str | None, force: bool) -> Cancelled[Any]:
        """End a thread for good. If it changes meanwhile, decide anew."""
        options = self._check(given)
        if by is not None:
            check_id(by, "the name of who ends a thread")
        for _ in range(ROUNDS):
            found = admit_end(await _load(self, thread_id), thread_id, self.plan, force=force)
            if found.already:
                return _ended(found, found.checkpoint, thread_id, options.run_id)
            record = ended(
                found.checkpoint,
                metadata=merge(found.checkpoint.metadata, options.metadata),
                reason="requested",
                by=by,
                now=wire_time(self.clock.time()),
            )
            try:
                await self.store.save_if_latest(record, found.sequence)
            except ThreadChanged:
                continue
            return _ended(found, record, thread_id, options.run_id)
        raise ThreadChanged(f"thread '{thread_id}' kept changing while it was being ended", thread_id=thread_id)

    async def reopen(self, thread_id: str, *, by: str | None) -> Thread[Any]:
        """Give a thread that is stuck behind a stamp its record again, so that it can be resumed once more."""
        if by is not None:
            check_id(by, "the name of who reopens a thread")
        checkpoint, sequence = admit_reopen(await _load(self, thread_id), thread_id, self.plan)
        record = reopened(checkpoint, by=by, now=wire_time(self.clock.time()))
        return Thread[Any].of(Stored(record, await self.store.save_if_latest(record, sequence)), self.plan.codec)

    async def thread(self, thread_id: str) -> Thread[Any]:
        """Where the thread stands."""
        stored = await self.store.load_latest(thread_id)
        if stored is None:
            raise ThreadNotFound(thread_id)
        return Thread[Any].of(stored, self.plan.codec)

    async def log(self, thread_id: str, *, after: int | None) -> AsyncIterator[Record[Any]]:
        """The thread's records behind `after`, a page at a time."""
        while True:
            page = await self.store.get_log(thread_id, after=after)
            for logged in page.records:
                yield Record[Any].of(logged, self.plan.codec)
            if page.next_after is None:
                return
            after = page.next_after

    def owns(self, checkpoint: Checkpoint) -> bool:
        return owns(checkpoint, self.plan.graph)

    def stream(
        self,
        start: Callable[[Channel], Awaitable[Outcome[Any]]],
        *,
        select: Collection[type[StreamEvent]] | None,
        overflow: Overflow,
    ) -> RunStream[Any]:
        """A run with a reader; it starts when the reader enters."""
        return RunStream(start, Channel(overflow=overflow, select=select))

    def wait(self, call: Coroutine[Any, Any, R]) -> R:
        """Run a call to its end on the loop of the store's `with` block, or on one of its own."""
        if isinstance(self.store, StoreBase) and self.store.has_loop:
            return self.store.run_in_loop(call)
        return asyncio.run(call)

    def _check(self, options: RunOptions) -> CheckedOptions:
        return check_options(options, services=self.services, clock=self.clock)


async def _load(operations: Operations, thread_id: str) -> Stored | None:
    check_id(thread_id, "a thread id")
    return await operations.store.load_latest(thread_id)


def _storable(operations: Operations, state: Any) -> msgspec.Raw | None:
    """The first state's bytes, where the run is durable.

    Raises:
        OptionRefused: it is no state of this graph, or cannot be stored.
    """
    codec = operations.plan.codec
    try:
        codec.check_result(None, state, operations.plan.entry.name)
        if not operations.durable:
            return None
        data = codec.encode(state)
        if operations.plan.graph.check == "full":
            codec.check_stored(state, data, operations.plan.entry.name)
    except StateRefused as error:
        raise OptionRefused(f"the state to start from cannot be used: {error.path}: expected {error.expected}, found {error.found}") from error
    return msgspec.Raw(data)


async def _go_on(
    operations: Operations,
    thread_id: str,
    entry: Entry,
    options: CheckedOptions,
    *,
    now: str,
    changed: str,
    channel: Channel | None,
    recovers: bool = False,
) -> Outcome[Any]:
    metadata = merge(entry.checkpoint.metadata, options.metadata)
    run = _run(operations, thread_id, options, metadata, entry.sequence, channel)
    level = _level(run, operations, options, at=entry.level.start, state=entry.level.state)
    level.go_on(entry.level)
    if recovers:
        level.recover(recoveries=recoveries_of(entry.checkpoint) + 1)
    record = stamped(entry.checkpoint, now=now)
    if operations.durable:
        record = claim_of(entry.level, metadata, now, recoveries=level.recoveries if recovers else None)
    return await _drive(operations, run, level, options, first=record, changed=changed)


def claim_of(resumed: Resumed, metadata: Mapping[str, str], now: str, *, recoveries: int | None = None) -> Checkpoint:
    """The claim of a level and of those below it; only the outermost names the recoveries."""
    return claimed(
        resumed.checkpoint,
        next_node=resumed.start.name,
        state=resumed.stored,
        decision=resumed.decision,
        metadata=metadata,
        identity=resumed.plan.graph.identity,
        now=now,
        recoveries=recoveries,
        nested=None if resumed.inside is None else claim_of(resumed.inside, metadata, now),
    )


async def _time_out(operations: Operations, stored: Stored, thread_id: str, options: CheckedOptions) -> Cancelled[Any]:
    """End a thread whose wait timed out and has nowhere to go (strata-waits.md 5.6)."""
    found = admit_end(stored, thread_id, operations.plan, force=False)
    record = ended(
        found.checkpoint,
        metadata=merge(found.checkpoint.metadata, options.metadata),
        reason="timed_out",
        by=None,
        now=wire_time(operations.clock.time()),
    )
    try:
        await operations.store.save_if_latest(record, found.sequence)
    except ThreadChanged as error:
        text = f"thread '{thread_id}' changed before its timeout could end it: another driver got there first"
        raise ThreadChanged(text, thread_id=thread_id) from error
    return _ended(found, record, thread_id, options.run_id)


async def _drive(
    operations: Operations,
    run: Run,
    level: Level,
    options: CheckedOptions,
    *,
    first: Checkpoint | None,
    changed: str,
) -> Outcome[Any]:
    """Write the first record, if there is one, and walk. From then on the run comes to an outcome, or the store fails, or it is abandoned.

    Raises:
        ThreadChanged: somebody else wrote first; nothing was written and no node has run.
    """
    deadline = _stop_at_deadline(operations, run, options)
    operations.active.add(run)
    try:
        if first is not None:
            await _write_first(run, first, changed)
        if run.channel is not None:
            run.channel.started.set()
        ending = await _walk_or_abandon(run, level)
        return await conclude(run, level, ending)
    except Superseded:
        return superseded(run, level)
    finally:
        operations.active.remove(run)
        if deadline is not None:
            deadline.cancel()


def _stop_at_deadline(operations: Operations, run: Run, options: CheckedOptions) -> Timer | None:
    if options.due is None:
        return None
    left = options.due - operations.clock.monotonic()
    if left > 0:
        return operations.clock.call_later(left, lambda: run.scope.stop("deadline"))
    run.scope.stop("deadline")
    return None


async def _write_first(run: Run, first: Checkpoint, changed: str) -> None:
    try:
        await run.recorder.append(first)
    except Superseded as error:
        raise ThreadChanged(changed, thread_id=run.thread_id) from error


async def _walk_or_abandon(run: Run, level: Level) -> Any:
    try:
        return await walk(run, level)
    except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
        level.interrupt.calling = False
        if not run.durable:
            await _shielded(record_abandoned(run, level))
        raise


async def _shielded(save: Coroutine[Any, Any, None]) -> None:
    """Await a save in a task that was cancelled: a scope around the call, anyio's say, may go on cancelling it."""
    from anyio import CancelScope  # 20 ms to import, which a run that nobody abandons need not pay

    with CancelScope(shield=True):
        await save


def _run(
    operations: Operations,
    thread_id: str,
    options: CheckedOptions,
    metadata: dict[str, str],
    sequence: int | None,
    channel: Channel | None,
) -> Run:
    return Run(
        thread_id=thread_id,
        run_id=options.run_id,
        metadata=MappingProxyType(metadata),
        services=options.services,
        deadline=options.deadline,
        durable=operations.durable,
        clock=operations.clock,
        threads=operations.threads,
        recorder=Recorder(operations.store, sequence=sequence),
        channel=channel,
        scope=Scope(Interrupt(operations.clock)),
    )


def _level(run: Run, operations: Operations, options: CheckedOptions, *, at: NodePlan, state: Any) -> Level:
    limit = options.max_node_hops if options.max_node_hops is not None else operations.plan.hop_limit
    return Level(operations.plan, at=at, state=state, limit=limit, stores=operations.durable, scope=run.scope)


def _ended(found: Endable, record: Any, thread_id: str, run_id: str) -> Cancelled[Any]:
    return Cancelled(
        found.state,
        thread_id=thread_id,
        run_id=run_id,
        node=record.suspended_node or "",
        reason="ended",
        stopped_at=record.waiting_at,
    )
