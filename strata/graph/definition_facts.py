"""A definition as the rules see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata.rules.facts import BranchFacts, EdgeFacts, GraphFacts, JoinFacts, NodeFacts

if TYPE_CHECKING:
    from strata.graph.definition import Definition, EdgeDefinition, NodeDefinition


def facts_of(definition: Definition) -> GraphFacts:
    """The facts of a definition and of those inside it: all that the rules read, and no place in a source."""
    facts: dict[int, GraphFacts] = {}
    for level in reversed(_levels(definition)):  # inner levels first: a definition may be nested deeper than Python's stack
        facts[id(level)] = GraphFacts(
            entry=level.entry_point,
            nodes=tuple(_node_facts(node, None if node.graph is None else facts[id(node.graph)]) for node in level.nodes),
            edges=tuple(_edge_facts(edge) for edge in level.edges),
        )
    return facts[id(definition)]


def _levels(definition: Definition) -> list[Definition]:
    found = [definition]
    for level in found:  # grows while it is walked
        found.extend(node.graph for node in level.nodes if node.graph is not None)
    return found


def _node_facts(node: NodeDefinition, graph: GraphFacts | None) -> NodeFacts:
    return NodeFacts(
        name=node.name,
        kind=node.kind or "plain",
        branches=tuple(BranchFacts(name=branch.name) for branch in node.branches or ()),
        join=None if node.join is None else JoinFacts(policy=node.join.policy, count=node.join.count),
        graph=graph,
        event_type=None if node.wait is None else node.wait.event_type,
        is_boundary=node.interrupt is not None,
    )


def _edge_facts(edge: EdgeDefinition) -> EdgeFacts:
    return EdgeFacts(source=edge.source, target=edge.target, guarded=edge.guarded, condition=edge.condition)
