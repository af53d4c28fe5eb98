"""From how the walk ended to what is stored of it, and what the caller is told."""

from __future__ import annotations

import logging
from typing import Any, assert_never

from strata.checkpoint.record import Checkpoint
from strata.engine.decide.failure import Failure
from strata.engine.endings import Asked, Ending, Finished, NodeFailedForGood, OverLimit, Paused, PausedInside, Stopped
from strata.engine.inside import stopped
from strata.engine.level import Level
from strata.engine.outcomes import Cancelled, CancelReason, Completed, Failed, HopLimitExceeded, Interrupted, Outcome
from strata.engine.recorder import Superseded
from strata.engine.records import record_of
from strata.engine.run import Run
from strata.engine.stream import Committed
from strata.engine.waiting import questions_of, waiting_for
from strata.errors import HopLimitReached, LeaseLost, StateRefused, StoreError

logger = logging.getLogger("strata")


async def conclude(run: Run, level: Level, ending: Ending) -> Outcome[Any]:
    """Store where the run stopped, and say so. A run that completes leaves a record only if it is durable."""
    if isinstance(ending, Finished) and not run.durable:
        return Completed(level.state, thread_id=run.thread_id, run_id=run.run_id)
    if isinstance(ending, NodeFailedForGood):
        failure = ending.failure
        logger.error("thread '%s' failed at node '%s': %s", run.thread_id, level.path_of(level.at), failure.message, exc_info=failure.error)
    try:
        record = record_of(level, ending, run.stamp())
    except StateRefused as error:  # a handler changed it in place, in a run that keeps no bytes between nodes
        return _unrecorded(run, level, ending, error)
    if isinstance(ending, Stopped) and ending.reason == "lease_lost":  # from then on nothing is written
        return _cancelled(run, level, "lease_lost", record.waiting_at)
    try:
        await run.recorder.append(record)
    except LeaseLost:
        return _cancelled(run, level, "lease_lost", record.waiting_at)
    if run.progress is not None and level.kept.parts:  # the record has taken the place of those on which they lay
        await run.progress.keep(level.kept.parts)
    if run.channel is not None:
        path, attempt = "/".join(record.waiting_at), level.attempt_at(level.at)
        run.channel.lift_limit()
        run.channel.put_past_the_limit(Committed(path=path, attempt=attempt, record=run.recorder.sequence, status=record.status))
    return outcome_of(run, level, ending, record)


def outcome_of(run: Run, level: Level, ending: Ending, record: Checkpoint) -> Outcome[Any]:
    """What the caller is told of the record that was stored."""
    match ending:
        case Finished():
            return Completed(level.state, thread_id=run.thread_id, run_id=run.run_id)
        case Paused() | PausedInside() | Asked():
            return _interrupted(run, level, record)
        case NodeFailedForGood():
            return _failed(run, level, ending)
        case OverLimit():
            return _over_limit(run, level)
        case Stopped(reason=("requested" | "deadline" | "lease_lost") as reason):
            return _cancelled(run, level, reason, record.waiting_at)
        case Stopped():
            raise AssertionError(f"only an inner level is stopped by a {ending.reason}")
        case _:
            assert_never(ending)


def superseded(run: Run, level: Level) -> Cancelled[Any]:
    """Another run appended to the thread: nothing more is written."""
    return _cancelled(run, level, "superseded", (level.at.name,))


def lost_lease(run: Run, level: Level, *, stored_at: tuple[str, ...]) -> Cancelled[Any]:
    """The lease was lost before the run's first record, or between two nodes: nothing more is written.

    `stored_at` is where the thread still stands if it was the record of a resume or recovery that could not be written.
    """
    return _cancelled(run, level, "lease_lost", stored_at or (level.at.name,))


async def record_abandoned(run: Run, level: Level) -> None:
    """The record of a run that is not durable and whose task was cancelled: nothing else would say where it stood.

    It raises nothing: the cancellation is what has to go up.
    """
    try:
        # it may have been cancelled while its last event waited for the reader
        await conclude(run, level, stopped(level, "requested", run.stamp()) if level.ending is None else level.ending)
    except Superseded:
        pass  # the thread is another run's by now
    except StoreError as error:
        logger.error("thread '%s' was abandoned, and where it stood could not be stored: %s", run.thread_id, error)


def _interrupted(run: Run, level: Level, record: Checkpoint) -> Interrupted[Any]:
    assert record.suspended_node is not None
    return Interrupted(
        level.state,
        thread_id=run.thread_id,
        run_id=run.run_id,
        suspended_node=record.suspended_node,
        next_node=record.next_node,
        waiting_at=record.waiting_at,
        wait=waiting_for(record.innermost.wait),
        questions=questions_of(record),
    )


def _failed(run: Run, level: Level, ending: NodeFailedForGood) -> Failed[Any]:
    failure = ending.failure
    return Failed(
        level.state,
        thread_id=run.thread_id,
        run_id=run.run_id,
        node=level.at.name,
        path=level.path_of(level.at),
        message=failure.message,
        kind=failure.kind,
        attempts=failure.attempts,
        retry_after=failure.retry_after,
        error=failure.error,
    )


def _unrecorded(run: Run, level: Level, ending: Ending, error: StateRefused) -> Failed[Any]:
    """Nothing can be stored of where the run stopped: only its caller, and the log, hear of it."""
    logger.error("thread '%s' has no record of its stop at node '%s': %s", run.thread_id, level.path_of(level.at), error)
    if isinstance(ending, NodeFailedForGood):
        return _failed(run, level, ending)
    return _failed(run, level, NodeFailedForGood(Failure(error=error, message=str(error), kind="fatal", counted=True)))


def _over_limit(run: Run, level: Level) -> HopLimitExceeded[Any]:
    error = HopLimitReached(level.at.name, hops=level.hops, limit=level.limit)
    return HopLimitExceeded(
        level.state,
        thread_id=run.thread_id,
        run_id=run.run_id,
        node=level.at.name,
        path=level.path_of(level.at),
        message=str(error),
        kind="hop_limit",
        attempts=0,
        error=error,
        hops=level.hops,
        limit=level.limit,
    )


def _cancelled(run: Run, level: Level, reason: CancelReason, stopped_at: tuple[str, ...]) -> Cancelled[Any]:
    return Cancelled(level.state, thread_id=run.thread_id, run_id=run.run_id, node=level.at.name, reason=reason, stopped_at=stopped_at)
