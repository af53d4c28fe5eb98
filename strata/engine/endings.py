"""How a walk can end."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from strata.checkpoint.asked import QuestionRecord
from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.engine.decide.failure import Failure
from strata.engine.interrupt import StopReason
from strata.engine.plan import NodePlan


class Finished(msgspec.Struct, frozen=True):
    """The node had no way out."""

    last: NodePlan


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """The level came to rest after the node; the way out is chosen already (strata-graph.md 6.1 step 8)."""

    node: NodePlan
    next_node: NodePlan | None
    wait: WaitRecord | None = None


class Asked(msgspec.Struct, frozen=True):
    """The node has asked, and will run again from its start; the level has not moved."""

    question: QuestionRecord


class PausedInside(msgspec.Struct, frozen=True, kw_only=True):
    """The child of the level's node came to rest; the level itself has not moved."""

    nested: Checkpoint


class NodeFailedForGood(msgspec.Struct, frozen=True):
    """The level stays at the node, with the state and the hops from before it."""

    failure: Failure


class OverLimit(msgspec.Struct, frozen=True):
    """The level may make no more hops; its node was not started. `nested` is what it was to go on with inside."""

    nested: Checkpoint | None = None


class Stopped(msgspec.Struct, frozen=True):
    """The level was told to stop, at its node; `nested` is where the child inside it stopped."""

    reason: StopReason
    nested: Checkpoint | None = None


Ending: TypeAlias = Finished | Paused | PausedInside | Asked | NodeFailedForGood | OverLimit | Stopped
