"""The way around a loop that the rules name by the edge that closes it."""

from __future__ import annotations

from strata.rules.facts import GraphFacts


def way_around(graph: GraphFacts, source: str, target: str) -> list[str]:
    """The shortest way over plain edges from where the edge `source` -> `target` leads back to it: [source, target, ..., source]."""
    ahead: dict[str, list[str]] = {}
    for edge in graph.edges:
        if not edge.guarded:
            ahead.setdefault(edge.source, []).append(edge.target)
    came_from: dict[str, str] = {}
    waiting = [target]
    for node in waiting:
        if node == source:
            break
        for following in ahead.get(node, ()):
            if following != target and following not in came_from:
                came_from[following] = node
                waiting.append(following)
    way = [source]
    while way[-1] != target and way[-1] in came_from:
        way.append(came_from[way[-1]])
    return [source, *reversed(way)]
