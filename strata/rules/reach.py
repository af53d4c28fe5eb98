"""Which nodes can be reached, and which can never reach an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from strata.rules.levels import Network


def reachable(network: Network, entry: str) -> set[str]:
    """The nodes that the entry leads to, over plain edges, guarded edges and routes alike (strata-graph.md 3.2, rule 3)."""
    ahead: dict[str, list[str]] = {}
    for edge in network.edges:
        ahead.setdefault(edge.source, []).append(edge.target)
    return _spread([entry], ahead)


def endless_sets(network: Network, entry: str) -> list[list[str]]:
    """The reachable nodes from which no node without out-edges can be reached: connected sets, as large as they get.

    Sets and their members are in node order. Only edges between two nodes of the graph count.
    """
    starts = {edge.source for edge in network.edges}
    back: dict[str, list[str]] = {}
    for edge in network.edges:
        back.setdefault(edge.target, []).append(edge.source)
    ending = _spread([name for name in network.nodes if name not in starts], back)
    endless = {name for name in reachable(network, entry) if name not in ending}
    beside: dict[str, list[str]] = {name: [] for name in endless}
    for edge in network.edges:
        if edge.source in endless and edge.target in endless:
            beside[edge.source].append(edge.target)
            beside[edge.target].append(edge.source)
    return _connected([name for name in network.nodes if name in endless], beside)


def _connected(names: Sequence[str], beside: Mapping[str, Sequence[str]]) -> list[list[str]]:
    sets: list[list[str]] = []
    place = {name: at for at, name in enumerate(names)}
    taken: set[str] = set()
    for name in names:
        if name not in taken:
            found = _spread([name], beside)
            taken |= found
            sets.append(sorted(found, key=place.__getitem__))
    return sets


def _spread(starts: Iterable[str], steps: Mapping[str, Sequence[str]]) -> set[str]:
    """Everything that the starts lead to, themselves included."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for name in steps.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found
