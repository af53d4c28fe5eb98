"""The nodes that a graph lists as the facts that the rules look at, as `compile()` has them of the functions themselves.

A `Place` here says which node of the list and which of its marks: `file` is the node's position, `line` that of the mark, from 1,
and 0 is the node itself. `locating` turns them into lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from strata.rules.facts import (
    BoundaryFacts,
    BranchFacts,
    ChildFacts,
    DraftFacts,
    EdgeFacts,
    FanoutFacts,
    GraphFacts,
    NodeFacts,
    NodeKind,
    Place,
    RecoveryFacts,
    WaitFacts,
)
from strata_mypy.facts import Declared, MarkWord, TopWord

KINDS: dict[TopWord, NodeKind] = {
    "node": "plain",
    "parallel": "parallel_group",
    "subgraph": "subgraph",
    "map_each": "map",
    "wait_for_event": "wait",
    "timer": "wait",
}


def draft_of(listed: tuple[Declared, ...]) -> DraftFacts:
    """All but the options of `compile()`."""
    nodes, doubled = _first_and_repeated(listed)
    return DraftFacts(
        graph=GraphFacts(entry=listed[0].name, nodes=tuple(node.facts() for node in nodes), edges=tuple(_edges_and_routes(nodes))),
        boundaries=tuple(boundary for node in nodes if (boundary := node.boundary()) is not None),
        fanouts=tuple(node.fanout() for node in nodes if node.top.word in ("parallel", "map_each")),
        waits=tuple(wait for node in nodes if (wait := node.wait()) is not None),
        recoveries=tuple(recovery for node in nodes if (recovery := node.recovery()) is not None),
        children=tuple(child for node in nodes if (child := node.child()) is not None),
        timeouts={node.name: node.top.timeout for node in nodes if node.top.timeout is not None and not node.is_wait},
        inline=frozenset(node.name for node in nodes if node.top.inline),
        metadata={node.name: dict.fromkeys(node.top.metadata, "") for node in nodes if node.top.metadata},
        doubled=tuple(NodeFacts(name=node.name, place=node.place()) for node in doubled),
    )


class ListedNode:
    """A node at its position of the list, and the facts of each sort that it gives."""

    def __init__(self, position: int, declared: Declared) -> None:
        self.position, self.name, self.top, self.marks = position, declared.name, declared.top, declared.marks

    def place(self, mark: MarkWord | None = None) -> Place:
        """Of the first mark of that word; of the node where none is asked for, or none is there."""
        words = [found.word for found in self.marks]
        return Place(str(self.position), words.index(mark) + 1 if mark in words else 0)

    @property
    def is_wait(self) -> bool:
        return KINDS[self.top.word] == "wait"

    @property
    def is_boundary(self) -> bool:
        return any(mark.word == "boundary" for mark in self.marks)

    def target(self, word: MarkWord) -> str | None:
        return next((mark.target for mark in self.marks if mark.word == word), None)

    def facts(self) -> NodeFacts:
        """A boundary on a wait is refused, and shows in no export."""
        return NodeFacts(
            name=self.name,
            kind=KINDS[self.top.word],
            branches=tuple(BranchFacts(name=branch, place=self.place()) for branch in self.top.branches),
            join=self.top.join,
            graph=None if self.top.child is None else self.top.child.graph,
            event_type=self.top.event_type,
            is_boundary=self.is_boundary and not self.is_wait,
            place=self.place(),
        )

    def edges(self) -> Iterator[EdgeFacts]:
        for at, mark in enumerate(self.marks, start=1):
            if mark.word in ("edge", "when") and mark.target is not None:
                place = Place(str(self.position), at)
                yield EdgeFacts(source=self.name, target=mark.target, guarded=mark.word == "when", guard=mark.guard, place=place)

    def route(self, word: Literal["on_failure", "on_reject", "on_timeout"]) -> Iterator[EdgeFacts]:
        """Also of a mark that has no meaning on the node, which is told of the node itself, and not once more of the nodes behind."""
        target = self.target(word)
        if target is not None:
            yield EdgeFacts(source=self.name, target=target, guarded=True, condition=word, place=self.place(word))

    def boundary(self) -> BoundaryFacts | None:
        mark = next((mark for mark in self.marks if mark.word == "boundary"), None)
        if mark is None:
            return None
        has_route = self.target("on_timeout") is not None
        return BoundaryFacts(
            node=self.name, on_reject=self.target("on_reject"), timeout=mark.timeout, has_timeout_route=has_route, place=self.place("boundary")
        )

    def fanout(self) -> FanoutFacts:
        return FanoutFacts(
            node=self.name,
            max_concurrency=self.top.max_concurrency,
            part_timeout=self.top.part_timeout,
            max_items=self.top.max_items,
            place=self.place(),
        )

    def wait(self) -> WaitFacts | None:
        if self.top.word == "timer":
            return WaitFacts(node=self.name, kind="timer", delay=self.top.delay, place=self.place())
        if self.top.word == "wait_for_event":
            has_route = self.target("on_timeout") is not None
            return WaitFacts(node=self.name, kind="event", timeout=self.top.timeout, has_timeout_route=has_route, place=self.place())
        return None

    def child(self) -> ChildFacts | None:
        child = self.top.child
        return None if child is None or child.durable is None else ChildFacts(node=self.name, durable=child.durable, place=self.place())

    def recovery(self) -> RecoveryFacts | None:
        words = {mark.word for mark in self.marks}
        if self.is_wait or not words & {"retry", "on_failure"}:
            return None
        return RecoveryFacts(
            node=self.name,
            fallback=self.target("on_failure"),
            backoff=next((mark.backoff for mark in self.marks if mark.word == "retry"), None),
            place=self.place("retry" if "retry" in words else "on_failure"),
            fallback_place=self.place("on_failure" if "on_failure" in words else "retry"),
        )


def _first_and_repeated(listed: tuple[Declared, ...]) -> tuple[list[ListedNode], list[ListedNode]]:
    first: dict[str, ListedNode] = {}
    repeated: list[ListedNode] = []
    for position, declared in enumerate(listed):
        node = ListedNode(position, declared)
        if node.name in first:
            repeated.append(node)
        else:
            first[node.name] = node
    return list(first.values()), repeated


def _edges_and_routes(nodes: Iterable[ListedNode]) -> Iterator[EdgeFacts]:
    """In the order of the definition (strata-graph.md 4.1): edges, then the routes of failures, rejections and timeouts."""
    for node in nodes:
        yield from node.edges()
    for node in nodes:
        yield from node.route("on_failure")
    for node in nodes:
        yield from node.route("on_reject")
    for node in nodes:
        yield from node.route("on_timeout")
