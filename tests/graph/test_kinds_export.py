"""What is exported of every kind of node: the bytes of the recorded definitions, and the shared documents of the sheet."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from strata import (
    CompiledGraph,
    Definition,
    GraphWarning,
    StateGraph,
    all_of,
    branch,
    edge,
    first_matching,
    first_success,
    node,
    parallel,
    quorum,
    wait_for_event,
)
from tests.definitions import RECORDED, document, errors
from tests.graphs.batches import batches
from tests.graphs.books import books_over, books_over_orders, shelves_over
from tests.graphs.charge import busy, charge_after, with_manual
from tests.graphs.counts import Count, enter_item, first, is_even, items, leave, same
from tests.graphs.essays import Essay, essays, reviewed_essays
from tests.graphs.orders import Order, orders_with_routes
from tests.graphs.quotes import is_below_25, price, quotes
from tests.graphs.waits import event, timer, timer_until


def plain(*names: str, graph: StateGraph[Count] | None = None) -> StateGraph[Count]:
    """These nodes, behind those of `graph`."""
    made = StateGraph(Count) if graph is None else graph
    for name in names:
        made.add_node(name, same)
    return made


def line(graph: StateGraph[Count], *names: str) -> StateGraph[Count]:
    """The nodes one after another."""
    for start, to in pairwise(names):
        graph.add_edge(start, to)
    return graph


def group(graph: StateGraph[Count], name: str, *branches: str, **options: Any) -> StateGraph[Count]:
    return graph.add_parallel_group(name, [branch(part, same) for part in branches], first, **options)


def compiled(graph: Any, **options: Any) -> CompiledGraph[Any]:
    """Some of the recorded graphs are such as we warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        built: CompiledGraph[Any] = graph.compile(**options)
        return built


# The recorded definitions


def three(**options: Any) -> StateGraph[Any]:
    return quotes(price(30), price(10), price(20), **options)


def reviewed(**options: Any) -> CompiledGraph[Essay]:
    return compiled(reviewed_essays(), **options)


def event_order() -> CompiledGraph[Order]:
    return compiled(event(3600, route=True))


def branches_with_metadata() -> StateGraph[Count]:
    sellers = [branch("north", same), branch("south", same, metadata={"b": "2", "a": "1"}), branch("west", same)]
    return StateGraph(Count).add_parallel_group("quotes", sellers, first, metadata={"team": "buying"})


def readded_node() -> StateGraph[Count]:
    """The wait's timeout and its route go with it; the boundary stays."""
    graph = plain("a").add_wait_for_event("b", "paid", timeout=60, on_timeout="c").add_node("c", same)
    return line(graph, "a", "b", "c").add_interrupt_boundary("b").add_node("b", same)


WRITTEN: dict[str, Callable[[], Definition]] = {
    "charge_fallback": lambda: with_manual(charge_after(9, busy)).set_recovery_policy("charge", retries=1, fallback="manual").definition(),
    "orders_routes": lambda: orders_with_routes(reject=True, timeout=3600, route=True).definition(),
    "orders_boundary_timeout_end": lambda: orders_with_routes(timeout=60).definition(),
    "orders_boundary_timeout_fraction": lambda: orders_with_routes(timeout=1.5007).definition(),
    "orders_event": lambda: event(90, route=True).definition(),
    "orders_event_no_timeout": lambda: event().definition(),
    "orders_timer": lambda: timer(300).definition(),
    "orders_timer_until": lambda: timer_until().definition(),
    "quotes_all": lambda: three().definition(),
    "quotes_keep": lambda: three(partial="keep_succeeded").definition(),
    "quotes_quorum": lambda: three(join=quorum(2)).definition(),
    "quotes_first_success": lambda: three(join=first_success(), max_concurrency=2, branch_timeout=60).definition(),
    "quotes_first_matching": lambda: three(join=first_matching(is_below_25, description="a price below 25"), partial="keep_succeeded").definition(),
    "batch_map": lambda: batches().definition(),
    "batch_map_quorum": lambda: batches(join=quorum(2)).compile(id="batches", version="2").definition(),
    "books_subgraph": lambda: books_over(compiled(essays)).definition(),
    "books_subgraph_identities": lambda: compiled(books_over(reviewed(id="essays", version="7")), id="books", version="1").definition(),
    "shelves_nested": lambda: shelves_over(compiled(books_over(reviewed()))).definition(),
    "books_event_subgraph": lambda: books_over_orders(event_order()).definition(),
    "metadata_branches": lambda: branches_with_metadata().definition(),
    "readded_node": lambda: readded_node().definition(),
}

ELSEWHERE = {
    "essays", "essays_builder", "essays_identity", "essays_identity_unversioned", "orders_boundary", "orders_boundary_identity",
    "metadata", "entry_second", "broken_boundary_not_a_node", "broken_empty", "broken_no_entry",
}  # fmt: skip
"""Definitions without any such node: test_builder.py and test_compile.py write them."""


