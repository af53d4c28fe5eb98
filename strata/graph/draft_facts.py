"""A draft as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from strata.graph.draft import Draft, boundary_of
from strata.graph.functions import is_async_function, name_of
from strata.graph.recovery import RecoverySpec
from strata.graph.spec import EventWaitBody, Fanout, GroupBody, Handler, MapBody, NodeSpec, SubgraphBody, TimerBody
from strata.rules.facts import (
    BoundaryFacts,
    BranchFacts,
    ChildFacts,
    DraftFacts,
    EdgeFacts,
    FanoutFacts,
    GraphFacts,
    JoinFacts,
    NodeFacts,
    RecoveryFacts,
    WaitFacts,
)
from strata.rules.order import in_node_order


def facts_of(draft: Draft) -> DraftFacts:
    """What the rules look at, before the options of `compile()` are added."""
    return DraftFacts(
        graph=graph_facts(draft),
        boundaries=tuple(_boundary_facts(draft)),
        fanouts=tuple(_fanout_facts(draft)),
        waits=tuple(_wait_facts(draft)),
        recoveries=tuple(_recovery_facts(name, policy) for name, policy in draft.recoveries.items()),
        children=tuple(
            ChildFacts(node=name, durable=spec.body.child.durable, place=spec.place)
            for name, spec in draft.nodes.items()
            if isinstance(spec.body, SubgraphBody | MapBody)
        ),
        timeouts=draft.timeouts,
        inline=frozenset(name for name, spec in draft.nodes.items() if isinstance(spec.body, Handler) and spec.body.inline),
        metadata=draft.metadata,
        branch_metadata=draft.branch_metadata,
        doubled=tuple(NodeFacts(name=spec.name, place=spec.place) for spec in draft.doubled),
        state_place=draft.state_place,
    )


def graph_facts(draft: Draft) -> GraphFacts:
    """The level as it is exported."""
    nodes = tuple(_node_facts(spec, is_boundary=spec.name in draft.boundaries) for spec in draft.nodes.values())
    return GraphFacts(entry=draft.entry, nodes=nodes, edges=edges_and_routes(draft))


def edges_and_routes(draft: Draft) -> tuple[EdgeFacts, ...]:
    """Edges in the order of drawing, then three runs of routes, as the definition has them (strata-graph.md 4.1)."""
    return (*_edge_facts(draft), *_failure_routes(draft), *_reject_routes(draft), *_timeout_routes(draft))


def guard_name(guard: Callable[..., Any]) -> str:
    """What drawings and errors call a guard."""
    return name_of(guard) or "lambda"


def _node_facts(spec: NodeSpec, *, is_boundary: bool) -> NodeFacts:
    match spec.body:
        case GroupBody(branches=branches, fanout=fanout):
            parts = tuple(BranchFacts(name=branch.name, place=branch.place) for branch in branches)
            return NodeFacts(
                name=spec.name, kind="parallel_group", branches=parts, join=_join_facts(fanout), is_boundary=is_boundary, place=spec.place
            )
        case SubgraphBody(child=child):
            return NodeFacts(name=spec.name, kind="subgraph", graph=child.facts, is_boundary=is_boundary, place=spec.place)
        case MapBody(child=child, fanout=fanout):
            return NodeFacts(name=spec.name, kind="map", graph=child.facts, join=_join_facts(fanout), is_boundary=is_boundary, place=spec.place)
        case EventWaitBody(event_type=event_type):  # a boundary on a wait is refused, and shows in no export
            return NodeFacts(name=spec.name, kind="wait", event_type=event_type, place=spec.place)
        case TimerBody():
            return NodeFacts(name=spec.name, kind="wait", place=spec.place)
        case Handler():
            return NodeFacts(name=spec.name, is_boundary=is_boundary, place=spec.place)


def _join_facts(fanout: Fanout) -> JoinFacts:
    return JoinFacts(policy=fanout.join.policy, count=fanout.join.count)


def _fanout_facts(draft: Draft) -> Iterator[FanoutFacts]:
    for name, spec in draft.nodes.items():
        if isinstance(spec.body, GroupBody | MapBody):
            fanout = spec.body.fanout
            yield FanoutFacts(
                node=name,
                max_concurrency=fanout.max_concurrency,
                part_timeout=fanout.part_timeout,
                max_items=spec.body.max_items if isinstance(spec.body, MapBody) else None,
                place=spec.place,
            )


def _wait_facts(draft: Draft) -> Iterator[WaitFacts]:
    for name, spec in draft.nodes.items():
        if isinstance(spec.body, EventWaitBody):
            has_route = name in draft.timeout_routes
            yield WaitFacts(node=name, kind="event", timeout=spec.body.timeout, has_timeout_route=has_route, place=spec.place)
        elif isinstance(spec.body, TimerBody):
            yield WaitFacts(node=name, kind="timer", delay=spec.body.delay, place=spec.place)


def _boundary_facts(draft: Draft) -> Iterator[BoundaryFacts]:
    for name in draft.boundaries:
        if (mark := boundary_of(name, draft)) is not None:
            yield BoundaryFacts(
                node=name, on_reject=mark.on_reject, timeout=mark.timeout, has_timeout_route=mark.on_timeout is not None, place=mark.place
            )


def _recovery_facts(name: str, policy: RecoverySpec) -> RecoveryFacts:
    backoff = policy.backoff
    return RecoveryFacts(
        node=name,
        fallback=policy.fallback,
        backoff=None if backoff is None else (backoff.initial, backoff.maximum),
        place=policy.place or policy.fallback_place,
        fallback_place=policy.fallback_place or policy.place,
    )


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


def _failure_routes(draft: Draft) -> Iterator[EdgeFacts]:
    """In node order; those of names that are no node are left out (strata-graph.md 4.1)."""
    for source in draft.nodes:
        policy = draft.recoveries.get(source)
        if policy is not None and policy.fallback is not None:
            yield EdgeFacts(source=source, target=policy.fallback, guarded=True, condition="on_failure", place=policy.fallback_place or policy.place)


def _reject_routes(draft: Draft) -> Iterator[EdgeFacts]:
    for source in in_node_order(draft.boundaries, draft.nodes):
        mark = draft.boundaries[source]
        if mark.on_reject is not None:
            yield EdgeFacts(source=source, target=mark.on_reject, guarded=True, condition="on_reject", place=mark.on_reject_place or mark.place)


def _timeout_routes(draft: Draft) -> Iterator[EdgeFacts]:
    for source in in_node_order(draft.timeout_routes, draft.nodes):
        route = draft.timeout_routes[source]
        yield EdgeFacts(source=source, target=route.target, guarded=True, condition="on_timeout", place=route.place)
