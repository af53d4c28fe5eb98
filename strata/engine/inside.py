"""Where the levels inside a node stand when it stops: what the record of the level around them nests (strata-checkpoint.md 5)."""

from __future__ import annotations

import logging

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.engine.decide.failure import Failure
from strata.engine.endings import Ending, Finished, NodeFailedForGood, Paused, PausedInside, Stopped
from strata.engine.interrupt import StopReason
from strata.engine.level import Level
from strata.engine.records import record_of
from strata.engine.stamp import Stamp
from strata.errors import StateRefused

logger = logging.getLogger("strata")


def stopped(level: Level, reason: StopReason, stamp: Stamp) -> Ending:
    """The level stops at its node, and the levels inside it where they stand; if one of them has come to rest, all have.

    A child that has finished stands before its last node: nobody has taken yet what it came to.
    """
    child = level.child
    if child is None:
        return Stopped(reason)
    if isinstance(child.ending, Finished):
        child.step_back()
    ending = stopped(child, reason, stamp) if child.ending is None else child.ending
    nested = _record(child, ending, stamp)
    return PausedInside(nested=nested) if nested is not None and isinstance(ending, Paused | PausedInside) else Stopped(reason, nested)


def failed(level: Level, failure: Failure, stamp: Stamp) -> NodeFailedForGood:
    """The level's node has failed. If its child had finished by then, that stands before its last node, at every level (strata-checkpoint.md 8)."""
    nested = _behind(level, failure, stamp)
    return NodeFailedForGood(failure if nested is None else msgspec.structs.replace(failure, nested=nested))


def _behind(level: Level, failure: Failure, stamp: Stamp) -> Checkpoint | None:
    """The record of the finished child behind which the level failed; a child that had left no record before is entered anew."""
    child = level.child
    if child is None or not isinstance(child.ending, Finished):
        return None
    child.step_back()
    if child.hops == 0 and level.inside is None:
        return None
    passed_down = msgspec.structs.replace(failure, counted=False, nested=_behind(child, failure, stamp))
    return _record(child, NodeFailedForGood(passed_down), stamp)


def _record(child: Level, ending: Ending, stamp: Stamp) -> Checkpoint | None:
    try:
        return record_of(child, ending, stamp)
    except StateRefused as error:  # a handler changed it in place: a resume enters the child anew
        logger.error("thread '%s': where the graph inside '%s' stood cannot be stored: %s", stamp.thread_id, "/".join(child.path), error)
        return None
