"""A graph inside a node: a level of its own, walked in the same task."""

from __future__ import annotations

from typing import Any, assert_never

from strata.checkpoint.record import Checkpoint
from strata.engine import walk
from strata.engine.decide.failure import Failure
from strata.engine.endings import Asked, Ending, Finished, NodeFailedForGood, OverLimit, Paused, PausedInside, Stopped
from strata.engine.faults import ChildFailed, ChildPaused, ChildStopped, ChildTimedOut
from strata.engine.interrupt import Scope
from strata.engine.level import Level
from strata.engine.mappers import mapped
from strata.engine.plan import NodePlan, SubgraphPlan
from strata.engine.records import record_of
from strata.engine.run import Run
from strata.errors import HopLimitReached, NoMatchingEdge


async def run_child(run: Run, level: Level, node: NodePlan, subgraph: SubgraphPlan) -> Any:
    """The node's result: the child graph, run to its end, and folded into the level's state (strata-execution.md 11).

    Raises:
        ChildPaused, ChildStopped: it came to rest; its record says where.
        ChildTimedOut: the node's own timeout stopped it.
        ChildFailed: it failed; the text says where, the kind is the child's own.
        MapperFailed: `enter` or the node's function raised.
    """
    scope = Scope(level.interrupt, level.scope)
    timer = None if node.timeout is None else run.clock.call_later(node.timeout, lambda: scope.stop("timeout"))
    try:
        child = _child(run, level, node, subgraph, scope)
        ending = await walk.walk(run, child)
    finally:
        scope.close()
        if timer is not None:
            timer.cancel()
    return _judge(run, level, node, subgraph, child, ending)


def child_failure_text(ending: NodeFailedForGood | OverLimit, child: Level) -> str:
    """What a child failed with, as the node around it says it; without the node's own name."""
    if isinstance(ending, OverLimit):
        return f"hit its hop limit: {HopLimitReached(child.at.name, hops=child.hops, limit=child.limit)}"
    failure = ending.failure
    if isinstance(failure.error, NoMatchingEdge):
        return failure.message
    return f"failed at '{child.at.name}' after {failure.attempts} attempt(s): {failure.message}"


def _child(run: Run, level: Level, node: NodePlan, subgraph: SubgraphPlan, scope: Scope) -> Level:
    """A fresh level, or the stored one that this resume goes on with; a retry of the node starts from the same place."""
    child = level.stored_child(scope)
    if child is None:
        child = level.inner(subgraph.child, at=subgraph.child.entry, state=entered(subgraph, level, node), scope=scope)
    else:
        child.restore()  # an earlier attempt may have changed it in place
    if level.recovering:  # also where it is entered anew: it may have been entered before it had a record
        child.recover()
    level.child, level.has_entered = child, True
    return child


def entered(subgraph: SubgraphPlan, level: Level, node: NodePlan) -> Any:
    state = mapped(node, "enter", subgraph.enter, level.state)
    return subgraph.child.codec.check_result(None, state, f"{node.name} (enter)")


def _judge(run: Run, level: Level, node: NodePlan, subgraph: SubgraphPlan, child: Level, ending: Ending) -> Any:
    match ending:
        case Finished():
            return mapped(node, "the node's function", subgraph.leave, level.state, child.state)
        case Paused() | PausedInside() | Asked():
            raise ChildPaused(record_of(child, ending, run.stamp()))
        case Stopped(reason):
            record = record_of(child, ending, run.stamp())
            if reason == "timeout" and level.scope.reason is None:
                assert node.timeout is not None
                raise ChildTimedOut(node.name, timeout=node.timeout, nested=record)
            raise ChildStopped(record)
        case NodeFailedForGood(failure):
            text, nested = child_failure_text(ending, child), _nested(run, child, ending, failure)
            start = f"subgraph '{node.name}'" if nested is not None else f"subgraph '{node.name}':"
            kind, hint = failure.kind, failure.retry_after
            raise ChildFailed(f"{start} {text}", kind=kind, retry_after=hint, nested=nested, errors=(failure.error,))
        case OverLimit():
            record = record_of(child, ending, run.stamp())
            raise ChildFailed(f"subgraph '{node.name}' {child_failure_text(ending, child)}", kind="fatal", nested=record)
        case _:
            assert_never(ending)


def _nested(run: Run, child: Level, ending: NodeFailedForGood, failure: Failure) -> Checkpoint | None:
    """A routing gap keeps no record of the child: a resume enters it anew (strata-checkpoint.md 5)."""
    return None if isinstance(failure.error, NoMatchingEdge) else record_of(child, ending, run.stamp())
