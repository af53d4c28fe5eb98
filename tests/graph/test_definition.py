"""The definition document: written with the wire's bytes, read with its shape checked."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import DefinitionUnreadable
from strata.graph.definition import (
    BranchDefinition,
    Definition,
    EdgeDefinition,
    InterruptDefinition,
    JoinDefinition,
    NodeDefinition,
    WaitDefinition,
)
from strata.graph.identity import Identity
from tests.definitions import DOCUMENTS, RECORDED, boundary, changed, document, errors, group, level, lines, map_each, quorum, subgraph, timer

EVERY_DOCUMENT = ["D1", "D2", "D3", "D4", "D5", "D6", "D7"]


def refusal(text: str | bytes) -> str:
    with pytest.raises(DefinitionUnreadable) as caught:
        Definition.from_json(text)
    return str(caught.value)


def rebuilt(definition: Definition) -> Definition:
    """The definition as a builder would make it: every level's schema version computed from its content."""
    nodes = tuple(node if node.graph is None else msgspec.structs.replace(node, graph=rebuilt(node.graph)) for node in definition.nodes)
    return Definition.of(entry_point=definition.entry_point, nodes=nodes, edges=definition.edges, identity=definition.identity)


# What was recorded


@pytest.mark.parametrize("entry", lines("definitions/index.jsonl"), ids=lambda entry: entry["file"])
def test_recorded_definition_is_given_back_byte_for_byte(entry: dict[str, Any]) -> None:
    recorded = (RECORDED / "definitions" / entry["file"]).read_bytes()
    definition = Definition.from_json(recorded)
    assert definition.to_json() == recorded
    assert rebuilt(definition).to_json() == recorded
    assert definition.schema_version == entry["schema_version"]
    assert (None if definition.identity is None else {"id": definition.identity.id, "version": definition.identity.version}) == entry["identity"]


@pytest.mark.parametrize("line", lines("validation/shape.jsonl"), ids=lambda line: line["case"])
def test_recorded_shape_has_the_verdict_of_the_real_engine(line: dict[str, Any]) -> None:
    text = json.dumps(line["definition"])
    if line["result"] == "ok":
        assert Definition.from_json(text).problems() == ()
    elif isinstance(line["result"], str):
        assert refusal(text) == line["result"]
    else:  # no definition at all: the reason is its JSON reader's, and so is ours
        assert refusal(text).startswith("not a definition: ")


# Writing


@pytest.mark.parametrize("number", EVERY_DOCUMENT)
def test_gx1_a_shared_document_is_sound_and_valid_and_is_given_back(number: str) -> None:
    definition = Definition.from_json(document(number))
    assert errors(definition.problems()) == []
    assert definition.to_json().decode() == document(number)
    assert rebuilt(definition) == definition


def test_gx1_every_shared_document_of_the_sheet_is_here() -> None:
    assert sorted(path.name[:2] for path in DOCUMENTS.glob("*.json")) == EVERY_DOCUMENT


def test_the_example_of_the_sheet() -> None:
    edges = (EdgeDefinition(source="Start", target="End", guarded=True),)
    nodes = (NodeDefinition(name="Start"), NodeDefinition(name="End"))
    definition = Definition.of(entry_point="Start", nodes=nodes, edges=edges, identity=Identity("demo"))
    assert definition.to_json() == (
        b'{"schema_version":"1.5.0","identity":{"id":"demo","version":null},"entry_point":"Start",'
        b'"nodes":[{"name":"Start","metadata":null},{"name":"End","metadata":null}],'
        b'"edges":[{"from":"Start","to":"End","guarded":true,"condition":null}]}'
    )


def test_gb4_metadata_keys_are_written_in_byte_order() -> None:
    metadata = {"zeta": "1", "alpha": "2", "mid": "3", "\U0001f600": "4", "\uffff": "5"}
    written = level(NodeDefinition(name="A", metadata=metadata)).to_json().decode()
    assert '"metadata":{"alpha":"2","mid":"3","zeta":"1","\uffff":"5","\U0001f600":"4"}' in written


def test_metadata_that_is_empty_is_not_metadata_that_was_never_set() -> None:
    written = level(NodeDefinition(name="A", metadata={}), "B").to_json().decode()
    assert '{"name":"A","metadata":{}}' in written
    assert '{"name":"B","metadata":null}' in written


