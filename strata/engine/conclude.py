"""From how the walk ended to what is stored of it, and what the caller is told."""

from __future__ import annotations

import logging
from typing import Any, assert_never

import msgspec

from strata.checkpoint.metadata import ATTEMPTS, CANCEL_REASON, ERROR, ERROR_KIND, RETRY_AFTER
from strata.checkpoint.record import Status
from strata.engine.call import emit
from strata.engine.decide.failure import Failure
from strata.engine.endings import Ending, Finished, NodeFailedForGood, OverLimit, Paused, Stopped
from strata.engine.interrupt import StopReason
from strata.engine.level import Level
from strata.engine.outcomes import Cancelled, Completed, Failed, HopLimitExceeded, Interrupted, Outcome
from strata.engine.recorder import Superseded
from strata.engine.run import Run
from strata.engine.stream import Committed
from strata.errors import HopLimitReached, StateRefused, StoreError

logger = logging.getLogger("strata")


async def conclude(run: Run, level: Level, ending: Ending) -> Outcome[Any]:
    """Store where the run stopped, and say so. A run that completes leaves a record only if it is durable."""
    match ending:
        case Finished(last):
            if run.durable:
                await _record(run, level, "completed", suspended=last.name, next_node=None)
            return Completed(level.state, thread_id=run.thread_id, run_id=run.run_id)
        case Paused(node, next_node):
            target = None if next_node is None else next_node.name
            await _record(run, level, "interrupted", suspended=node.name, next_node=target)
            return Interrupted(
                level.state,
                thread_id=run.thread_id,
                run_id=run.run_id,
                suspended_node=node.name,
                next_node=target,
                waiting_at=(node.name,),
            )
        case NodeFailedForGood(failure):
            logger.error("thread '%s' failed at node '%s': %s", run.thread_id, level.path_of(level.at), failure.message, exc_info=failure.error)
            await _record_here(run, level, "failed", _failure_metadata(failure))
            return _failed(run, level, failure)
        case OverLimit():
            error = HopLimitReached(level.at.name, hops=level.hops, limit=level.limit)
            await _record_here(run, level, "failed", {ERROR: str(error), ERROR_KIND: "hop_limit"})
            return _over_limit(run, level, error)
        case Stopped(reason):
            await _record_here(run, level, "cancelled", {CANCEL_REASON: reason})
            return _cancelled(run, level, reason)
        case _:
            assert_never(ending)


def superseded(run: Run, level: Level) -> Cancelled[Any]:
    """Another run appended to the thread: nothing more is written."""
    name = level.at.name
    return Cancelled(level.state, thread_id=run.thread_id, run_id=run.run_id, node=name, reason="superseded", stopped_at=(name,))


async def record_abandoned(run: Run, level: Level) -> None:
    """The record of a run that is not durable and whose task was cancelled: nothing else would say where it stood.

    It raises nothing: the cancellation is what has to go up.
    """
    try:
        if level.ending is None:
            await _record_here(run, level, "cancelled", {CANCEL_REASON: "requested"})
        else:  # cancelled while its last event waited for the reader
            await conclude(run, level, level.ending)
    except Superseded:
        pass  # the thread is another run's by now
    except (StoreError, StateRefused) as error:
        logger.error("thread '%s' was abandoned, and where it stood could not be stored: %s", run.thread_id, error)


def _failure_metadata(failure: Failure) -> dict[str, str]:
    metadata = {ERROR: failure.message, ERROR_KIND: failure.kind}
    if failure.counted:
        metadata[ATTEMPTS] = "1"
    if failure.retry_after is not None:
        metadata[RETRY_AFTER] = str(_whole_milliseconds(failure.retry_after))
    return metadata


def _whole_milliseconds(seconds: float) -> int:
    """Fractions are cut, but a hint below 1 ms must not read back as "at once"."""
    return max(round(seconds * 1_000_000) // 1000, 1 if seconds > 0 else 0)


def _failed(run: Run, level: Level, failure: Failure) -> Failed[Any]:
    return Failed(
        level.state,
        thread_id=run.thread_id,
        run_id=run.run_id,
        node=level.at.name,
        path=level.path_of(level.at),
        message=failure.message,
        kind=failure.kind,
        attempts=1,
        retry_after=failure.retry_after,
        error=failure.error,
    )


def _over_limit(run: Run, level: Level, error: HopLimitReached) -> HopLimitExceeded[Any]:
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


def _cancelled(run: Run, level: Level, reason: StopReason) -> Cancelled[Any]:
    name = level.at.name
    return Cancelled(level.state, thread_id=run.thread_id, run_id=run.run_id, node=name, reason=reason, stopped_at=(name,))


async def _record_here(run: Run, level: Level, status: Status, engine: dict[str, str]) -> None:
    """The thread stands at a node that did not commit: it is entered again by a resume, with the state from before it."""
    await _record(run, level, status, suspended=level.at.name, next_node=level.at.name, engine=engine)


async def _record(
    run: Run,
    level: Level,
    status: Status,
    *,
    suspended: str,
    next_node: str | None,
    engine: dict[str, str] | None = None,
) -> None:
    stored = level.stored if level.stored is not None else msgspec.Raw(level.plan.codec.encode(level.state))
    await run.recorder.stop(level, status, suspended=suspended, next_node=next_node, state=stored, engine=engine)
    if run.channel is not None:
        await emit(run, Committed(path=suspended, attempt=1, record=run.recorder.sequence, status=status))
