"""What compile finds in graphs of every kind of node: refusals, structure through a child, warnings, and where they stand."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from strata import (
    Backoff,
    CompiledGraph,
    GraphInvalid,
    Place,
    Problem,
    StateGraph,
    boundary,
    branch,
    edge,
    first_success,
    map_each,
    node,
    on_failure,
    on_reject,
    on_timeout,
    parallel,
    quorum,
    retry,
    subgraph,
    timer,
    wait_for_event,
    when,
)
from strata.graph.spec import EventWaitBody
from tests.definitions import errors
from tests.graphs.batches import batches
from tests.graphs.counts import Count, enter_item, first, is_even, items, leave, same
from tests.graphs.waits import event

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


def plain(*names: str) -> StateGraph[Count]:
    graph = StateGraph(Count)
    for name in names:
        graph.add_node(name, same)
    return graph


def group(name: str, *branches: str, **options: Any) -> StateGraph[Count]:
    return StateGraph(Count).add_parallel_group(name, [branch(part, same) for part in branches], first, **options)


def over(name: str, child: CompiledGraph[Count]) -> StateGraph[Count]:
    """A subgraph alone."""
    return StateGraph(Count).add_subgraph(name, child, enter=same, leave=leave)


def map_over(name: str, child: CompiledGraph[Count], **options: Any) -> StateGraph[Count]:
    return StateGraph(Count).add_map(name, child, items=items, key=str, enter=enter_item, merge=first, **options)


def reviewing() -> CompiledGraph[Count]:
    """`assess`, at which it pauses, then `end`."""
    return plain("assess", "end").add_edge("assess", "end").add_interrupt_boundary("assess").compile()


def waiting(name: str) -> CompiledGraph[Count]:
    return StateGraph(Count).add_timer(name, 3).add_node("end", same).add_edge(name, "end").compile()


def texts(graph: Any) -> list[str]:
    return [problem.text for problem in graph.validate()]


def cautions(graph: Any) -> list[tuple[str, str | None]]:
    return [(problem.code.removeprefix("STRATA_PY_"), problem.node) for problem in graph.validate() if problem.severity == "warning"]


# Refusals of the sheet


def test_gb5_groups_and_subgraphs_export_their_metadata_and_compile() -> None:
    graph = group("group", "a", metadata={"role": "group"})
    graph.add_subgraph("sub", plain("A").compile(), enter=same, leave=leave, metadata={"role": "sub"}).add_edge("group", "sub")
    assert [(one.name, one.metadata) for one in graph.compile().definition().nodes] == [("group", {"role": "group"}), ("sub", {"role": "sub"})]


def test_gb7_metadata_of_an_unknown_branch_is_refused() -> None:
    graph = group("G", "A").set_branch_metadata("G", "Ghost", {"k": "v"})
    assert texts(graph) == ["metadata set for branch 'Ghost' of parallel group 'G', which does not exist"]


def test_gb8_metadata_keys_of_a_branch() -> None:
    graph = group("G", "B").set_branch_metadata("G", "B", {"strata.agent": "x", "": "y"})
    assert texts(graph) == [
        "metadata on branch 'B' of parallel group 'G' has an empty key",
        "metadata key 'strata.agent' on branch 'B' of parallel group 'G' is reserved",
    ]


@pytest.mark.parametrize("graph", [group("N", "a"), over("N", plain("A").compile()), map_over("N", plain("A").compile()), plain("N")])
def test_gb9_a_policy_on_a_composite_or_any_other_node_but_a_wait_is_accepted(graph: StateGraph[Count]) -> None:
    assert graph.set_recovery_policy("N", retries=2).compile().specs["N"].recovery is not None


def test_gb9_a_policy_on_a_wait_is_refused() -> None:
    graph = event().set_recovery_policy("await_payment", retries=1)
    assert texts(graph) == ["recovery policy set for 'await_payment', which is not a fallible node"]


def test_ex34_a_fallback_to_no_node_and_a_backoff_below_its_start_are_refused() -> None:
    graph = plain("A").set_recovery_policy("A", retries=1, backoff=Backoff(initial=2, maximum=1), fallback="Nope")
    assert texts(graph) == [
        "recovery policy for 'A' falls back to 'Nope', which does not exist",
        "recovery policy for 'A' has a backoff whose max (1000 ms) is below its initial delay (2000 ms)",
    ]


def test_ex34_a_policy_on_a_plain_node_is_accepted() -> None:
    spec = plain("A", "B").add_edge("A", "B").set_recovery_policy("A", retries=3, fallback="B").compile().specs["A"]
    assert spec.recovery is not None
    assert (spec.recovery.retries, spec.recovery.fallback) == (3, "B")


def test_gb10_a_fallback_to_no_node_is_told_once_and_dangles_in_the_export() -> None:
    graph = plain("Charge").set_recovery_policy("Charge", fallback="Nope")
    [problem] = graph.validate()
    assert problem.text == "recovery policy for 'Charge' falls back to 'Nope', which does not exist"
    assert errors([problem]) == [("DANGLING_EDGE", "Charge", "Nope")]
    assert errors(graph.definition().problems()) == [("DANGLING_EDGE", "Charge", "Nope")]


def test_gb11_a_backoff_whose_maximum_is_below_its_initial_delay() -> None:
    backoff = Backoff(initial=timedelta(seconds=2), maximum=1)
    graph = plain("Charge").set_recovery_policy("Charge", retries=1, backoff=backoff)
    assert texts(graph) == ["recovery policy for 'Charge' has a backoff whose max (1000 ms) is below its initial delay (2000 ms)"]


def test_gb15_a_group_without_branches_or_with_two_of_one_name() -> None:
    [empty] = group("G").validate()
    assert (empty.code, empty.node, empty.text) == ("STRATA_ERR_EMPTY_GROUP", "G", "parallel group 'G' has no branches")
    [double] = group("G", "B", "B").validate()
    assert (double.code, double.node, double.related) == ("STRATA_ERR_DUPLICATE_BRANCH", "G", "B")
    assert double.text == "parallel group 'G' has more than one branch named 'B'"
    assert errors(group("G").definition().problems()) == [("EMPTY_GROUP", "G", None)]
    assert errors(group("G", "B", "B").definition().problems()) == [("DUPLICATE_BRANCH", "G", "B")]


def test_gb16_limits_below_one_and_times_of_zero() -> None:
    assert texts(group("G", "a", max_concurrency=0, branch_timeout=0)) == [
        "parallel group 'G' has a max_concurrency of 0; it must be at least 1",
        "parallel group 'G' has a branch timeout of zero; it must be greater than zero",
    ]
    assert texts(map_over("Investigate", plain("A").compile(), max_concurrency=0, item_timeout=0, max_items=0)) == [
        "map 'Investigate' has a max_concurrency of 0; it must be at least 1",
        "map 'Investigate' has an item timeout of zero; it must be greater than zero",
        "map 'Investigate' has a max_items of 0; it must be at least 1",
    ]


def test_ex83_a_group_that_is_added_again_as_a_plain_node_compiles() -> None:
    for faulty in (group("G"), group("G", "a", "a"), group("G", "a", max_concurrency=0), group("G", "a", branch_timeout=0)):
        assert len(faulty.validate()) == 1
        assert faulty.add_node("G", same).compile().entry == "G"


def test_ex95_a_quorum_above_the_branches() -> None:
    [problem] = group("Vote", "a", "b", join=quorum(3)).validate()
    assert (problem.code, problem.node) == ("STRATA_ERR_INVALID_QUORUM", "Vote")


def test_ex100_limits_of_a_map() -> None:
    assert texts(batches(max_concurrency=0)) == ["map 'translate' has a max_concurrency of 0; it must be at least 1"]
    assert texts(batches(item_timeout=0)) == ["map 'translate' has an item timeout of zero; it must be greater than zero"]
    assert texts(batches(max_items=0)) == ["map 'translate' has a max_items of 0; it must be at least 1"]
    assert errors(batches(join=quorum(0)).validate()) == [("INVALID_QUORUM", "translate", None)]
    assert batches(join=quorum(50)).compile().entry == "list"


def test_gb17_a_map_over_a_graph_with_a_boundary_names_its_path() -> None:
    graph = map_over("Investigate", reviewing())
    assert texts(graph) == ["map 'Investigate' runs a graph with an interrupt boundary at 'assess'; a map item can't freeze"]
    graph = map_over("Investigate", over("Review", reviewing()).compile())
    assert texts(graph) == ["map 'Investigate' runs a graph with an interrupt boundary at 'Review/assess'; a map item can't freeze"]


def test_gb18_a_map_over_a_graph_with_a_wait_names_its_path() -> None:
    assert texts(map_over("Fan", waiting("Window"))) == ["map 'Fan' runs a graph with a wait at 'Window'; a map item can't freeze"]
    graph = map_over("Fan", over("Verify", waiting("Window")).compile())
    assert texts(graph) == ["map 'Fan' runs a graph with a wait at 'Verify/Window'; a map item can't freeze"]


def test_ex111_a_boundary_on_a_name_that_is_no_node_does_not_count() -> None:
    with pytest.warns(UserWarning, match="Ghost"):
        child = plain("assess").add_interrupt_boundary("Ghost").compile()
    assert map_over("Fan", child).validate() == ()
    assert errors(map_over("Fan", reviewing()).validate()) == [("BOUNDARY_IN_MAP", "Fan/*/assess", None)]
    assert errors(map_over("Fan", over("Review", reviewing()).compile()).validate()) == [("BOUNDARY_IN_MAP", "Fan/*/Review/assess", None)]
    assert errors(map_over("Fan", over("Verify", waiting("Window")).compile()).validate()) == [("WAIT_IN_MAP", "Fan/*/Verify/Window", None)]


def test_every_pause_of_an_item_is_told_at_once() -> None:
    child = waiting("Window")
    both = over("Review", reviewing()).add_subgraph("Verify", child, enter=same, leave=leave).add_edge("Review", "Verify").compile()
    assert [problem.node for problem in map_over("Fan", both).validate()] == ["Fan/*/Review/assess", "Fan/*/Verify/Window"]


def test_gb19_times_of_waits_and_boundaries() -> None:
    assert texts(line("A").add_timer("Wait", 0).add_edge("A", "Wait").add_node("End", same).add_edge("Wait", "End")) == [
        "timer 'Wait' has a delay of zero; it must be greater than zero"
    ]
    assert texts(ended(StateGraph(Count).add_wait_for_event("Wait", "paid", on_timeout="End"))) == ["wait 'Wait' has a timeout route but no timeout"]
    assert texts(ended(StateGraph(Count).add_wait_for_event("Wait", "paid")).add_interrupt_boundary("Wait")) == [
        "'Wait' is a wait node and can't also be an interrupt boundary"
    ]
    assert texts(line("Approve", "End").add_interrupt_boundary("Approve", timeout=0)) == [
        "interrupt boundary 'Approve' has a timeout of zero; it must be greater than zero"
    ]
    assert texts(line("Approve", "End").add_interrupt_boundary("Approve", on_timeout="End")) == [
        "interrupt boundary 'Approve' has a timeout route but no timeout"
    ]


def test_a_time_below_zero_is_told_as_it_is() -> None:
    assert texts(line("A").add_timer("Wait", -1).add_edge("A", "Wait").add_node("End", same).add_edge("Wait", "End")) == [
        "timer 'Wait' has a delay of -1 s; it must be greater than zero"
    ]
    assert texts(ended(StateGraph(Count).add_wait_for_event("Wait", "paid", timeout=-0.5))) == [
        "wait 'Wait' has a timeout of -0.5 s; it must be greater than zero"
    ]
    assert texts(line("Approve", "End").add_interrupt_boundary("Approve", timeout=-1)) == [
        "interrupt boundary 'Approve' has a timeout of -1 s; it must be greater than zero"
    ]
    assert texts(group("G", "a", branch_timeout=-2)) == ["parallel group 'G' has a branch timeout of -2 s; it must be greater than zero"]


def line(*names: str) -> StateGraph[Count]:
    graph = plain(*names)
    for start, to in pairwise(names):
        graph.add_edge(start, to)
    return graph


def ended(graph: StateGraph[Count]) -> StateGraph[Count]:
    """With an end behind `Wait`."""
    return graph.add_node("End", same).add_edge("Wait", "End")


def test_ex48_a_timeout_of_zero_or_on_no_node_is_refused_on_every_kind() -> None:
    assert texts(group("G", "a", timeout=0)) == ["timeout for 'G' must be greater than zero"]
    assert texts(over("S", plain("A").compile()).set_timeout("Ghost", 1)) == ["timeout set for 'Ghost', which does not exist"]


def test_all_refusals_stand_in_the_order_of_the_sheet() -> None:
    graph = group("G", metadata={"": "x"}).add_timer("T", 0).add_interrupt_boundary("G", timeout=0)
    graph.add_map("M", plain("A").compile(), items=items, key=str, enter=enter_item, merge=first, max_items=0)
    graph.set_recovery_policy("T", retries=1).set_timeout("G", 0).set_branch_metadata("G", "x", {"k": "v"})
    graph.add_edge("G", "T").add_edge("T", "M")
    with pytest.raises(GraphInvalid) as raised:
        graph.compile(max_node_hops=0)
    assert [problem.text for problem in raised.value.problems] == [
        "max_node_hops must be at least 1",
        "parallel group 'G' has no branches",
        "map 'M' has a max_items of 0; it must be at least 1",
        "timer 'T' has a delay of zero; it must be greater than zero",
        "interrupt boundary 'G' has a timeout of zero; it must be greater than zero",
        "recovery policy set for 'T', which is not a fallible node",
        "timeout for 'G' must be greater than zero",
        "metadata on node 'G' has an empty key",
        "metadata set for branch 'x' of parallel group 'G', which does not exist",
    ]


# Structure, through children


def test_gb21_a_graph_with_a_boundary_on_no_node_is_accepted_as_a_child() -> None:
    with pytest.warns(UserWarning, match="Ghost"):
        child = plain("A").add_interrupt_boundary("Ghost").compile()
    assert over("S", child).validate() == ()


def test_gv13_a_timeout_route_to_no_node_is_a_dangling_edge() -> None:
    graph = line("Approve", "End").add_interrupt_boundary("Approve", timeout=3, on_timeout="Nowhere")
    assert errors(graph.validate()) == [("DANGLING_EDGE", "Approve", "Nowhere")]


def test_gv19_a_bad_quorum_of_a_group() -> None:
    [problem] = group("Vote", "a", "b", join=quorum(3)).validate()
    assert problem.text == "Parallel group 'Vote' has a quorum of 3, which isn't between 1 and its 2 branches."


def test_gv20_a_map_has_no_upper_bound_for_its_quorum() -> None:
    [problem] = map_over("Investigate", plain("A").compile(), join=quorum(0)).validate()
    assert problem.text == "Map 'Investigate' has a quorum of 0, which isn't at least 1."
    assert map_over("Investigate", plain("A").compile(), join=quorum(50)).validate() == ()


def test_gv24_group_and_subgraph_get_the_same_verdict_from_their_export() -> None:
    graph = group("G", "a", "b").add_subgraph("S", plain("A").compile(), enter=same, leave=leave).add_edge("G", "S")
    assert graph.validate() == graph.definition().problems() == ()


def test_gv25_a_boundary_with_a_timeout_needs_no_route() -> None:
    assert line("A", "B").add_interrupt_boundary("A", timeout=3).validate() == ()


# Errors and warnings of ours


def test_a_guard_behind_a_wait_is_an_error() -> None:
    graph = ended(StateGraph(Count).add_wait_for_event("Wait", "paid")).add_conditional_edge("Wait", "End", is_even)
    assert "STRATA_PY_GUARD_BEHIND_WAIT" in [problem.code for problem in graph.validate() if problem.severity == "error"]


@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_blank_event_type_is_an_error_here_and_a_warning_in_a_file(blank: str) -> None:
    graph = ended(StateGraph(Count).add_wait_for_event("Wait", blank))
    [problem] = graph.validate()
    assert (problem.code, problem.severity) == ("STRATA_PY_BLANK_EVENT_TYPE", "error")
    [caution] = graph.definition().problems()
    assert (caution.code, caution.severity) == ("STRATA_PY_BLANK_EVENT_TYPE", "warning")


def test_a_branch_with_a_slash_in_its_name_is_an_error() -> None:
    assert [problem.code for problem in group("G", "a/b").validate()] == ["STRATA_PY_SLASH_IN_NAME"]


def test_a_wait_without_a_way_out_is_a_warning() -> None:
    assert cautions(StateGraph(Count).add_timer("T", 3)) == [("NO_WAY_OUT", "T")]


def test_a_loop_of_fallbacks_is_a_warning() -> None:
    graph = line("A", "B").set_recovery_policy("A", fallback="B").set_recovery_policy("B", fallback="A")
    assert [code for code, _ in cautions(graph)] == ["FALLBACK_LOOP"]


def test_a_child_that_is_compiled_otherwise_durable_is_a_warning() -> None:
    fleeting = plain("A").compile(durable=False)
    assert cautions(over("S", fleeting)) == [("CHILD_DURABILITY", "S")]
    assert over("S", fleeting).compile(durable=False).warnings == ()
    assert cautions(map_over("M", fleeting)) == [("CHILD_DURABILITY", "M")]


@pytest.mark.parametrize(
    "graph",
    [
        group("N", "a", timeout=0.0005),
        group("N", "a", branch_timeout=0.0005),
        map_over("N", plain("A").compile(), item_timeout=0.0005),
        line("N", "B").add_interrupt_boundary("N", timeout=0.0005),
        StateGraph(Count).add_wait_for_event("N", "paid", timeout=0.0005).add_node("B", same).add_edge("N", "B"),
        StateGraph(Count).add_timer("N", timedelta(microseconds=500)).add_node("B", same).add_edge("N", "B"),
    ],
)
def test_a_time_below_a_millisecond_is_a_warning(graph: StateGraph[Count]) -> None:
    assert cautions(graph) == [("TIMEOUT_BELOW_MILLISECOND", "N")]


# Payloads


class Payment(msgspec.Struct):
    amount: int


def payload_in(graph: CompiledGraph[Any], name: str) -> object:
    body = graph.specs[name].body
    assert isinstance(body, EventWaitBody)
    return body.payload


def test_the_payload_is_what_annotates_the_folds_second_parameter() -> None:
    @wait_for_event("paid", name="Wait")
    @edge("End")
    def paid(count: Count, payment: Later) -> Count:
        return count

    graph = StateGraph(Count).start(paid).nodes(node("End")(same)).compile()
    assert payload_in(graph, "Wait") is Later


class Later(msgspec.Struct):
    """Defined behind the node that names it."""

    amount: int


def test_without_an_annotation_the_payload_is_any_json_value() -> None:
    fold: Any = eval("lambda count, payment: count")
    assert payload_in(ended(StateGraph(Count).add_wait_for_event("Wait", "paid", fold=fold)).compile(), "Wait") is Any
    given = StateGraph(Count).add_wait_for_event("Wait", "paid", fold=fold, payload=Payment)
    assert payload_in(ended(given).compile(), "Wait") is Payment


def test_a_payload_that_is_known_to_checkers_only_is_an_error_that_says_so() -> None:
    @wait_for_event("paid", name="Wait")
    @edge("End")
    def paid(count: Count, payment: OnlyForCheckers) -> Count:
        return count

    [problem] = StateGraph(Count).start(paid).nodes(node("End")(same)).validate()
    assert (problem.code, problem.node, problem.place) == ("STRATA_PY_PAYLOAD_TYPE", "Wait", paid.spec.place)
    assert "OnlyForCheckers" in problem.text


class Card(msgspec.Struct):
    number: str


def test_a_payload_that_no_json_can_be_read_as_is_an_error() -> None:
    def fold(count: Count, payment: Payment | Card) -> Count:
        return count

    [problem] = ended(StateGraph(Count).add_wait_for_event("Wait", "paid", fold=fold)).validate()
    assert (problem.code, problem.node) == ("STRATA_PY_PAYLOAD_TYPE", "Wait")


# Places


def test_faults_of_every_kind_stand_at_their_lines() -> None:
    @parallel(branch("a", same), branch("a", same), name="group", max_concurrency=0)
    @retry(1, backoff=Backoff(initial=2, maximum=1))
    @on_failure("lost")
    @edge("sub")
    def group_node(count: Count, results: list[Count]) -> Count:
        return count

    @subgraph(plain("A").compile(durable=False), enter=same, name="sub")
    @boundary(timeout=0)
    @on_timeout("nowhere")
    @edge("wait")
    def sub_node(count: Count, child: Count) -> Count:
        return count

    @wait_for_event("paid", name="wait")
    @on_timeout("group")
    @when(is_even, to="timer")
    def wait_node(count: Count) -> Count:
        return count

    @timer(0, name="timer")
    @edge("map")
    def timer_node(count: Count) -> Count:
        return count

    @map_each(reviewing(), items=items, key=str, enter=enter_item, name="map")
    def map_node(count: Count, results: list[Count]) -> Count:
        return count

    graph = StateGraph(Count).start(group_node).nodes(sub_node, wait_node, timer_node, map_node)
    places = {(problem.code.removeprefix("STRATA_ERR_").removeprefix("STRATA_PY_"), problem.node): offset(problem) for problem in graph.validate()}
    policy, mark = group_node.spec.recovery, sub_node.spec.boundary
    assert policy is not None
    assert mark is not None
    assert places == {
        ("DUPLICATE_BRANCH", "group"): line_of(group_node.spec.place),
        ("CONCURRENCY_NOT_POSITIVE", "group"): line_of(group_node.spec.place),
        ("BOUNDARY_IN_MAP", "map/*/assess"): line_of(map_node.spec.place),
        ("ROUTE_WITHOUT_TIMEOUT", "wait"): line_of(wait_node.spec.place),
        ("DELAY_NOT_POSITIVE", "timer"): line_of(timer_node.spec.place),
        ("TIMEOUT_NOT_POSITIVE", "sub"): line_of(mark.place),
        ("DANGLING_EDGE", "group"): line_of(policy.fallback_place),
        ("BACKOFF_BELOW_INITIAL", "group"): line_of(policy.place),
        ("DANGLING_EDGE", "sub"): line_of(mark.on_timeout_place),
        ("GUARD_BEHIND_WAIT", "wait"): line_of(wait_node.spec.edges[0].place),
        ("CHILD_DURABILITY", "sub"): line_of(sub_node.spec.place),
    }


def offset(problem: Problem) -> int:
    return line_of(problem.place)


def line_of(place: Place | None) -> int:
    assert place is not None
    assert place.file == __file__
    return place.line


# What a compiled graph holds


def test_a_compiled_wait_and_boundary_know_where_their_timeout_leads() -> None:
    @wait_for_event("paid", name="wait", timeout=3)
    @on_timeout("end")
    @edge("ask")
    def wait_node(count: Count) -> Count:
        return count

    @node("ask")
    @boundary(timeout=timedelta(minutes=1))
    @on_reject("wait")
    @on_timeout("end")
    @edge("end")
    def ask(count: Count) -> Count:
        return count

    specs = StateGraph(Count).start(wait_node).nodes(ask, node("end")(same)).compile().specs
    body, mark = specs["wait"].body, specs["ask"].boundary
    assert isinstance(body, EventWaitBody)
    assert mark is not None
    assert (body.timeout, body.on_timeout, mark.timeout, mark.on_reject, mark.on_timeout) == (3.0, "end", 60.0, "wait", "end")


def test_a_child_keeps_the_names_of_its_guards() -> None:
    graph = over("S", plain("A", "B").add_conditional_edge("A", "B", is_even).compile())
    [inner] = [one.graph for one in graph.facts.nodes]
    assert inner is not None
    assert [one.guard for one in inner.edges] == ["is_even"]


def test_a_map_without_a_limit_says_so() -> None:
    unlimited: Any = map_over("M", plain("A").compile(), max_concurrency=None, join=first_success()).compile().specs["M"].body
    default: Any = map_over("M", plain("A").compile()).compile().specs["M"].body
    assert (unlimited.fanout.max_concurrency, default.fanout.max_concurrency) == (None, 8)