def test_control_characters_are_escaped_and_others_are_not() -> None:
    written = level("\b\t\n\f\r\x01\x1f\x7f\u2028é").to_json().decode()
    assert '"name":"\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\u2028é"' in written


def test_gx5_a_plain_graph_has_the_first_version_and_no_later_key() -> None:
    definition = level("A", "B", edges=("A -> B", "A on_failure B"))
    assert definition.schema_version == "1.0.0"
    assert not any(f'"{key}"' in definition.to_json().decode() for key in ("kind", "branches", "graph", "join", "wait", "interrupt"))


def test_gx6_each_level_has_its_own_version() -> None:
    child = level(boundary("Ask"), subgraph("Deep", level("Dig")))
    parent = level(subgraph("Child", child))
    assert (parent.schema_version, child.schema_version, child.nodes[1].graph) == ("1.1.0", "1.6.0", level("Dig"))
    assert level("Dig").schema_version == "1.0.0"


@pytest.mark.parametrize(
    ("definition", "version"),
    [
        (level(), "1.0.0"),
        (level(group("G", "a")), "1.1.0"),
        (level(group("G", "a", join=quorum(1))), "1.2.0"),
        (level(map_each("M", level("A"), quorum(1))), "1.3.0"),
        (level(map_each("M", level("A")), timer("W")), "1.4.0"),
        (Definition.of(entry_point="", nodes=(timer("W"),), edges=(), identity=Identity("a")), "1.5.0"),
        (Definition.of(entry_point="", nodes=(boundary("B"),), edges=(), identity=Identity("a")), "1.6.0"),
    ],
)
def test_the_version_is_the_lowest_that_has_the_content(definition: Definition, version: str) -> None:
    assert definition.schema_version == version


def test_gx9_a_join_is_what_makes_the_version() -> None:
    keeping = group("G", "a", join=JoinDefinition(policy="all", partial="keep_succeeded"))
    assert level(group("G", "a")).schema_version == "1.1.0"
    assert '"join"' not in level(group("G", "a")).to_json().decode()
    assert '"join":{"policy":"all","count":null,"condition":null,"partial":"keep_succeeded"}' in level(keeping).to_json().decode()


def test_gx10_what_a_timer_or_join_does_not_have_is_null() -> None:
    until = level(timer("W", None)).to_json().decode()
    nameless = level(group("G", "a", join=JoinDefinition(policy="first_matching", partial="fail_group"))).to_json().decode()
    assert '"wait":{"kind":"timer","event_type":null,"delay_ms":null,"timeout_ms":null}' in until
    assert '"join":{"policy":"first_matching","count":null,"condition":null,"partial":"fail_group"}' in nameless


def test_gx11_a_broken_graph_is_written_too() -> None:
    definition = level("A", "B", edges=("A -> B", "B -> A"))
    assert Definition.from_json(definition.to_json()) == definition


# Reading


def test_gx13_an_unknown_version() -> None:
    reads = "this build reads 1.0.0, 1.1.0, 1.2.0, 1.3.0, 1.4.0, 1.5.0 and 1.6.0"
    assert refusal(changed("D6", {"schema_version": "2.0.0"})) == f"unsupported schema_version '2.0.0': {reads}"
    grandchild = changed("D6", {"nodes.2.graph.nodes.2.graph.schema_version": "1.9.0"})
    assert refusal(grandchild) == f"unsupported schema_version '1.9.0' (in 'Remediate/Fix'): {reads}"


@pytest.mark.parametrize(
    ("number", "version", "text"),
    [
        ("D6", "1.0.0", "node 'Investigate' has a kind, which schema_version 1.0.0 doesn't have"),
        ("D7", "1.2.0", "node 'Investigate' is a map, which schema_version 1.2.0 doesn't have"),
        ("D5", "1.4.0", "the definition has an identity, which schema_version 1.4.0 doesn't have"),
        ("D2", "1.5.0", "node 'Approve' has an interrupt, which schema_version 1.5.0 doesn't have"),
        ("D4", "1.1.0", "node 'Specialists' has a join, which schema_version 1.1.0 doesn't have"),
    ],
)
def test_gx14_what_a_version_does_not_have(number: str, version: str, text: str) -> None:
    assert refusal(changed(number, {"schema_version": version})) == text


