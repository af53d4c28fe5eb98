"""Everything that is wrong with a graph, in the one order in which every front end tells it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from strata.rules import codes, kinds, names, routing, settings
from strata.rules.facts import DraftFacts, GraphFacts
from strata.rules.levels import Level, levels
from strata.rules.problem import Problem
from strata.rules.structure import structural_problems


def compile_problems(draft: DraftFacts) -> tuple[Problem, ...]:
    """All that `compile()` and `validate()` say of a draft, each fault once: errors, then warnings.

    Errors stand in the order of strata-graph.md 2 (the refusals), then of 3 (the structure), then ours. The engines stop at the
    first refusal; here all are found at once. What a refusal and the structure both have words for is told by the refusal, under
    the code of the structure. Graphs inside nodes were compiled on their own: of them only section 3 is repeated.
    """
    refusals = tuple(_refusals(draft))
    told = {(problem.code, problem.node, problem.related) for problem in refusals}
    structure = [problem for problem in structural_problems(_without_lost_fallbacks(draft)) if _key(problem) not in told]
    return (*refusals, *structure, *_own_errors(draft), *_warnings(draft))


def draft_problems(draft: DraftFacts) -> list[Problem]:
    """What `compile_problems` finds beyond the structure that an export shows: refusals, our own errors, warnings."""
    return [*_refusals(draft), *_own_errors(draft), *_warnings(draft)]


def definition_problems(graph: GraphFacts) -> tuple[Problem, ...]:
    """What `strata graph validate` says of a definition: the errors of strata-graph.md 3, then our own codes as warnings.

    Another engine may have made the definition and may run it, so only what all engines refuse is an error here, and
    `STRATA_ERR_NO_TERMINAL`. Our own rules look at every level, outermost first.
    """
    cautions = (problem for level in levels(graph) for problem in _of_exported_level(level))
    return (*structural_problems(graph), *(msgspec.structs.replace(problem, severity="warning") for problem in cautions))


def _refusals(draft: DraftFacts) -> Iterator[Problem]:
    yield from settings.hop_limit_faults(draft)
    yield from settings.identity_faults(draft)
    yield from kinds.group_faults(draft)
    yield from kinds.map_faults(draft)
    yield from kinds.wait_faults(draft)
    yield from kinds.boundary_faults(draft)
    yield from kinds.recovery_faults(draft)
    yield from settings.timeout_faults(draft)
    yield from settings.metadata_faults(draft)
    yield from settings.branch_metadata_faults(draft)


def _without_lost_fallbacks(draft: DraftFacts) -> GraphFacts:
    """The graph without fallbacks to no node: their policies are told as such, and an edge of that kind leads nowhere else."""
    known = {node.name for node in draft.graph.nodes}
    lost = {(policy.node, policy.fallback) for policy in draft.recoveries if policy.fallback not in known}
    edges = tuple(edge for edge in draft.graph.edges if edge.condition != "on_failure" or (edge.source, edge.target) not in lost)
    return msgspec.structs.replace(draft.graph, edges=edges)


def _key(problem: Problem) -> tuple[str, str | None, str | None]:
    """What a refusal and the structure agree on; a lost fallback is no edge by then."""
    return ("", None, None) if problem.code == codes.DANGLING_EDGE else (problem.code, problem.node, problem.related)


def _own_errors(draft: DraftFacts) -> Iterator[Problem]:
    level = Level(draft.graph)
    yield from names.name_faults(level)
    yield from names.doubled_nodes(level, draft.doubled)
    yield from routing.async_guards(level)
    yield from routing.guards_behind_waits(level)
    yield from routing.blank_event_types(level)
    yield from settings.unreadable_payloads(draft)
    yield from settings.unstorable_fields(draft)


def _warnings(draft: DraftFacts) -> Iterator[Problem]:
    yield from _routing_warnings(Level(draft.graph))
    yield from settings.boundaries_without_node(draft)
    yield from settings.children_of_other_durability(draft)
    yield from settings.timeouts_below_millisecond(draft)


def _of_exported_level(level: Level) -> Iterator[Problem]:
    yield from names.name_faults(level)
    yield from names.doubled_nodes(level)
    yield from routing.guards_behind_waits(level)
    yield from routing.blank_event_types(level)
    yield from _routing_warnings(level)


def _routing_warnings(level: Level) -> Iterator[Problem]:
    yield from routing.guards_behind_boundaries(level)
    yield from routing.pauses_without_way_out(level)
    yield from routing.dead_edges(level)
    yield from routing.doubled_edges(level)
    yield from routing.fallback_loops(level)
