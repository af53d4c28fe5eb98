"""The errors of a graph's structure, the same as every engine finds, in the same order (strata-graph.md 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata.rules import codes
from strata.rules.cycles import closing_edges
from strata.rules.facts import EdgeFacts, GraphFacts, NodeFacts, Place
from strata.rules.levels import Level, Network, can_pause, has_entry, levels, out_edges
from strata.rules.problem import Problem
from strata.rules.reach import endless_sets, reachable


def structural_problems(graph: GraphFacts) -> list[Problem]:
    """Every structural error of the graph and of those inside it; an empty list is a valid graph.

    Each level completely, then its children in node order (strata-graph.md 3.2); codes, texts and order are those of
    the other engines, and `STRATA_ERR_NO_TERMINAL`, which they do not have yet, stands behind a level's cycles.
    """
    return [problem for level in levels(graph) for problem in _of_level(level)]


def _of_level(level: Level) -> Iterator[Problem]:
    if not has_entry(level.graph):
        entry = level.qualified(level.graph.entry)
        yield _error(codes.MISSING_ENTRY, f"Entry point node '{entry}' does not exist in the graph definition.", entry)
        return
    network = Network.of(level.graph)
    yield from _dangling_edges(level, network)
    yield from _orphans(level, network)
    yield from _cycles_and_endless_sets(level, network)
    for node in level.graph.nodes:
        if node.kind == "parallel_group":
            yield from _group_faults(level, node)
        elif node.kind == "map":
            yield from _map_faults(level, node)
    if level.in_template:
        yield from _pauses_in_template(level)


def _dangling_edges(level: Level, network: Network) -> Iterator[Problem]:
    for edge in level.graph.edges:
        if edge.source in network.nodes and edge.target in network.nodes:
            continue
        source, target = level.qualified(edge.source), level.qualified(edge.target)
        if edge.source in network.nodes:
            fault = f"points at '{target}', which is not a node in the graph."
        elif edge.target in network.nodes:
            fault = f"starts at '{source}', which is not a node in the graph."
        else:
            fault = f"connects '{source}' and '{target}', neither of which is a node in the graph."
        unknown = edge.target if edge.source in network.nodes else edge.source
        hint = _did_you_mean(unknown, network.nodes)
        yield _error(codes.DANGLING_EDGE, f"Edge '{source}' -> '{target}' {fault}", source, target, place=edge.place, hint=hint)


def _orphans(level: Level, network: Network) -> Iterator[Problem]:
    reached = reachable(network, level.graph.entry)
    for node in level.graph.nodes:
        if node.name not in reached:
            name, entry = level.qualified(node.name), level.qualified(level.graph.entry)
            yield _error(codes.ORPHAN, f"Node '{name}' is isolated and unreachable from the entry point '{entry}'.", name, place=node.place)


def _cycles_and_endless_sets(level: Level, network: Network) -> Iterator[Problem]:
    closing = closing_edges(network.nodes, out_edges([edge for edge in network.edges if not edge.guarded]))
    for edge in closing:
        yield _unguarded_cycle(level, edge)
    in_cycle = {edge.source for edge in closing}
    for names in endless_sets(network, level.graph.entry):
        if not any(name in in_cycle or can_pause(network.nodes[name]) for name in names):
            first = level.qualified(names[0])
            text = f"Node '{first}' can never reach a node without outgoing edges."
            yield _error(codes.NO_TERMINAL, text, first, place=network.nodes[names[0]].place)


def _unguarded_cycle(level: Level, edge: EdgeFacts) -> Problem:
    source, target = level.qualified(edge.source), level.qualified(edge.target)
    text = f"Unguarded cycle detected between '{source}' and '{target}'. Add a guarded/conditional edge to protect this loop."
    return _error(codes.UNGUARDED_CYCLE, text, source, target, place=edge.place)


def _group_faults(level: Level, node: NodeFacts) -> Iterator[Problem]:
    name = level.qualified(node.name)
    if not node.branches:
        yield _error(codes.EMPTY_GROUP, f"Parallel group '{name}' has no branches.", name, place=node.place)
        return
    seen: set[str] = set()
    reported: set[str] = set()
    for branch in node.branches:
        if branch.name in seen and branch.name not in reported:
            reported.add(branch.name)
            text = f"Parallel group '{name}' has more than one branch named '{branch.name}'."
            yield _error(codes.DUPLICATE_BRANCH, text, name, branch.name, place=branch.place or node.place)
        seen.add(branch.name)
    join = node.join
    if join is not None and join.policy == "quorum" and not 1 <= (join.count or 0) <= len(node.branches):
        text = f"Parallel group '{name}' has a quorum of {_count(join.count)}, which isn't between 1 and its {len(node.branches)} branches."
        yield _error(codes.INVALID_QUORUM, text, name, place=node.place)


def _map_faults(level: Level, node: NodeFacts) -> Iterator[Problem]:
    join = node.join
    if join is not None and join.policy == "quorum" and (join.count or 0) < 1:
        name = level.qualified(node.name)
        yield _error(codes.INVALID_QUORUM, f"Map '{name}' has a quorum of {_count(join.count)}, which isn't at least 1.", name, place=node.place)


def _pauses_in_template(level: Level) -> Iterator[Problem]:
    for node in level.graph.nodes:
        if node.kind == "wait":
            name = level.qualified(node.name)
            yield _error(codes.WAIT_IN_MAP, f"Wait node '{name}' is inside a map's template; a map item can't wait.", name, place=node.place)
    for node in level.graph.nodes:
        if node.is_boundary:
            name = level.qualified(node.name)
            text = f"Interrupt boundary '{name}' is inside a map's template; a map item can't freeze."
            yield _error(codes.BOUNDARY_IN_MAP, text, name, place=node.place)


def _count(count: int | None) -> str:
    return "none" if count is None else str(count)


def _did_you_mean(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # loaded for a fault only

    near = get_close_matches(name, list(known), 1)
    return f"Did you mean '{near[0]}'?" if near else None


def _error(code: str, text: str, node: str, related: str | None = None, *, place: Place | None = None, hint: str | None = None) -> Problem:
    return Problem(code=code, severity="error", text=text, node=node, related=related, place=place, hint=hint)
