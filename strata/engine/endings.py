"""What the walk of a level came to."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from strata.engine.decide.failure import Failure
from strata.engine.interrupt import StopReason
from strata.engine.plan import NodePlan


class Finished(msgspec.Struct, frozen=True):
    """The node had no way out."""

    last: NodePlan


class Paused(msgspec.Struct, frozen=True):
    """The node is a boundary; the way out of it is chosen already (strata-graph.md 6.1 step 8)."""

    node: NodePlan
    next_node: NodePlan | None


class NodeFailedForGood(msgspec.Struct, frozen=True):
    failure: Failure


class OverLimit(msgspec.Struct, frozen=True):
    """The level may make no more hops; its node was not started."""


class Stopped(msgspec.Struct, frozen=True):
    """The run was told to stop, at the level's node."""

    reason: StopReason


Ending: TypeAlias = Finished | Paused | NodeFailedForGood | OverLimit | Stopped
