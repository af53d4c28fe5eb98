"""What compile refuses beyond the structure, our own errors and warnings, and the order in which all is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strata.rules import codes
from strata.rules.facts import BoundaryFacts, DraftFacts, EdgeFacts, GraphFacts, NodeFacts, Place, StateFieldFault
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems, definition_problems, draft_problems
from tests.definitions import ROOT, boundary, group, level, lines, map_each, subgraph, timer

LINE = level("A", "B", edges=("A -> B",)).facts()


def draft(graph: GraphFacts = LINE, **settings: Any) -> DraftFacts:
    return DraftFacts(graph=graph, **settings)


def texts(facts: DraftFacts) -> list[str]:
    return [problem.text for problem in draft_problems(facts)]


def codes_of(problems: tuple[Problem, ...] | list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


RECORDED: Mapping[str, DraftFacts] = {
    "max_node_hops 0": draft(max_node_hops=0),
    "graph id blank": draft(graph_id=" "),
    "graph version without id": draft(graph_version="1"),
    "graph version blank": draft(graph_id="a", graph_version=""),
    "migration without id": draft(has_migration=True),
    "timeout on an unknown node": draft(timeouts={"ghost": 1.0}),
    "timeout 0": draft(level("draft").facts(), timeouts={"draft": 0.0}),
    "timeout on an inline node": draft(level("a").facts(), timeouts={"a": 1.0}, inline=frozenset({"a"})),
    "metadata for an unknown node": draft(metadata={"ghost": {"a": "1"}}),
    "metadata with an empty key": draft(level("draft").facts(), metadata={"draft": {"": "1"}}),
    "metadata with a reserved key": draft(level("draft").facts(), metadata={"draft": {"strata.x": "1"}}),
}


@pytest.mark.parametrize("case", RECORDED)
def test_recorded_refusal_has_the_text_of_the_real_engine(case: str) -> None:
    (recorded,) = [line["result"]["text"] for line in lines("validation/builder.jsonl") if line["case"] == case]
    assert texts(RECORDED[case]) == [recorded]


# Refusals of strata-graph.md 2


@pytest.mark.parametrize("limit", [0, -1])
def test_gb13_a_hop_limit_is_at_least_one(limit: int) -> None:
    assert texts(draft(max_node_hops=limit)) == ["max_node_hops must be at least 1"]


def test_a_hop_limit_fits_the_wire() -> None:
    assert texts(draft(max_node_hops=2**32 - 1)) == []
    assert texts(draft(max_node_hops=2**32)) == ["max_node_hops must be at most 4294967295"]


def test_gb14_identity() -> None:
    assert texts(draft(graph_id=" ")) == ["graph_id must not be blank"]
    assert texts(draft(graph_id="a", graph_version="")) == ["graph_version must not be blank"]
    assert texts(draft(graph_version="1")) == ["graph_version needs a graph_id"]
    assert texts(draft(has_migration=True)) == ["a migration needs a graph_id"]
    assert texts(draft(graph_version="1", has_migration=True)) == ["graph_version needs a graph_id", "a migration needs a graph_id"]
    assert texts(draft(graph_id="a", graph_version="1", has_migration=True)) == []


def test_gb12_timeouts() -> None:
    assert texts(draft(timeouts={"A": 0.0})) == ["timeout for 'A' must be greater than zero"]
    assert texts(draft(timeouts={"A": float("nan")})) == ["timeout for 'A' must be greater than zero"]
    assert texts(draft(timeouts={"Missing": 1.0})) == ["timeout set for 'Missing', which does not exist"]
    (inline,) = texts(draft(timeouts={"A": 1.0}, inline=frozenset({"A"})))
    assert inline == "node 'A' runs inline and can't be timed out: add it with add_node or add_fallible_node to have its timeout honoured"


def test_gb6_metadata_of_a_name_that_is_no_node() -> None:
    assert texts(draft(metadata={"Ghost": {"a": "1"}})) == ["metadata set for 'Ghost', which does not exist"]


def test_gb8_metadata_keys() -> None:
    assert texts(draft(metadata={"A": {"": "1", "strata.x": "2", "fine": "3"}})) == [
        "metadata on node 'A' has an empty key",
        "metadata key 'strata.x' on node 'A' is reserved",
    ]


def test_gb21_a_boundary_on_a_name_that_is_no_node_is_a_warning() -> None:
    (problem,) = compile_problems(draft(boundaries=(BoundaryFacts(node="Ghost", place=Place("graph.py", 4)),)))
    assert (problem.code, problem.severity, problem.node, problem.place) == (codes.BOUNDARY_WITHOUT_NODE, "warning", "Ghost", Place("graph.py", 4))


# Errors of ours


@pytest.mark.parametrize(
    ("name", "code"),
    [("", codes.BLANK_NAME), (" \t", codes.BLANK_NAME), ("a/b", codes.SLASH_IN_NAME), ("*", codes.STAR_IN_NAME), ("a*", codes.STAR_IN_NAME)],
)
def test_a_name_that_paths_cannot_hold(name: str, code: str) -> None:
    graph = GraphFacts(entry=name, nodes=(NodeFacts(name=name, place=Place("graph.py", 2)),))
    (problem,) = compile_problems(draft(graph))
    assert (problem.code, problem.severity, problem.node, problem.place) == (code, "error", name, Place("graph.py", 2))


def test_a_branch_has_a_name_too() -> None:
    (problem,) = compile_problems(draft(level(group("G", "north", "a/b")).facts()))
    assert (problem.code, problem.node) == (codes.SLASH_IN_NAME, "G")
    assert "branch 'a/b' of parallel group 'G'" in problem.text


def test_a_node_listed_twice() -> None:
    (problem,) = compile_problems(draft(doubled=(NodeFacts(name="B", place=Place("graph.py", 9)),)))
    assert (problem.code, problem.severity, problem.node, problem.place) == (codes.DOUBLED_NODE, "error", "B", Place("graph.py", 9))


def test_an_async_guard() -> None:
    way = EdgeFacts(source="A", target="B", guarded=True, guard="needs_work", guard_is_async=True, place=Place("graph.py", 5))
    (problem,) = compile_problems(draft(GraphFacts(entry="A", nodes=LINE.nodes, edges=(way,))))
    assert (problem.code, problem.node, problem.related, problem.place) == (codes.ASYNC_GUARD, "A", "B", Place("graph.py", 5))
    assert "'needs_work'" in problem.text


def test_a_field_that_cannot_be_stored() -> None:
    faults = (StateFieldFault(path="Order.lines[].shipped", reason="a function"),)
    (problem,) = compile_problems(draft(state_faults=faults, state_place=Place("graph.py", 1)))
    assert (problem.code, problem.place) == (codes.UNSTORABLE_FIELD, Place("graph.py", 1))
    assert problem.text == "state field Order.lines[].shipped cannot be stored: a function"


def test_a_guard_behind_a_wait_is_an_error_of_compile_and_a_warning_of_a_file() -> None:
    graph = level("A", timer("W"), "B", edges=("A -> W", "W ~> A", "W -> B")).facts()
    (ours,) = compile_problems(draft(graph))
    (files,) = definition_problems(graph)
    assert (ours.code, ours.severity, ours.node, ours.related) == (codes.GUARD_BEHIND_WAIT, "error", "W", "A")
    assert (files.code, files.severity) == (codes.GUARD_BEHIND_WAIT, "warning")


# Warnings


def warned(graph: GraphFacts) -> list[tuple[str, str | None, str | None]]:
    found = compile_problems(draft(graph))
    assert {problem.severity for problem in found} <= {"warning"}
    return [(problem.code, problem.node, problem.related) for problem in found]


def test_a_guard_behind_a_boundary() -> None:
    graph = level(boundary("A"), "B", "C", edges=("A ~> B", "A -> C")).facts()
    assert warned(graph) == [(codes.GUARD_BEHIND_BOUNDARY, "A", "B")]


def test_a_pause_without_a_way_out() -> None:
    stuck = level("A", boundary("B"), edges=("A -> B",)).facts()
    with_route = level("A", boundary("B"), "C", edges=("A -> B", "B on_reject C")).facts()
    assert warned(stuck) == warned(with_route) == [(codes.NO_WAY_OUT, "B", None)]
    assert "the thread can only be ended" in texts(draft(stuck))[0]
    assert "only its route can: on_reject to 'C'" in texts(draft(with_route))[0]


def test_an_edge_behind_a_plain_one_is_dead() -> None:
    graph = level("A", "B", "C", edges=("A -> B", "A ~> C", "B -> C", "A -> C")).facts()
    assert warned(graph) == [(codes.DEAD_EDGE, "A", "C"), (codes.DEAD_EDGE, "A", "C")]


def test_a_route_is_no_dead_edge() -> None:
    assert warned(level("A", "B", "C", edges=("A -> B", "A on_failure C")).facts()) == []


def test_a_doubled_edge_is_told_once() -> None:
    assert warned(level("A", "B", edges=("A -> B", "A -> B")).facts()) == [(codes.DOUBLED_EDGE, "A", "B")]


@pytest.mark.parametrize(
    ("guards", "told"), [(("ready", "ready"), True), (("ready", "late"), False), (("lambda", "lambda"), False), ((None, None), False)]
)
def test_two_guarded_edges_are_one_twice_only_with_one_named_guard(guards: tuple[str | None, str | None], told: bool) -> None:
    ways = tuple(EdgeFacts(source="A", target="B", guarded=True, guard=guard) for guard in guards)
    graph = GraphFacts(entry="A", nodes=LINE.nodes, edges=ways)
    assert warned(graph) == ([(codes.DOUBLED_EDGE, "A", "B")] if told else [])


def test_a_loop_of_fallbacks() -> None:
    graph = level("A", "B", "C", edges=("A -> C", "B -> C", "A on_failure B", "B on_failure A")).facts()
    assert warned(graph) == [(codes.FALLBACK_LOOP, "B", "A")]


def test_a_timeout_below_a_millisecond() -> None:
    found = compile_problems(draft(timeouts={"A": 0.0005, "B": 0.001}))
    assert [(problem.code, problem.severity, problem.node) for problem in found] == [(codes.TIMEOUT_BELOW_MILLISECOND, "warning", "A")]


# Order, and all at once


def test_everything_is_found_at_once_in_one_order() -> None:
    graph = level(boundary("A"), "B", "C", "x/y", edges=("A ~> B", "A -> Nope", "B -> B")).facts()
    facts = draft(
        graph,
        max_node_hops=0,
        graph_version="1",
        has_migration=True,
        timeouts={"b": 1.0, "A": 0.0},
        metadata={"Z": {"": "1"}, "A": {"strata.b": "1", "strata.a": "2"}},
        doubled=(NodeFacts(name="B"),),
        state_faults=(StateFieldFault(path="S.f", reason="a function"),),
        boundaries=(BoundaryFacts(node="Elsewhere"), BoundaryFacts(node="A")),
    )
    assert codes_of(compile_problems(facts)) == [
        codes.HOP_LIMIT,
        codes.VERSION_WITHOUT_ID,
        codes.MIGRATION_WITHOUT_ID,
        codes.TIMEOUT_NOT_POSITIVE,
        codes.TIMEOUT_WITHOUT_NODE,
        codes.METADATA_RESERVED_KEY,
        codes.METADATA_RESERVED_KEY,
        codes.METADATA_WITHOUT_NODE,
        codes.METADATA_EMPTY_KEY,
        codes.DANGLING_EDGE,
        codes.ORPHAN,
        codes.ORPHAN,
        codes.UNGUARDED_CYCLE,
        codes.SLASH_IN_NAME,
        codes.DOUBLED_NODE,
        codes.UNSTORABLE_FIELD,
        codes.GUARD_BEHIND_BOUNDARY,
        codes.BOUNDARY_WITHOUT_NODE,
    ]


def test_a_file_is_looked_at_on_every_level_and_ours_are_warnings_there() -> None:
    child = level("a/b", "c", "c", edges=("a/b -> c", "c -> a/b"))
    graph = level(subgraph("S", child), map_each("M", level("*")), edges=("S -> M",)).facts()
    found = [(problem.code, problem.severity, problem.node) for problem in definition_problems(graph)]
    assert found == [
        (codes.UNGUARDED_CYCLE, "error", "S/c"),
        (codes.SLASH_IN_NAME, "warning", "S/a/b"),
        (codes.DOUBLED_NODE, "warning", "S/c"),
        (codes.STAR_IN_NAME, "warning", "M/*/*"),
    ]


@pytest.mark.parametrize("code", sorted(value for name, value in vars(codes).items() if name.isupper()))
def test_every_code_is_explained(code: str) -> None:
    assert f"| `{code}` |" in Path(ROOT / "docs" / "problems.md").read_text(encoding="utf-8")


def test_typ_08_unreachable_steps_dead_ends_endless_loops_and_unknown_targets_are_found() -> None:
    graph = level("A", "B", "C", "Lost", edges=("A ~> B", "B ~> B", "A -> C", "C -> Nowhere")).facts()
    assert codes_of(compile_problems(draft(graph))) == [codes.DANGLING_EDGE, codes.ORPHAN, codes.NO_TERMINAL]
