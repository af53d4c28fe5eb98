"""A graph and the graphs inside its nodes, as levels with qualified names."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from strata.rules.facts import EdgeFacts, GraphFacts, NodeFacts


class Level(msgspec.Struct, frozen=True):
    """One graph and where it stands: `step` leads to it from its parent, and `*` in it stands for a map's item."""

    graph: GraphFacts
    parent: Level | None = None
    step: str = ""
    in_template: bool = False

    def qualified(self, name: str) -> str:
        """`name` as the engines report it: `Remediate/Abort`, `Fan/*/Window` (strata-graph.md 3.4)."""
        # Written on demand: kept on every level, the paths of a deep nest would grow with its square.
        steps, level = [name], self
        while level.parent is not None:
            steps.append(level.step)
            level = level.parent
        return "/".join(reversed(steps))


class Network(msgspec.Struct, frozen=True):
    """The nodes of a level by name (the first of each) and its edges between two of them.

    An edge with a missing end never bridges two nodes (strata-graph.md 3.2, rule 2).
    """

    nodes: dict[str, NodeFacts]
    edges: list[EdgeFacts]

    @staticmethod
    def of(graph: GraphFacts) -> Network:
        nodes: dict[str, NodeFacts] = {}
        for node in graph.nodes:
            nodes.setdefault(node.name, node)
        return Network(nodes, [edge for edge in graph.edges if edge.source in nodes and edge.target in nodes])


def levels(graph: GraphFacts) -> Iterator[Level]:
    """Every level, each before those inside it, in node order; below a level without its entry nothing is visited."""
    waiting = [Level(graph)]
    while waiting:
        level = waiting.pop()
        yield level
        if has_entry(level.graph):
            waiting.extend(reversed(_children(level)))


def has_entry(graph: GraphFacts) -> bool:
    return any(node.name == graph.entry for node in graph.nodes)


def can_pause(node: NodeFacts) -> bool:
    """Whether a thread can come to rest at the node, or inside it: at a boundary or a wait."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.is_boundary or inner.kind == "wait":
            return True
        if inner.kind == "subgraph" and inner.graph is not None:
            waiting.extend(inner.graph.nodes)
    return False


def out_edges(edges: list[EdgeFacts]) -> dict[str, list[EdgeFacts]]:
    """The edges by their start, in the order given."""
    out: dict[str, list[EdgeFacts]] = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge)
    return out


def _children(level: Level) -> list[Level]:
    return [
        Level(node.graph, level, f"{node.name}/*" if node.kind == "map" else node.name, level.in_template or node.kind == "map")
        for node in level.graph.nodes
        if node.graph is not None
    ]
