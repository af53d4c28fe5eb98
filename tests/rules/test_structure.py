"""The errors of a graph's structure: the cases of the sheet and what the real engine said of the recorded definitions."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.graph.definition import Definition, NodeDefinition, decode_definition
from strata.rules.facts import BoundaryFacts, DraftFacts, EdgeFacts, GraphFacts, NodeFacts, Place
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems, definition_problems
from strata.rules.structure import structural_problems
from tests.definitions import (
    RECORDED,
    boundary,
    changed,
    document,
    edge,
    errors,
    group,
    level,
    lines,
    map_each,
    quorum,
    subgraph,
    timer,
)

NO_TERMINAL_HERE = {"no_terminal_not_an_error_here", "cycle_guarded_ok", "cycle_plain_rejoins_guarded_loop"}
"""Recorded definitions that the real engine accepts and ours does not: they never end."""


def of(graph: Definition) -> list[Problem]:
    return structural_problems(graph.facts())


def texts(graph: Definition) -> list[str]:
    return [problem.text for problem in of(graph)]


def compiled(graph: Definition) -> tuple[Problem, ...]:
    return compile_problems(DraftFacts(graph=graph.facts()))


@pytest.mark.parametrize("path", sorted((RECORDED / "validation").glob("*.json")), ids=lambda path: path.stem)
def test_recorded_definition_has_the_errors_of_the_real_engine(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    found = [
        {"code": problem.code, "message": problem.text, "node": problem.node, "related_node": problem.related}
        for problem in decode_definition(json.dumps(record["definition"])).problems()
        if problem.severity == "error"
    ]
    if path.stem in NO_TERMINAL_HERE:
        never = {"code": "STRATA_ERR_NO_TERMINAL", "message": "Node 'a' can never reach a node without outgoing edges.", "node": "a"}
        assert found == [never | {"related_node": None}]
    else:
        assert found == [{key: error[key] for key in ("code", "message", "node", "related_node")} for error in record["errors"]]


def test_recorded_builder_refusals_of_structure_have_the_same_errors() -> None:
    (recorded,) = [line["result"]["errors"] for line in lines("validation/builder.jsonl") if line["case"] == "several structural errors"]
    graph = level("a", "b", edges=("a -> x", "b -> b"))
    assert [(problem.code, problem.text) for problem in compiled(graph)] == [(error["code"], error["message"]) for error in recorded]


# The cases of strata-graph.md


def test_gv1_a_line_is_valid() -> None:
    assert of(level("A", "B", edges=("A -> B",))) == []


@pytest.mark.parametrize("edges", [("A -> B", "B ~> A"), ("A ~> B", "B -> A")])
def test_gv1_a_guarded_loop_is_no_unguarded_cycle_but_has_no_end(edges: tuple[str, ...]) -> None:
    assert errors(of(level("A", "B", edges=edges))) == [("NO_TERMINAL", "A", None)]


def test_gv2_missing_entry() -> None:
    assert texts(level()) == ["Entry point node '' does not exist in the graph definition."]
    assert errors(of(level("A", entry="Nope"))) == [("MISSING_ENTRY", "Nope", None)]


def test_gv3_a_node_that_nothing_leads_to_is_an_orphan() -> None:
    assert texts(level("A", "B")) == ["Node 'B' is isolated and unreachable from the entry point 'A'."]


def test_gv4_a_plain_cycle_is_reported_at_the_edge_that_closes_it() -> None:
    assert errors(of(level("A", "B", edges=("A -> B", "B -> A")))) == [("UNGUARDED_CYCLE", "B", "A")]


def test_gv5_a_rejoin_is_no_cycle_and_the_guarded_loop_has_no_end() -> None:
    graph = level("A", "B", "C", "D", edges=("A -> B", "B -> D", "A -> C", "C -> D", "D ~> A"))
    assert errors(of(graph)) == [("NO_TERMINAL", "A", None)]


def test_gv6_only_the_plain_loop_of_two_is_reported() -> None:
    graph = level("A", "B", "C", edges=("A -> B", "B -> C", "C ~> A", "C -> B"))
    assert errors(of(graph)) == [("UNGUARDED_CYCLE", "C", "B")]


def test_gv7_a_self_loop_needs_a_guard() -> None:
    assert errors(of(level("A", edges=("A -> A",)))) == [("UNGUARDED_CYCLE", "A", "A")]
    assert of(level("A", "Done", edges=("A ~> A", "A -> Done"))) == []


def test_gv8_a_guarded_way_out_does_not_guard_the_loop() -> None:
    graph = level("A", "B", "Done", edges=("A ~> Done", "A -> B", "B -> A"))
    assert errors(of(graph)) == [("UNGUARDED_CYCLE", "B", "A")]


def test_gv9_an_edge_with_a_missing_end_dangles() -> None:
    assert errors(of(level("A", "B", edges=("A -> B", "B -> Missing")))) == [("DANGLING_EDGE", "B", "Missing")]
    assert errors(of(level("A", "B", edges=("A -> B", "Ghost -> B")))) == [("DANGLING_EDGE", "Ghost", "B")]


def test_gv10_a_missing_name_bridges_no_two_nodes() -> None:
    graph = level("A", "B", edges=("A -> Ghost", "Ghost -> B"))
    assert errors(of(graph)) == [("DANGLING_EDGE", "A", "Ghost"), ("DANGLING_EDGE", "Ghost", "B"), ("ORPHAN", "B", None)]


def test_gv11_orphans_stand_before_cycles() -> None:
    graph = level("A", "B", "Island", edges=("A -> B", "B -> A"))
    assert errors(of(graph)) == [("ORPHAN", "Island", None), ("UNGUARDED_CYCLE", "B", "A")]


@pytest.mark.parametrize(
    ("number", "route", "found"),
    [
        # without its fallback D1 is a loop that never ends, which the sheet's engine does not ask
        ("D1", "on_failure", [("ORPHAN", "ManualReview", None), ("NO_TERMINAL", "Intake", None)]),
        ("D2", "on_reject", [("ORPHAN", "Abort", None)]),
        ("D2", "on_timeout", [("ORPHAN", "Escalate", None), ("ORPHAN", "Rollback", None)]),
    ],
)
def test_gv12_a_route_reaches_its_node(number: str, route: str, found: list[tuple[str, str, None]]) -> None:
    whole = Definition.from_json(document(number))
    edges = tuple(way for way in whole.edges if way.condition != route)
    assert of(whole) == []
    assert errors(of(Definition.of(entry_point=whole.entry_point, nodes=whole.nodes, edges=edges))) == found


def test_gv13_a_route_to_no_node_dangles() -> None:
    to_nope = level("Plan", boundary("Approve"), "Ship", edges=("Plan -> Approve", "Approve -> Ship", "Approve on_reject Nope"))
    to_nowhere = level("Plan", boundary("Approve", 1000), "Ship", edges=("Plan -> Approve", "Approve -> Ship", "Approve on_timeout Nowhere"))
    assert errors(compiled(to_nope)) == [("DANGLING_EDGE", "Approve", "Nope")]
    assert errors(compiled(to_nowhere)) == [("DANGLING_EDGE", "Approve", "Nowhere")]


def test_gv13_a_route_from_a_boundary_that_is_no_node_is_one_fault() -> None:
    graph = level("Plan", "Undo", edges=("Plan -> Undo", "Ghost on_reject Undo")).facts()
    problems = compile_problems(DraftFacts(graph=graph, boundaries=(BoundaryFacts(node="Ghost", on_reject="Undo"),)))
    assert [(problem.code, problem.node, problem.related) for problem in problems] == [("STRATA_ERR_DANGLING_EDGE", "Ghost", "Undo")]


def test_gv14_a_route_from_no_node_reaches_nothing() -> None:
    graph = level("Plan", "Abort", edges=("Elsewhere on_reject Abort",))
    assert graph.schema_version == "1.0.0"
    assert errors(of(graph)) == [("DANGLING_EDGE", "Elsewhere", "Abort"), ("ORPHAN", "Abort", None)]


def test_gv15_inner_names_are_qualified_and_the_entry_too() -> None:
    edges = [
        {"from": "Plan", "to": "Approve", "guarded": False},
        {"from": "Approve", "to": "Fix", "guarded": False},
    ]
    (problem,) = of(Definition.from_json(changed("D6", {"nodes.2.graph.edges": edges})))
    assert problem.node == "Remediate/Abort"
    assert problem.text == "Node 'Remediate/Abort' is isolated and unreachable from the entry point 'Remediate/Plan'."


def test_gv16_a_cycle_two_levels_down() -> None:
    edges = [{"from": "Apply", "to": "Verify", "guarded": False}, {"from": "Verify", "to": "Apply", "guarded": False}]
    graph = Definition.from_json(changed("D6", {"nodes.2.graph.nodes.2.graph.edges": edges}))
    assert errors(of(graph)) == [("UNGUARDED_CYCLE", "Remediate/Fix/Verify", "Remediate/Fix/Apply")]


def test_gv17_a_level_is_told_before_those_inside_it() -> None:
    child = level("P", "Q", group("H"), edges=("P -> H",))
    graph = level(group("G", "X", "Y", "X"), subgraph("S", child), "Island", edges=("G -> S",))
    assert errors(of(graph)) == [("ORPHAN", "Island", None), ("DUPLICATE_BRANCH", "G", "X"), ("ORPHAN", "S/Q", None), ("EMPTY_GROUP", "S/H", None)]


def test_gv18_a_doubled_branch_is_told_once_in_the_order_of_repeating() -> None:
    assert errors(of(level(group("G", "a", "a", "a")))) == [("DUPLICATE_BRANCH", "G", "a")]
    assert errors(of(level(group("G", "a", "b", "b", "a")))) == [("DUPLICATE_BRANCH", "G", "b"), ("DUPLICATE_BRANCH", "G", "a")]


def test_gv19_a_quorum_above_the_branches() -> None:
    (problem,) = compiled(level(group("Vote", "a", "b", join=quorum(3))))
    assert problem.code == "STRATA_ERR_INVALID_QUORUM"
    assert problem.text == "Parallel group 'Vote' has a quorum of 3, which isn't between 1 and its 2 branches."


def test_gv19_the_same_inside_a_child() -> None:
    child = level(group("Ask", "a", "b", join=quorum(3)))
    graph = level(group("Vote", "a", "b", join=quorum(3)), subgraph("Review", child), edges=("Vote -> Review",))
    assert [problem.node for problem in compiled(graph)] == ["Vote", "Review/Ask"]


def test_gv20_a_maps_quorum_has_no_upper_bound() -> None:
    template = level("Check")
    (problem,) = compiled(level(map_each("Investigate", template, quorum(0))))
    assert problem.text == "Map 'Investigate' has a quorum of 0, which isn't at least 1."
    assert compiled(level(map_each("Investigate", template, quorum(50)))) == ()


def test_gv21_a_star_stands_for_the_item() -> None:
    stray = level("Read", "Stray")
    looping = level("Read", "Loop", edges=("Read -> Loop", "Loop -> Read"))
    graph = level(
        map_each("Investigate", stray, quorum(0)),
        subgraph("Review", level(map_each("Fan", looping))),
        edges=("Investigate -> Review",),
    )
    assert errors(of(graph)) == [
        ("INVALID_QUORUM", "Investigate", None),
        ("ORPHAN", "Investigate/*/Stray", None),
        ("UNGUARDED_CYCLE", "Review/Fan/*/Loop", "Review/Fan/*/Read"),
    ]


def test_gv22_nothing_pauses_in_a_template() -> None:
    inner = subgraph("Inner", level(boundary("Sign")))
    template = level(boundary("Read"), inner, timer("Window"), edges=("Read -> Inner", "Inner -> Window"))
    assert errors(of(level(map_each("Fan", template)))) == [
        ("WAIT_IN_MAP", "Fan/*/Window", None),
        ("BOUNDARY_IN_MAP", "Fan/*/Read", None),
        ("BOUNDARY_IN_MAP", "Fan/*/Inner/Sign", None),
    ]


def test_gv23_a_wait_deep_inside_a_template() -> None:
    batch = level(map_each("Batch", level(subgraph("Inner", level(timer("Hold"))))))
    assert errors(of(level(subgraph("Review", batch)))) == [("WAIT_IN_MAP", "Review/Batch/*/Inner/Hold", None)]


GV24 = {
    "chain": level("A", "B", edges=("A -> B",)),
    "guarded loop": level("A", "B", "C", edges=("A -> B", "B ~> A", "B -> C")),
    "fallback": Definition.from_json(document("D1")),
    "empty": level(),
    "missing entry": level("A", entry="Nope"),
    "orphan": level("A", "B"),
    "plain cycle": level("A", "B", edges=("A -> B", "B -> A")),
    "orphan and cycle": level("A", "B", "Island", edges=("A -> B", "B -> A")),
    "dangling target": level("A", edges=("A -> Missing",)),
    "dangling source": level("A", edges=("Ghost -> A",)),
    "group and subgraph": level(group("G", "x", "x"), subgraph("S", level("P", "Q")), edges=("G -> S",)),
}


@pytest.mark.parametrize("graph", GV24.values(), ids=GV24)
def test_gv24_a_definition_gets_the_verdict_of_compile(graph: Definition) -> None:
    read = Definition.from_json(graph.to_json())
    assert errors(read.problems()) == errors(compiled(graph))


def test_gv25_a_boundary_with_a_timeout_needs_no_route() -> None:
    assert of(level("Plan", boundary("Approve", 60_000), "Ship", edges=("Plan -> Approve", "Approve -> Ship"))) == []


# NO_TERMINAL, where the design says what the sheet leaves open


def test_no_terminal_is_told_once_for_each_set_at_its_first_node() -> None:
    graph = level("A", "B", "C", "D", "E", edges=("A ~> C", "A ~> E", "A -> B", "C ~> D", "D ~> C", "E ~> E"))
    assert errors(of(graph)) == [("NO_TERMINAL", "C", None), ("NO_TERMINAL", "E", None)]


def test_no_terminal_takes_in_the_nodes_that_lead_nowhere_else() -> None:
    graph = level("Start", "A", "B", edges=("Start -> A", "A ~> B", "B ~> A"))
    assert texts(graph) == ["Node 'Start' can never reach a node without outgoing edges."]


@pytest.mark.parametrize(
    "pause", [boundary("B"), timer("B"), subgraph("B", level(subgraph("In", level(boundary("Ask")))))], ids=["boundary", "timer", "inside"]
)
def test_no_terminal_leaves_out_what_pauses(pause: NodeDefinition) -> None:
    assert of(level("A", pause, edges=("A -> B", "B ~> A"))) == []


def test_no_terminal_leaves_out_a_set_with_an_unguarded_cycle() -> None:
    graph = level("A", "B", "C", edges=("A -> B", "B -> A", "B ~> C", "C ~> B"))
    assert errors(of(graph)) == [("UNGUARDED_CYCLE", "B", "A")]


def test_no_terminal_is_not_told_of_orphans_and_dangling_edges_do_not_count() -> None:
    graph = level("A", "B", edges=("A -> Ghost", "B ~> B"))
    assert errors(of(graph)) == [("DANGLING_EDGE", "A", "Ghost"), ("ORPHAN", "B", None)]


def test_no_terminal_stands_behind_the_cycles_of_its_level_and_before_its_groups() -> None:
    graph = level(group("A"), "B", "C", "D", "E", edges=("A ~> B", "B -> B", "A ~> C", "C ~> D", "D ~> C", "A -> E"))
    assert errors(of(graph)) == [("UNGUARDED_CYCLE", "B", "B"), ("NO_TERMINAL", "C", None), ("EMPTY_GROUP", "A", None)]


# Size, places, and an independent model


def test_ten_thousand_nodes_in_a_line_and_in_a_loop() -> None:
    names = [str(number) for number in range(10_000)]
    line = [EdgeFacts(source=a, target=b) for a, b in pairwise(names)]
    nodes = tuple(NodeFacts(name=name) for name in names)
    back = EdgeFacts(source="9999", target="0")
    assert structural_problems(GraphFacts(entry="0", nodes=nodes, edges=tuple(line))) == []
    assert errors(structural_problems(GraphFacts(entry="0", nodes=nodes, edges=(*line, back)))) == [("UNGUARDED_CYCLE", "9999", "0")]


def test_ten_thousand_levels() -> None:
    graph = GraphFacts(entry="x", nodes=(NodeFacts(name="x"), NodeFacts(name="lost")))
    for _ in range(10_000):
        graph = GraphFacts(entry="x", nodes=(NodeFacts(name="x", kind="subgraph", graph=graph),))
    (problem,) = definition_problems(graph)
    assert problem.node == "x/" * 10_000 + "lost"


def test_a_problem_has_the_place_of_what_is_wrong() -> None:
    here, there = Place("graph.py", 3), Place("graph.py", 7)
    graph = GraphFacts(
        entry="a",
        nodes=(NodeFacts(name="a", place=Place("graph.py", 1)), NodeFacts(name="b", place=here)),
        edges=(EdgeFacts(source="a", target="a", place=there),),
    )
    assert [problem.place for problem in structural_problems(graph)] == [here, there]
    assert str(structural_problems(graph)[0]).startswith("graph.py:3: error: Node 'b'")


edges_between_few = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, 6)), max_size=14)


@given(edges_between_few)
def test_random_graphs_agree_with_a_model_of_paths(drawn: list[tuple[int, bool, int]]) -> None:
    names = [f"n{number}" for number in range(6)]  # n6 is no node
    graph = level(*names, edges=tuple(f"n{a} {'~>' if guarded else '->'} n{b}" for a, guarded, b in drawn))
    found = errors(of(graph))
    real = [(a, guarded, b) for a, guarded, b in drawn if b < 6]
    anyhow, plainly = paths({(a, b) for a, _, b in real}), paths({(a, b) for a, guarded, b in real if not guarded})
    reached = {0} | {b for a, b in anyhow if a == 0}
    ends = {number for number in range(6) if not any(a == number for a, _, _ in real)}
    stuck = {number for number in reached - ends if not any((number, end) in anyhow for end in ends)}
    assert [node for code, node, _ in found if code == "ORPHAN"] == [f"n{number}" for number in range(6) if number not in reached]
    assert any(code == "UNGUARDED_CYCLE" for code, _, _ in found) == any(a == b for a, b in plainly)
    assert {node for code, node, _ in found if code == "NO_TERMINAL"} <= {f"n{number}" for number in stuck}
    if stuck and not any(a == b for a, b in plainly):
        assert any(code == "NO_TERMINAL" for code, _, _ in found)
    closing = [(a, b) for code, a, b in found if code == "UNGUARDED_CYCLE"]
    assert all((int(str(b)[1:]), int(str(a)[1:])) in plainly or a == b for a, b in closing)
    kept = {(f"n{a}", f"n{b}") for a, guarded, b in real if not guarded} - set(closing)
    assert not any(a == b for a, b in paths({(int(a[1:]), int(b[1:])) for a, b in kept}))


def paths(steps: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The pairs that one or more steps connect."""
    found = set(steps)
    while more := {(a, d) for a, b in found for c, d in steps if b == c} - found:
        found |= more
    return found


def test_the_test_language_reads_edges_as_the_wire_has_them() -> None:
    assert (edge("A ~> B").guarded, edge("A -> B").guarded, edge("A on_reject B").condition) == (True, False, "on_reject")
