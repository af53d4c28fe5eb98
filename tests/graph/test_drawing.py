"""Drawings: what a reader must find in them, and that no name can break them."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.graph.definition import Definition, EdgeDefinition, InterruptDefinition, NodeDefinition
from strata.graph.drawing import mermaid, terminal
from strata.rules.facts import EdgeFacts, GraphFacts
from tests.definitions import RECORDED, boundary, document, group, level, map_each, quorum, subgraph, timer

LABEL = r'"[\w _\-.,:/()+=?!#;<>]+"'
ID = r"[a-z]+[0-9_]*"
LINES = [
    re.compile(rf'(?P<id>{ID})(\(\(" "\)\)|\(\(\(" "\)\)\)|\[{LABEL}\]|\[\[{LABEL}\]\]|\{{\{{{LABEL}\}}\}}|\(\[{LABEL}\]\)|>{LABEL}\])'),
    re.compile(rf"subgraph (?P<id>{ID})\[{LABEL}\]"),
    re.compile(r"end"),
    re.compile(rf"(?P<source>{ID}) (-->|-\.->)(\|{LABEL}\|)? (?P<target>{ID})"),
]
"""The few forms of Mermaid's flowchart that we write; each was tried on Mermaid's own parser, with names as below."""

HOSTILE = [
    *["end", "graph", "subgraph", "click", "o", "x", "", " ", "é漢字😀"],
    *[
        'a"b',
        "x[1](2){3}",
        "%%{init: {}}%%",
        "`md`",
        "a;b",
        "<b>hi</b>",
        "#35;",
        "--> n0",
        "|",
        "\\",
        "a|b",
        "it's",
        ":::c",
        "@{ shape: x }",
        "$$x$$",
    ],
    *["a\nb", "\x1b[31m", "\u202e"],
]


def read(drawing: str) -> tuple[set[str], list[tuple[str, str]]]:
    """The ids and edges of a Mermaid drawing; every line must be one of the forms."""
    head, *rest = drawing.removesuffix("\n").split("\n")
    assert head == "flowchart TD"
    ids: set[str] = set()
    edges: list[tuple[str, str]] = []
    for line in rest:
        match = next((match for form in LINES if (match := form.fullmatch(line.strip()))), None)
        assert match is not None, line
        named = match.groupdict()
        if "id" in named:
            assert named["id"] not in ids, line
            ids.add(named["id"])
        elif "source" in named:
            edges.append((named["source"], named["target"]))
    assert {end for edge in edges for end in edge} <= ids
    assert drawing.count("subgraph ") == len([line for line in rest if line.strip() == "end"])
    return ids, edges


def test_a_line_of_two_nodes_in_mermaid() -> None:
    assert mermaid(level("draft", "publish", edges=("draft -> publish",))) == (
        'flowchart TD\n    start((" "))\n    n0["draft"]\n    n1["publish"]\n    done(((" ")))\n    start --> n0\n    n0 --> n1\n    n1 --> done\n'
    )


def test_kinds_and_pauses_have_shapes_and_words() -> None:
    drawing = mermaid(
        level(boundary("ask", 90_000), timer("rest", 300_000), group("race", "a", "b", join=quorum(2)), edges=("ask -> rest", "rest -> race"))
    )
    assert 'n0{{"ask<br/>pauses for a person, at most 1 min 30 s"}}' in drawing
    assert 'n1(["rest<br/>timer, 5 min"])' in drawing
    assert 'n2[["race<br/>parallel: a, b<br/>quorum of 2"]]' in drawing


def test_routes_and_guards_are_dashed_and_routes_are_labelled() -> None:
    drawing = mermaid(level("a", "b", "c", edges=("a ~> b", "a -> c", "a on_failure c")))
    assert "    n0 -.-> n1\n    n0 --> n2\n" in drawing
    assert '    n0 -.->|"on_failure"| n2\n' in drawing


def named_guards(definition: Definition, guard: str) -> GraphFacts:
    facts = definition.facts()
    edges: tuple[EdgeFacts, ...] = tuple(msgspec.structs.replace(edge, guard=guard) if edge.guarded else edge for edge in facts.edges)
    return msgspec.structs.replace(facts, edges=edges)


def test_a_guards_name_comes_from_the_facts() -> None:
    definition = level("a", "b", "c", edges=("a ~> b", "a -> c"))
    facts = named_guards(definition, "needs_work")
    assert 'n0 -.->|"if needs_work"| n1' in mermaid(definition, facts)
    assert "├⇢ b  if needs_work" in terminal(definition, facts)


def test_a_graph_inside_a_node_is_a_box_that_edges_enter_and_leave_by_its_dots() -> None:
    inner = level("x", "y", edges=("x -> y",))
    drawing = mermaid(level("a", subgraph("s", inner), map_each("m", inner), edges=("a -> s", "s ~> s", "s -> m")))
    ids, edges = read(drawing)
    assert {"g1", "start1_", "n1_0", "n1_1", "done1_", "g2", "start2_"} <= ids
    assert {("n0", "start1_"), ("done1_", "start1_"), ("done1_", "start2_"), ("start1_", "n1_0"), ("n1_1", "done1_"), ("done2_", "done")} <= set(
        edges
    )
    assert 'subgraph g1["s<br/>subgraph"]' in drawing
    assert 'subgraph g2["m<br/>map"]' in drawing


@pytest.mark.parametrize("path", sorted((RECORDED / "definitions").glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_definition_is_drawn_the_same_each_time(path: object) -> None:
    data = (RECORDED / "definitions" / str(path)).read_bytes()
    first, second = Definition.from_json(data), Definition.from_json(data)
    read(mermaid(first))
    assert (mermaid(first), terminal(first)) == (mermaid(second), terminal(second))


def test_a_broken_graph_is_drawn_with_the_names_that_it_lacks() -> None:
    definition = level("a", edges=("ghost on_reject nowhere",), entry="nobody")
    ids, edges = read(mermaid(definition))
    assert {"x0", "x1", "x2"} <= ids
    assert ("start", "x0") in edges
    assert 'x1>"ghost<br/>no such node"]' in mermaid(definition)
    assert terminal(definition) == "● a (end)\n? nobody (start; no such node)\n? ghost (no such node)\n  └⇢ nowhere (no such node)  on_reject\n"


def test_an_empty_graph_is_drawn() -> None:
    assert mermaid(level()) == 'flowchart TD\n    start((" "))\n'
    assert terminal(level()) == "(no nodes)\n"


def hostile(names: list[str]) -> Definition:
    """Every name as a node, a boundary, a branch, a route's condition and the name of a graph inside."""
    edges = tuple(EdgeDefinition(source=a, target=b, guarded=True, condition=a) for a, b in zip(names, names[1:] + names[:1], strict=True))
    inner = Definition.of(entry_point=names[0], nodes=tuple(NodeDefinition(name=name) for name in names), edges=edges)
    nodes = (*(NodeDefinition(name=name, interrupt=InterruptDefinition()) for name in names), group("G", *names), subgraph(names[0] + "!", inner))
    return Definition.of(entry_point=names[-1], nodes=nodes, edges=edges)


