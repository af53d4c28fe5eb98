"""What `compile()` gives: a graph that cannot change, its warnings, its answers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import strata
from strata import CompiledGraph, GraphInvalid, GraphWarning, Identity, Signal, State, StateGraph, boundary, edge, node, when
from tests.graphs.essays import Essay, draft, essays, publish, review
from tests.graphs.orders import orders

WIRE = Path(__file__).parents[2] / "schema" / "wire"

untyped: Any = strata
"""For calls that a checker refuses, and that are made all the same by who runs none."""


def recorded(name: str) -> bytes:
    return (WIRE / "definitions" / f"{name}.json").read_bytes()


def is_short(essay: Essay) -> bool:
    return len(essay.notes) < 3


@node
@boundary
@when(is_short, to="publish")
@edge("publish")
def hasty(essay: Essay) -> Essay:
    return essay


cautioned = StateGraph(Essay).start(hasty).nodes(publish)


def test_the_graph_holds_what_it_was_compiled_with() -> None:
    graph = essays.compile(id="essays", version="2", max_node_hops=20, durable=False, migrate=lambda level: None, check="fields")
    assert (graph.state, graph.entry, list(graph.specs)) == (Essay, "draft", ["draft", "review", "publish"])
    assert (graph.identity, graph.max_node_hops, graph.durable, graph.check) == (Identity("essays", "2"), 20, False, "fields")
    assert graph.migrate is not None
    assert graph.codec.decode(graph.codec.encode(Essay(topic="t", min_score=1))) == Essay(topic="t", min_score=1)


def test_without_options_a_graph_is_durable_nameless_and_checked_in_full() -> None:
    graph = essays.compile()
    assert (graph.identity, graph.max_node_hops, graph.durable, graph.check, graph.migrate, graph.warnings) == (None, None, True, "full", None, ())


def test_each_node_has_its_edges_and_policies() -> None:
    specs = essays.compile().specs
    assert [(way.target, way.guard) for way in specs["review"].edges] == [(way.target, way.guard) for way in review.spec.edges]
    assert specs["publish"].edges == ()
    assert orders.compile().specs["approve"].boundary is not None


def test_a_compiled_graph_cannot_change() -> None:
    graph: Any = essays.compile()
    with pytest.raises(AttributeError):
        graph.entry = "review"
    with pytest.raises(TypeError):
        graph.specs["draft"] = None


def test_a_graph_is_itself_only_and_says_what_it_is() -> None:
    graph = essays.compile(id="essays", version="1")
    assert graph != essays.compile(id="essays", version="1")
    assert repr(graph) == "<graph 'essays' version 1 over Essay: draft, review, publish>"
    assert repr(essays.compile()) == "<graph without an id over Essay: draft, review, publish>"


def test_the_definition_of_a_compiled_graph_has_its_identity() -> None:
    assert essays.compile(id="essays", version="1", max_node_hops=20).definition().to_json() == recorded("essays_identity")
    assert essays.compile(id="essays").definition().to_json() == recorded("essays_identity_unversioned")
    assert orders.compile(id="orders", version="1").definition().to_json() == recorded("orders_boundary_identity")


def test_gx2_without_an_identity_it_is_the_builders() -> None:
    assert orders.compile().definition() == orders.definition()
    assert orders.compile().definition().to_json() == recorded("orders_boundary")


def test_a_drawing_names_guards() -> None:
    assert "needs_work" in essays.compile().mermaid()


# Problems


def test_all_errors_come_at_once_each_with_its_place() -> None:
    with pytest.raises(GraphInvalid) as raised:
        untyped.StateGraph(Essay).start(draft).compile(id=" ", version=" ", max_node_hops=0)
    problems = raised.value.problems
    assert [problem.text for problem in problems] == [
        "max_node_hops must be at least 1",
        "graph_id must not be blank",
        "graph_version must not be blank",
        "Edge 'draft' -> 'review' points at 'review', which is not a node in the graph.",
    ]
    assert problems[-1].place == draft.spec.edges[0].place
    assert str(raised.value).startswith("the graph has 4 errors:\n  error: max_node_hops must be at least 1 [STRATA_PY_HOP_LIMIT]\n")
    assert f"\n  {problems[-1].place}: error: Edge 'draft' -> 'review'" in str(raised.value)


def test_a_warning_is_issued_once_at_the_line_that_compiles() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = cautioned.compile()
    assert [problem.severity for problem in graph.warnings] == ["warning"] * len(graph.warnings)
    assert graph.warnings
    assert [(warning.filename, warning.category) for warning in caught] == [(__file__, GraphWarning)] * len(graph.warnings)
    assert [str(warning.message) for warning in caught] == [str(problem) for problem in graph.warnings]


def test_validate_gives_errors_and_warnings_and_issues_none() -> None:
    codes = [(problem.code, problem.severity) for problem in cautioned.validate()]
    assert codes == [("STRATA_PY_GUARD_BEHIND_BOUNDARY", "warning")]


class Unstorable(State):
    handle: object = None


def test_a_field_that_cannot_be_stored_is_told_at_the_class() -> None:
    @node
    def keep(state: Unstorable) -> Unstorable:
        return state

    [problem] = StateGraph(Unstorable).start(keep).validate()
    assert (problem.code, problem.severity) == ("STRATA_PY_UNSTORABLE_FIELD", "error")
    assert problem.text.startswith("state field Unstorable.handle cannot be stored: ")
    assert problem.place is not None
    assert Path(problem.place.file) == Path(__file__)
    assert Path(__file__).read_text().splitlines()[problem.place.line - 1] == "class Unstorable(State):"


# Options


@pytest.mark.parametrize("limit", [True, "20", 2.5])
def test_a_hop_limit_is_a_whole_number(limit: object) -> None:
    with pytest.raises(TypeError, match="max_node_hops is a whole number or None, not"):
        untyped.StateGraph(Essay).start(publish).compile(max_node_hops=limit)


def test_hop_limits_go_from_1_to_the_largest_that_every_engine_has() -> None:
    graph = StateGraph(Essay).start(publish)
    assert graph.compile(max_node_hops=1).max_node_hops == 1
    assert graph.compile(max_node_hops=2**32 - 1).max_node_hops == 2**32 - 1
    for limit in (0, -1, 2**32):
        with pytest.raises(GraphInvalid, match=r"max_node_hops must be at (least 1|most 4294967295)"):
            graph.compile(max_node_hops=limit)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"id": 3}, "id= is text, not 3: write id='3'"),
        ({"id": "essays", "version": 1.5}, "version= is text, not 1.5: write version='1.5'"),
        ({"id": "\ud800"}, r"the id= of a graph is text that UTF-8 can encode, and '\ud800' has half a surrogate pair"),
        ({"id": "essays", "version": "\udfff"}, r"the version= of a graph is text that UTF-8 can encode, and '\udfff' has half a surrogate pair"),
        ({"check": "some"}, 'check= is "full", "fields" or "type", not \'some\''),
        ({"migrate": "v1"}, "migrate= is a function of a StoredLevel, not 'v1'"),
    ],
)
def test_options_of_another_type_say_what_to_write(options: dict[str, object], text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        untyped.StateGraph(Essay).start(publish).compile(**options)
    assert str(raised.value) == text


# Answers


def test_answers_are_made_from_the_graph_that_waits() -> None:
    graph: CompiledGraph[Essay] = essays.compile()
    approval: Signal[Essay] = graph.approve("editor").override(score=9)
    assert (approval.verdict, approval.reviewer, approval.state, approval.overrides) == ("approve", "editor", Essay, {"score": 9})
    assert (graph.reject("editor").verdict, graph.amend("operator").verdict) == ("reject", "amend")
    assert graph.approve().reviewer == ""
