"""The record of a level, from where it stands and how it ended: pure, so that a child's can be nested before anything is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

import msgspec

from strata.checkpoint.asked import question_metadata
from strata.checkpoint.metadata import ATTEMPTS, CANCEL_REASON, ERROR, ERROR_KIND, HOPS, RETRY_AFTER
from strata.checkpoint.record import Checkpoint, Status, WaitRecord
from strata.checkpoint.version import lowest_version
from strata.engine.decide.failure import Failure
from strata.engine.endings import Asked, Ending, Finished, NodeFailedForGood, OverLimit, Paused, PausedInside, Stopped
from strata.engine.level import Level
from strata.engine.stamp import Stamp
from strata.errors import HopLimitReached


def record_of(level: Level, ending: Ending, stamp: Stamp) -> Checkpoint:
    """Where the level ended, as it is stored (strata-checkpoint.md 8)."""
    here = level.at.name
    match ending:
        case Finished(last):
            return _record(level, stamp, "completed", suspended=last.name, next_node=None)
        case Paused(node=node, next_node=next_node, wait=wait):
            target = None if next_node is None else next_node.name
            return _record(level, stamp, "interrupted", suspended=node.name, next_node=target, engine=level.kept.metadata(), wait=wait)
        case Asked(question):
            engine = {**question_metadata(question), **level.kept.metadata()}
            return _record(level, stamp, "interrupted", suspended=here, next_node=here, engine=engine)
        case PausedInside(nested=nested):
            return _record(level, stamp, "interrupted", suspended=here, next_node=here, nested=nested)
        case NodeFailedForGood(failure):
            return _record(
                level,
                stamp,
                "failed",
                suspended=here,
                next_node=here,
                engine={**failure_metadata(failure), **_kept(level, failure.nested)},
                nested=failure.nested,
            )
        case OverLimit(nested):
            error = HopLimitReached(here, hops=level.hops, limit=level.limit)
            engine = {ERROR: str(error), ERROR_KIND: "hop_limit", **_kept(level, nested)}
            return _record(level, stamp, "failed", suspended=here, next_node=here, engine=engine, nested=nested)
        case Stopped(reason, nested):
            return _record(
                level, stamp, "cancelled", suspended=here, next_node=here, engine={CANCEL_REASON: reason, **_kept(level, nested)}, nested=nested
            )
        case _:
            assert_never(ending)


def running_record(level: Level, stamp: Stamp, *, after: str | None, behind: int | None) -> Checkpoint:
    """The record between two nodes of a durable run, wrapped in the running levels around it; the log's last one is number `behind`."""
    kept = level.kept.news(behind=behind) if level.kept.is_used and level.parent is not None else None
    record = _running(level, stamp, after, level.hops, None, kept)
    while (parent := level.parent) is not None:
        record = _running(parent, stamp, parent.at.name, parent.hops - 1, record)
        level = parent
    return record


def _kept(level: Level, nested: Checkpoint | None) -> Mapping[str, str]:
    """What nodes have from before, on the record of the innermost level."""
    return level.kept.metadata() if nested is None else {}


def failure_metadata(failure: Failure) -> dict[str, str]:
    metadata = {ERROR: failure.message, ERROR_KIND: failure.kind}
    if failure.counted:
        metadata[ATTEMPTS] = str(failure.attempts)
    if failure.retry_after is not None:
        metadata[RETRY_AFTER] = str(_whole_milliseconds(failure.retry_after))
    return metadata


def _whole_milliseconds(seconds: float) -> int:
    """Fractions are cut, but a hint below 1 ms must not read back as "at once"."""
    return max(round(seconds * 1_000_000) // 1000, 1 if seconds > 0 else 0)


def _name(level: Level, stamp: Stamp) -> str:
    """A nested record bears the name of the subgraph node that it runs in."""
    return stamp.thread_id if level.parent is None else level.parent.at.name


def _running(
    level: Level, stamp: Stamp, suspended: str | None, hops: int, nested: Checkpoint | None, kept: Mapping[str, str] | None = None
) -> Checkpoint:
    metadata = {HOPS: str(hops)}
    if kept:
        metadata.update(kept)
    return Checkpoint(
        schema_version="1.7.0",
        thread_id=stamp.thread_id if level.parent is None else level.parent.at.name,
        status="running",
        suspended_node=suspended,
        next_node=level.at.name,
        frozen_state=level.stored or stored_state(level),
        metadata={**stamp.metadata, **metadata} if stamp.metadata else metadata,
        created_at=stamp.now,
        nested=nested,
        decision=level.decision,
        graph=level.plan.identity,
    )


def _record(
    level: Level,
    stamp: Stamp,
    status: Status,
    *,
    suspended: str,
    next_node: str | None,
    engine: Mapping[str, str] | None = None,
    nested: Checkpoint | None = None,
    wait: WaitRecord | None = None,
) -> Checkpoint:
    counted = {HOPS: str(level.hops)} if level.counts or level.kept.holds else {}  # what is kept names the hop
    identity = level.plan.identity
    return Checkpoint(
        schema_version=lowest_version(status=status, nested=nested, decision=level.decision, wait=wait, graph=identity),
        thread_id=_name(level, stamp),
        status=status,
        suspended_node=suspended,
        next_node=next_node,
        frozen_state=stored_state(level),
        metadata={**stamp.metadata, **(engine or {}), **counted} or None,
        created_at=stamp.now,
        nested=nested,
        decision=level.decision,
        wait=wait,
        graph=identity,
    )


def stored_state(level: Level) -> msgspec.Raw:
    """The level's state as bytes; made once, and kept until the level commits again."""
    if level.stored is None:
        level.stored = msgspec.Raw(level.plan.codec.encode(level.state, level=level.depth))
    return level.stored
