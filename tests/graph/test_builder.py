"""The builder in both forms: what it keeps, what compile refuses, and what is exported."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

import strata
from strata import GraphInvalid, GraphWarning, Problem, State, StateGraph, boundary, edge, node, on_reject, when
from strata.graph.spec import Handler, NodeSpec
from tests.graphs.counts import Count, is_even, same
from tests.graphs.essays import Essay, draft, essays, essays_from_data, publish
from tests.graphs.orders import order_nodes, orders, orders_that_refuse

WIRE = Path(__file__).parents[2] / "schema" / "wire"

untyped: Any = strata
"""For calls that a checker refuses, and that are made all the same by who runs none."""


async def asked(count: Count) -> Count:
    return count


def line(*names: str) -> StateGraph[Count]:
    """Nodes of these names, each with an edge to the next."""
    graph = StateGraph(Count)
    for name in names:
        graph.add_node(name, same)
    for start, to in pairwise(names):
        graph.add_edge(start, to)
    return graph


def handler(spec: NodeSpec) -> Handler:
    assert isinstance(spec.body, Handler)
    return spec.body


def texts(problems: tuple[Problem, ...]) -> list[str]:
    return [problem.text for problem in problems]


def codes(problems: tuple[Problem, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(problem.code.removeprefix("STRATA_ERR_"), problem.node, problem.related) for problem in problems]


def refusal(compile: Callable[[], object]) -> list[str]:
    with pytest.raises(GraphInvalid) as raised:
        compile()
    return texts(raised.value.problems)


# Building


def test_gb1_the_first_node_is_the_entry() -> None:
    assert line("A", "B").compile().entry == "A"


def test_the_entry_may_be_set_before_its_node_and_the_last_call_wins() -> None:
    graph = StateGraph(Count).set_entry_point("B").set_entry_point("A").add_node("B", same).add_node("A", same).add_edge("A", "B")
    assert graph.compile().entry == "A"


def test_gb3_metadata_stays_when_the_node_is_added_again_and_is_replaced_as_a_whole() -> None:
    graph = StateGraph(Count).add_node("A", same, metadata={"team": "a", "model": "m"}).add_fallible_node("A", asked)
    assert metadata_of(graph, "A") == {"team": "a", "model": "m"}
    assert metadata_of(graph.set_node_metadata("A", {"team": "b"}), "A") == {"team": "b"}


def metadata_of(graph: StateGraph[Count], name: str) -> object:
    return next(node.metadata for node in graph.definition().nodes if node.name == name)


def test_gb4_metadata_is_written_in_the_order_of_its_keys() -> None:
    graph = StateGraph(Count).add_node("A", same, metadata={"zeta": "1", "alpha": "2", "mid": "3"})
    assert b'"metadata":{"alpha":"2","mid":"3","zeta":"1"}' in graph.definition().to_json()


def test_gb5_every_way_to_add_a_node_exports_the_same() -> None:
    graph = StateGraph(Count)
    added = [graph.add_node, graph.add_async_node, graph.add_streaming_node, graph.add_fallible_node]
    names = ["plain", "async", "streaming", "fallible"]
    for add, name in zip(added, names, strict=True):
        add(name, same, metadata={"role": name})
    for start, to in pairwise(names):
        graph.add_edge(start, to)
    exported = graph.compile().definition()
    assert [(node.name, node.metadata, node.kind) for node in exported.nodes] == [(name, {"role": name}, None) for name in names]


def test_adding_a_name_again_keeps_place_edges_boundary_and_timeout() -> None:
    graph = line("A", "B", "C").add_interrupt_boundary("B", on_reject="A").set_timeout("B", 3)
    spec = graph.add_async_node("B", asked).compile().specs["B"]
    assert handler(spec).fn is asked
    assert (spec.timeout, [way.target for way in spec.edges]) == (3.0, ["C"])
    assert spec.boundary is not None
    assert spec.boundary.on_reject == "A"
    assert [node.name for node in graph.definition().nodes] == ["A", "B", "C"]


def test_settings_may_come_before_the_node_they_name() -> None:
    graph = StateGraph(Count).set_timeout("A", 1).set_node_metadata("A", {"k": "v"}).add_edge("A", "B").add_node("A", same).add_node("B", same)
    assert graph.validate() == ()
    assert graph.compile().specs["A"].timeout == 1.0


def test_gb20_marking_a_boundary_again_replaces_its_settings() -> None:
    graph = line("A", "B").add_interrupt_boundary("A", on_reject="B")
    assert [edge.condition for edge in graph.definition().edges] == [None, "on_reject"]
    assert [edge.condition for edge in graph.add_interrupt_boundary("A").definition().edges] == [None]


def test_gb21_a_boundary_on_a_name_that_is_no_node_compiles_with_a_warning() -> None:
    graph = line("A", "B").add_interrupt_boundary("Ghost")
    with pytest.warns(GraphWarning, match="boundary set on 'Ghost', which is not a node in the graph"):
        compiled = graph.compile()
    assert [problem.code for problem in compiled.warnings] == ["STRATA_PY_BOUNDARY_WITHOUT_NODE"]
    assert all(spec.boundary is None for spec in compiled.specs.values())


def test_a_decorated_node_given_as_data_lends_its_function_only() -> None:
    spec = StateGraph(Essay).add_node("draft", draft).compile().specs["draft"]
    assert handler(spec).fn is draft.__wrapped__
    assert spec.edges == ()


def test_edges_may_be_given_nodes() -> None:
    graph = StateGraph(Essay).add_node("draft", draft).add_node("publish", publish).add_edge(draft, publish)
    assert graph.compile().specs["draft"].edges[0].target == "publish"


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("add_node", ("draft", draft)),
        ("add_edge", ("a", "b")),
        ("set_entry_point", ("draft",)),
        ("add_interrupt_boundary", ("draft",)),
        ("set_timeout", ("draft", 3)),
        ("set_node_metadata", ("draft", {"k": "v"})),
    ],
)
def test_one_graph_is_built_in_one_form(method: str, given: tuple[object, ...]) -> None:
    graph = StateGraph(Essay)
    getattr(graph, method)(*given)
    with pytest.raises(TypeError, match=r"start\(\) is for a graph of decorated nodes, and this builder was given data: build the graph in one form"):
        graph.start(draft)


@pytest.mark.parametrize("state", [dict, int, "Essay", None, Essay(topic="t", min_score=1)])
def test_the_state_is_a_class_derived_from_state(state: object) -> None:
    with pytest.raises(TypeError, match="StateGraph asks a class derived from State, not"):
        untyped.StateGraph(state)


def test_data_that_is_no_function_of_the_state_is_refused_with_its_name() -> None:
    with pytest.raises(TypeError, match="node 'A': 3 is no function"):
        untyped.StateGraph(Count).add_node("A", 3)


def first_of(count: Count, results: list[Count]) -> Count:
    return results[0]


HALF = "half \ud800"


NOT_FOR_A_DEFINITION: list[Callable[[StateGraph[Count]], object]] = [
    lambda graph: graph.add_node(HALF, same),
    lambda graph: graph.add_parallel_group(HALF, [same], first_of),
    lambda graph: graph.add_parallel_group("A", [strata.branch(HALF, same)], first_of),
    lambda graph: graph.add_parallel_group("A", [same], first_of, join=strata.first_matching(is_even, description=HALF)),
    lambda graph: graph.add_wait_for_event("A", HALF),
    lambda graph: graph.add_timer(HALF, 60),
    lambda graph: graph.add_edge(HALF, "A"),
    lambda graph: graph.add_conditional_edge("A", HALF, is_even),
    lambda graph: graph.set_entry_point(HALF),
    lambda graph: graph.add_interrupt_boundary(HALF, on_reject="A"),
    lambda graph: graph.add_interrupt_boundary("A", on_reject=HALF),
    lambda graph: graph.set_recovery_policy(HALF, retries=1),
    lambda graph: graph.set_recovery_policy("A", fallback=HALF),
    lambda graph: graph.set_timeout(HALF, 1),
    lambda graph: graph.set_node_metadata(HALF, {}),
    lambda graph: graph.set_branch_metadata("A", HALF, {}),
]


@pytest.mark.parametrize("build", NOT_FOR_A_DEFINITION)
def test_a_text_that_no_definition_can_hold_is_refused_where_it_is_given(build: Callable[[StateGraph[Count]], object]) -> None:
    with pytest.raises(TypeError, match=r"is text that UTF-8 can encode, and 'half \\ud800' has half a surrogate pair"):
        build(StateGraph(Count))


# Decorated


def test_nodes_gives_a_new_wiring_and_leaves_the_old_one() -> None:
    start = StateGraph(Essay).start(draft)
    start.nodes(publish)
    assert [node.name for node in start.definition().nodes] == ["draft"]
    assert [node.name for node in start.nodes(publish).nodes().definition().nodes] == ["draft", "publish"]


def test_nodes_before_the_start_say_to_call_start_first() -> None:
    with pytest.raises(TypeError, match=r"nodes\(\) was called before start\(\): say .* first, StateGraph\(Essay\).start\(first\).nodes\(...\)"):
        untyped.StateGraph(Essay).nodes(draft, publish)


def test_decorated_nodes_do_not_join_data() -> None:
    with pytest.raises(TypeError, match=r"this builder was given data: add the others with .add_node\(name, node\)"):
        untyped.StateGraph(Count).add_node("A", same).nodes(draft)


def test_a_name_listed_twice_is_an_error_at_the_second_node() -> None:
    @node("draft")
    def again(essay: Essay) -> Essay:
        return essay

    problem = next(problem for problem in StateGraph(Essay).start(draft).nodes(again).validate() if problem.code == "STRATA_PY_DOUBLED_NODE")
    assert (problem.node, problem.place) == ("draft", again.spec.place)


def test_edges_stand_node_by_node_in_the_order_of_listing() -> None:
    pairs = [(edge.source, edge.target) for edge in essays.definition().edges]
    assert pairs == [("draft", "review"), ("review", "draft"), ("review", "publish")]


def test_errors_of_a_decorated_graph_stand_at_their_lines() -> None:
    @node
    @when(is_even, to="nowhere")
    @edge("b")
    def a(count: Count) -> Count:
        return count

    @node
    @boundary
    @on_reject("lost")
    @edge("a")
    def b(count: Count) -> Count:
        return count

    @node
    def island(count: Count) -> Count:
        return count

    problems = StateGraph(Count).start(a).nodes(b, island).validate()
    mark = b.spec.boundary
    assert mark is not None
    assert [(problem.code.removeprefix("STRATA_ERR_"), problem.place) for problem in problems if problem.severity == "error"] == [
        ("DANGLING_EDGE", a.spec.edges[0].place),
        ("DANGLING_EDGE", mark.on_reject_place),
        ("ORPHAN", island.spec.place),
        ("UNGUARDED_CYCLE", b.spec.edges[0].place),
    ]


async def is_slow(count: Count) -> bool:
    return True


SLOW: Any = is_slow


def test_an_async_guard_is_an_error_at_its_line() -> None:
    @node("a")
    @when(SLOW, to="b")
    @edge("b")
    def a(count: Count) -> Count:
        return count

    @node("b")
    def b(count: Count) -> Count:
        return count

    [problem] = StateGraph(Count).start(a).nodes(b).validate()
    assert (problem.code, problem.node, problem.place) == ("STRATA_PY_ASYNC_GUARD", "a", a.spec.edges[0].place)


# What compile refuses, with the texts of the engines


def test_gb6_metadata_on_an_unknown_node_is_refused_and_left_out_of_the_export() -> None:
    graph = line("A").set_node_metadata("Ghost", {"k": "v"})
    assert refusal(graph.compile) == ["metadata set for 'Ghost', which does not exist"]
    assert b"Ghost" not in graph.definition().to_json()


def test_gb8_empty_and_reserved_metadata_keys_are_refused() -> None:
    assert refusal(line("A").set_node_metadata("A", {"": "v"}).compile) == ["metadata on node 'A' has an empty key"]
    assert refusal(line("Triage").set_node_metadata("Triage", {"strata.x": "v"}).compile) == ["metadata key 'strata.x' on node 'Triage' is reserved"]


def test_gb12_timeouts_that_cannot_be_kept_are_refused() -> None:
    assert refusal(line("A").set_timeout("A", 0).compile) == ["timeout for 'A' must be greater than zero"]
    assert refusal(line("A").set_timeout("Missing", 1).compile) == ["timeout set for 'Missing', which does not exist"]
    inline = StateGraph(Count).add_node("A", same, inline=True, timeout=1)
    text = "node 'A' runs inline and can't be timed out: add it with add_node or add_fallible_node to have its timeout honoured"
    assert refusal(inline.compile) == [text]
    assert inline.add_node("A", same).compile().specs["A"].timeout == 1.0


def test_gb13_a_hop_limit_of_0_is_refused() -> None:
    assert refusal(lambda: line("A").compile(max_node_hops=0)) == ["max_node_hops must be at least 1"]


def test_gb14_blank_ids_and_versions_are_refused() -> None:
    assert refusal(lambda: line("A").compile(id=" ")) == ["graph_id must not be blank"]
    assert refusal(lambda: line("A").compile(id="a", version="")) == ["graph_version must not be blank"]
    assert refusal(lambda: line("A").compile(version="1")) == ["graph_version needs a graph_id"]
    assert refusal(lambda: line("A").compile(migrate=lambda level: level)) == ["a migration needs a graph_id"]


# Structure, through the builder


def test_gv13_a_reject_route_to_no_node_is_a_dangling_edge() -> None:
    assert codes(line("Approve", "Done").add_interrupt_boundary("Approve", on_reject="Nope").validate()) == [("DANGLING_EDGE", "Approve", "Nope")]


def test_gv14_a_boundary_on_no_node_shows_as_the_edge_of_its_route() -> None:
    graph = line("Start").add_node("Abort", same).add_interrupt_boundary("Elsewhere", on_reject="Abort")
    exported = graph.definition()
    assert exported.schema_version == "1.0.0"
    assert all(node.interrupt is None for node in exported.nodes)
    assert codes(graph.validate()) == [("DANGLING_EDGE", "Elsewhere", "Abort"), ("ORPHAN", "Abort", None)]


GRAPHS: dict[str, Callable[[], StateGraph[Any]]] = {
    "chain": lambda: line("A", "B", "C"),
    "guarded loop": essays_from_data,
    "boundary with a route": orders_that_refuse,
    "empty": lambda: StateGraph(Count),
    "missing entry": lambda: line("A").set_entry_point("Nope"),
    "orphan": lambda: line("A").add_node("B", same),
    "plain cycle": lambda: line("A", "B").add_edge("B", "A"),
    "orphan and cycle": lambda: line("A", "B").add_edge("B", "A").add_node("Island", same),
    "dangling target": lambda: line("A").add_edge("A", "Missing"),
    "dangling source": lambda: line("A", "B").add_edge("Ghost", "B"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_gv24_the_export_of_a_graph_has_the_errors_that_compile_finds(name: str) -> None:
    graph = GRAPHS[name]()
    of_export = [problem for problem in graph.definition().problems() if problem.severity == "error"]
    of_builder = [problem for problem in graph.validate() if problem.severity == "error"]
    assert [(p.code, p.text, p.node, p.related) for p in of_builder] == [(p.code, p.text, p.node, p.related) for p in of_export]
    if of_builder:
        with pytest.raises(GraphInvalid):
            graph.compile()
    else:
        graph.compile()


def test_typ_08_what_leads_nowhere_or_comes_from_nowhere_does_not_compile() -> None:
    graph = line("A", "B").add_conditional_edge("B", "A", is_even).add_node("Island", same).add_edge("Island", "Typo")
    assert codes(graph.validate()) == [("DANGLING_EDGE", "Island", "Typo"), ("ORPHAN", "Island", None), ("NO_TERMINAL", "A", None)]


# Export


def recorded(name: str) -> bytes:
    return (WIRE / "definitions" / f"{name}.json").read_bytes()


def essays_with_metadata() -> StateGraph[Essay]:
    metadata = {"model": "small", "Agent": 'rev"iewer', "é": "ü"}
    return essays_from_data().set_node_metadata("review", metadata).set_node_metadata("draft", {})


def routes_of_no_node() -> StateGraph[Essay]:
    return essays_from_data().add_interrupt_boundary("ghost", on_reject="nowhere")


def publish_first() -> StateGraph[Essay]:
    return StateGraph(Essay).add_node("publish", publish).add_node("draft", draft).set_entry_point("draft").add_edge("draft", "publish")


def test_exports_are_the_engines_bytes() -> None:
    assert essays.definition().to_json() == recorded("essays")
    assert essays_from_data().definition().to_json() == recorded("essays_builder")
    assert orders.definition().to_json() == recorded("orders_boundary")
    assert order_nodes().add_interrupt_boundary("approve").definition().to_json() == recorded("orders_boundary")
    assert publish_first().definition().to_json() == recorded("entry_second")
    assert essays_with_metadata().definition().to_json() == recorded("metadata")


def test_broken_graphs_are_exported_as_the_engine_does() -> None:
    assert StateGraph(Essay).definition().to_json() == recorded("broken_empty")
    assert StateGraph(Essay).set_entry_point("ghost").add_node("draft", draft).definition().to_json() == recorded("broken_no_entry")
    assert routes_of_no_node().definition().to_json() == recorded("broken_boundary_not_a_node")


def test_gx4_reject_routes_come_last_in_node_order() -> None:
    graph = line("A", "B", "C").add_interrupt_boundary("C", on_reject="NoC").add_interrupt_boundary("B", on_reject="NoB")
    edges = [(edge.source, edge.target, edge.condition) for edge in graph.definition().edges]
    assert edges == [("A", "B", None), ("B", "C", None), ("B", "NoB", "on_reject"), ("C", "NoC", "on_reject")]


def test_gx11_an_unguarded_cycle_is_exported() -> None:
    exported = line("A", "B").add_edge("B", "A").definition()
    assert (exported.entry_point, len(exported.nodes), len(exported.edges)) == ("A", 2, 2)


def test_gn4_inline_and_pooled_builders_of_one_graph_export_the_same() -> None:
    pooled = StateGraph(Count).add_node("A", same).add_node("B", same).add_edge("A", "B")
    inline = StateGraph(Count).add_node("A", same, inline=True).add_node("B", same, inline=True).add_edge("A", "B")
    assert inline.definition() == pooled.definition()


def test_both_forms_of_a_graph_come_to_the_same() -> None:
    assert essays.definition() == essays_from_data().definition()
    decorated, from_data = essays.compile(), essays_from_data().compile()
    assert list(decorated.specs) == list(from_data.specs)
    for name, spec in decorated.specs.items():
        assert spec.body == from_data.specs[name].body
        assert [(way.target, way.guard) for way in spec.edges] == [(way.target, way.guard) for way in from_data.specs[name].edges]


def test_a_broken_graph_can_be_drawn() -> None:
    assert StateGraph(Count).mermaid().startswith("flowchart TD")
    assert "needs_work" in essays.mermaid()


V = TypeVar("V")


class Found(State, Generic[V]):
    value: V


class FoundNumber(Found[int]):
    pass


def test_a_generic_state_is_given_a_class_of_its_own() -> None:
    with pytest.raises(TypeError, match=r"derive a class from it, class Named\(Found\[int\]\)"):
        StateGraph(Found[int])
    assert StateGraph(FoundNumber).add_node("A", same_number).compile().state is FoundNumber


def same_number(found: FoundNumber) -> FoundNumber:
    return found
