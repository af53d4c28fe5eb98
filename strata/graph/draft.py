"""A graph as its author drew it, sound or not: what both forms of the builder end in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from strata.graph.functions import is_async_function, name_of
from strata.graph.spec import BoundarySpec, EdgeSpec, NodeSpec
from strata.graph.state import State
from strata.rules.facts import BoundaryFacts, DraftFacts, EdgeFacts, GraphFacts, NodeFacts, Place


class Edge(NamedTuple):
    """An edge in the order of drawing, which is the definition's; its start need not be a node."""

    source: str
    way: EdgeSpec


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes, edges, and settings by the name that they were set on, which need not be a node's (strata-graph.md 1.1).

    `nodes` hold kind and handler only; edges, boundary, timeout and metadata join them in `specs_of`.
    `doubled` are nodes that the decorated form lists again under a name that is taken.
    """

    state: type[State]
    state_place: Place | None = None
    entry: str = ""
    nodes: Mapping[str, NodeSpec] = {}
    edges: tuple[Edge, ...] = ()
    boundaries: Mapping[str, BoundarySpec] = {}
    timeouts: Mapping[str, float] = {}
    metadata: Mapping[str, Mapping[str, str]] = {}
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
        timeouts={name: spec.timeout for name, spec in listed.items() if spec.timeout is not None},
        metadata={name: spec.metadata for name, spec in listed.items() if spec.metadata is not None},
        doubled=_repeated(nodes),
    )


def specs_of(draft: Draft) -> dict[str, NodeSpec]:
    """The nodes in order, each with its edges, boundary, timeout and metadata; what was set on other names is left out."""
    ways: dict[str, list[EdgeSpec]] = {}
    for source, way in draft.edges:
        ways.setdefault(source, []).append(way)
    return {
        name: msgspec.structs.replace(
            spec,
            edges=tuple(ways.get(name, ())),
            boundary=draft.boundaries.get(name),
            timeout=draft.timeouts.get(name),
            metadata=draft.metadata.get(name),
        )
        for name, spec in draft.nodes.items()
    }


def facts_of(draft: Draft) -> DraftFacts:
    """What the rules look at, before the options of `compile()` are added."""
    return DraftFacts(
        graph=GraphFacts(entry=draft.entry, nodes=tuple(_node_facts(draft)), edges=edges_and_routes(draft)),
        boundaries=tuple(BoundaryFacts(node=name, on_reject=mark.on_reject, place=mark.place) for name, mark in draft.boundaries.items()),
        timeouts=draft.timeouts,
        inline=frozenset(name for name, spec in draft.nodes.items() if spec.handler.inline),
        metadata=draft.metadata,
        doubled=tuple(NodeFacts(name=spec.name, place=spec.place) for spec in draft.doubled),
        state_place=draft.state_place,
    )


def edges_and_routes(draft: Draft) -> tuple[EdgeFacts, ...]:
    """Edges in the order of drawing, then the routes, as the definition has them (strata-graph.md 4.1)."""
    return (*_edge_facts(draft), *_reject_routes(draft))


def _repeated(nodes: tuple[NodeSpec, ...]) -> tuple[NodeSpec, ...]:
    taken: set[str] = set()
    repeated: list[NodeSpec] = []
    for spec in nodes:
        if spec.name in taken:
            repeated.append(spec)
        taken.add(spec.name)
    return tuple(repeated)


def _node_facts(draft: Draft) -> Iterator[NodeFacts]:
    for name, spec in draft.nodes.items():
        yield NodeFacts(name=name, is_boundary=name in draft.boundaries, place=spec.place)


def _edge_facts(draft: Draft) -> Iterator[EdgeFacts]:
    for source, way in draft.edges:
        yield EdgeFacts(
            source=source,
            target=way.target,
            guarded=way.guard is not None,
            guard=None if way.guard is None else guard_name(way.guard),
            guard_is_async=way.guard is not None and is_async_function(way.guard),
            place=way.place,
        )


def _reject_routes(draft: Draft) -> Iterator[EdgeFacts]:
    """In node order; those of names that are no node come last, in byte order (strata-graph.md 4.1)."""
    marked = [name for name in draft.nodes if name in draft.boundaries]
    for source in (*marked, *sorted(draft.boundaries.keys() - draft.nodes.keys())):
        mark = draft.boundaries[source]
        if mark.on_reject is not None:
            yield EdgeFacts(source=source, target=mark.on_reject, guarded=True, condition="on_reject", place=mark.on_reject_place or mark.place)


def guard_name(guard: Callable[..., Any]) -> str:
    """What drawings and errors call a guard."""
    return name_of(guard) or "lambda"
