"""A graph as its author drew it, sound or not: what both forms of the builder end in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from strata.graph.spec import Body, BoundarySpec, EdgeSpec, EventWaitBody, GroupBody, NodeSpec
from strata.graph.state import State
from strata.rules.facts import Place

if TYPE_CHECKING:
    from strata.graph.recovery import RecoverySpec


class Edge(NamedTuple):
    """An edge in the order of drawing, which is the definition's; its start need not be a node."""

    source: str
    way: EdgeSpec


class TimeoutRoute(NamedTuple):
    """Where the timeout of a boundary or of a wait leads."""

    target: str
    place: Place | None = None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes, edges, and settings by the name that they were set on, which need not be a node's (strata-graph.md 1.1).

    `nodes` hold name, body and place only; all else joins them in `specs_of`. A name has one timeout route, its boundary's
    or its wait's. `doubled` are nodes that the decorated form lists again under a name that is taken.
    """

    state: type[State]
    state_place: Place | None = None
    entry: str = ""
    nodes: Mapping[str, NodeSpec] = {}
    edges: tuple[Edge, ...] = ()
    boundaries: Mapping[str, BoundarySpec] = {}
    timeout_routes: Mapping[str, TimeoutRoute] = {}
    recoveries: Mapping[str, RecoverySpec] = {}
    timeouts: Mapping[str, float] = {}
    metadata: Mapping[str, Mapping[str, str]] = {}
    branch_metadata: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    doubled: tuple[NodeSpec, ...] = ()


def draft_of(state: type[State], place: Place | None, nodes: tuple[NodeSpec, ...]) -> Draft:
    """The draft of the decorated form: the first node is the entry, the order of the nodes is that of everything else."""
    first = {spec.name: spec for spec in reversed(nodes)}
    listed = {spec.name: first[spec.name] for spec in nodes}
    return Draft(
        state=state,
        state_place=place,
        entry=nodes[0].name if nodes else "",
        nodes=listed,
        edges=tuple(Edge(name, way) for name, spec in listed.items() for way in spec.edges),
        boundaries={name: spec.boundary for name, spec in listed.items() if spec.boundary is not None},
        timeout_routes={name: route for name, spec in listed.items() if (route := _timeout_route(spec)) is not None},
        recoveries={name: spec.recovery for name, spec in listed.items() if spec.recovery is not None},
        timeouts={name: spec.timeout for name, spec in listed.items() if spec.timeout is not None},
        metadata={name: spec.metadata for name, spec in listed.items() if spec.metadata is not None},
        branch_metadata={name: metadata_of_branches(spec.body) for name, spec in listed.items() if isinstance(spec.body, GroupBody)},
        doubled=_repeated(nodes),
    )


def specs_of(draft: Draft) -> dict[str, NodeSpec]:
    """The nodes in order, each with all that was set on its name; what was set on other names is left out."""
    ways: dict[str, list[EdgeSpec]] = {}
    for source, way in draft.edges:
        ways.setdefault(source, []).append(way)
    return {
        name: msgspec.structs.replace(
            spec,
            body=_whole_body(spec, draft),
            edges=tuple(ways.get(name, ())),
            boundary=boundary_of(name, draft),
            recovery=draft.recoveries.get(name),
            timeout=draft.timeouts.get(name),
            metadata=draft.metadata.get(name),
        )
        for name, spec in draft.nodes.items()
    }


def boundary_of(name: str, draft: Draft) -> BoundarySpec | None:
    """The boundary on a name, with its timeout's route."""
    mark, route = draft.boundaries.get(name), draft.timeout_routes.get(name)
    if mark is None:
        return None
    target, place = (None, None) if route is None else route
    return msgspec.structs.replace(mark, on_timeout=target, on_timeout_place=place)


def metadata_of_branches(body: GroupBody) -> dict[str, Mapping[str, str]]:
    """Of the branches that have some."""
    return {branch.name: branch.metadata for branch in body.branches if branch.metadata is not None}


def _whole_body(spec: NodeSpec, draft: Draft) -> Body:
    match spec.body:
        case EventWaitBody():
            target, place = draft.timeout_routes.get(spec.name, (None, None))
            return msgspec.structs.replace(spec.body, on_timeout=target, on_timeout_place=place)
        case GroupBody():
            metadata = draft.branch_metadata.get(spec.name, {})
            branches = tuple(msgspec.structs.replace(branch, metadata=metadata.get(branch.name)) for branch in spec.body.branches)
            return msgspec.structs.replace(spec.body, branches=branches)
        case body:
            return body


def _timeout_route(spec: NodeSpec) -> TimeoutRoute | None:
    holder: Any = spec.body if isinstance(spec.body, EventWaitBody) else spec.boundary
    if holder is None or holder.on_timeout is None:
        return None
    return TimeoutRoute(holder.on_timeout, holder.on_timeout_place)


def _repeated(nodes: tuple[NodeSpec, ...]) -> tuple[NodeSpec, ...]:
    taken: set[str] = set()
    repeated: list[NodeSpec] = []
    for spec in nodes:
        if spec.name in taken:
            repeated.append(spec)
        taken.add(spec.name)
    return tuple(repeated)
