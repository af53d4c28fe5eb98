"""The walk: which node runs next, on which state, and what a routing gap or a bug leaves behind."""

from __future__ import annotations

import pytest

from strata import (
    Completed,
    Context,
    Failed,
    GuardFailed,
    Interrupted,
    NoMatchingEdge,
    Runner,
    SignalRefused,
    State,
    StateGraph,
    boundary,
    edge,
    node,
    on_reject,
    when,
)
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds, line, revising
from tests.logs import checkpoints, log


class Number(State):
    n: int
    parity: str = ""
    calls: int = 0


def is_even(number: Number) -> bool:
    return number.n % 2 == 0


@node("Classify", inline=True)
@when(is_even, to="EvenPath")
@edge("OddPath")
def classify(number: Number) -> Number:
    return number


@node("EvenPath", inline=True)
def even_path(number: Number) -> Number:
    return number.replace(parity="even")


@node("OddPath", inline=True)
def odd_path(number: Number) -> Number:
    return number.replace(parity="odd")


@pytest.mark.parametrize(("n", "parity"), [(4, "even"), (3, "odd")])
async def test_gw1_a_guard_chooses_and_the_plain_edge_is_the_else(n: int, parity: str) -> None:
    graph = StateGraph(Number).start(classify).nodes(even_path, odd_path).compile()
    assert (await Runner(graph).run("t", Number(n=n))).unwrap().parity == parity


@pytest.mark.filterwarnings("ignore::strata.GraphWarning")  # the guarded edge is dead, which is the point
async def test_gw2_behind_a_plain_edge_no_guard_is_asked() -> None:
    asked: list[int] = []

    def guard(number: Number) -> bool:
        asked.append(number.n)
        return True

    graph = (
        StateGraph(Number)
        .add_node("Classify", lambda number: number, inline=True)
        .add_node("OddPath", odd_path, inline=True)
        .add_node("EvenPath", even_path, inline=True)
        .add_edge("Classify", "OddPath")
        .add_conditional_edge("Classify", "EvenPath", guard)
        .compile()
    )
    assert (await Runner(graph).run("t", Number(n=4))).unwrap().parity == "odd"
    assert asked == []


async def test_first_matching_edge_wins_even_if_a_later_one_matches_too() -> None:
    graph = (
        line("A")
        .add_node("B", adds("B"), inline=True)
        .add_node("C", adds("C"), inline=True)
        .add_conditional_edge("A", "B", lambda state: True)
        .add_conditional_edge("A", "C", lambda state: True)
        .compile()
    )
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "AB"


async def test_gw3_a_guarded_self_loop_runs_until_its_guard_says_no() -> None:
    graph = (
        StateGraph(Trail)
        .add_node("Attempt", adds("A"), inline=True)
        .add_node("Done", lambda state: state, inline=True)
        .add_conditional_edge("Attempt", "Attempt", lambda state: state.n < 3)
        .add_edge("Attempt", "Done")
        .compile()
    )
    assert (await Runner(graph).run("t", Trail())).unwrap().n == 3


@pytest.mark.parametrize("durable", [True, False])
async def test_gw4_a_routing_gap_is_the_nodes_failure_and_is_recorded(durable: bool) -> None:
    store = MemoryStore()
    graph = line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", lambda state: state.n > 5).compile(durable=durable)
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, NoMatchingEdge)
    assert (outcome.node, outcome.kind, outcome.message) == ("A", "fatal", "no outgoing edge condition matched for node 'A'")
    last = (await checkpoints(store))[-1]
    assert (await log(store))[-1] == "failed:A>A"
    assert last.metadata is not None
    assert "attempts" not in last.metadata
    assert b'"trail":""' in bytes(last.frozen_state)


async def test_ck26_a_gap_is_resumed_at_the_node_that_ran_with_an_override() -> None:
    store = MemoryStore()
    graph = line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", lambda state: state.n > 5).compile()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert await log(store) == ["running:->A", "failed:A>A"]
    outcome = await runner.resume("t", graph.amend().override(n=7))
    assert isinstance(outcome, Completed)
    assert (await log(store))[2:] == ["running:A>A", "running:A>B", "completed:B>-"]


async def test_gw6_ex15_a_bug_fails_its_node_with_the_state_from_before_it() -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError("a bug")

    store = MemoryStore()
    graph = line("A").add_node("B", bug, inline=True).add_edge("A", "B").compile()
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ValueError)
    assert await log(store) == ["running:->A", "running:A>B", "failed:B>B"]
    last = (await checkpoints(store))[-1]
    assert last.metadata == {"error": "ValueError: a bug", "error_kind": "fatal", "strata.hops": "1"}
    assert b'"trail":"A"' in bytes(last.frozen_state)


async def test_gw7_a_boundary_without_a_way_out_can_only_be_rejected() -> None:
    @node("Last", inline=True)
    @boundary
    @on_reject("Undo")
    def last(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "L")

    @node("Undo", inline=True)
    def undo(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "U")

    store = MemoryStore()
    with pytest.warns(match="Last"):
        graph = StateGraph(Trail).start(last).nodes(undo).compile()
    runner = Runner(graph, store)
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    before = await log(store)
    with pytest.raises(SignalRefused, match="has no next_node to resume from"):
        await runner.resume("t", graph.approve("ana"))
    assert await log(store) == before
    assert (await runner.resume("t", graph.reject("ana"))).unwrap().trail == "LU"


