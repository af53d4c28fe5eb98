"""Where a run stands in one graph: the only values of a run that change from hop to hop."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import msgspec

from strata.checkpoint.asked import AnswerRecord, Results, Told
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.engine.endings import Ending, Finished
from strata.engine.interrupt import Interrupt, Scope
from strata.engine.kept import Kept
from strata.engine.place import hops_within, place_of
from strata.engine.plan import GraphPlan, NodePlan
from strata.engine.watch import NodeWatch
from strata.errors import StateRefused, StateUnreadable
from strata.graph.context import LastFailure

NO_LIMIT = sys.maxsize
BREATH = 256  # hops; handlers that never suspend would else block the loop for ever


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stored level goes on: its record (migrated), the node, the answered state, and the level inside that node.

    `answers` are what that node has been told, where it is the innermost one; `told` and `results` what nodes have from before.
    """

    checkpoint: Checkpoint
    plan: GraphPlan
    start: NodePlan
    state: Any
    stored: msgspec.Raw
    decision: DecisionRecord | None
    hops: int
    answers: tuple[AnswerRecord, ...] = ()
    told: Told = {}
    results: Results = {}
    inside: Resumed | None = None

    @property
    def is_as_stored(self) -> bool:
        """No answer has changed the state, here or further in."""
        here = bytes(self.stored) == bytes(self.checkpoint.frozen_state)
        return here and (self.inside is None or self.inside.is_as_stored)

    def kept(self) -> Kept:
        """What is kept where the innermost level stands."""
        level, path, hops = self, self.start.name, hops_within("", self.hops + 1)
        while level.inside is not None:
            level = level.inside
            path, hops = f"{path}/{level.start.name}", hops_within(hops, level.hops + 1)
        return Kept(place_of(path, hops) if level.answers else "", level.answers, told=level.told, results=level.results)