@pytest.mark.parametrize("name", WRITTEN)
def test_exports_are_the_engines_bytes(name: str) -> None:
    assert WRITTEN[name]().to_json() == (RECORDED / "definitions" / f"{name}.json").read_bytes()


def test_every_recorded_definition_is_written() -> None:
    assert {path.stem for path in (RECORDED / "definitions").glob("*.json")} == {*WRITTEN, *ELSEWHERE}


# The shared documents


def d1() -> Definition:
    graph = line(plain("Intake", "Charge", "Ship", "ManualReview"), "Intake", "Charge", "Ship")
    graph.add_conditional_edge("Ship", "Intake", is_even).set_recovery_policy("Charge", retries=2, fallback="ManualReview")
    return graph.compile().definition()


def d2() -> Definition:
    graph = plain("Plan", "Approve").add_wait_for_event("Deploying", "deployment.finished", timeout=timedelta(hours=1), on_timeout="Rollback")
    plain("Check", graph=graph).add_timer("Window", timedelta(minutes=5), metadata={"purpose": "verification window"})
    plain("Close", "Abort", "Escalate", "Rollback", graph=graph)
    line(graph, "Plan", "Approve", "Deploying", "Check").add_conditional_edge("Check", "Window", is_even)
    graph.add_edge("Check", "Close").add_edge("Window", "Check")
    graph.add_interrupt_boundary("Approve", on_reject="Abort", timeout=timedelta(minutes=30), on_timeout="Escalate")
    return graph.compile().definition()


def d3() -> Definition:
    review = line(plain("Draft", "Sign"), "Draft", "Sign").add_interrupt_boundary("Sign")
    graph = plain("Plan", "Approve").set_node_metadata("Approve", {"role": "release-manager"})
    group(graph, "Gather", "Logs", "Metrics").add_subgraph("Review", compiled(review), enter=same, leave=leave)
    graph.add_map("Fan", plain("Check").compile(), items=items, key=str, enter=enter_item, merge=first)
    line(plain("Ship", "Abort", "Escalate", graph=graph), "Plan", "Approve", "Gather", "Review", "Fan", "Ship")
    graph.add_interrupt_boundary("Approve", on_reject="Abort", timeout=1800, on_timeout="Escalate").add_interrupt_boundary("Gather")
    graph.add_interrupt_boundary("Review", timeout=3600).add_interrupt_boundary("Fan", timeout=300)
    return graph.compile(id="release", version="2").definition()


def d4() -> Definition:
    graph = StateGraph(Count)
    specialists = ("telemetry", "kubernetes", "database")
    group(graph, "Specialists", *specialists, partial="keep_succeeded", branch_timeout=45, max_concurrency=2)
    match = first_matching(is_even, description="validated, confidence >= 0.9")
    group(graph, "Race", "openai", "anthropic", "local", join=match, partial="keep_succeeded")
    group(graph, "Fastest", "primary", "secondary", join=first_success(), cancel_siblings=False)
    group(graph, "Majority", "openai", "anthropic", "local", join=quorum(2))
    group(graph, "Plain", "a", "b")
    return line(graph, "Specialists", "Race", "Fastest", "Majority", "Plain").compile().definition()


def d5() -> Definition:
    apply = plain("Apply").add_subgraph("Check", plain("Probe").compile(), enter=same, leave=leave)
    remediate = line(apply, "Apply", "Check").compile(id="remediation")
    graph = plain("Plan").add_subgraph("Remediate", remediate, enter=same, leave=leave)
    return line(plain("Report", graph=graph), "Plan", "Remediate", "Report").compile(id="incident", version="1").definition()


def hierarchy() -> StateGraph[Count]:
    """D6, before it is compiled."""
    fix = line(plain("Apply", "Verify").set_node_metadata("Apply", {"tool": "kubectl"}), "Apply", "Verify")
    remediate = plain("Plan", "Approve").add_subgraph("Fix", fix.compile(), enter=same, leave=leave, metadata={"agent": "fixer"})
    line(plain("Abort", graph=remediate), "Plan", "Approve", "Fix").add_interrupt_boundary("Approve", on_reject="Abort")
    graph = plain("Triage").set_node_metadata("Triage", {"model_policy": "ops-reasoning-standard", "agent": "triage"})
    group(graph, "Investigate", "Kubernetes", "Prometheus", "GitHub")
    graph.set_branch_metadata("Investigate", "Kubernetes", {"agent": "kubernetes-investigator"})
    graph.set_branch_metadata("Investigate", "Prometheus", {"agent": "metrics-investigator"})
    graph.add_subgraph("Remediate", remediate.compile(), enter=same, leave=leave, metadata={"agent": "remediator"})
    return line(plain("Report", graph=graph), "Triage", "Investigate", "Remediate", "Report")


