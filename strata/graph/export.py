"""A draft as a definition: what of it other engines and people are told."""

from __future__ import annotations

from strata.graph.definition import (
    BranchDefinition,
    Definition,
    EdgeDefinition,
    InterruptDefinition,
    JoinDefinition,
    NodeDefinition,
    WaitDefinition,
)
from strata.graph.draft import Draft, specs_of
from strata.graph.draft_facts import edges_and_routes
from strata.graph.identity import Identity
from strata.graph.spec import EventWaitBody, Fanout, GroupBody, Handler, MapBody, NodeSpec, SubgraphBody, TimerBody
from strata.graph.times import whole_milliseconds


def definition_of(draft: Draft, identity: Identity | None = None) -> Definition:
    """The exported graph, sound or not; what was set on names that are no node is left out, but for routes (strata-graph.md 4.3)."""
    return Definition.of(
        entry_point=draft.entry,
        nodes=tuple(_node(spec) for spec in specs_of(draft).values()),
        edges=tuple(
            EdgeDefinition(source=edge.source, target=edge.target, guarded=edge.guarded, condition=edge.condition) for edge in edges_and_routes(draft)
        ),
        identity=identity,
    )


def _node(spec: NodeSpec) -> NodeDefinition:
    mark = spec.boundary
    interrupt = None if mark is None else InterruptDefinition(timeout_ms=_milliseconds(mark.timeout))
    match spec.body:
        case Handler():
            return NodeDefinition(name=spec.name, metadata=spec.metadata, interrupt=interrupt)
        case GroupBody(branches=branches, fanout=fanout):
            parts = tuple(BranchDefinition(name=branch.name, metadata=branch.metadata) for branch in branches)
            return NodeDefinition(
                name=spec.name, metadata=spec.metadata, kind="parallel_group", branches=parts, join=_join(fanout), interrupt=interrupt
            )
        case SubgraphBody(child=child):
            return NodeDefinition(name=spec.name, metadata=spec.metadata, kind="subgraph", graph=child.exported, interrupt=interrupt)
        case MapBody(child=child, fanout=fanout):
            return NodeDefinition(name=spec.name, metadata=spec.metadata, kind="map", graph=child.exported, join=_join(fanout), interrupt=interrupt)
        case EventWaitBody() | TimerBody() as body:  # a boundary on a wait is refused, and not written
            return NodeDefinition(name=spec.name, metadata=spec.metadata, kind="wait", wait=_wait(body))


def _join(fanout: Fanout) -> JoinDefinition | None:
    """Only what is not the default; a description is a first-matching join's alone (strata-graph.md 4.1)."""
    join = fanout.join
    if join.policy == "all" and fanout.partial == "fail_group":
        return None
    return JoinDefinition(
        policy=join.policy,
        count=join.count if join.policy == "quorum" else None,
        condition=join.description if join.policy == "first_matching" else None,
        partial=fanout.partial,
    )


def _wait(body: EventWaitBody | TimerBody) -> WaitDefinition:
    if isinstance(body, TimerBody):
        return WaitDefinition(kind="timer", delay_ms=_milliseconds(body.delay))
    return WaitDefinition(kind="event", event_type=body.event_type, timeout_ms=_milliseconds(body.timeout))


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else whole_milliseconds(seconds)
