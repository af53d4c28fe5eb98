"""Telling the watch of a hop, its attempts and its parts; nothing of this runs where nobody watches."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from strata.engine.decide.failure import Failure, judge, judge_at_end
from strata.engine.decide.joining import PartResult
from strata.engine.faults import CameToRest
from strata.engine.interrupt import Scope
from strata.engine.level import Level
from strata.engine.plan import NodePlan
from strata.engine.run import Run
from strata.engine.watch import Watch
from strata.errors import HandlerCancelled, NoMatchingEdge
from strata.ports.events import BranchCompleted, BranchReason, HopLimitExceeded

Commit = Callable[[Run, Level, NodePlan, object], None]
Work = Callable[[Run, Level, NodePlan], Awaitable[Any]]


async def watched_hop(run: Run, level: Level, node: NodePlan, work: Work, commit: Commit) -> None:
    """A hop with its events, span and metrics: from the node's start to its commit, or to the error that goes up."""
    assert run.watch is not None
    with run.watch.node(level.path_of(node)) as watch:
        level.watch = watch
        try:
            commit(run, level, node, await work(run, level, node))
        except CameToRest:
            watch.completed("interrupted")
            raise
        except NoMatchingEdge:  # the node has done its work: the run fails behind it
            watch.completed("committed")
            raise
        except (Exception, asyncio.CancelledError) as error:
            if level.interrupt.abandoned:
                raise
            if level.scope.reason is not None:
                watch.completed("cancelled")
                raise
            failure, falls_back = judge_at_end(_named(error, node), node.recovery, attempts=level.attempt_at(node))
            fallback = node.fallback.name if node.fallback is not None and falls_back else None
            watch.completed("failed", error=failure.message, error_type=error_type(failure), fallback=fallback)
            raise
        watch.completed("committed")
        if level.ending is None and not level.stores:  # what is recorded follows its edge behind the record
            run.watch.followed(level.path_of(node), level.path_of(level.at))


@contextmanager
def watched_attempt(level: Level, node: NodePlan) -> Generator[None]:
    """Around one attempt of a watched node."""
    assert level.watch is not None
    with level.watch.attempt(level.attempt) as attempt:
        try:
            yield
        except CameToRest:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if level.scope.reason is None and not level.interrupt.abandoned:
                failure = judge(_named(error, node), node.recovery)
                attempt.failed(failure.message, error_type(failure))
            raise


async def watched_part(watch: Watch, path: str, attempt: int, scope: Scope, work: Awaitable[PartResult]) -> tuple[PartResult, BranchCompleted]:
    """A branch or item with its span; its end is for whoever settles it to tell."""
    with watch.branch(path, attempt) as branch:
        result = await work
        if result.failure is not None:
            reason: BranchReason | None = "timed_out" if result.status == "timed_out" else None
            kind = "transient" if reason is not None else error_type(result.failure)  # sheet 3: of a branch that timed out, the reason tells
            ended = branch.completed("failed", error=result.failure.message, error_type=kind, reason=reason)
        elif result.status == "cancelled":
            ended = branch.completed("cancelled", reason=_why(scope))
        else:
            ended = branch.completed("succeeded")
    return result, ended


def over_limit(run: Run, level: Level) -> None:
    """The level's node may not start."""
    if run.watch is not None:
        run.watch.emit(HopLimitExceeded(node_path=level.path_of(level.at), hops=level.hops, limit=level.limit))


def error_type(failure: Failure) -> str:
    """What spans call the kind of a failure: a bug, which nobody declared, is a `panic`."""
    if failure.timed_out:
        return "timeout"
    if failure.kind == "transient":
        return "transient"
    return "fatal" if failure.counted else "panic"


def _named(error: Exception | asyncio.CancelledError, node: NodePlan) -> Exception:
    return HandlerCancelled(node.name) if isinstance(error, asyncio.CancelledError) else error


def _why(scope: Scope) -> BranchReason | None:
    match scope.reason:
        case ("lost_race" | "sibling_failed") as reason:
            return reason
        case _:
            return None
