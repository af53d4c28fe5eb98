"""From the first record of a call to its outcome: write it, walk, conclude."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.checkpoint.transitions import claimed
from strata.engine.conclude import conclude, lost_lease, record_abandoned, superseded
from strata.engine.decide.admission import Due, Entry
from strata.engine.endings import Ending
from strata.engine.level import Level, Resumed
from strata.engine.outcomes import Outcome
from strata.engine.outliving import outlive, take_over
from strata.engine.recorder import Superseded
from strata.engine.run import Run
from strata.engine.shielding import shielded
from strata.engine.walk import walk
from strata.errors import LeaseLost, ThreadChanged
from strata.graph.answers import Event, Resume, Signal
from strata.ports.events import Resumed as WasResumed
from strata.ports.events import RunEvent
from strata.runtime.frame import Frame


class First(msgspec.Struct, frozen=True, kw_only=True):
    """What a call writes before any node runs, what it is told if somebody else wrote first, and what observers are told then."""

    record: Checkpoint | None
    changed: str
    event: RunEvent | None = None


Begin: TypeAlias = Callable[[], Awaitable[First]]
"""Loads what the thread has kept, and gives what is written first."""


async def drive(frame: Frame, run: Run, level: Level, begin: Begin) -> Outcome[Any]:
    """From here on the run comes to an outcome, or the store fails, or it is abandoned.

    `begin` is called when the thread is this call's alone: who had it before may have kept more until then.

    Raises:
        LeaseHeld: somebody else has the thread.
        ThreadChanged: somebody else wrote first; nothing was written and no node has run.
    """
    with frame.stoppable(run):
        async with frame.leased(run):
            run.recorder.save = frame.save
            stored_at: tuple[str, ...] = ()
            try:
                first = await begin()
                stored_at = () if first.record is None else first.record.waiting_at
                await _write_first(run, first)
                await take_over(frame.lent.store, run, level)
                if run.progress is not None and level.kept.parts:  # they lay on the record before
                    await run.progress.keep(level.kept.parts)
                stored_at = ()
                if run.channel is not None:
                    run.channel.started.set()
                outcome = await conclude(run, level, await _walk_or_abandon(run, level))
            except Superseded:
                outcome = superseded(run, level)
            except LeaseLost:
                outcome = lost_lease(run, level, stored_at=stored_at)
            finally:
                outlive(frame.lent.store, run, level)
    frame.completed(outcome)
    return outcome


def claim_of(resumed: Resumed, metadata: Mapping[str, str], now: str, *, kept: Mapping[str, str], recoveries: int | None = None) -> Checkpoint:
    """The claim of a level and of those below it; only the outermost names the recoveries, only the innermost what its node has kept."""
    return claimed(
        resumed.checkpoint,
        next_node=resumed.start.name,
        state=resumed.stored,
        decision=resumed.decision,
        metadata=metadata,
        identity=resumed.plan.identity,
        now=now,
        recoveries=recoveries,
        kept=kept if resumed.inside is None else {},
        nested=None if resumed.inside is None else claim_of(resumed.inside, metadata, now, kept=kept),
    )


def goes_on_at(resumed: Resumed) -> tuple[str, ...]:
    """The node that each level goes on with, outermost first."""
    below = () if resumed.inside is None else goes_on_at(resumed.inside)
    return (resumed.start.name, *below)


def resumed_event(entry: Entry, answer: Signal[Any] | Resume | Event | Due | None) -> WasResumed:
    """What observers are told of a resume (strata-observability.md)."""
    checkpoint, innermost = entry.checkpoint, _innermost(entry.level)
    before = innermost.checkpoint
    route = innermost.start.name if innermost.start.name != before.next_node else None
    rejected = isinstance(answer, Signal) and answer.verdict == "reject"
    timed_out = isinstance(answer, Due) and (before.wait is None or before.wait.kind != "timer")
    return WasResumed(
        from_status=checkpoint.status,
        waiting_at=checkpoint.waiting_at,
        is_approved=answer.verdict == "approve" if isinstance(answer, Signal) else True,
        reviewer=answer.reviewer if isinstance(answer, Signal) else answer.by if isinstance(answer, Resume) else "",
        wake="event" if isinstance(answer, Event) else "human" if not isinstance(answer, Due) else "timeout" if timed_out else "timer",
        rejected_to=route if rejected else None,
        event_type=answer.type if isinstance(answer, Event) else None,
        timed_out_to=route if timed_out else None,
    )


def _innermost(resumed: Resumed) -> Resumed:
    while resumed.inside is not None:
        resumed = resumed.inside
    return resumed


async def _write_first(run: Run, first: First) -> None:
    if first.record is None:
        return
    try:
        await run.recorder.append(first.record)
    except Superseded as error:
        raise ThreadChanged(first.changed, thread_id=run.thread_id) from error
    if run.watch is not None and first.event is not None:
        run.watch.emit(first.event)


async def _walk_or_abandon(run: Run, level: Level) -> Ending:
    try:
        return await walk(run, level)
    except Exception:  # from saving: nothing more can be written
        raise
    except BaseException:  # a cancellation, Ctrl-C, or what a handler raises that is no Exception
        level.interrupt.calling = False
        if not run.durable:
            await shielded(record_abandoned(run, level))
        raise
