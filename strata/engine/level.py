"""Where a run stands in one graph: the only values of a run that change from hop to hop."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.engine.endings import Ending
from strata.engine.interrupt import Interrupt, Scope
from strata.engine.plan import GraphPlan, NodePlan
from strata.graph.context import LastFailure

NO_LIMIT = sys.maxsize


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stored level goes on: its record (migrated), the node, the answered state, and the level inside that node."""

    checkpoint: Checkpoint
    plan: GraphPlan
    start: NodePlan
    state: Any
    stored: msgspec.Raw
    decision: DecisionRecord | None
    hops: int
    inside: Resumed | None = None


class Level:
    """One graph of a run. Level 0 is the graph that was called; a subgraph node's child is one deeper, with `parent` set.

    Attributes:
        at: the node that runs or is about to.
        state: as last committed; `stored` are its bytes, where they exist already.
        hops: nodes started at this level, the one that runs included.
        limit: how many there may be.
        counts: records of this level name the hops (strata-checkpoint.md 11).
        attempt: of the node that runs, from 1.
        decision: the level's latest answer, as recorded.
        last_failure: what the node that runs is the fallback for.
        inside: the stored child that the first node goes on with, where that is a subgraph node.
        records: commits of this level are recorded in a durable run; map items record nothing.
        ending: what the walk came to, from the moment that its last node has committed.
        recovering: the node may have run before; `recoveries` above 0 from a recovery until a node commits.
    """

    __slots__ = (
        "at",
        "attempt",
        "counts",
        "decision",
        "ending",
        "hops",
        "inside",
        "interrupt",
        "last_failure",
        "limit",
        "parent",
        "path",
        "plan",
        "records",
        "recoveries",
        "recovering",
        "scope",
        "state",
        "stored",
    )

    def __init__(
        self,
        plan: GraphPlan,
        *,
        at: NodePlan,
        state: Any,
        limit: int | None,
        records: bool,
        scope: Scope,
        parent: Level | None = None,
        path: tuple[str, ...] = (),
    ) -> None:
        self.plan = plan
        self.parent = parent
        self.path = path
        self.at = at
        self.state = state
        self.stored: msgspec.Raw | None = None
        self.hops = 0
        self.limit = NO_LIMIT if limit is None else limit
        self.records = records
        self.counts = records or limit is not None
        self.attempt = 1
        self.decision: DecisionRecord | None = None
        self.last_failure: LastFailure | None = None
        self.inside: Resumed | None = None
        self.ending: Ending | None = None
        self.scope = scope
        self.interrupt: Interrupt = scope.interrupt
        self.recovering = False
        self.recoveries = 0

    def go_on(self, resumed: Resumed) -> None:
        """Stand where the stored level stood, answered."""
        self.at, self.state, self.stored = resumed.start, resumed.state, resumed.stored
        self.decision, self.hops, self.inside = resumed.decision, resumed.hops, resumed.inside

    def path_of(self, node: NodePlan) -> str:
        """The node's qualified name."""
        return "/".join((*self.path, node.name)) if self.path else node.name

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def hop_chain(self) -> str:
        """The hop number at each level from the outermost in, joined by dots: what idempotency keys name."""
        return str(self.hops) if self.parent is None else f"{self.parent.hop_chain}.{self.hops}"