@pytest.mark.parametrize(("route", "trail"), [(None, "AB"), ("Undo", "AU")])
async def test_gw8_a_rejection_takes_the_route_or_goes_on_and_is_recorded(route: str | None, trail: str) -> None:
    store = MemoryStore()
    graph = (
        line("A", "B")
        .add_node("Undo", adds("U"), inline=True)
        .add_conditional_edge("B", "Undo", lambda state: False)
        .add_node("End", lambda state: state, inline=True)
        .add_edge("B", "End")
        .add_interrupt_boundary("A", on_reject=route)
        .compile()
    )
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert (await runner.resume("t", graph.reject("ana"))).unwrap().trail == trail
    decision = (await runner.thread("t")).decision
    assert decision is not None
    assert (decision.boundary, decision.is_approved, decision.reviewer) == ("A", False, "ana")


async def test_gw9_after_a_failure_behind_an_answer_the_old_decision_stands() -> None:
    switch: list[bool] = []
    seen: list[str | None] = []

    def pay(state: Trail, ctx: Context) -> Trail:
        seen.append(ctx.decision.reviewer if ctx.decision else None)
        if not switch:
            raise RuntimeError("off")
        return state

    store = MemoryStore()
    graph = line("A").add_node("Pay", pay, inline=True).add_edge("A", "Pay").add_interrupt_boundary("A").compile()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.approve("alice")), Failed)
    switch.append(True)
    assert isinstance(await runner.resume("t", graph.reject("bob")), Completed)
    assert seen == ["alice", "alice"]


async def test_gw10_a_rejection_may_lead_back_to_the_boundary() -> None:
    graph = revising().compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.reject("ana")), Interrupted)
    assert (await runner.resume("t", graph.approve("ana"))).unwrap().trail == "arap"


async def test_the_edge_out_of_a_boundary_was_chosen_before_the_answer() -> None:
    with pytest.warns(match="A"):
        graph = (
            StateGraph(Trail)
            .add_node("A", adds("A"), inline=True)
            .add_node("B", adds("B"), inline=True)
            .add_node("C", adds("C"), inline=True)
            .add_conditional_edge("A", "B", lambda state: state.n < 5)
            .add_edge("A", "C")
            .add_interrupt_boundary("A")
            .compile()
        )
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    assert (await runner.resume("t", graph.approve("ana").override(n=9))).unwrap().trail == "AB"


async def test_a_guard_that_raises_fails_its_node_and_names_the_edge() -> None:
    def broken(state: Trail) -> bool:
        raise KeyError("gone")

    graph = line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", broken).compile()
    outcome = await Runner(graph, MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, GuardFailed)
    assert "'A' -> 'B' raised KeyError: 'gone'" in outcome.message
    assert isinstance(outcome.error.__cause__, KeyError)


async def test_a_guard_that_answers_with_no_bool_fails_its_node() -> None:
    graph = line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", lambda state: state.n).compile()  # type: ignore[arg-type, return-value]
    outcome = await Runner(graph, MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert "answered with int 1, not with True or False" in outcome.message


async def test_ck32_ex41_a_guard_sees_what_its_node_returned() -> None:
    seen: list[int] = []

    def guard(state: Trail) -> bool:
        seen.append(state.n)
        return True

    graph = line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", guard).compile()
    await Runner(graph).run("t", Trail(n=4))
    assert seen == [5]


async def test_ck17_ck28_a_run_that_is_not_durable_and_completes_leaves_nothing() -> None:
    store = MemoryStore()
    await Runner(line("A", "B", "C").compile(durable=False), store).run("t", Trail())
    assert await store.load_latest("t") is None


async def test_ck19_gh16_a_durable_line_records_every_node() -> None:
    store = MemoryStore()
    await Runner(line("A", "B", "C").compile(), store).run("t", Trail())
    assert await log(store) == ["running:->A", "running:A>B", "running:B>C", "completed:C>-"]
    records = await checkpoints(store)
    assert [record.metadata for record in records] == [{"strata.hops": str(hops)} for hops in range(4)]
    assert [record.schema_version for record in records] == ["1.7.0", "1.7.0", "1.7.0", "1.0.0"]
    assert all(record.resumed_at is None for record in records)
    assert (await Runner(line("A").compile(), store).thread("t")).state_name == "completed"


async def test_ck20_fifteen_nodes_leave_sixteen_records() -> None:
    store = MemoryStore()
    await Runner(line(*"ABCDEFGHIJKLMNO").compile(), store).run("t", Trail())
    assert len(await log(store)) == 16


async def test_ck24_a_boundary_has_no_running_record_after_it() -> None:
    store = MemoryStore()
    graph = line("A", "B").add_interrupt_boundary("A").compile()
    await Runner(graph, store).run("t", Trail())
    assert await log(store) == ["running:->A", "interrupted:A>B"]
    assert (await checkpoints(store))[-1].metadata == {"strata.hops": "1"}
