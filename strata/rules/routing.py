"""What ordinary edges, pauses and fallbacks of a level make of each other, where it is likely not what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from strata.rules import codes
from strata.rules.cycles import closing_edges
from strata.rules.facts import EdgeFacts, NodeFacts
from strata.rules.levels import Level, Network, out_edges
from strata.rules.names import is_blank
from strata.rules.problem import Problem

ROUTES = ("on_failure", "on_reject", "on_timeout")


def ordinary_edges(level: Level) -> dict[str, list[EdgeFacts]]:
    """The level's edges that a finished node chooses among, by their start; routes are not among them (strata-graph.md 6.2)."""
    return out_edges([edge for edge in level.graph.edges if edge.condition not in ROUTES])


def async_guards(level: Level) -> Iterator[Problem]:
    """Guards that are coroutine functions: called, they give a coroutine, which is always true."""
    for edge in level.graph.edges:
        if edge.guard_is_async:
            text = (
                f"the guard {_guard(edge)}of edge '{level.qualified(edge.source)}' -> '{level.qualified(edge.target)}' is async: "
                f"guards are sync and pure; await in the node, keep what it found in the state, and let the guard read it there"
            )
            yield _about_edge(level, edge, codes.ASYNC_GUARD, text, is_error=True)


def guards_behind_waits(level: Level) -> Iterator[Problem]:
    """Guarded edges out of a wait or timer: chosen when the thread pauses, so the guard never sees what arrives."""
    yield from _guards_behind(level, "wait", codes.GUARD_BEHIND_WAIT)


def blank_event_types(level: Level) -> Iterator[Problem]:
    """Waits for an event that nobody can send: an event with a blank type is refused."""
    for node in level.graph.nodes:
        if node.event_type is not None and is_blank(node.event_type):
            path = level.qualified(node.name)
            text = f"wait '{path}' waits for an event whose type is blank, and no such event can be sent: give it a name"
            yield Problem(code=codes.BLANK_EVENT_TYPE, severity="error", text=text, node=path, place=node.place)


def guards_behind_boundaries(level: Level) -> Iterator[Problem]:
    """Guarded edges out of a boundary: chosen when the thread pauses, so the guard never sees the answer."""
    yield from _guards_behind(level, "boundary", codes.GUARD_BEHIND_BOUNDARY)


def pauses_without_way_out(level: Level) -> Iterator[Problem]:
    """Boundaries and waits on a node without edges: no answer can go on from there (strata-graph.md 6.3)."""
    out = ordinary_edges(level)
    for node in level.graph.nodes:
        if _pause_of(node) is None or node.name in out:
            continue
        path = level.qualified(node.name)
        routes = [
            f"{edge.condition} to '{level.qualified(edge.target)}'"
            for edge in level.graph.edges
            if edge.source == node.name and edge.condition in ("on_reject", "on_timeout")
        ]
        answer = "an approval" if node.is_boundary else "what it waits for"
        rest = f"only its route can: {', '.join(routes)}" if routes else "the thread can only be ended"
        text = f"the thread pauses at '{path}', which has no edges: {answer} can never go on; {rest}"
        yield Problem(code=codes.NO_WAY_OUT, severity="warning", text=text, node=path, place=node.place)


def dead_edges(level: Level) -> Iterator[Problem]:
    """Edges behind a plain one of the same node, which always matches; the same edge once more is a doubled edge."""
    for edges in ordinary_edges(level).values():
        plain: EdgeFacts | None = None
        for edge in edges:
            if plain is not None and not _is_same(edge, plain):
                source = level.qualified(edge.source)
                text = (
                    f"edge '{source}' -> '{level.qualified(edge.target)}' is never tried: "
                    f"the plain edge to '{level.qualified(plain.target)}' stands before it and always matches"
                )
                yield _about_edge(level, edge, codes.DEAD_EDGE, text)
            elif plain is None and not edge.guarded:
                plain = edge


def doubled_edges(level: Level) -> Iterator[Problem]:
    """The same edge twice: two plain ones between the same nodes, or two with a guard of the same name."""
    for edges in ordinary_edges(level).values():
        seen: set[tuple[str, bool, str | None]] = set()
        for edge in edges:
            kind = (edge.target, edge.guarded, edge.guard)
            if kind in seen and _is_telling(edge):
                text = f"edge '{level.qualified(edge.source)}' -> '{level.qualified(edge.target)}' stands twice: the second is never taken"
                yield _about_edge(level, edge, codes.DOUBLED_EDGE, text)
            seen.add(kind)


def fallback_loops(level: Level) -> Iterator[Problem]:
    """Fallbacks that lead back to where they began: while the nodes fail, only a hop limit ends the run."""
    network = Network.of(level.graph)
    fallbacks = out_edges([edge for edge in network.edges if edge.condition == "on_failure"])
    for edge in closing_edges(network.nodes, fallbacks):
        text = (
            f"the fallback '{level.qualified(edge.source)}' -> '{level.qualified(edge.target)}' closes a loop of fallbacks: "
            f"while these nodes fail, only a hop limit ends the run"
        )
        yield _about_edge(level, edge, codes.FALLBACK_LOOP, text)


def _guards_behind(level: Level, pause: str, code: str) -> Iterator[Problem]:
    out = ordinary_edges(level)
    for node in level.graph.nodes:
        if _pause_of(node) != pause:
            continue
        for edge in out.get(node.name, ()):
            if edge.guarded:
                source = level.qualified(edge.source)
                text = (
                    f"edge '{source}' -> '{level.qualified(edge.target)}' is guarded and leaves the {pause} '{source}': "
                    f"it is chosen when the thread pauses, so the guard {_guard(edge)}never sees the answer; "
                    f"put a node behind the {pause} and guard that node's edges"
                )
                yield _about_edge(level, edge, code, text, is_error=pause == "wait")


def _pause_of(node: NodeFacts) -> str | None:
    return "wait" if node.kind == "wait" else "boundary" if node.is_boundary else None


def _is_same(edge: EdgeFacts, plain: EdgeFacts) -> bool:
    return not edge.guarded and edge.target == plain.target


def _is_telling(edge: EdgeFacts) -> bool:
    """Whether equal edges are one edge twice: two guards without a name, or two lambdas, may well differ."""
    return not edge.guarded or (edge.guard is not None and edge.guard.strip("<>") != "lambda")


def _guard(edge: EdgeFacts) -> str:
    return f"'{edge.guard}' " if edge.guard else ""


def _about_edge(level: Level, edge: EdgeFacts, code: str, text: str, *, is_error: bool = False) -> Problem:
    return Problem(
        code=code,
        severity="error" if is_error else "warning",
        text=text,
        node=level.qualified(edge.source),
        related=level.qualified(edge.target),
        place=edge.place,
    )