class Level:
    """One graph of a run. Level 0 is the graph that was called; a subgraph node's child is one deeper, with `parent` set.

    Attributes:
        at: the node that runs or is about to.
        state: as last committed; `stored` are its bytes, where they exist already.
        hops: nodes started at this level, the one that runs included.
        limit: how many there may be; `horizon` is when the walk looks around next, at the latest then.
        counts: records of this level name the hops (strata-checkpoint.md 11).
        attempt: of the latest node that counts them, from 1; see `attempt_at`.
        decision: the level's latest answer, as recorded.
        last_failure: what the node that runs is the fallback for.
        inside: the stored child that the first node goes on with, where that is a subgraph node.
        child: the level inside the node, from its start until the node has committed; the stored one before that.
        is_item: of a map's item, or inside one: other nodes run beside this level's.
        kept: what nodes have from before, the same for all levels.
        may_start_over: the level's nodes may run again under their keys when they have committed, since a node around them is
            entered anew: where it is tried again, or the graph inside it has nowhere to go and so leaves no record.
        stores: commits of this level are recorded between nodes; not in a run that is not durable, and never of a map's items.
        has_entered: there is something to leave when the node commits: `inside`, `child`, `last_failure`, `recovering` or `kept` say what.
        ending: what the walk came to, from the moment that its last node has committed; `last_entry` is what that node started with.
        watch: of the node that runs, where somebody watches.
        recovering: the node may have run before; `recoveries` above 0 from a recovery until a node commits.
    """

    __slots__ = (
        "at",
        "attempt",
        "check_result",
        "child",
        "counts",
        "decision",
        "depth",
        "ending",
        "has_entered",
        "hops",
        "horizon",
        "inside",
        "interrupt",
        "is_item",
        "kept",
        "last_entry",
        "last_failure",
        "limit",
        "may_start_over",
        "parent",
        "path",
        "plan",
        "recoveries",
        "recovering",
        "scope",
        "state",
        "storable",
        "stored",
        "stores",
        "watch",
    )

    def __init__(
        self,
        plan: GraphPlan,
        *,
        at: NodePlan,
        state: Any,
        limit: int | None,
        stores: bool,
        scope: Scope,
        parent: Level | None = None,
        path: tuple[str, ...] = (),
        is_item: bool = False,
    ) -> None:
        self.plan = plan
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.path = path
        self.at = at
        self.state = state
        self.stored: msgspec.Raw | None = None
        self.hops = 0
        self.limit = NO_LIMIT if limit is None else limit
        self.horizon = min(BREATH - 1, self.limit)
        self.stores = stores
        self.counts = stores or limit is not None
        self.check_result = plan.codec.check_result
        self.storable = plan.codec.storable
        self.attempt = 1
        self.decision: DecisionRecord | None = None
        self.last_failure: LastFailure | None = None
        self.inside: Resumed | None = None
        self.child: Level | None = None
        self.ending: Ending | None = None
        self.last_entry: tuple[Any, msgspec.Raw | None] | None = None
        self.kept: Kept = Kept() if parent is None else parent.kept
        self.may_start_over: bool = parent is not None and (plan.may_end_nowhere or parent.at.retries or parent.may_start_over)
        self.is_item: bool = is_item or (parent is not None and parent.is_item)
        self.scope = scope
        self.interrupt: Interrupt = scope.interrupt
        self.has_entered = False
        self.recovering = False
        self.recoveries = 0
        self.watch: NodeWatch | None = None

    def go_on(self, resumed: Resumed) -> None:
        """Stand where the stored level stood, answered."""
        self.at, self.state, self.stored = resumed.start, resumed.state, resumed.stored
        self.decision, self.hops, self.inside = resumed.decision, resumed.hops, resumed.inside
        self.horizon = min(self.hops + BREATH - 1, self.limit)
        self.has_entered = True
        if self.parent is None:
            self.kept = resumed.kept()
        self.leave_child()

    def leave_child(self) -> None:
        """No attempt of the node is inside its child: the stored one, if there is one, stands where it stood."""
        self.child = self.stored_child(self.scope)

    def stored_child(self, scope: Scope) -> Level | None:
        """The level inside the node, answered, where the record that the node goes on with has one."""
        inside = self.inside
        if inside is None:
            return None
        child = self.inner(inside.plan, at=inside.start, state=inside.state, scope=scope)
        child.go_on(inside)
        return child

    def inner(self, plan: GraphPlan, *, at: NodePlan, state: Any, scope: Scope) -> Level:
        """A level inside the node."""
        path = (*self.path, self.at.name)
        return Level(plan, at=at, state=state, limit=plan.hop_limit, stores=self.stores, scope=scope, parent=self, path=path)

    def step_back(self) -> None:
        """Nobody took what the level has come to: it stands before its last node again."""
        assert self.last_entry is not None
        self.state, self.stored = self.last_entry
        self.hops -= 1
        self.ending = None

    def recover(self, *, recoveries: int = 0) -> None:
        """The process died here: what runs until a node has committed may have run before."""
        self.recovering, self.recoveries, self.has_entered = True, recoveries, True

    def take_fallback(self, fallback: NodePlan, failure: LastFailure) -> None:
        """Go on at the fallback of the node that failed, with the state from before it.

        No record says so: a recovery starts the node that failed again, and then may have to give both what was kept of them.
        """
        self.at, self.inside, self.child, self.last_failure, self.has_entered = fallback, None, None, failure, True
        if self.stores:
            self.kept.move_on()
        else:
            self._forget()

    def attempt_at(self, node: NodePlan) -> int:
        """The attempt of `node` that ran last; one without a policy runs once, and may run without setting `attempt`."""
        return 1 if node.recovery is None else self.attempt

    def leave_entry(self) -> None:
        """A node has committed: the next one is like any other. An item's nodes all may have run before, if one may."""
        self.last_failure = None
        if self.ending is None or self.parent is None:  # else the level around this one may have it step back
            self.inside, self.child = None, None
        if self.stores:
            self.recovering, self.recoveries = False, 0
        self.has_entered = self.recovering
        self._forget()

    def keeps(self) -> None:
        """Something is kept of the node that runs, until this level and those around it have left their nodes."""
        self.kept.is_used = True
        level: Level | None = self
        while level is not None:
            level.has_entered = True
            level = level.parent

    def _forget(self) -> None:
        """Let go of what is kept for a node that has committed: a level that has finished may still have to step back."""
        if self.is_item:
            return
        if self.may_start_over or (self.parent is not None and isinstance(self.ending, Finished)):
            self.kept.leave()
        elif self.parent is not None:
            self.kept.clear_inside("/".join(self.path))
        else:
            self.kept.clear()

    def keep_entry(self) -> None:
        """Have the bytes of the state before the node starts: what its handler does to the state in place can then be undone."""
        if self.stored is None:
            with contextlib.suppress(StateRefused):  # whoever has to store it will say so
                self.stored = msgspec.Raw(self.plan.codec.encode(self.state, level=self.depth))

    def restore(self) -> None:
        """The state as it was before the node started, where its bytes are kept."""
        if self.stored is not None:
            with contextlib.suppress(StateUnreadable):  # only where a lax `check=` let it pass
                self.state = self.plan.codec.decode(self.stored)

    def path_of(self, node: NodePlan) -> str:
        """The node's qualified name."""
        return "/".join((*self.path, node.name)) if self.path else node.name

    @property
    def hop_chain(self) -> str:
        """The hop number at each level from the outermost in, joined by dots: what idempotency keys name."""
        return hops_within("" if self.parent is None else self.parent.hop_chain, self.hops)
