"""Children that pause: what is stored, who is answered, who sees the decision, and what runs again."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from strata import (
    CompiledGraph,
    Completed,
    Context,
    Decision,
    Failed,
    GraphWarning,
    HopLimitExceeded,
    Interrupted,
    Runner,
    SignalRefused,
    State,
    StateGraph,
    ThreadChanged,
    ThreadFinished,
    WrongGraph,
    branch,
)
from strata.checkpoint.record import Checkpoint
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds, line
from tests.kinds.nests import alone, in_brackets, inside, starts_empty, steps
from tests.kinds.parts import Calls, fallback, fatal, transient
from tests.logs import checkpoints, log

DURABLE = [True, False]


def approving(*after: tuple[str, Any], durable: bool = True, **options: Any) -> CompiledGraph[Trail]:
    """Draft, Approve (where a person is asked), and what comes after; by default Send."""
    nodes = [("Draft", adds("D")), ("Approve", adds("A")), *(after or (("Send", adds("S")),))]
    return steps(*nodes).add_interrupt_boundary("Approve").compile(durable=durable, **options)


class Sees:
    """Nodes that keep who decided."""

    def __init__(self) -> None:
        self.decisions = list[Decision | None]()

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.decisions.append(ctx.decision)
        return state

    @property
    def reviewers(self) -> list[str | None]:
        return [None if decision is None else decision.reviewer for decision in self.decisions]


async def last_of(store: MemoryStore) -> Checkpoint:
    return (await checkpoints(store))[-1]


def states(checkpoint: Checkpoint) -> list[str]:
    return [bytes(level.frozen_state).decode() for level in checkpoint.levels()]


@pytest.mark.parametrize("durable", DURABLE)
async def test_ex122_a_childs_pause_is_stored_inside_the_record_of_its_parent(durable: bool) -> None:
    store = MemoryStore()
    outcome = await Runner(inside("Work", approving(durable=durable)).compile(durable=durable), store).run("t", Trail(n=7))
    assert isinstance(outcome, Interrupted)
    assert (outcome.suspended_node, outcome.next_node, outcome.waiting_at) == ("Work", "Work", ("Work", "Approve"))
    assert outcome.state == Trail(trail="B", n=8)
    last = await last_of(store)
    nested = last.nested
    assert nested is not None
    assert (last.suspended_node, last.next_node, nested.thread_id) == ("Work", "Work", "Work")
    assert (nested.suspended_node, nested.next_node) == ("Approve", "Send")
    assert states(last) == ['{"trail":"B","n":8}', '{"trail":"DA","n":10}']


async def test_ex122_ck52_three_levels() -> None:
    store, child = MemoryStore(), approving(durable=False)
    runner = Runner(alone("Work", alone("Inner", child).compile(durable=False)).compile(durable=False), store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert outcome.waiting_at == ("Work", "Inner", "Approve")
    assert [level.schema_version for level in (await last_of(store)).levels()] == ["1.1.0", "1.1.0", "1.0.0"]
    assert (await runner.resume("t", child.approve("ed").override(trail="x"))).unwrap().trail == "((xS))"


@pytest.mark.parametrize("durable", DURABLE)
async def test_ex123_ck50_sub_08_a_resume_runs_what_comes_after_the_pause_and_nothing_else(durable: bool) -> None:
    entered, drafted, store = list[str](), list[int](), MemoryStore()

    def enter(state: Trail) -> Trail:
        entered.append(state.trail)
        return Trail(n=state.n)

    def draft(state: Trail) -> Trail:
        drafted.append(state.n)
        return state.replace(n=state.n + 1)

    child = steps(("Draft", draft), ("Approve", adds("A")), ("Send", adds("S"))).add_interrupt_boundary("Approve").compile(durable=durable)
    graph = (
        StateGraph(Trail)
        .add_subgraph("Work", child, enter=enter, leave=in_brackets)
        .add_node("After", adds("Z"), inline=True)
        .add_edge("Work", "After")
        .compile(durable=durable)
    )
    runner = Runner(graph, store)
    assert isinstance(await runner.run("t", Trail(n=8)), Interrupted)
    outcome = await runner.resume("t", child.approve("ed"))
    assert outcome.unwrap() == Trail(trail="(AS)Z", n=12)
    assert (entered, drafted) == ([""], [8])
    with pytest.raises((ThreadChanged, ThreadFinished)):
        await runner.resume("t", child.approve("ed"))
    if not durable:
        stamped = await last_of(store)
        assert stamped.resumed_at is not None
        assert stamped.nested is not None


class Case(State):
    note: str = ""
    owner: str = ""


class Letter(State):
    note: str = ""
    approved_by: str = ""


def letters() -> tuple[CompiledGraph[Letter], CompiledGraph[Case], CompiledGraph[Case]]:
    """A letter that is approved, in a case, in a case."""
    letter = (
        StateGraph(Letter)
        .add_node("Approve", lambda state: state, inline=True)
        .add_node("Send", lambda state: state, inline=True)
        .add_edge("Approve", "Send")
        .add_interrupt_boundary("Approve")
        .compile()
    )

    def keep(state: Case, sent: Letter) -> Case:
        return state.replace(note=f"{state.note}|{sent.note} by {sent.approved_by}")

    def keep_case(state: Case, inner: Case) -> Case:
        return state.replace(note=f"{state.note}|{inner.note} of {inner.owner}")

    inner = StateGraph(Case).add_subgraph("Inner", letter, enter=lambda _: Letter(), leave=keep).compile()
    return letter, inner, StateGraph(Case).add_subgraph("Work", inner, enter=lambda _: Case(), leave=keep_case).compile()


async def test_ex124_ck48_an_answer_goes_to_the_innermost_level_and_others_are_addressed() -> None:
    letter, inner, case = letters()
    runner = Runner(case, MemoryStore())
    await runner.run("t", Case())
    answer = letter.approve("ed").override(approved_by="ed", note="hello")
    answer = answer.at(signal=case.amend().override(note="outer", owner="o")).at("Work", signal=inner.amend().override(owner="i"))
    state = (await runner.resume("t", answer)).unwrap()
    assert (state.note, state.owner) == ("outer||hello by ed of i", "o")


async def test_ck47_a_childs_answer_leaves_the_parents_state_alone() -> None:
    letter, _, case = letters()
    runner = Runner(case, MemoryStore())
    await runner.run("t", Case(note="kept"))
    assert (await runner.resume("t", letter.approve("ed").override(note="x"))).unwrap().note == "kept||x by  of "


async def test_ck47_a_field_that_only_the_parent_has_is_refused_and_nothing_is_written() -> None:
    letter, _, case = letters()
    store = MemoryStore()
    runner = Runner(case, store)
    await runner.run("t", Case())
    before = await log(store)
    with pytest.raises(SignalRefused, match="innermost level holds a Letter"):
        await runner.resume("t", case.approve("ed").override(owner="x"))
    assert await log(store) == before
    assert isinstance(await runner.resume("t", letter.approve("ed")), Completed)


async def test_ex125_ck49_an_address_that_is_none_is_refused_naming_the_levels() -> None:
    letter, inner, case = letters()
    store = MemoryStore()
    runner = Runner(case, store)
    await runner.run("t", Case())
    before = await log(store)
    with pytest.raises(SignalRefused) as nowhere:
        await runner.resume("t", letter.approve("ed").at("Nope", signal=inner.amend()))
    assert "[Nope]" in str(nowhere.value)
    assert "[], [Work], [Work/Inner]" in str(nowhere.value)
    with pytest.raises(SignalRefused) as twice:
        await runner.resume("t", letter.approve("ed").at("Work", "Inner", signal=letter.amend()))
    assert "which is the innermost level and already has the innermost signal" in str(twice.value)
    assert await log(store) == before
    assert isinstance(await runner.resume("t", letter.approve("ed")), Completed)


async def test_ex125_a_flat_thread_has_one_level_only() -> None:
    graph, store = approving(), MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    with pytest.raises(SignalRefused, match=r"level \[\], which is the innermost"):
        await runner.resume("t", graph.approve("ed").at(signal=graph.amend()))
    assert isinstance(await runner.resume("t", graph.approve("ed")), Completed)


@pytest.mark.parametrize("durable", DURABLE)
async def test_ex126_ck51_a_second_pause_is_a_fresh_record(durable: bool) -> None:
    store = MemoryStore()
    child = line("First", "Second", "Send").add_interrupt_boundary("First").add_interrupt_boundary("Second").compile(durable=durable)
    runner = Runner(alone("Work", child).compile(durable=durable), store)
    await runner.run("t", Trail())
    outcome = await runner.resume("t", child.approve("ed"))
    assert isinstance(outcome, Interrupted)
    assert outcome.waiting_at == ("Work", "Second")
    last = await last_of(store)
    assert last.resumed_at is None
    assert (await runner.resume("t", child.approve("ed"))).unwrap().trail == "(FirstSecondSend)"


async def test_ex127_ck54_a_pause_is_no_failure() -> None:
    graph = fallback(alone("Work", approving()), "Work", retries=3)
    assert isinstance(await Runner(graph.compile(), MemoryStore()).run("t", Trail()), Interrupted)


@pytest.mark.parametrize("durable", DURABLE)
async def test_ex129_ck56_ck57_a_child_that_fails_after_its_answer_keeps_it(durable: bool) -> None:
    calls, store, approved = Calls(), MemoryStore(), list[int]()

    def approve(state: Trail) -> Trail:
        approved.append(1)
        return state.replace(trail=state.trail + "A")

    child = steps(("Approve", approve), ("Send", calls.fails(fatal("no"), times=2))).add_interrupt_boundary("Approve").compile(durable=durable)
    runner = Runner(alone("Work", child).compile(durable=durable), store)
    await runner.run("t", Trail())
    outcome = await runner.resume("t", child.approve("ed").override(n=5))
    assert isinstance(outcome, Failed)
    assert outcome.message == "subgraph 'Work' failed at 'Send' after 1 attempt(s): no"
    last = await last_of(store)
    nested = last.nested
    assert nested is not None
    assert (last.status, last.schema_version, last.decision, last.waiting_at) == ("failed", "1.3.0", None, ("Work", "Send"))
    assert (nested.status, bytes(nested.frozen_state)) == ("failed", b'{"trail":"A","n":5}')
    assert nested.decision is not None
    assert nested.decision.reviewer == "ed"
    again = await runner.resume("t", child.amend().override(n=6))
    assert isinstance(again, Failed)
    fresh = await last_of(store)
    assert fresh.nested is not None
    assert fresh.nested.decision is not None
    assert msgspec.json.decode(fresh.nested.frozen_state) == {"trail": "A", "n": 6}
    final = await runner.resume("t")
    assert final.unwrap() == Trail(trail="(ASend)", n=6)
    assert (approved, len(calls.started)) == ([1], 3)
    with pytest.raises((ThreadChanged, ThreadFinished)):
        await runner.resume("t")


@pytest.mark.parametrize("durable", DURABLE)
async def test_ck55_every_retry_of_a_resumed_child_sees_the_same_decision_and_starts_behind_the_pause(durable: bool) -> None:
    sees, store, approved = Sees(), MemoryStore(), list[int]()

    def approve(state: Trail) -> Trail:
        approved.append(1)
        return state

    async def send(state: Trail, ctx: Context) -> Trail:
        await sees(state, ctx)
        if len(sees.decisions) == 1:
            raise transient("busy")
        return state

    child = steps(("Approve", approve), ("Send", send)).add_interrupt_boundary("Approve").compile(durable=durable)
    runner = Runner(alone("Work", child).set_recovery_policy("Work", retries=1).compile(durable=durable), store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", child.approve("ed")), Completed)
    assert approved == [1]
    first, second = sees.decisions
    assert first is not None
    assert first == second


async def test_ex130_ck60_each_level_sees_its_own_decision() -> None:
    sees, store = Sees(), MemoryStore()
    child = steps(("Look", sees), ("Approve", sees), ("Send", sees)).add_interrupt_boundary("Approve").compile()

    def first(state: Trail, results: list[Trail]) -> Trail:
        return results[0]

    graph = (
        steps(("Check", sees))
        .add_interrupt_boundary("Check")
        .add_subgraph("Work", child, enter=starts_empty, leave=in_brackets)
        .add_parallel_group("Fan", [branch("b", sees), branch("c", sees)], first)
        .add_edge("Check", "Work")
        .add_edge("Work", "Fan")
        .compile()
    )
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.approve("ann")), Interrupted)
    last = await last_of(store)
    assert last.decision is not None
    assert last.decision.reviewer == "ann"
    assert last.nested is not None
    assert last.nested.decision is None
    assert isinstance(await runner.resume("t", child.approve("bob")), Completed)
    assert sees.reviewers == [None, None, None, "bob", "ann", "ann"]


@pytest.mark.parametrize("durable", DURABLE)
async def test_ex119_gw11_ck53_a_subgraph_that_is_a_boundary_too_pauses_twice(durable: bool) -> None:
    store, child = MemoryStore(), approving(durable=durable)
    graph = inside("Work", child).add_interrupt_boundary("Work").compile(durable=durable)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    outcome = await runner.resume("t", child.approve("ed"))
    assert isinstance(outcome, Interrupted)
    assert (outcome.waiting_at, outcome.next_node) == (("Work",), "After")
    last = await last_of(store)
    assert (last.nested, last.suspended_node, last.next_node) == (None, "Work", "After")
    assert (await runner.resume("t", graph.approve("ann"))).unwrap().trail == "B(DAS)A"


async def test_ex119_a_subgraph_that_is_a_boundary_pauses_once_its_child_has_completed() -> None:
    graph = inside("Work", line("W").compile()).add_interrupt_boundary("Work").compile()
    runner = Runner(graph, MemoryStore())
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert (outcome.waiting_at, outcome.state.trail) == (("Work",), "B(W)")
    assert (await runner.resume("t", graph.approve("ann"))).unwrap().trail == "B(W)A"


async def test_ck59_a_child_nested_under_a_plain_node_is_refused() -> None:
    store, child = MemoryStore(), approving(durable=False)
    runner = Runner(inside("Work", child).compile(durable=False), store)
    await runner.run("t", Trail())
    last = await last_of(store)
    await store.save(msgspec.structs.replace(last, next_node="After"))
    with pytest.raises(WrongGraph, match="'After'"):
        await runner.resume("t", child.approve("ed"))


async def test_gh8_hops_are_counted_on_over_pauses() -> None:
    store = MemoryStore()
    graph = line("A", "B").add_node("Done", adds("D"), inline=True).add_interrupt_boundary("B")
    with pytest.warns(GraphWarning, match="GUARD"):
        loop = graph.add_conditional_edge("B", "A", lambda state: state.n < 99).add_edge("B", "Done").compile(max_node_hops=5, durable=False)
    runner = Runner(loop, store)
    await runner.run("t", Trail())
    assert (await last_of(store)).metadata == {"strata.hops": "2"}
    assert isinstance(await runner.resume("t", loop.approve("ed")), Interrupted)
    assert (await last_of(store)).metadata == {"strata.hops": "4"}
    outcome = await runner.resume("t", loop.approve("ed"))
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops, outcome.limit) == ("B", 5, 5)


async def test_ck71_a_child_in_a_loop_counts_for_itself_and_its_parent_goes_on_counting() -> None:
    store, child = MemoryStore(), approving(durable=False)
    graph = (
        steps(("Check", adds("C")))
        .add_subgraph("Work", child, enter=starts_empty, leave=in_brackets)
        .add_node("Done", adds("D"), inline=True)
        .add_edge("Check", "Work")
        .add_conditional_edge("Work", "Check", lambda state: state.n < 99)
        .add_edge("Work", "Done")
        .compile(max_node_hops=5, durable=False)
    )
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    hops = [(level.metadata or {}).get("strata.hops") for level in (await last_of(store)).levels()]
    assert hops == ["1", None]
    assert isinstance(await runner.resume("t", child.approve("ed")), Interrupted)
    hops = [(level.metadata or {}).get("strata.hops") for level in (await last_of(store)).levels()]
    assert hops == ["3", None]
    outcome = await runner.resume("t", child.approve("ed"))
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops) == ("Work", 5)


async def test_sub_04_two_children_with_nodes_of_one_name_are_told_apart_by_their_paths() -> None:
    child = approving()
    graph = (
        StateGraph(Trail)
        .add_subgraph("First", child, enter=starts_empty, leave=in_brackets)
        .add_subgraph("Second", child, enter=starts_empty, leave=in_brackets)
        .add_edge("First", "Second")
        .compile()
    )
    runner = Runner(graph, MemoryStore())
    places = [(await runner.run("t", Trail()))]
    places.append(await runner.resume("t", child.approve("ed")))
    assert [outcome.waiting_at for outcome in places if isinstance(outcome, Interrupted)] == [("First", "Approve"), ("Second", "Approve")]
    assert (await runner.resume("t", child.approve("ed"))).unwrap().trail == "(DAS)(DAS)"


async def test_a_rejection_inside_a_child_takes_its_own_route() -> None:
    child = (
        steps(("Approve", adds("A")), ("Send", adds("S"))).add_node("Drop", adds("X")).add_interrupt_boundary("Approve", on_reject="Drop").compile()
    )
    runner = Runner(inside("Work", child).compile(), MemoryStore())
    await runner.run("t", Trail())
    assert (await runner.resume("t", child.reject("ed"))).unwrap().trail == "B(AX)A"
