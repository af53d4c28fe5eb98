"""A graph inside a node: what goes in and comes out, how it fails, how deep it may be."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strata import (
    Backoff,
    Completed,
    Context,
    Failed,
    HopLimitExceeded,
    Interrupted,
    LastFailure,
    MapperFailed,
    Runner,
    State,
    StateGraph,
    branch,
)
from strata.ports.events import HopLimitExceeded as HopLimitEvent
from strata.ports.events import JoinDecided, NodeCompleted
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds, line
from tests.kinds.nests import alone, in_brackets, inside, starts_empty, steps
from tests.kinds.parts import Calls, fallback, fatal, first_of, gather, transient
from tests.logs import checkpoints, log


class Amount(State):
    amount: int
    log: list[str] = []  # noqa: RUF012 (msgspec copies it)


class Number(State):
    n: int
    steps: list[str] = []  # noqa: RUF012


async def test_ex112_the_mappers_stand_between_two_types_of_state() -> None:
    bases = list[Amount]()
    child = (
        StateGraph(Number)
        .add_node("Double", lambda number: number.replace(n=number.n * 2, steps=[*number.steps, "double"]), inline=True)
        .add_node("AddOne", lambda number: number.replace(n=number.n + 1, steps=[*number.steps, "add_one"]), inline=True)
        .add_edge("Double", "AddOne")
        .compile()
    )

    def leave(state: Amount, number: Number) -> Amount:
        bases.append(state)
        return Amount(amount=number.n, log=[*state.log, *number.steps])

    def prepare(state: Amount) -> Amount:
        return state.replace(log=["prepared"])

    def finish(state: Amount) -> Amount:
        return state.replace(log=[*state.log, "finished"])

    graph = (
        StateGraph(Amount)
        .add_node("Prepare", prepare, inline=True)
        .add_subgraph("Work", child, enter=lambda state: Number(n=state.amount), leave=leave)
        .add_node("Finish", finish, inline=True)
        .add_edge("Prepare", "Work")
        .add_edge("Work", "Finish")
        .compile()
    )
    state = (await Runner(graph).run("t", Amount(amount=5))).unwrap()
    assert (state.amount, state.log) == (11, ["prepared", "double", "add_one", "finished"])
    assert bases == [Amount(amount=5, log=["prepared"])]


async def test_ex113_a_child_may_loop_and_hold_a_child_of_its_own() -> None:
    rounds = list[int]()

    def add(state: Trail) -> Trail:
        rounds.append(state.n)
        return state.replace(n=state.n + 4)

    looping = steps(("Add", add)).add_node("End", lambda state: state, inline=True)
    looping.add_conditional_edge("Add", "Add", lambda state: state.n < 10).add_edge("Add", "End")
    outer = alone("Outer", alone("Inner", looping.compile()).compile()).compile()
    assert (await Runner(outer).run("t", Trail(n=1))).unwrap().n == 13
    assert rounds == [1, 5, 9]


async def test_ex3_paths_name_the_way_and_the_thread_is_the_same_everywhere() -> None:
    seen = list[tuple[str, str, str]]()

    async def look(state: Trail, ctx: Context) -> Trail:
        seen.append((ctx.thread_id, ctx.path, ctx.node))
        return state

    def first(state: Trail, results: list[Trail]) -> Trail:
        return results[0]

    child = steps(("Draft", look)).add_parallel_group("Gather", [branch("Acme", look)], first).add_edge("Draft", "Gather").compile()
    graph = (
        steps(("Prepare", look))
        .add_subgraph("Work", child, enter=starts_empty, leave=in_brackets)
        .add_parallel_group("Quotes", [branch("Globex", look)], first)
        .add_edge("Prepare", "Work")
        .add_edge("Work", "Quotes")
        .compile()
    )
    await Runner(graph).run("thread_outer", Trail())
    paths = ["Prepare", "Work/Draft", "Work/Gather/Acme", "Quotes/Globex"]
    assert seen == [("thread_outer", path, path.rpartition("/")[2]) for path in paths]


async def test_ex7_keys_of_a_run_that_is_not_durable_name_the_run() -> None:
    contexts = list[Context]()

    async def look(state: Trail, ctx: Context) -> Trail:
        contexts.append(ctx)
        return state

    graph = steps(("Load", look)).add_parallel_group("Fan", [branch("b1", look)], first_of).add_edge("Load", "Fan")
    await Runner(graph.compile(durable=False), MemoryStore()).run("t", Trail(), run_id="run-1")
    assert [ctx.idempotency_key for ctx in contexts] == ["t/Load#1@run-1", "t/Fan/b1#2@run-1"]


async def test_ex5_sub_05_services_and_metadata_reach_every_depth() -> None:
    seen = list[tuple[object, object]]()

    class Clerk:
        pass

    async def look(state: Trail, ctx: Context) -> Trail:
        seen.append((ctx.service(Clerk), ctx.metadata["tenant"]))
        return state

    clerk = Clerk()
    graph = inside("Work", alone("Inner", steps(("Send", look)).compile()).compile()).compile()
    await Runner(graph, services=[clerk]).run("t", Trail(), metadata={"tenant": "acme"})
    assert seen == [(clerk, "acme")]


async def test_ex114_a_child_that_helps_itself_is_nobody_elses_business() -> None:
    calls, store = Calls(), MemoryStore()
    child = steps(("Flaky", calls.fails(transient("busy"), times=2))).set_recovery_policy("Flaky", retries=2).compile(durable=False)
    assert isinstance(await Runner(alone("Work", child).compile(durable=False), store).run("t", Trail()), Completed)
    assert await log(store) == []


@pytest.mark.parametrize("retries", [0, 5])
async def test_ex115_a_childs_fatal_failure_is_the_parents_and_nobody_tries_again(retries: int) -> None:
    calls, store = Calls(), MemoryStore()
    child = steps(("Flaky", calls.fails(fatal("call 1 failed")))).set_recovery_policy("Flaky", retries=5).compile(durable=False)
    graph = inside("Work", child).set_recovery_policy("Work", retries=retries).compile(durable=False)
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "subgraph 'Work' failed at 'Flaky' after 1 attempt(s): call 1 failed"
    assert (outcome.kind, outcome.attempts, len(calls.started)) == ("fatal", 1, 1)
    (last,) = await checkpoints(store)
    assert (last.status, last.suspended_node, bytes(last.frozen_state)) == ("failed", "Work", b'{"trail":"B","n":1}')


async def test_ex115_two_levels_are_named_in_one_text() -> None:
    child = alone("Inner", steps(("Flaky", Calls().fails(fatal("no")))).compile()).compile()
    outcome = await Runner(alone("Work", child).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == ("subgraph 'Work' failed at 'Inner' after 1 attempt(s): subgraph 'Inner' failed at 'Flaky' after 1 attempt(s): no")


async def test_ex116_retries_of_two_levels_multiply() -> None:
    calls = Calls()
    child = steps(("Flaky", calls.fails(transient("busy")))).set_recovery_policy("Flaky", retries=1).compile()
    outcome = await Runner(alone("Work", child).set_recovery_policy("Work", retries=2).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (len(calls.started), outcome.attempts, outcome.kind) == (6, 3, "transient")


async def test_ex117_a_fallback_around_a_child_goes_on_with_the_state_from_before_it() -> None:
    store = MemoryStore()
    child = steps(("Work", adds("W")), ("Broken", Calls().fails(fatal("no")))).compile(durable=False)
    graph = fallback(inside("Work", child), "Work").compile(durable=False)
    assert (await Runner(graph, store).run("t", Trail())).unwrap().trail == "BR"
    assert await log(store) == []


async def test_ex118_gw5_ck58_a_routing_gap_in_a_child_nests_nothing() -> None:
    child = steps(("Start", adds("S"))).add_node("End", adds("E")).add_conditional_edge("Start", "End", lambda state: False)
    store = MemoryStore()
    graph = alone("Work", child.compile(durable=False)).set_recovery_policy("Work", retries=3).compile(durable=False)
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "subgraph 'Work': no outgoing edge condition matched for node 'Start'"
    assert (outcome.attempts, outcome.kind) == (1, "fatal")
    (last,) = await checkpoints(store)
    assert (last.nested, last.schema_version, last.status) == (None, "1.0.0", "failed")


async def test_ex120_gh9_ck73_a_childs_own_hop_limit_is_a_fatal_failure_of_its_node() -> None:
    def endless(limit: int) -> Any:
        graph = line("A", "B").add_node("Out", adds("O"), inline=True)
        return graph.add_conditional_edge("B", "A", lambda state: True).add_edge("B", "Out").compile(max_node_hops=limit)

    store, recorder = MemoryStore(), EventRecorder()
    runner = Runner(alone("Work", endless(3)).set_recovery_policy("Work", retries=3).compile(max_node_hops=10), store, observers=[recorder])
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Failed)
    assert not isinstance(outcome, HopLimitExceeded)
    assert outcome.message == "subgraph 'Work' hit its hop limit: hop limit of 3 reached: node 'B' would be hop 4"
    assert (outcome.kind, outcome.attempts) == ("fatal", 1)
    last = (await checkpoints(store))[-1]
    assert last.metadata is not None
    assert (last.metadata["error_kind"], last.metadata["strata.hops"]) == ("fatal", "0")
    nested = last.nested
    assert nested is not None
    assert nested.metadata is not None
    assert (nested.status, nested.next_node, nested.metadata["error_kind"], nested.metadata["strata.hops"]) == ("failed", "B", "hop_limit", "3")
    assert recorder.lines(HopLimitEvent) == ["HopLimitExceeded Work/B 3/3"]
    resumed = await runner.resume("t")
    assert isinstance(resumed, Failed)
    assert resumed.message == outcome.message
    assert resumed.state == outcome.state


@pytest.mark.parametrize(("limit", "completes"), [(3, True), (2, False)])
async def test_gh6_groups_and_children_are_one_hop_each(limit: int, completes: bool) -> None:
    calls = Calls()
    child = line("W", "X", "Y", "Z").compile(max_node_hops=4)
    graph = (
        StateGraph(Trail)
        .add_parallel_group("Gather", [branch(name, calls.takes(0)) for name in "bcd"], lambda state, results: state)
        .add_subgraph("Work", child, enter=starts_empty, leave=in_brackets)
        .add_node("End", adds("E"), inline=True)
        .add_edge("Gather", "Work")
        .add_edge("Work", "End")
    )
    outcome = await Runner(graph.compile(max_node_hops=limit)).run("t", Trail())
    if completes:
        assert outcome.unwrap().trail == "(WXYZ)E"
    else:
        assert isinstance(outcome, HopLimitExceeded)
        assert (outcome.node, outcome.hops) == ("End", 2)


async def test_gh6_a_runs_own_limit_does_not_reach_its_children() -> None:
    graph = inside("Work", line("W", "X", "Y", "Z").compile()).compile()
    assert isinstance(await Runner(graph).run("t", Trail(), max_node_hops=3), Completed)


async def test_ex31_a_fallback_inside_a_child_is_told_the_whole_path_and_the_parent_nothing() -> None:
    seen = list[LastFailure | None]()

    async def look(state: Trail, ctx: Context) -> Trail:
        seen.append(ctx.last_failure)
        return state

    child = steps(("Charge", Calls().fails(fatal("no")))).add_node("Recover", look).set_recovery_policy("Charge", fallback="Recover").compile()
    graph = alone("Work", child).add_node("Next", look).add_edge("Work", "Next").compile()
    await Runner(graph).run("t", Trail())
    failure, none = seen
    assert failure is not None
    assert (failure.node, failure.node_path, none) == ("Charge", "Work/Charge", None)


async def test_ex31_the_branches_of_a_group_that_is_a_fallback_are_told_and_a_child_is_not() -> None:
    seen = list[str]()

    async def look(state: Trail, ctx: Context) -> Trail:
        seen.append(f"{ctx.path} {ctx.last_failure.node if ctx.last_failure else '-'}")
        return state

    group = (
        steps(("Charge", Calls().fails(fatal("no"))))
        .add_parallel_group("Recover", [branch("b", look), branch("c", look)], lambda state, results: state)
        .set_recovery_policy("Charge", fallback="Recover")
    )
    child = (
        steps(("Charge", Calls().fails(fatal("no"))))
        .add_subgraph("Recover", steps(("d", look)).compile(), enter=starts_empty, leave=in_brackets)
        .set_recovery_policy("Charge", fallback="Recover")
    )
    for graph in (group, child):
        await Runner(graph.compile()).run("t", Trail())
    assert seen == ["Recover/b Charge", "Recover/c Charge", "Recover/d -"]


async def test_ex33_a_childs_hint_is_the_subgraphs_too() -> None:
    clock, store = HandClock(), MemoryStore()
    calls = Calls()
    child = steps(("Charge", calls.fails(transient("busy", retry_after=3)))).compile()
    graph = alone("Work", child)
    outcome = await Runner(graph.compile(), store, clock=clock).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.retry_after == 3
    levels = list((await checkpoints(store))[-1].levels())
    assert [(level.metadata or {})["strata.retry_after_ms"] for level in levels] == ["3000", "3000"]
    graph.set_recovery_policy("Work", retries=1, backoff=Backoff(initial=1, maximum=10))
    running = asyncio.ensure_future(Runner(graph.compile(), clock=clock).run("t", Trail()))
    await clock.pass_time(2.9)
    assert len(calls.started) == 2
    await clock.pass_time(0.2)
    assert isinstance(await running, Failed)
    assert len(calls.started) == 3


async def test_ex33_without_a_hint_there_is_no_such_key() -> None:
    store = MemoryStore()
    await Runner(alone("Work", steps(("Charge", Calls().fails(transient("busy")))).compile()).compile(), store).run("t", Trail())
    assert all("strata.retry_after_ms" not in (level.metadata or {}) for level in (await checkpoints(store))[-1].levels())


async def test_ex94_the_race_of_a_group_inside_a_child_is_told_below_it() -> None:
    recorder, calls = EventRecorder(), Calls()
    from strata import first_success

    child = gather({"local": calls.takes(0)}, join=first_success()).compile()
    await Runner(alone("Rca", child).compile(), observers=[recorder]).run("t", Trail())
    assert recorder.lines(JoinDecided) == ["JoinDecided Rca/Gather#1 first_success met [local]"]
    assert "NodeCompleted Rca/Gather#1 committed" in recorder.lines(NodeCompleted)


@pytest.mark.parametrize("which", ["enter", "leave"])
@pytest.mark.parametrize("retries", [0, 2])
async def test_a_mapper_that_raises_fails_its_node_by_name(which: str, retries: int) -> None:
    def boom(*_: object) -> Any:
        raise LookupError("none")

    mappers: dict[str, Any] = {"enter": starts_empty, "leave": in_brackets} | {which: boom}
    graph = StateGraph(Trail).add_subgraph("Work", line("A").compile(), **mappers).set_recovery_policy("Work", retries=retries)
    store = MemoryStore()
    outcome = await Runner(graph.compile(), store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, MapperFailed)
    what = "enter" if which == "enter" else "the node's function"
    assert outcome.message == f"{what} of node 'Work' raised LookupError: none"
    assert (await log(store))[-1] == "failed:Work>Work"


@pytest.mark.parametrize("durable", [True, False])
async def test_twenty_levels_run_pause_and_resume(durable: bool) -> None:
    asked = line("Ask", "Go").add_interrupt_boundary("Ask").compile(durable=durable)
    graph = asked
    for level in range(20):
        graph = alone(f"L{level}", graph).compile(durable=durable)
    store = MemoryStore()
    runner = Runner(graph, store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert len(outcome.waiting_at) == 21
    final = await runner.resume("t", asked.approve("ed").override(trail="x"))
    assert final.unwrap().trail == "(" * 20 + "xGo" + ")" * 20


async def test_sub_01_a_child_starts_afresh_on_every_call() -> None:
    child = line("W").compile()
    graph = (
        inside("Work", child).add_conditional_edge("After", "Before", lambda state: state.n < 6).add_node("End", adds("E")).add_edge("After", "End")
    )
    assert (await Runner(graph.compile()).run("t", Trail())).unwrap().trail == "B(W)AB(W)AE"