def test_gx14_a_blank_inner_id() -> None:
    blank = changed("D5", {"nodes.1.graph.identity.id": " \t"})
    assert refusal(blank) == "the definition (in 'Remediate') has an identity with an empty id"


@pytest.mark.parametrize(
    ("number", "changes", "text"),
    [
        ("D6", {"nodes.0.branches": []}, "node 'Triage' is a plain node but has branches"),
        ("D6", {"nodes.1.graph": json.loads(document("D1"))}, "node 'Investigate' is a parallel_group but has both branches and graph"),
        ("D6", {"nodes.2.graph.nodes.2.graph": None}, "node 'Remediate/Fix' is a subgraph but has neither branches nor graph"),
        ("D7", {"nodes.1.branches": []}, "node 'Investigate' is a map but has both branches and graph"),
        ("D2", {"nodes.4.branches": []}, "node 'Window' is a wait but has branches"),
        ("D1", {"nodes.0.graph": json.loads(document("D1"))}, "node 'Intake' is a plain node but has graph"),
    ],
)
def test_gx15_parts_that_a_kind_does_not_have(number: str, changes: dict[str, Any], text: str) -> None:
    assert refusal(changed(number, changes)) == text


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes.0.kind": "loop"},
        {"nodes.1.interrupt.timeout_ms": -1},
        {"nodes.1.interrupt.timeout_ms": 1.5},
        {"nodes.1.interrupt.timeout_ms": 1.0},
        {"nodes.2.wait.kind": "person"},
        {"nodes.0.metadata": {"a": 1}},
        {"edges.0.guarded": None},
        {"nodes.0.name": None},
        {"entry_point": None},
        {"nodes": {}},
    ],
    ids=str,
)
def test_gx16_what_is_no_definition(changes: dict[str, Any]) -> None:
    assert refusal(changed("D2", changes)).startswith("not a definition: ")


@pytest.mark.parametrize("key", ["schema_version", "entry_point", "nodes", "edges"])
def test_gx16_a_required_key_is_missing(key: str) -> None:
    content = json.loads(document("D1"))
    del content[key]
    assert refusal(json.dumps(content)) == f"not a definition: Object missing required field `{key}`"


@pytest.mark.parametrize(
    ("version", "kind", "join", "text"),
    [
        ("1.1.0", "parallel_group", {"policy": "all", "partial": "keep_succeeded"}, "node 'G' has a join, which schema_version 1.1.0 doesn't have"),
        (
            "1.2.0",
            "parallel_group",
            {"policy": "first_success", "count": 1, "partial": "fail_group"},
            "node 'G' has a join with a count, which only a quorum has",
        ),
        (
            "1.2.0",
            "parallel_group",
            {"policy": "quorum", "count": 1, "condition": "x", "partial": "fail_group"},
            "node 'G' has a join with a condition, which only first_matching has",
        ),
        ("1.2.0", None, {"policy": "all", "partial": "keep_succeeded"}, "node 'G' has a join but is neither a parallel_group nor a map"),
    ],
)
def test_gx17_joins(version: str, kind: str | None, join: dict[str, Any], text: str) -> None:
    node = {"name": "G", "kind": kind, "branches": [{"name": "a"}] if kind else None, "join": join}
    assert refusal(json.dumps({"schema_version": version, "entry_point": "G", "nodes": [node], "edges": []})) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"nodes.2.wait": None}, "node 'Deploying' is a wait but has no wait"),
        ({"nodes.0.wait": {"kind": "timer"}}, "node 'Plan' has a wait but is not a wait node"),
        ({"nodes.2.interrupt": {}}, "node 'Deploying' is a wait and can't also have an interrupt"),
        ({"nodes.2.wait.kind": "human"}, "node 'Deploying' has a wait of kind 'human', which is neither event nor timer"),
    ],
)
def test_gx18_waits(changes: dict[str, Any], text: str) -> None:
    assert refusal(changed("D2", changes)) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"nodes.1.interrupt": None, "nodes.2.wait.timeout_ms": 1, "nodes.0.interrupt": {}},
            "node 'Approve' has an on_reject edge but is not an interrupt boundary",
        ),
        ({"nodes.1.interrupt.timeout_ms": None}, "node 'Approve' has an on_timeout edge but no timeout"),
        ({"nodes.2.wait.timeout_ms": None}, "node 'Deploying' has an on_timeout edge but no timeout"),
    ],
)
def test_gx19_routes_ask_for_what_they_route(changes: dict[str, Any], text: str) -> None:
    assert refusal(changed("D2", changes)) == text


