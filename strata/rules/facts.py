"""What the rules know of a graph: plain records that say nothing of how they were found.

A builder, an exported definition and (later) source text all become these facts, so one set of rules serves them all.
Durations are seconds here; a definition's milliseconds are divided. `place` is where the decorator stands, None for data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

NodeKind = Literal["plain", "parallel_group", "subgraph", "map", "wait"]
Condition = Literal["on_failure", "on_reject", "on_timeout"]
JoinPolicy = Literal["all", "first_success", "first_matching", "quorum"]


class Place(msgspec.Struct, frozen=True):
    """A line of source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SourcePlace(Place, frozen=True):
    """A line, and the column where what is meant begins, from 1."""

    column: int = 1


class IdentityFacts(msgspec.Struct, frozen=True):
    id: str
    version: str | None = None


class BranchFacts(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    place: Place | None = None


class JoinFacts(msgspec.Struct, frozen=True, kw_only=True):
    policy: JoinPolicy
    count: int | None = None


class EdgeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An edge or a route; routes (`condition` set) are guarded edges of the exported graph."""

    source: str
    target: str
    guarded: bool = False
    condition: str | None = None
    guard: str | None = None
    guard_is_async: bool = False
    place: Place | None = None


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: NodeKind = "plain"
    branches: tuple[BranchFacts, ...] = ()
    join: JoinFacts | None = None
    graph: GraphFacts | None = None
    event_type: str | None = None
    """Of a wait for an event; None for a timer, and for every other kind."""
    is_boundary: bool = False
    place: Place | None = None


class GraphFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One level, as it is exported: routes are among the edges, in the order of the definition (strata-graph.md 4.1)."""

    entry: str
    nodes: tuple[NodeFacts, ...] = ()
    edges: tuple[EdgeFacts, ...] = ()


class BoundaryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A boundary as it was set on a name, which need not be a node."""

    node: str
    on_reject: str | None = None
    timeout: float | None = None
    has_timeout_route: bool = False
    place: Place | None = None


class FanoutFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a group or a map runs its parts; `part_timeout` is that of a branch or an item."""

    node: str
    max_concurrency: int | None = None
    part_timeout: float | None = None
    max_items: int | None = None
    place: Place | None = None


class WaitFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A wait node; a timer without `delay` asks its state."""

    node: str
    kind: Literal["event", "timer"]
    delay: float | None = None
    timeout: float | None = None
    has_timeout_route: bool = False
    place: Place | None = None


class RecoveryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A recovery policy as it was set on a name, which need not be a node; `backoff` is its initial delay and its maximum."""

    node: str
    fallback: str | None = None
    backoff: tuple[float, float] | None = None
    place: Place | None = None
    fallback_place: Place | None = None


class ChildFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The graph inside a node: whether it was compiled to record every node."""

    node: str
    durable: bool
    place: Place | None = None


class PayloadFault(msgspec.Struct, frozen=True, kw_only=True):
    """The payload type of a wait, which cannot be found or cannot be read from JSON."""

    node: str
    type: str
    reason: str
    place: Place | None = None


class StateFieldFault(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the state, at any depth, that cannot be stored; `path` as in `Order.lines[].shipped`."""

    path: str
    reason: str


class DraftFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What only the compiler knows: the settings that no export shows, by the name that they were set on.

    A name here need not be a node; that is one of the things the rules find.
    """

    graph: GraphFacts
    graph_id: str | None = None
    graph_version: str | None = None
    has_migration: bool = False
    max_node_hops: int | None = None
    durable: bool = True
    fanouts: tuple[FanoutFacts, ...] = ()
    waits: tuple[WaitFacts, ...] = ()
    recoveries: tuple[RecoveryFacts, ...] = ()
    children: tuple[ChildFacts, ...] = ()
    boundaries: tuple[BoundaryFacts, ...] = ()
    timeouts: Mapping[str, float] = {}
    inline: frozenset[str] = frozenset()
    metadata: Mapping[str, Mapping[str, str]] = {}
    branch_metadata: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    """By group, then by branch."""
    doubled: tuple[NodeFacts, ...] = ()
    """Nodes named again by `.start` and `.nodes` (`add_node` replaces, and is not among these)."""
    payload_faults: tuple[PayloadFault, ...] = ()
    state_faults: tuple[StateFieldFault, ...] = ()
    state_place: Place | None = None
