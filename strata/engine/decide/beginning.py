"""Where a stored thread would go on, as observers are told before it is known whether it may."""

from __future__ import annotations

from typing import Any, NamedTuple

from strata.checkpoint.metadata import QUESTION
from strata.checkpoint.record import Checkpoint
from strata.engine.decide.admission import Due
from strata.engine.decide.fit import woken
from strata.engine.plan import GraphPlan, NodePlan
from strata.errors import NotDue
from strata.graph.answers import Event, Resume, Signal


class Beginning(NamedTuple):
    """The node that the run's start names (strata-observability.md 2.2); `ends`: a timeout without a route ends the thread there."""

    node: str
    ends: bool = False


def beginning(checkpoint: Checkpoint, plan: GraphPlan, given: Signal[Any] | Resume | Event | Due | None) -> Beginning:
    """The route, if the outermost level takes one, else its next node; where a timeout ends the thread, the node it waits at."""
    if isinstance(given, Due) and _times_out(checkpoint, given):
        node = _waiting(checkpoint, plan)
        if node is not None and node.timeout_route is None:
            return Beginning(checkpoint.suspended_node or "", ends=True)
        if node is not None and checkpoint.nested is None:
            return Beginning(node.timeout_route or "")
    if (
        isinstance(given, Signal)
        and given.verdict == "reject"
        and checkpoint.status == "interrupted"
        and checkpoint.nested is None
        and QUESTION not in (checkpoint.metadata or {})
    ):
        node = _waiting(checkpoint, plan)
        if node is not None and node.reject_route is not None:
            return Beginning(node.reject_route)
    return Beginning(checkpoint.next_node or "")


def _times_out(checkpoint: Checkpoint, due: Due) -> bool:
    try:
        return woken(checkpoint, checkpoint.thread_id, due.now).by == "timeout"
    except NotDue:
        return False


def _waiting(checkpoint: Checkpoint, plan: GraphPlan) -> NodePlan | None:
    """The node that the innermost level waits at, if these graphs have it."""
    level: Checkpoint | None = checkpoint
    below: GraphPlan | None = plan
    node: NodePlan | None = None
    while level is not None:
        node = None if below is None or level.suspended_node is None else below.nodes.get(level.suspended_node)
        level, below = level.nested, None if node is None else node.child
    return node
