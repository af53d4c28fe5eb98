"""What observers hear of ends, rejections, recoveries and of parts that run at once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from strata import CompiledGraph, Completed, Context, Failed, FatalError, OptionRefused, Runner, StateGraph, TransientError, branch
from strata.checkpoint.record import Checkpoint
from strata.ports.events import (
    BranchCompleted,
    BranchStarted,
    CheckpointSaved,
    NodeCompleted,
    NodeStarted,
    Recovered,
    Resumed,
    RunCompleted,
    RunEvent,
    RunStarted,
)
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds, line, undoing
from tests.logs import checkpoints


def observed(graph: CompiledGraph[Trail], store: MemoryStore) -> tuple[Runner[Trail], list[RunEvent]]:
    told: list[RunEvent] = []
    return Runner(graph, store, clock=HandClock(), observers=[told.append]), told


def names(told: list[RunEvent]) -> list[str]:
    return [type(event).__name__ for event in told]


def around(child: CompiledGraph[Trail]) -> CompiledGraph[Trail]:
    """Work, which is the child, and nothing else."""

    def enter(state: Trail) -> Trail:
        return state

    def leave(state: Trail, inside: Trail) -> Trail:
        return inside

    return StateGraph(Trail).add_subgraph("Work", child, enter=enter, leave=leave).compile(durable=False)


async def test_en10_an_end_is_told_once_with_its_record_and_again_without_one() -> None:
    child = line("Approve", "Send").add_interrupt_boundary("Approve").compile(durable=False)
    runner, told = observed(around(child), MemoryStore())
    await runner.run("t", Trail())
    told.clear()
    await runner.end("t", by="ana")
    match [event for event in told if isinstance(event, RunStarted | CheckpointSaved | RunCompleted)]:
        case [RunStarted(mode="end", node="Work"), CheckpointSaved(status="ended", waiting_at=("Work", "Approve")), RunCompleted() as last]:
            assert (last.outcome, last.cancel_reason) == ("cancelled", "ended")
        case other:
            pytest.fail(f"told: {other}")
    told.clear()
    await runner.end("t", by="bob")
    assert [name for name in names(told) if name != "CheckpointLoaded"] == ["RunStarted", "RunCompleted"]


async def test_hs21_a_rejection_is_told_with_its_route() -> None:
    graph = undoing().compile(durable=False)
    runner, told = observed(graph, MemoryStore())
    await runner.run("t", Trail())
    told.clear()
    await runner.resume("t", graph.reject("ana"))
    assert [event.node for event in told if isinstance(event, RunStarted)] == ["Undo"]
    [resumed] = [event for event in told if isinstance(event, Resumed)]
    assert (resumed.is_approved, resumed.reviewer, resumed.rejected_to, resumed.timed_out_to) == (False, "ana", "Undo", None)


async def test_rc26_a_recovery_is_told_behind_its_claim() -> None:
    graph = line("A", "B").compile()
    whole = MemoryStore()
    await Runner(graph, whole, clock=HandClock()).run("t", Trail())
    store = MemoryStore()
    for record in (await checkpoints(whole))[:2]:  # it dies in B
        await store.save(record)
    runner, told = observed(graph, store)
    await runner.recover("t")
    kept = (RunStarted, CheckpointSaved, Recovered, NodeStarted, NodeCompleted, RunCompleted)
    match [event for event in told if isinstance(event, kept)]:
        case [
            RunStarted(mode="recover", node="B"),
            CheckpointSaved(status="running"),
            Recovered(at=("B",), recoveries=1),
            NodeStarted(node_path="B"),
            NodeCompleted(node_path="B"),
            CheckpointSaved(status="completed"),
            RunCompleted(outcome="completed"),
        ]:
            pass
        case other:
            pytest.fail(f"told: {names(list(other))}")


async def test_ex76_con_02_dur_05_of_sixteen_branches_that_end_at_once_nothing_is_lost() -> None:
    barrier = asyncio.Barrier(16)

    async def meets(state: Trail) -> Trail:
        await barrier.wait()
        return state.replace(n=state.n + 1)

    def merge(state: Trail, results: list[Trail]) -> Trail:
        return state.replace(n=sum(result.n for result in results))

    branches = [branch(f"b{number:02}", meets) for number in range(16)]
    runner, told = observed(StateGraph(Trail).add_parallel_group("Group", branches, merge).compile(), MemoryStore())
    outcome = await runner.run("t", Trail())
    assert outcome.unwrap().n == 16
    assert [event.sequence for event in told] == list(range(1, len(told) + 1))
    counts = Counter(names(told))
    assert (counts["BranchStarted"], counts["BranchCompleted"]) == (16, 16)
    assert {event.result for event in told if isinstance(event, BranchCompleted)} == {"succeeded"}
    assert [event.node_path for event in told if isinstance(event, BranchStarted)] == [f"Group/b{number:02}" for number in range(16)]
    assert isinstance(told[-1], RunCompleted)


async def test_ev14_every_event_has_the_runs_id_and_so_has_the_context_of_a_graph_inside() -> None:
    seen: list[str] = []

    async def looks(state: Trail, ctx: Context) -> Trail:
        seen.append(ctx.run_id)
        return state

    runner, told = observed(around(StateGraph(Trail).add_node("Look", looks).compile(durable=False)), MemoryStore())
    await runner.run("t", Trail(), run_id="run-of-mine")
    assert ({event.run_id for event in told}, seen) == ({"run-of-mine"}, ["run-of-mine"])
    with pytest.raises(OptionRefused, match="a run id can't be empty"):
        await runner.run("t", Trail(), run_id="")


# Inline nodes that fail


async def test_gn2_an_inline_node_is_tried_again_as_any_other() -> None:
    calls: list[str] = []

    def flaky(state: Trail) -> Trail:
        calls.append("A")
        if len(calls) == 1:
            raise TransientError("busy")
        return state.replace(trail="A")

    graph = StateGraph(Trail).add_node("A", flaky, inline=True).set_recovery_policy("A", retries=2).compile()
    assert (await Runner(graph, MemoryStore()).run("t", Trail())).unwrap().trail == "A"
    assert calls == ["A", "A"]


@pytest.mark.parametrize("helped", [True, False], ids=["with a fallback", "without"])
async def test_gn2_an_inline_node_that_fails_for_good(helped: bool) -> None:
    def declines(state: Trail) -> Trail:
        raise FatalError("card declined")

    store = MemoryStore()
    graph = line("Before").add_node("A", declines, inline=True).add_edge("Before", "A")
    graph.set_recovery_policy("A", retries=2, fallback="Rescue" if helped else None)
    if helped:
        graph.add_node("Rescue", adds("R"), inline=True)
    outcome = await Runner(graph.compile(), store).run("t", Trail())
    if helped:
        assert isinstance(outcome, Completed)
        assert outcome.state.trail == "BeforeR"
    else:
        assert isinstance(outcome, Failed)
        assert (outcome.node, outcome.attempts, outcome.kind) == ("A", 1, "fatal")
        last: Checkpoint = (await checkpoints(store))[-1]
        assert (last.status, last.suspended_node) == ("failed", "A")
