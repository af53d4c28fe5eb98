"""What is said of a change: codes, effects, order and texts, from definitions alone and with states."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata import State, StateGraph
from strata.graph.changes.between import changes_between
from strata.graph.changes.finding import Finding
from strata.graph.changes.pair import Described
from strata.graph.definition import Definition
from strata.graph.state_schemas import StateSchemas
from tests.definitions import DOCUMENTS
from tests.graphs.pausing import described, pausing_line
from tests.graphs.trails import Trail, adds, line, undoing


def said(old: StateGraph[Trail], new: StateGraph[Trail]) -> tuple[Finding, ...]:
    return changes_between(described(old.compile()), described(new.compile()))


def test_a_graph_is_no_change_of_itself() -> None:
    assert said(undoing(), undoing()) == ()


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_shared_definition_is_no_change_of_itself(path: Path) -> None:
    definition = Definition.from_json(path.read_bytes())
    (only,) = changes_between(Described(definition), Described(definition))
    assert only.code == "states_not_compared"


def test_what_breaks_comes_first() -> None:
    old, new = line("A", "B").add_interrupt_boundary("A"), line("First", "A", "C", "D")
    assert [finding.effect for finding in said(old, new)] == ["breaks", "caution", "harmless", "harmless", "harmless"]


def test_a_removed_node_is_said_with_what_goes_on_with_it() -> None:
    (removed, *_) = said(line("A", "B", "C").add_interrupt_boundary("A"), line("A", "C").add_interrupt_boundary("A"))
    assert (removed.code, removed.node) == ("node_removed", "B")
    assert removed.text == "node 'B' is gone: a thread that stands at it is refused, and one that goes on with it from 'A'"


def test_a_renamed_node_is_known_by_its_place() -> None:
    (renamed,) = said(line("A", "B", "C"), line("A", "Second", "C"))
    assert (renamed.code, renamed.node) == ("node_renamed", "B")
    assert renamed.hint == "threads know a node by its name: let the decorator say 'B', whatever the function is called"


def test_two_nodes_that_may_be_the_renamed_one_are_new() -> None:
    def fork(*names: str) -> StateGraph[Trail]:
        graph = line("A")
        for name in names:
            graph.add_node(name, adds(name)).add_conditional_edge("A", name, lambda _: True)
        return graph

    assert [finding.code for finding in said(fork("B"), fork("C", "D"))] == ["node_removed", "node_added", "node_added"]


def test_a_change_inside_says_where() -> None:
    old, new = pausing_line(Work="inside"), line()
    child = line("Read", "Sign", "Store").add_interrupt_boundary("Sign").compile()
    new.add_subgraph("Work", child, enter=lambda trail: trail, leave=lambda _, inner: inner)
    (renamed,) = said(old, new)
    assert (renamed.level, renamed.node) == (("Work",), "File")
    assert renamed.text.startswith("node 'Work/File' seems to be called 'Store' now: ")
    assert renamed.text.endswith("and one that goes on with it from 'Work/Sign'")


def test_states_without_schemas_are_said_to_be_not_compared() -> None:
    graph = line("A").compile()
    (only,) = changes_between(Described(graph.definition()), described(graph))
    assert (only.code, only.effect) == ("states_not_compared", "caution")
    assert only.text == "the states are not compared: the old one has no schema here"


def test_a_migration_that_nobody_knows_of_leaves_it_open() -> None:
    old, new = line("A").compile(id="a", version="1"), line("A").compile(id="a", version="2")
    (changed, _) = changes_between(described(old), Described(new.definition()))
    assert (changed.code, changed.effect) == ("version_changed", "caution")


def test_a_graph_that_is_not_compiled_has_its_states_too() -> None:
    class Other(State):
        trail: int = 0
        n: int = 0

    old = line("A")
    new = StateGraph(Other).add_node("A", lambda other: other)
    changes = changes_between(Described(old.definition(), old.state_schemas()), Described(new.definition(), new.state_schemas()))
    assert [(change.code, change.field) for change in changes] == [("field_retyped", "trail")]


def test_schemas_are_read_as_they_were_written() -> None:
    schemas = pausing_line(Work="inside").compile().state_schemas()
    assert StateSchemas.from_json(schemas.to_json()) == schemas
    assert list(schemas.inside) == ["Work"]
