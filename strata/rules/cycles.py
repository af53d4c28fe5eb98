"""Which edges close a cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from strata.rules.facts import EdgeFacts


def closing_edges(nodes: Iterable[str], out: Mapping[str, Sequence[EdgeFacts]]) -> list[EdgeFacts]:
    """The edges that lead back into a strongly connected component which is still open, in the order of finding them.

    Tarjan's search: nodes in the order given, a node's edges in theirs, depth first. An edge to any node of the open
    component counts, also one that is not the one closing the loop (strata-graph.md 3.3). It keeps its own stack, so
    that a line of 10,000 nodes is no deeper than one of two.
    """
    found: list[EdgeFacts] = []
    search = _Search(out)
    for root in nodes:
        if root not in search.order:
            found.extend(search.descend(root))
    return found


class _Search:
    """Where Tarjan's search stands: when each node was met, how far back it leads, and the nodes of open components."""

    def __init__(self, out: Mapping[str, Sequence[EdgeFacts]]) -> None:
        self.out = out
        self.order: dict[str, int] = {}
        self.back: dict[str, int] = {}
        self.component: list[str] = []
        self.is_open: set[str] = set()

    def descend(self, root: str) -> Iterator[EdgeFacts]:
        path = [(root, self._meet(root))]
        while path:
            node, edges = path[-1]
            edge = next(edges, None)
            if edge is None:
                path.pop()
                self._leave(node, path[-1][0] if path else None)
            elif edge.target not in self.order:
                path.append((edge.target, self._meet(edge.target)))
            elif edge.target in self.is_open:
                self.back[node] = min(self.back[node], self.order[edge.target])
                yield edge

    def _meet(self, node: str) -> Iterator[EdgeFacts]:
        self.order[node] = self.back[node] = len(self.order)
        self.component.append(node)
        self.is_open.add(node)
        return iter(self.out.get(node, ()))

    def _leave(self, node: str, parent: str | None) -> None:
        if parent is not None:
            self.back[parent] = min(self.back[parent], self.back[node])
        if self.back[node] == self.order[node]:
            self._close(node)

    def _close(self, first: str) -> None:
        while True:
            node = self.component.pop()
            self.is_open.discard(node)
            if node == first:
                return