def test_gx19_a_route_from_a_name_that_is_no_node_is_for_validation() -> None:
    definition = Definition.from_json(changed("D2", {"edges.6.from": "Nowhere"}))
    assert "STRATA_ERR_DANGLING_EDGE" in [problem.code for problem in definition.problems()]


def test_unknown_keys_are_ignored_and_lost() -> None:
    definition = Definition.from_json(changed("D1", {"extra": 1, "nodes.0.colour": {"a": [1e300]}, "edges.0.weight": 9**30}))
    assert definition.to_json().decode() == document("D1")


def test_what_may_be_missing_may_also_be_null() -> None:
    short = '{"schema_version":"1.0.0","entry_point":"a","nodes":[{"name":"a"}],"edges":[{"from":"a","to":"a","guarded":true}]}'
    nodes = '[{"name":"a","metadata":null,"kind":null,"branches":null,"graph":null,"join":null,"wait":null,"interrupt":null}]'
    full = short.replace('[{"name":"a"}]', nodes).replace('"guarded":true', '"guarded":true,"condition":null').replace("{", '{"identity":null,', 1)
    assert Definition.from_json(short) == Definition.from_json(full)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"entry_point"', '"entry_point":"Intake","entry_point"', "entry_point"),
        ('"name":"Ship"', '"name":"Ship","name":"Ship"', "name"),
        ('"from":"Ship"', '"from":"Ship","from":"Ship"', "from"),
        ('"metadata":null}', '"metadata":null,"metadata":{}}', "metadata"),
    ],
)
def test_a_known_key_that_stands_twice(old: str, new: str, key: str) -> None:
    assert refusal(document("D1").replace(old, new, 1)) == f"not a definition: the key '{key}' stands twice in one object"


@pytest.mark.parametrize(
    "part",
    ['"id":"remediation"', '"timeout_ms":3600000', '"policy":"quorum"', '"kind":"event"'],
)
def test_a_known_key_that_stands_twice_deeper_down(part: str) -> None:
    (text,) = {document(number) for number in EVERY_DOCUMENT if part in document(number)} - ({document("D3")} if "timeout" in part else set())
    assert "stands twice in one object" in refusal(text.replace(part, f"{part},{part}", 1))


def test_keys_that_are_not_the_wires_may_stand_twice() -> None:
    text = document("D6").replace('"agent":"triage"', '"agent":"other","agent":"triage"', 1).replace("{", '{"extra":1,"extra":2,', 1)
    assert Definition.from_json(text).to_json().decode() == document("D6")


@pytest.mark.parametrize(
    "text", [b"", b"null", b"[]", b"{", b"\xff", b'\xef\xbb\xbf{"a":1}', b"[" * 100_000, document("D1").encode() + b"x", b'"\\ud800"'], ids=range(9)
)
def test_what_is_no_json_object_is_no_definition(text: bytes) -> None:
    assert refusal(text).startswith("not a definition: ")


def test_a_text_that_is_nested_too_deep() -> None:
    levels = 100_000  # how many can be read differs between versions of Python
    start = '{"schema_version":"1.1.0","entry_point":"a","nodes":[{"name":"a","kind":"subgraph","graph":'
    text = start * levels + document("D5") + '}],"edges":[]}' * levels
    assert refusal(text) == "not a definition: it is nested too deep to be read"


def test_ten_thousand_levels_become_facts() -> None:
    definition = level("x", "lost")
    for _ in range(10_000):
        definition = level(subgraph("x", definition))
    assert [problem.node for problem in definition.problems()] == ["x/" * 10_000 + "lost"]


