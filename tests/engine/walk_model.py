"""The walk in forty lines: what a run of a small graph must do and store, told without the engine (strata-graph.md 6, strata-checkpoint.md 8)."""

from __future__ import annotations

from typing import Literal, NamedTuple

MODULUS = 5
"""The state is a number below this, so that guards and failures can name the values at which they act."""

How = Literal["transient", "fatal", "bug"]


class Way(NamedTuple):
    """An edge; `when` are the values at which its guard says yes (None: a plain edge)."""

    target: int
    when: frozenset[int] | None


class Spot(NamedTuple):
    """A node: it adds to the number, and fails at some values of it."""

    adds: int
    fails_at: frozenset[int] = frozenset()
    how: How = "fatal"
    ways: tuple[Way, ...] = ()
    pauses: bool = False
    reject_route: int | None = None
    is_async: bool = False


class Map(NamedTuple):
    """A graph: the first spot is the entry."""

    spots: tuple[Spot, ...]
    limit: int


class Answer(NamedTuple):
    """What is said to a thread: an override of the number, a rejection, a hop limit for the run."""

    rejects: bool = False
    number: int | None = None
    limit: int | None = None


class Seen(NamedTuple):
    """What a record says."""

    status: str
    suspended: str | None
    next_node: str | None
    number: int
    trail: tuple[str, ...]
    hops: int
    error_kind: str | None = None
    attempts: str | None = None
    approved: bool | None = None
    is_stamped: bool = False


def name_of(spot: int) -> str:
    return f"n{spot}"


class Model:
    """A thread: its log, and the nodes that have begun. Each call says whether it was taken."""

    def __init__(self, graph: Map, *, durable: bool) -> None:
        self._graph, self._durable = graph, durable
        self.log: list[Seen] = []
        self.began: list[str] = []
        self.came_to = ""

    def run(self) -> None:
        if self._durable:
            self.log.append(Seen("running", None, name_of(0), 0, (), 0))
        self._walk(0, 0, (), hops=0, limit=self._graph.limit, approved=None)

    def answer(self, answer: Answer) -> bool:
        last = self.log[-1] if self.log else None
        if last is None or last.is_stamped or last.status not in {"interrupted", "failed"}:
            return False
        start, approved = last.next_node, last.approved
        if last.status == "interrupted":
            route = self._graph.spots[_spot_of(last.suspended)].reject_route
            start = name_of(route) if answer.rejects and route is not None else start
            approved = not answer.rejects
        if start is None:
            return False
        number = last.number if answer.number is None else answer.number
        stamp = last._replace(is_stamped=True)
        claim = last._replace(status="running", next_node=start, number=number, approved=approved, error_kind=None, attempts=None)
        self.log.append(claim if self._durable else stamp)
        limit = self._graph.limit if answer.limit is None else answer.limit
        self._walk(_spot_of(start), number, last.trail, hops=last.hops, limit=limit, approved=approved)
        return True

    def _walk(self, at: int, number: int, trail: tuple[str, ...], *, hops: int, limit: int, approved: bool | None) -> None:
        while True:
            here, spot = name_of(at), self._graph.spots[at]
            after = (number + spot.adds) % MODULUS
            way = next((way for way in spot.ways if way.when is None or after in way.when), None)
            if hops < limit:
                self.began.append(here)
            fault = ("hop_limit", None) if hops >= limit else _fault(spot, number, way)
            if fault is not None:
                self._stop("failed", Seen("failed", here, here, number, trail, hops, *fault, approved))
                return
            number, trail, hops = after, (*trail, here), hops + 1
            there = None if way is None else name_of(way.target)
            if spot.pauses:
                self._stop("interrupted", Seen("interrupted", here, there, number, trail, hops, approved=approved))
                return
            if way is None:
                self._stop("completed", Seen("completed", here, None, number, trail, hops, approved=approved) if self._durable else None)
                return
            if self._durable:
                self.log.append(Seen("running", here, there, number, trail, hops, approved=approved))
            at = way.target

    def _stop(self, came_to: str, record: Seen | None) -> None:
        self.came_to = came_to
        if record is not None:
            self.log.append(record)


def _fault(spot: Spot, number: int, way: Way | None) -> tuple[str, str | None] | None:
    """The kind and the attempts that a `failed` record names."""
    if number in spot.fails_at:
        return "transient" if spot.how == "transient" else "fatal", None if spot.how == "bug" else "1"
    return ("fatal", None) if way is None and spot.ways else None


def _spot_of(name: str | None) -> int:
    assert name is not None
    return int(name[1:])