@pytest.mark.parametrize("name", HOSTILE)
def test_viz_01_a_hostile_name_breaks_no_diagram(name: str) -> None:
    definition = hostile([name])
    read(mermaid(definition))
    assert terminal(definition).isascii() or all(char.isprintable() for line in terminal(definition).splitlines() for char in line)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_viz_01_no_name_breaks_a_diagram(names: list[str]) -> None:
    read(mermaid(hostile(names)))
    drawn = terminal(hostile(names)).removesuffix("\n").split("\n")
    assert all(line.isprintable() for line in drawn)


def test_viz_01_labels_are_escaped_and_ids_are_ours() -> None:
    drawing = mermaid(level(NodeDefinition(name='end"];click'), NodeDefinition(name="a<U>\n")))
    assert 'n0["end#34;#93;#59;click"]' in drawing
    assert 'n1["a#60;U#62;#60;U+000A#62;"]' in drawing


def test_viz_04_a_drawing_needs_nothing_but_the_definition() -> None:
    assert mermaid(Definition.from_json(document("D6"))).startswith("flowchart TD\n")


def test_a_terminal_drawing_of_every_kind() -> None:
    assert terminal(Definition.from_json(document("D3"))) == (
        "graph 'release' version 2\n"
        "● Plan (start)\n"
        "  └→ Approve\n"
        "● Approve (pauses for a person, at most 30 min)\n"
        "  ├→ Gather\n"
        "  ├⇢ Abort  on_reject\n"
        "  └⇢ Escalate  on_timeout\n"
        "● Gather (parallel: Logs, Metrics; pauses for a person)\n"
        "  └→ Review\n"
        "● Review (subgraph; pauses for a person, at most 1 h)\n"
        "  │ ● Draft (start)\n"
        "  │   └→ Sign\n"
        "  │ ● Sign (pauses for a person)\n"
        "  └→ Fan\n"
        "● Fan (map; pauses for a person, at most 5 min)\n"
        "  │ ● Check (start; end)\n"
        "  └→ Ship\n"
        "● Ship (end)\n"
        "● Abort (end)\n"
        "● Escalate (end)\n"
    )


def test_waits_and_joins_in_a_terminal() -> None:
    drawn = terminal(Definition.from_json(document("D2"))) + terminal(Definition.from_json(document("D4")))
    assert "● Deploying (waits for event deployment.finished, at most 1 h)\n" in drawn
    assert "● Window (timer, 5 min)\n" in drawn
    assert "● Specialists (start; parallel: telemetry, kubernetes, database; all, keeps what succeeded)\n" in drawn
    assert "first matching: validated, confidence >= 0.9, keeps what succeeded" in drawn
    assert "timer until a time in the state" in terminal(level(timer("W", None)))


def test_a_drawing_may_be_nested_deeper_than_pythons_stack() -> None:
    definition = level("x")
    for _ in range(1_500):
        definition = level(subgraph("x", definition))
    assert mermaid(definition).count("subgraph ") == 1_500
    assert terminal(definition).count("●") == 1_501