# Random documents

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
metadata = st.none() | st.dictionaries(texts, texts, max_size=3)
counts = st.none() | st.integers(0, 2**63 - 1)
names = st.sampled_from(["a", "b", "c", "d/e"]) | texts


def joins() -> st.SearchStrategy[JoinDefinition]:
    partial = st.sampled_from(["fail_group", "keep_succeeded"])
    return st.one_of(
        st.builds(JoinDefinition, policy=st.sampled_from(["all", "first_success"]), partial=partial),
        st.builds(JoinDefinition, policy=st.just("quorum"), count=counts, partial=partial),
        st.builds(JoinDefinition, policy=st.just("first_matching"), condition=st.none() | texts, partial=partial),
    )


def nodes_over(graphs: st.SearchStrategy[Definition] | None) -> st.SearchStrategy[NodeDefinition]:
    interrupts = st.none() | st.builds(InterruptDefinition, timeout_ms=counts)
    branches = st.lists(st.builds(BranchDefinition, name=names, metadata=metadata), max_size=3).map(tuple)
    waits = st.builds(WaitDefinition, kind=st.sampled_from(["event", "timer"]), event_type=st.none() | texts, delay_ms=counts, timeout_ms=counts)
    kinds = [
        st.builds(NodeDefinition, name=names, metadata=metadata, interrupt=interrupts),
        st.builds(NodeDefinition, name=names, kind=st.just("wait"), wait=waits, metadata=metadata),
        st.builds(NodeDefinition, name=names, kind=st.just("parallel_group"), branches=branches, join=st.none() | joins(), interrupt=interrupts),
    ]
    if graphs is not None:
        kinds.append(st.builds(NodeDefinition, name=names, kind=st.just("subgraph"), graph=graphs, metadata=metadata, interrupt=interrupts))
        kinds.append(st.builds(NodeDefinition, name=names, kind=st.just("map"), graph=graphs, join=st.none() | joins()))
    return st.one_of(kinds)


def definitions(depth: int) -> st.SearchStrategy[Definition]:
    nodes = st.lists(nodes_over(definitions(depth - 1) if depth else None), max_size=4).map(tuple)
    edges = st.lists(st.builds(EdgeDefinition, source=names, target=names, guarded=st.booleans(), condition=st.none() | texts), max_size=4).map(tuple)
    ids = texts.filter(lambda text: text.strip() != "")
    identities = st.none() | st.builds(Identity, id=ids, version=st.none() | texts)
    return st.builds(Definition.of, entry_point=names, nodes=nodes, edges=edges, identity=identities)


@given(definitions(2))
def test_a_random_definition_is_given_back(definition: Definition) -> None:
    written = definition.to_json()
    read = Definition.from_json(written)
    assert read == definition
    assert read.to_json() == written
    assert read.problems() == definition.problems()


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(string.printable, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(string.printable, max_size=5), inner, max_size=3),
    max_leaves=6,
)


def steps(content: Any, path: tuple[str, ...] = ()) -> list[str]:
    """Every path of a JSON value, as `changed` takes them."""
    items: list[tuple[str, Any]] = []
    if isinstance(content, dict):
        items = [(str(key), value) for key, value in content.items()]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    elif isinstance(content, list):
        items = [(str(index), value) for index, value in enumerate(content)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    below = [step for key, value in items if "." not in key for step in steps(value, (*path, key))]
    return [*([".".join(path)] if path else []), *below]


@given(st.data(), st.sampled_from(EVERY_DOCUMENT), any_json)
def test_a_document_with_anything_in_it_is_read_or_refused(data: st.DataObject, number: str, value: object) -> None:
    path = data.draw(st.sampled_from(steps(json.loads(document(number)))))
    text = changed(number, {path: value})
    try:
        definition = Definition.from_json(text)
    except DefinitionUnreadable:
        return
    assert Definition.from_json(definition.to_json()) == definition
    definition.problems()


@given(st.binary(max_size=40) | any_json.map(lambda value: json.dumps(value).encode()))
def test_random_bytes_are_refused(data: bytes) -> None:
    assert refusal(data).startswith("not a definition: ")


def test_documents_are_one_line_each() -> None:
    assert all(len(Path(path).read_text(encoding="utf-8").splitlines()) == 1 for path in DOCUMENTS.glob("*.json"))
