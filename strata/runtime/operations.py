"""The calls that run something, each a few steps: check, load, admit, write the first record, walk, conclude."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

import msgspec

from strata.checkpoint.metadata import merge, recoveries_of
from strata.checkpoint.transitions import claimed, ended, reopened, stamped
from strata.engine.conclude import conclude, record_abandoned, superseded
from strata.engine.decide.admission import Entry, admit_recover, admit_resume, admit_run
from strata.engine.decide.ending import Endable, admit_end, admit_reopen
from strata.engine.interrupt import Interrupt
from strata.engine.level import Level
from strata.engine.outcomes import Cancelled, Outcome
from strata.engine.plan import GraphPlan
from strata.engine.recorder import Recorder, Superseded
from strata.engine.run import Run
from strata.engine.stream import Channel
from strata.engine.threads import WorkerThreads
from strata.engine.walk import walk
from strata.errors import OptionRefused, StateRefused, ThreadChanged
from strata.graph.answers import Signal
from strata.graph.clock import Clock
from strata.graph.times import wire_time
from strata.ports import CheckpointStore, Stored
from strata.runtime.active import ActiveRuns
from strata.runtime.options import CheckedOptions

ROUNDS = 3  # how often an end decides anew when the thread changes under it (strata-waits.md 6)


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a runner lends to each of its calls."""

    plan: GraphPlan
    store: CheckpointStore
    durable: bool
    clock: Clock
    threads: WorkerThreads
    active: ActiveRuns


async def start(
    around: Surroundings,
    thread_id: str,
    state: Any,
    options: CheckedOptions,
    *,
    start_over: bool,
    channel: Channel | None,
) -> Outcome[Any]:
    """Run a thread from the entry node."""
    stored = _storable(around, state)
    sequence = admit_run(await _load(around, thread_id), thread_id, start_over=start_over)
    run = _run(around, thread_id, options, options.metadata, sequence, channel)
    level = _level(around, options, at=around.plan.entry.name, state=state)
    level.stored = stored
    if around.durable:
        try:
            await run.recorder.running(level, after=None)
        except Superseded as error:
            raise ThreadChanged(
                f"thread '{thread_id}' changed before it could be started: another run got there first", thread_id=thread_id
            ) from error
    return await _drive(around, run, level, options)


async def resume(
    around: Surroundings,
    thread_id: str,
    answer: Signal[Any] | None,
    options: CheckedOptions,
    *,
    at_sequence: int | None,
    channel: Channel | None,
) -> Outcome[Any]:
    """Go on with a waiting, failed or cancelled thread."""
    stored = await _load(around, thread_id)
    now = wire_time(around.clock.time())
    entry = admit_resume(stored, thread_id, around.plan, answer, at_sequence=at_sequence, now=now)
    changed = f"checkpoint for thread '{thread_id}' changed before it could be resumed: another resume or end got there first"
    return await _go_on(around, thread_id, entry, options, now=now, changed=changed, channel=channel)


async def recover(around: Surroundings, thread_id: str, options: CheckedOptions, *, channel: Channel | None) -> Outcome[Any]:
    """Go on with a running thread whose process died."""
    stored = await _load(around, thread_id)
    entry = admit_recover(stored, thread_id, around.plan, durable=around.durable)
    changed = f"thread '{thread_id}' changed before it could be recovered: its run went on, or another recovery got there first"
    now = wire_time(around.clock.time())
    return await _go_on(around, thread_id, entry, options, now=now, changed=changed, channel=channel, recovers=True)


async def end(around: Surroundings, thread_id: str, options: CheckedOptions, *, by: str | None, force: bool) -> Cancelled[Any]:
    """End a thread for good. If it changes meanwhile, decide anew."""
    for _ in range(ROUNDS):
        found = admit_end(await _load(around, thread_id), thread_id, around.plan, force=force)
        if found.already:
            return _ended(found, found.checkpoint, thread_id, options.run_id)
        record = ended(
            found.checkpoint,
            metadata=merge(found.checkpoint.metadata, options.metadata),
            reason="requested",
            by=by,
            now=wire_time(around.clock.time()),
        )
        try:
            await around.store.save_if_latest(record, found.sequence)
        except ThreadChanged:
            continue
        return _ended(found, record, thread_id, options.run_id)
    raise ThreadChanged(f"thread '{thread_id}' kept changing while it was being ended", thread_id=thread_id)


