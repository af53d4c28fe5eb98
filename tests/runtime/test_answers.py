"""What becomes of a person's answer: who sees it, how long it stands, and what the thread does with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strata import Cancelled, Completed, Context, Decision, Failed, Interrupted, Runner, StateGraph
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail, adds, line, revising, undoing
from tests.logs import checkpoints, log
from tests.records import record


class Sees:
    """Nodes that remember the decision that they were told."""

    def __init__(self) -> None:
        self.decisions: list[Decision | None] = []

    def node(self, state: Trail, ctx: Context) -> Trail:
        self.decisions.append(ctx.decision)
        return adds(ctx.node)(state)

    @property
    def reviewers(self) -> list[str | None]:
        return [None if decision is None else decision.reviewer for decision in self.decisions]


async def test_ck5_hs10_a_failure_behind_an_approval_keeps_the_decision() -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError

    store = MemoryStore()
    graph = line("A").add_node("B", bug, inline=True).add_edge("A", "B").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.approve("ana").override(n=7)), Failed)
    failed = (await checkpoints(store))[-1]
    assert failed.schema_version == "1.3.0"
    assert failed.decision is not None
    assert (failed.decision.boundary, failed.decision.is_approved, failed.decision.reviewer) == ("A", True, "ana")
    assert bytes(failed.decision.overrides) == b'{"n":7}'


async def test_hs4_every_later_node_sees_the_same_decision_and_the_nodes_before_saw_none() -> None:
    sees = Sees()
    graph = StateGraph(Trail)
    for name in ("A", "B", "C"):
        graph.add_node(name, sees.node, inline=True)
    compiled = graph.add_edge("A", "B").add_edge("B", "C").add_interrupt_boundary("A").compile()
    runner = Runner(compiled, MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", compiled.approve("ana").override(n=7))
    before, first, second = sees.decisions
    assert before is None
    assert first is not None
    assert first == second
    assert (first.boundary, first.is_approved, first.reviewer, first.overrides) == ("A", True, "ana", {"n": 7})


async def test_ck43_hs8_a_second_answer_takes_the_place_of_the_first() -> None:
    sees, store = Sees(), MemoryStore()
    graph = StateGraph(Trail)
    for name in ("First", "Second", "End"):
        graph.add_node(name, sees.node, inline=True)
    graph.add_edge("First", "Second").add_edge("Second", "End").add_interrupt_boundary("First").add_interrupt_boundary("Second")
    compiled = graph.compile(durable=False)
    runner = Runner(compiled, store)
    await runner.run("t", Trail())
    await runner.resume("t", compiled.approve("alice"))
    paused = (await checkpoints(store))[-1]
    assert paused.decision is not None
    assert (paused.suspended_node, paused.decision.reviewer, paused.schema_version) == ("Second", "alice", "1.3.0")
    await runner.resume("t", compiled.approve("bob"))
    assert sees.reviewers == [None, "alice", "bob"]


async def test_ck42_hs17_a_rejection_that_leads_back_pauses_again_with_its_decision() -> None:
    store = MemoryStore()
    graph = revising().compile()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.reject("ana")), Interrupted)
    again = await runner.thread("t")
    assert again.decision is not None
    assert (again.decision.reviewer, again.decision.is_approved) == ("ana", False)
    assert isinstance(await runner.resume("t", graph.approve("bob")), Completed)
    last = await runner.thread("t")
    assert last.decision is not None
    assert (last.decision.reviewer, last.decision.is_approved) == ("bob", True)


async def test_ck45_a_boundary_that_failed_runs_again_and_then_asks() -> None:
    switch: list[bool] = []

    def review(state: Trail) -> Trail:
        if not switch:
            raise LookupError("off")
        return adds("a")(state)

    graph = (
        StateGraph(Trail)
        .add_node("Approve", review, inline=True)
        .add_node("Publish", adds("p"), inline=True)
        .add_node("Undo", adds("u"), inline=True)
        .add_edge("Approve", "Publish")
        .add_interrupt_boundary("Approve", on_reject="Undo")
        .compile()
    )
    store = MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    switch.append(True)
    outcome = await runner.resume("t", graph.reject("ana"))
    assert isinstance(outcome, Interrupted)
    assert (outcome.suspended_node, outcome.next_node, outcome.waiting_at) == ("Approve", "Publish", ("Approve",))
    assert (await runner.thread("t")).decision is None


@pytest.mark.parametrize("rejects", [True, False])
async def test_ck40_ck44_hs15_behind_a_failure_an_answer_only_amends(rejects: bool) -> None:
    sees, switch = Sees(), list[bool]()

    def fails(state: Trail, ctx: Context) -> Trail:
        if not switch:
            raise LookupError("off")
        return sees.node(state, ctx)

    graph = (
        StateGraph(Trail)
        .add_node("A", adds("A"), inline=True)
        .add_node("B", fails, inline=True)
        .add_node("Undo", adds("u"), inline=True)
        .add_edge("A", "B")
        .add_interrupt_boundary("A", on_reject="Undo")
        .compile()
    )
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    await runner.resume("t", graph.approve("alice"))
    switch.append(True)
    answer = graph.reject("bob") if rejects else graph.approve("bob")
    assert (await runner.resume("t", answer.override(trail="mended "))).unwrap().trail == "mended B"
    assert sees.reviewers == ["alice"]


@pytest.mark.parametrize("rounds", [1, 2, 7])
async def test_int_06_int_13_int_17_a_question_in_a_loop_takes_one_answer_a_round(rounds: int) -> None:
    asked: list[int] = []

    def ask(state: Trail) -> Trail:
        asked.append(state.n)
        return state

    graph = (
        StateGraph(Trail)
        .add_node("Ask", ask, inline=True)
        .add_node("Count", lambda state: state.replace(n=state.n + 1), inline=True)
        .add_node("End", adds("E"), inline=True)
        .add_edge("Ask", "Count")
        .add_conditional_edge("Count", "Ask", lambda state: state.n < rounds)
        .add_edge("Count", "End")
        .add_interrupt_boundary("Ask")
        .compile()
    )
    runner = Runner(graph, MemoryStore())
    outcome = await runner.run("t", Trail())
    answers = 0
    while isinstance(outcome, Interrupted):
        outcome = await runner.resume("t", graph.approve(f"person {answers}"))
        answers += 1
    assert isinstance(outcome, Completed)
    assert answers == rounds
    assert asked == list(range(rounds))


@pytest.mark.parametrize("durable", [True, False])
async def test_int_14_int_18_int_20_a_pause_is_answered_in_a_new_process_and_nothing_runs_twice(durable: bool, tmp_path: Path) -> None:
    ran: list[str] = []

    def says(state: Trail, ctx: Context) -> Trail:
        ran.append(ctx.node)
        return state

    def graph() -> StateGraph[Trail]:
        made = StateGraph(Trail)
        for name in ("First", "Ask", "Yes", "No"):
            made.add_node(name, says, inline=True)
        return made.add_edge("First", "Ask").add_edge("Ask", "Yes").add_interrupt_boundary("Ask", on_reject="No")

    async with SqliteStore(tmp_path / "t.db") as store:
        assert isinstance(await Runner(graph().compile(durable=durable), store).run("t", Trail()), Interrupted)
    async with SqliteStore(tmp_path / "t.db") as store:
        again = graph().compile(durable=durable)
        assert isinstance(await Runner(again, store).resume("t", again.reject("ana")), Completed)
    assert ran == ["First", "Ask", "No"]


async def test_ck101_en2_an_end_reaches_every_level_of_a_record() -> None:
    store = MemoryStore()
    below = record("Work", suspended_node="Approve", next_node="Send", state={"n": 10}, metadata={"tenant": "acme", "error": "x"})
    await store.save(record(suspended_node="Work", next_node="Work", state={"trail": "outer", "n": 1}, nested=below))
    outcome = await Runner(line("Work").compile(), store).end("t", by="ana")
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("Work", ("Work", "Approve"), "outer")
    assert (await log(store))[-1] == "ended:Work>- / ended:Approve>-"
    for level in (await checkpoints(store))[-1].levels():
        assert level.metadata == {"strata.end_reason": "requested", "strata.ended_by": "ana"}


async def test_mig_08_what_a_handler_does_to_its_state_in_place_is_not_in_the_record_of_its_failure() -> None:
    class Basket(Trail):
        items: list[str] = []  # noqa: RUF012 - msgspec copies it

    def fill(basket: Basket) -> Basket:
        basket.items.append("half done")
        raise ValueError

    store = MemoryStore()
    given = Basket(items=["mine"])
    await Runner(StateGraph(Basket).add_node("A", fill, inline=True).compile(), store).run("t", given)
    assert [b'"items":["mine"]' in bytes(each.frozen_state) for each in await checkpoints(store)] == [True, True]


@pytest.mark.parametrize("values", [{"n": 4}, Trail(n=4), None])
def test_an_override_without_the_name_of_its_field_is_refused(values: Any) -> None:
    answer: Any = line("A").compile().approve("ana")
    with pytest.raises(TypeError, match=r"override\(\) takes fields by name, as in override\(score=9\), not"):
        answer.override(values)


def test_a_class_of_stores_is_no_store() -> None:
    store: Any = MemoryStore
    with pytest.raises(TypeError, match=r"a runner's store keeps checkpoints, as .* do"):
        Runner(line("A").compile(), store)


async def test_hs26_a_rejection_inside_whose_route_fails_is_kept_and_seen_again() -> None:
    seen: list[tuple[str, Mapping[str, Any]]] = []

    def drops(state: Trail, ctx: Context) -> Trail:
        assert ctx.decision is not None
        seen.append((ctx.decision.reviewer, ctx.decision.overrides))
        if len(seen) == 1:
            raise ValueError
        return state

    def enter(state: Trail) -> Trail:
        return state

    def leave(state: Trail, inside: Trail) -> Trail:
        return inside

    child = undoing().add_node("Undo", drops, inline=True).compile(durable=False)
    graph = StateGraph(Trail).add_subgraph("Work", child, enter=enter, leave=leave).compile(durable=False)
    store = MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", child.reject("ana").override(n=40)), Failed)
    outer, inner = (await checkpoints(store))[-1].levels()
    assert (outer.status, outer.decision, outer.schema_version) == ("failed", None, "1.3.0")
    assert (inner.status, inner.suspended_node, inner.next_node) == ("failed", "Undo", "Undo")
    assert inner.decision is not None
    assert (inner.decision.is_approved, inner.decision.reviewer, bytes(inner.decision.overrides)) == (False, "ana", b'{"n":40}')
    assert isinstance(await runner.resume("t"), Completed)
    assert seen == [("ana", {"n": 40})] * 2
