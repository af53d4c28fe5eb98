"""A graph as the source draws it, and its facts for the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from strata.analysis.annotations import is_state
from strata.analysis.nodes import Body, Mark, Node
from strata.analysis.payloads import payload_faults
from strata.analysis.storing import field_faults
from strata.analysis.values import Class, Function, Value
from strata.rules.facts import (
    BoundaryFacts,
    BranchFacts,
    ChildFacts,
    DraftFacts,
    EdgeFacts,
    FanoutFacts,
    GraphFacts,
    NodeFacts,
    RecoveryFacts,
    WaitFacts,
)
from strata.rules.order import in_node_order

Lost: TypeAlias = Literal["nodes", "edges", "pauses"]
"""What is not known of a graph: whether it has more nodes, more edges, or pauses that no one sees."""


class Draft:
    """Nodes, edges, and settings by the name that they were set on, as the builder of `strata` keeps them."""

    def __init__(self, state: Value) -> None:
        self.state = state
        self.entry = ""
        self.nodes: dict[str, Node] = {}
        self.edges: list[tuple[str, Mark]] = []
        self.boundaries: dict[str, tuple[Mark, Mark | None]] = {}
        """With the route of a rejection."""
        self.timeout_routes: dict[str, Mark] = {}
        self.recoveries: dict[str, tuple[Mark | None, Mark | None]] = {}
        """The retries, and the fallback."""
        self.timeouts: dict[str, float] = {}
        self.metadata: dict[str, Mapping[str, str]] = {}
        self.branch_metadata: dict[str, dict[str, Mapping[str, str]]] = {}
        self.doubled: list[Node] = []
        self.lost: set[Lost] = set()
        self.is_lost = False
        """Whether it is in hands that are not followed: then nothing is known of it."""


def draft_of(state: Value, listed: Iterable[Value]) -> Draft:
    """The draft of the decorated form; what is no known node of it is lost."""
    draft = Draft(state)
    for at, node in enumerate(listed):
        if not isinstance(node, Node):
            draft.lost.add("nodes")
        elif node.name in draft.nodes:
            draft.doubled.append(node)
        else:
            _take_over(draft, node)
            draft.entry = draft.entry or (node.name if at == 0 else "")
    return draft


def facts_of(draft: Draft) -> DraftFacts:
    """What the rules look at, before the options of `compile()` are added."""
    state = draft.state if isinstance(draft.state, Class) and is_state(draft.state) else None
    return DraftFacts(
        graph=graph_facts(draft),
        boundaries=tuple(_boundary_facts(draft)),
        fanouts=tuple(_fanout_facts(draft)),
        waits=tuple(_wait_facts(draft)),
        recoveries=tuple(_recovery_facts(name, retry, fallback) for name, (retry, fallback) in draft.recoveries.items()),
        children=tuple(
            ChildFacts(node=name, durable=node.body.child.durable, place=node.place)
            for name, node in draft.nodes.items()
            if node.body.child is not None and node.body.child.durable is not None
        ),
        timeouts=draft.timeouts,
        inline=frozenset(name for name, node in draft.nodes.items() if node.body.inline),
        metadata=draft.metadata,
        branch_metadata=draft.branch_metadata,
        doubled=tuple(NodeFacts(name=node.name, place=node.place) for node in draft.doubled),
        payload_faults=tuple(payload_faults(draft.nodes.values())),
        state_faults=() if state is None else tuple(field_faults(state)),
        state_place=None if state is None else state.place,
    )


def graph_facts(draft: Draft) -> GraphFacts:
    """The level as it is exported."""
    nodes = tuple(_node_facts(node, is_boundary=node.name in draft.boundaries) for node in draft.nodes.values())
    edges = (*_edge_facts(draft), *_failure_routes(draft), *_reject_routes(draft), *_timeout_routes(draft))
    return GraphFacts(entry=draft.entry, nodes=nodes, edges=edges)


def guard_name(guard: Value | None) -> str | None:
    """What errors call a guard; None where that cannot be told."""
    return (guard.name or "lambda") if isinstance(guard, Function) else None


def _take_over(draft: Draft, node: Node) -> None:
    draft.nodes[node.name] = node
    draft.edges += [(node.name, mark) for mark in node.edges]
    on_reject, on_timeout, fallback = node.mark("on_reject"), node.mark("on_timeout"), node.mark("on_failure")
    if (boundary := node.mark("boundary")) is not None:
        draft.boundaries[node.name] = boundary, on_reject
    if on_timeout is not None:
        draft.timeout_routes[node.name] = on_timeout
    if (retry := node.mark("retry")) is not None or fallback is not None:
        draft.recoveries[node.name] = retry, fallback
    if node.timeout is not None:
        draft.timeouts[node.name] = node.timeout
    if node.metadata is not None:
        draft.metadata[node.name] = node.metadata
    draft.branch_metadata[node.name] = {branch.name: branch.metadata for branch in node.body.branches if branch.metadata is not None}
    lose_what_is_unknown_of(node, draft)


def lose_what_is_unknown_of(node: Node, draft: Draft) -> None:
    """Note what nobody can tell of a node that the graph has."""
    if node.is_open or any(mark.target is None for mark in node.marks if mark.word not in {"boundary", "retry"}):
        draft.lost.add("edges")
    if node.is_open or node.body.may_pause_unseen:
        draft.lost.add("pauses")


def _node_facts(node: Node, *, is_boundary: bool) -> NodeFacts:
    body = node.body
    return NodeFacts(
        name=node.name,
        kind=body.kind,
        branches=_branch_facts(body),
        join=body.join,
        graph=None if body.child is None else body.child.facts,
        event_type=body.event_type,
        is_boundary=is_boundary and body.kind != "wait",  # a boundary on a wait is refused, and shows in no export
        place=node.place,
    )


def _branch_facts(body: Body) -> tuple[BranchFacts, ...]:
    return tuple(BranchFacts(name=branch.name, place=branch.place) for branch in body.branches)


def _fanout_facts(draft: Draft) -> Iterator[FanoutFacts]:
    for name, node in draft.nodes.items():
        if node.body.kind in {"parallel_group", "map"}:
            yield FanoutFacts(
                node=name,
                max_concurrency=node.body.max_concurrency,
                part_timeout=node.body.part_timeout,
                max_items=node.body.max_items,
                place=node.place,
            )


def _wait_facts(draft: Draft) -> Iterator[WaitFacts]:
    for name, node in draft.nodes.items():
        if node.body.is_event_wait:
            has_route = name in draft.timeout_routes
            yield WaitFacts(node=name, kind="event", timeout=node.body.timeout, has_timeout_route=has_route, place=node.place)
        elif node.body.kind == "wait":
            yield WaitFacts(node=name, kind="timer", delay=node.body.delay, place=node.place)


def _boundary_facts(draft: Draft) -> Iterator[BoundaryFacts]:
    for name, (boundary, on_reject) in draft.boundaries.items():
        yield BoundaryFacts(
            node=name,
            on_reject=None if on_reject is None else on_reject.target,
            timeout=boundary.timeout,
            has_timeout_route=name in draft.timeout_routes,
            place=boundary.place,
        )


def _recovery_facts(name: str, retry: Mark | None, fallback: Mark | None) -> RecoveryFacts:
    backoff = None if retry is None else retry.backoff
    first, last = (retry or fallback), (fallback or retry)
    return RecoveryFacts(
        node=name,
        fallback=None if fallback is None else fallback.target,
        backoff=None if backoff is None else (backoff.initial, backoff.maximum),
        place=None if first is None else first.place,
        fallback_place=None if last is None else last.place,
    )


def _edge_facts(draft: Draft) -> Iterator[EdgeFacts]:
    for source, mark in draft.edges:
        if mark.target is not None:
            yield EdgeFacts(
                source=source,
                target=mark.target,
                guarded=mark.guard is not None,
                guard=guard_name(mark.guard),
                guard_is_async=isinstance(mark.guard, Function) and mark.guard.is_async,
                place=mark.place,
            )


def _failure_routes(draft: Draft) -> Iterator[EdgeFacts]:
    """In node order; those of names that are no node are left out (strata-graph.md 4.1)."""
    for source in draft.nodes:
        _, fallback = draft.recoveries.get(source, (None, None))
        if fallback is not None:
            yield from _route(source, fallback, "on_failure")


def _reject_routes(draft: Draft) -> Iterator[EdgeFacts]:
    for source in in_node_order(draft.boundaries, draft.nodes):
        _, on_reject = draft.boundaries[source]
        if on_reject is not None:
            yield from _route(source, on_reject, "on_reject")


def _timeout_routes(draft: Draft) -> Iterator[EdgeFacts]:
    for source in in_node_order(draft.timeout_routes, draft.nodes):
        yield from _route(source, draft.timeout_routes[source], "on_timeout")


def _route(source: str, mark: Mark, condition: str) -> Iterator[EdgeFacts]:
    if mark.target is not None:
        yield EdgeFacts(source=source, target=mark.target, guarded=True, condition=condition, place=mark.place)