async def reopen(around: Surroundings, thread_id: str, *, by: str | None) -> Stored:
    """Give a thread that is stuck behind a stamp its record again, so that it can be resumed once more."""
    checkpoint, sequence = admit_reopen(await _load(around, thread_id), thread_id, around.plan)
    record = reopened(checkpoint, by=by, now=wire_time(around.clock.time()))
    return Stored(record, await around.store.save_if_latest(record, sequence))


async def _load(around: Surroundings, thread_id: str) -> Stored | None:
    if not thread_id:
        raise OptionRefused("a thread id can't be empty")
    return await around.store.load_latest(thread_id)


def _storable(around: Surroundings, state: Any) -> msgspec.Raw | None:
    """The first state's bytes, where the run is durable.

    Raises:
        OptionRefused: it is no state of this graph, or cannot be stored.
    """
    codec = around.plan.codec
    try:
        codec.check_result(None, state, around.plan.entry.name)
        if not around.durable:
            return None
        data = codec.encode(state)
        if around.plan.graph.check == "full":
            codec.check_stored(state, data, around.plan.entry.name)
    except StateRefused as error:
        raise OptionRefused(f"the state to start from cannot be used: {error}") from error
    return msgspec.Raw(data)


async def _go_on(
    around: Surroundings,
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
    run = _run(around, thread_id, options, metadata, entry.sequence, channel)
    level = _level(around, options, at=entry.start.name, state=entry.state)
    level.stored, level.decision, level.hops = entry.stored, entry.decision, entry.hops
    if recovers:
        level.recovering, level.recoveries = True, recoveries_of(entry.checkpoint) + 1
    record = stamped(entry.checkpoint, now=now)
    if around.durable:
        record = claimed(
            entry.checkpoint,
            next_node=entry.start.name,
            state=entry.stored,
            decision=entry.decision,
            metadata=metadata,
            identity=around.plan.graph.identity,
            now=now,
            recoveries=level.recoveries if recovers else None,
        )
    try:
        await run.recorder.append(record)
    except Superseded as error:
        raise ThreadChanged(changed, thread_id=thread_id) from error
    return await _drive(around, run, level, options)


async def _drive(around: Surroundings, run: Run, level: Level, options: CheckedOptions) -> Outcome[Any]:
    """From here on the run comes to an outcome; what goes up is a store's failure, or the abandonment of the run."""
    deadline = None
    if options.timeout is not None:
        if options.timeout <= 0:
            run.interrupt.stop("deadline")
        else:
            deadline = around.clock.call_later(options.timeout, lambda: run.interrupt.stop("deadline"))
    if run.channel is not None:
        run.channel.started.set()
    around.active.add(run)
    try:
        ending = await _walk_or_abandon(run, level)
        return await conclude(run, level, ending)
    except Superseded:
        return superseded(run, level)
    finally:
        around.active.remove(run)
        if deadline is not None:
            deadline.cancel()


async def _walk_or_abandon(run: Run, level: Level) -> Any:
    try:
        return await walk(run, level)
    except asyncio.CancelledError:
        if not run.durable:
            await _shielded(record_abandoned(run, level))
        raise


async def _shielded(save: Coroutine[Any, Any, None]) -> None:
    """Await a save in a task that was cancelled: a scope around the call, anyio's say, may go on cancelling it."""
    from anyio import CancelScope  # 20 ms to import, which a run that nobody abandons need not pay

    with CancelScope(shield=True):
        await save


def _run(
    around: Surroundings,
    thread_id: str,
    options: CheckedOptions,
    metadata: Mapping[str, str],
    sequence: int | None,
    channel: Channel | None,
) -> Run:
    return Run(
        thread_id=thread_id,
        run_id=options.run_id,
        metadata=metadata,
        services=options.services,
        deadline=options.deadline,
        durable=around.durable,
        checks_stored=around.plan.graph.check == "full",
        clock=around.clock,
        threads=around.threads,
        recorder=Recorder(around.store, thread_id, sequence=sequence, metadata=dict(metadata), clock=around.clock),
        channel=channel,
        interrupt=Interrupt(around.clock),
    )


def _level(around: Surroundings, options: CheckedOptions, *, at: str, state: Any) -> Level:
    plan = around.plan
    limit = options.max_node_hops if options.max_node_hops is not None else plan.hop_limit
    return Level(plan, at=plan.nodes[at], state=state, limit=limit, durable=around.durable)


def _ended(found: Endable, record: Any, thread_id: str, run_id: str) -> Cancelled[Any]:
    return Cancelled(
        found.state,
        thread_id=thread_id,
        run_id=run_id,
        node=record.suspended_node or "",
        reason="ended",
        stopped_at=record.waiting_at,
    )