def d7() -> Definition:
    assess = group(plain("Assess"), "Probe", "logs", "metrics").add_subgraph("Deep", plain("Dig").compile(), enter=same, leave=leave)
    child = line(assess, "Assess", "Probe", "Deep").compile()
    graph = plain("Generate").add_map("Investigate", child, items=items, key=str, enter=enter_item, merge=first)
    graph.set_node_metadata("Investigate", {"key": "hypothesis id", "items": "hypotheses"})
    graph.add_map(
        "Confirm", plain("Check").compile(), items=items, key=str, enter=enter_item, merge=first, max_concurrency=3, item_timeout=30,
        max_items=5, join=first_matching(is_even, description="confidence >= 0.9"), partial="keep_succeeded",
    )  # fmt: skip
    group(graph, "Notify", "email", "chat", join=first_success())
    return line(graph, "Generate", "Investigate", "Confirm", "Notify").compile().definition()


DOCUMENTS: dict[str, Callable[[], Definition]] = {
    "D1": d1,
    "D2": d2,
    "D3": d3,
    "D4": d4,
    "D5": d5,
    "D6": lambda: hierarchy().compile().definition(),
    "D7": d7,
}


@pytest.mark.parametrize("number", DOCUMENTS)
def test_gx1_the_recipe_of_a_shared_document_gives_that_document(number: str) -> None:
    definition = DOCUMENTS[number]()
    assert json.loads(definition.to_json()) == json.loads(document(number))
    assert Definition.from_json(definition.to_json()) == definition
    assert [problem for problem in definition.problems() if problem.severity == "error"] == []


def test_wt44_timeout_routes_stand_last_and_keep_their_nodes_reachable() -> None:
    definition = d2()
    assert [one.condition for one in definition.edges[-3:]] == ["on_reject", "on_timeout", "on_timeout"]
    cut = msgspec.structs.replace(definition, edges=tuple(one for one in definition.edges if one.condition != "on_timeout"))
    assert errors(cut.problems()) == [("ORPHAN", "Escalate", None), ("ORPHAN", "Rollback", None)]


def test_gb2_adding_nodes_again_as_plain_ones_drops_what_was_inside() -> None:
    exported = plain("Remediate", "Investigate", graph=hierarchy()).definition()
    assert exported.schema_version == "1.0.0"
    assert [one.kind for one in exported.nodes] == [None] * 4
    assert exported.nodes[2].metadata == {"agent": "remediator"}


# Cases of the sheet


def conditions(graph: StateGraph[Any]) -> list[tuple[str, str, str | None]]:
    return [(one.source, one.target, one.condition) for one in graph.definition().edges]


def test_gx2_what_a_compiled_graph_exports_is_what_its_builder_does() -> None:
    assert hierarchy().compile().definition() == hierarchy().definition()


def test_gx3_fallbacks_stand_in_node_order_and_are_guarded() -> None:
    graph = line(plain("First", "Second", "Third", "Rescue"), "First", "Second", "Third")
    for name in ("Third", "First", "Second"):
        graph.set_recovery_policy(name, fallback="Rescue")
    assert conditions(graph)[2:] == [("First", "Rescue", "on_failure"), ("Second", "Rescue", "on_failure"), ("Third", "Rescue", "on_failure")]
    assert all(one.guarded for one in graph.definition().edges if one.condition)


def test_gx4_edges_then_fallbacks_then_reject_routes_then_timeout_routes() -> None:
    graph = line(plain("A", "B", "C", "Rescue"), "A", "B", "C")
    graph.add_interrupt_boundary("C", on_reject="NoC", timeout=1, on_timeout="Rescue").add_interrupt_boundary("B", on_reject="NoB")
    graph.set_recovery_policy("A", fallback="Rescue").set_recovery_policy("Ghost", fallback="Rescue")
    assert conditions(graph) == [
        ("A", "B", None),
        ("B", "C", None),
        ("A", "Rescue", "on_failure"),
        ("B", "NoB", "on_reject"),
        ("C", "NoC", "on_reject"),
        ("C", "Rescue", "on_timeout"),
    ]


def test_gx5_plain_nodes_fallbacks_and_edges_are_of_the_first_version() -> None:
    exported = line(plain("A", "B"), "A", "B").set_recovery_policy("A", fallback="B").definition()
    assert exported.schema_version == "1.0.0"
    assert not any(key in exported.to_json() for key in (b"kind", b"branches", b"graph"))


def test_gx6_each_level_has_the_version_of_its_own_content() -> None:
    remediate = hierarchy().definition().nodes[2].graph
    assert remediate is not None
    fix = remediate.nodes[2].graph
    assert fix is not None
    assert (hierarchy().definition().schema_version, remediate.schema_version, fix.schema_version) == ("1.1.0", "1.6.0", "1.0.0")


