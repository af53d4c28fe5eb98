"""Where a run stands in one graph: the only values of a run that change from hop to hop."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from strata.checkpoint.record import DecisionRecord
from strata.engine.endings import Ending
from strata.engine.plan import GraphPlan, NodePlan

NO_LIMIT = sys.maxsize


class Level:
    """One graph of a run. Level 0 is the graph that was called.

    Attributes:
        at: the node that runs or is about to.
        state: as last committed; `stored` are its bytes, where they exist already.
        hops: nodes started at this level, the one that runs included.
        limit: how many there may be.
        counts: records of this level name the hops (strata-checkpoint.md 11).
        decision: the level's latest answer, as recorded.
        recoveries: above 0 from a recovery until a node commits.
        ending: what the walk came to, from the moment that its last node has committed.
    """

    __slots__ = ("at", "counts", "decision", "ending", "hops", "limit", "path", "plan", "recoveries", "recovering", "state", "stored")

    def __init__(self, plan: GraphPlan, *, at: NodePlan, state: Any, limit: int | None, durable: bool, path: tuple[str, ...] = ()) -> None:
        self.plan = plan
        self.path = path
        self.at = at
        self.state = state
        self.stored: msgspec.Raw | None = None
        self.hops = 0
        self.limit = NO_LIMIT if limit is None else limit
        self.counts = durable or limit is not None
        self.decision: DecisionRecord | None = None
        self.recovering = False
        self.recoveries = 0
        self.ending: Ending | None = None

    def path_of(self, node: NodePlan) -> str:
        """The node's qualified name."""
        return "/".join((*self.path, node.name)) if self.path else node.name