@pytest.mark.parametrize(
    ("seconds", "milliseconds"), [(2.500700, 2500), (timedelta(seconds=2, microseconds=500_700), 2500), (1.001, 1001), (0.0004, 0)]
)
def test_gx7_durations_are_whole_milliseconds_cut_off_downwards(seconds: Any, milliseconds: int) -> None:
    interrupt = plain("A").add_interrupt_boundary("A", timeout=seconds).definition().nodes[0].interrupt
    assert interrupt is not None
    assert interrupt.timeout_ms == milliseconds


def test_gx8_a_timer_that_is_marked_a_boundary_is_written_without_an_interrupt() -> None:
    exported = line(plain("A").add_timer("T", 1).add_interrupt_boundary("T"), "A", "T").definition()
    assert exported.nodes[1].interrupt is None
    assert Definition.from_json(exported.to_json()) == exported


def test_gx9_a_default_join_is_not_written() -> None:
    default = group(StateGraph(Count), "G", "a", join=all_of(), max_concurrency=1).definition()
    assert (default.schema_version, default.nodes[0].join) == ("1.1.0", None)
    kept = group(StateGraph(Count), "G", "a", partial="keep_succeeded").definition()
    assert kept.nodes[0].join is not None
    assert kept.nodes[0].join.policy == "all"


def due(count: Count) -> datetime:
    return datetime.fromtimestamp(count.n, UTC)


def test_gx10_what_a_timer_or_a_join_does_not_have_is_null() -> None:
    waiting = StateGraph(Count).add_timer("T", until=due).definition().to_json()
    assert b'"wait":{"kind":"timer","event_type":null,"delay_ms":null,"timeout_ms":null}' in waiting
    matching = group(StateGraph(Count), "G", "a", join=first_matching(is_even)).definition().nodes[0].join
    assert matching is not None
    assert matching.condition is None


def test_gb3_metadata_of_a_branch_stays_when_the_group_is_added_again_and_is_replaced_as_a_whole() -> None:
    graph = group(StateGraph(Count), "G", "a").set_branch_metadata("G", "a", {"team": "x", "model": "m"})
    assert metadata_of_branch(group(graph, "G", "a")) == {"team": "x", "model": "m"}
    assert metadata_of_branch(graph.set_branch_metadata("G", "a", {"team": "y"})) == {"team": "y"}


def metadata_of_branch(graph: StateGraph[Count]) -> object:
    branches = graph.definition().nodes[0].branches
    assert branches is not None
    return branches[0].metadata


def test_gb7_metadata_of_an_unknown_branch_is_left_out() -> None:
    exported = group(StateGraph(Count), "G", "a").set_branch_metadata("G", "Ghost", {"k": "v"}).definition()
    assert [(one.name, one.metadata) for one in exported.nodes[0].branches or ()] == [("a", None)]


def test_gb20_a_boundary_marked_again_without_a_timeout_has_none() -> None:
    graph = plain("A", "B").add_edge("A", "B").add_interrupt_boundary("A", timeout=3, on_timeout="B").add_interrupt_boundary("A")
    assert graph.definition().nodes[0].interrupt is not None
    assert b'"interrupt":{"timeout_ms":null}' in graph.definition().to_json()
    assert conditions(graph) == [("A", "B", None)]


# Adding a name again (strata-graph.md 1.3)


def test_a_wait_takes_the_timeout_route_of_its_name() -> None:
    graph = plain("A", "B", "C").add_interrupt_boundary("A", timeout=3, on_timeout="B").add_wait_for_event("A", "paid", timeout=3, on_timeout="C")
    assert conditions(graph) == [("A", "C", "on_timeout")]
    assert conditions(graph.add_wait_for_event("A", "paid")) == []


def test_a_node_added_again_keeps_its_policy() -> None:
    graph = plain("A", "B").set_recovery_policy("A", retries=2, fallback="B")
    group(graph, "A", "x")
    assert conditions(graph) == [("A", "B", "on_failure")]


# Both forms come to the same


def test_decorated_kinds_export_as_those_from_data() -> None:
    @parallel(branch("north", same), branch("south", same), name="G", join=quorum(1), metadata={"k": "v"})
    @edge("W")
    def merged(count: Count, results: list[Count]) -> Count:
        return results[0]

    @wait_for_event("paid", name="W", timeout=3)
    @edge("End")
    def paid(count: Count) -> Count:
        return count

    @node("End")
    def end(count: Count) -> Count:
        return count

    from_data = group(StateGraph(Count), "G", "north", "south", join=quorum(1), metadata={"k": "v"})
    plain("End", graph=from_data.add_wait_for_event("W", "paid", timeout=3))
    assert StateGraph(Count).start(merged).nodes(paid, end).definition() == line(from_data, "G", "W", "End").definition()
