"""Going on with a thread whose process died: what is refused, what the claim says, what the node is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strata import (
    CheckpointUnreadable,
    CompiledGraph,
    Completed,
    Context,
    Failed,
    Interrupted,
    NotDurable,
    NotRunning,
    OptionRefused,
    Refused,
    Runner,
    StateGraph,
    ThreadChanged,
    ThreadNotFound,
    WrongGraph,
)
from strata.checkpoint.record import Checkpoint
from strata.graph.identity import Identity
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints, log
from tests.odd_stores import OvertakenStore
from tests.records import record

TRAIL = {"trail": "A", "n": 1}


def running(suspended: str | None = "A", next_node: str = "B", **fields: Any) -> Checkpoint:
    """What a process left that died in `next_node`."""
    values: dict[str, Any] = {"state": TRAIL, "status": "running", "metadata": {"strata.hops": "1"}}
    return record(**(values | {"suspended_node": suspended, "next_node": next_node} | fields))


class Told:
    """A line of three nodes that say what they were told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool, int, str]] = []
        self.fails_at = ""

    def look(self, state: Trail, ctx: Context) -> Trail:
        self.seen.append((ctx.node, ctx.is_recovery, ctx.recoveries, ctx.idempotency_key))
        if ctx.node == self.fails_at:
            raise LookupError("again")
        return adds(ctx.node)(state)

    def graph(self, **options: Any) -> CompiledGraph[Trail]:
        graph = StateGraph(Trail)
        for name in "ABC":
            graph.add_node(name, self.look, inline=True)
        return graph.add_edge("A", "B").add_edge("B", "C").compile(**options)


async def refused(stored: Checkpoint | None, *, graph: CompiledGraph[Trail] | None = None, **options: Any) -> Refused:
    """The refusal of a recovery; the log is as it was."""
    store = MemoryStore()
    if stored is not None:
        await store.save(stored)
    with pytest.raises(Refused) as raised:
        await Runner(graph or line("A", "B", "C").compile(), store).recover("t", **options)
    assert await checkpoints(store) == ([] if stored is None else [stored])
    return raised.value


async def test_ck88_rc10_the_node_in_flight_runs_again_and_is_told_so() -> None:
    told, store = Told(), MemoryStore()
    await store.save(running(None, "A", state={"trail": "", "n": 0}, metadata={"strata.hops": "0"}))
    await store.save(running())
    assert (await Runner(told.graph(), store).recover("t")).unwrap().trail == "ABC"
    assert told.seen == [("B", True, 1, "t/B#2"), ("C", False, 0, "t/C#3")]
    assert (await log(store))[2:] == ["running:A>B", "running:B>C", "completed:C>-"]
    claim, committed, completed = (await checkpoints(store))[2:]
    assert claim.metadata == {"strata.hops": "1", "strata.recoveries": "1"}
    assert committed.metadata == {"strata.hops": "2"}
    assert completed.metadata == {"strata.hops": "3"}


async def test_a_recovery_counts_on_until_a_node_commits() -> None:
    told, store = Told(), MemoryStore()
    await store.save(running(metadata={"strata.hops": "1", "strata.recoveries": "4"}))
    await Runner(told.graph(), store).recover("t")
    assert told.seen[0][2] == 5
    assert (await checkpoints(store))[1].metadata == {"strata.hops": "1", "strata.recoveries": "5"}


@pytest.mark.parametrize("text", ["x", "", "-1", "9" * 5000])
async def test_a_recovery_count_that_cannot_be_read_is_none(text: str) -> None:
    told, store = Told(), MemoryStore()
    await store.save(running(metadata={"strata.recoveries": text}))
    await Runner(told.graph(), store).recover("t")
    assert told.seen[0][2] == 1


async def test_a_recovery_that_fails_drops_the_count_and_can_be_resumed() -> None:
    told, store = Told(), MemoryStore()
    told.fails_at = "B"
    await store.save(running())
    runner = Runner(told.graph(), store)
    assert isinstance(await runner.recover("t"), Failed)
    failed = (await checkpoints(store))[-1]
    assert (failed.status, failed.metadata) == ("failed", {"error": "LookupError: again", "error_kind": "fatal", "strata.hops": "1"})
    told.fails_at = ""
    assert isinstance(await runner.resume("t"), Completed)
    assert [(name, flag) for name, flag, _, _ in told.seen] == [("B", True), ("B", False), ("C", False)]


async def test_ck99_a_recovery_keeps_metadata_decision_and_state() -> None:
    store = MemoryStore()
    graph = line("A", "B", "C").add_interrupt_boundary("A").compile()
    runner = Runner(graph, store)
    await runner.run("t", Trail(), metadata={"tenant": "acme"})
    claimed = MemoryStore()
    paused = (await checkpoints(store))[-1]
    await claimed.save(paused)
    await Runner(graph, claimed).resume("t", graph.approve("ana"))
    dead = MemoryStore()
    await dead.save((await checkpoints(claimed))[1])
    assert isinstance(await Runner(graph, dead).recover("t", metadata={"incident": "INC-1"}), Completed)
    records = await checkpoints(dead)
    assert [stored.decision.reviewer for stored in records if stored.decision is not None] == ["ana"] * 4
    assert records[1].metadata == {"tenant": "acme", "incident": "INC-1", "strata.hops": "1", "strata.recoveries": "1"}
    assert records[-1].metadata == {"tenant": "acme", "incident": "INC-1", "strata.hops": "3"}


async def test_ck91_rc16_an_unknown_thread() -> None:
    assert isinstance(await refused(None), ThreadNotFound)


@pytest.mark.parametrize(
    ("fields", "state_name"),
    [
        ({"status": "interrupted"}, "interrupted"),
        ({"status": "failed"}, "failed"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "completed"}, "completed"),
        ({"status": "ended"}, "ended"),
        ({"status": "interrupted", "resumed_at": "2026-11-02T10:00:00Z"}, "resumed"),
    ],
)
async def test_ck90_rc14_a_thread_that_is_not_running(fields: dict[str, Any], state_name: str) -> None:
    error = await refused(running(**fields))
    assert isinstance(error, NotRunning)
    assert str(error) == f"thread 't' is not running: its latest checkpoint is {state_name}"


async def test_ck90_a_waiting_thread_is_resumable_after_the_refusal() -> None:
    graph = line("A", "B").add_interrupt_boundary("A").compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    with pytest.raises(NotRunning):
        await runner.recover("t")
    assert isinstance(await runner.resume("t", graph.approve("ana")), Completed)


async def test_ck91_rc16_a_graph_that_does_not_record_every_node() -> None:
    error = await refused(running(), graph=line("A", "B", "C").compile(durable=False))
    assert isinstance(error, NotDurable)
    assert str(error).startswith("this graph doesn't checkpoint every node: ")
    assert "compile(durable=True)" in str(error)


async def test_a_runner_without_a_store_has_nothing_to_recover() -> None:
    with pytest.raises(NotDurable, match="no store"):
        await Runner(line("A").compile()).recover("t")


async def test_not_durable_is_said_before_the_thread_is_looked_at() -> None:
    not_durable = line("A").compile(durable=False)
    assert isinstance(await refused(None, graph=not_durable), NotDurable)
    assert isinstance(await refused(running(status="ended"), graph=not_durable), NotDurable)


async def test_ck91_another_graphs_thread() -> None:
    error = await refused(running(graph=Identity("other", None)), graph=line("A", "B", "C").compile(id="mine"))
    assert isinstance(error, WrongGraph)


async def test_a_running_thread_whose_node_the_graph_lacks() -> None:
    assert isinstance(await refused(running("A", "Gone")), WrongGraph)


async def test_a_running_thread_whose_record_cannot_be_used() -> None:
    assert isinstance(await refused(running(metadata={"strata.hops": "x"})), CheckpointUnreadable)
    assert isinstance(await refused(running(state={"trail": 1})), CheckpointUnreadable)
    assert isinstance(await refused(running(nested=record("B", state=TRAIL))), WrongGraph)
    assert isinstance(await refused(running(), metadata={"strata.recoveries": "0"}), OptionRefused)


async def test_ck93_rc18_of_two_recoveries_from_one_load_one_runs() -> None:
    told = Told()

    async def recover(store: MemoryStore) -> None:
        assert isinstance(await Runner(told.graph(), store).recover("t"), Completed)

    store = OvertakenStore(recover)
    await store.save(running())
    with pytest.raises(ThreadChanged) as raised:
        await Runner(told.graph(), store).recover("t")
    assert str(raised.value) == "thread 't' changed before it could be recovered: its run went on, or another recovery got there first"
    assert [name for name, *_ in told.seen] == ["B", "C"]


async def test_a_run_that_was_taken_for_dead_writes_nothing_more() -> None:
    """The first process only stalled in B; a second one recovered the thread."""
    entered, go_on = asyncio.Event(), asyncio.Event()
    stalls = [True]

    async def stall(state: Trail) -> Trail:
        if stalls:
            stalls.clear()
            entered.set()
            await go_on.wait()
            return state.replace(trail="late")
        return adds("B")(state)

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("A", adds("A")).add_node("B", stall).add_node("C", adds("C")).add_edge("A", "B").add_edge("B", "C").compile()
    stalled = asyncio.create_task(Runner(graph, store).run("t", Trail()))
    await entered.wait()
    assert isinstance(await Runner(graph, store).recover("t"), Completed)
    before = await checkpoints(store)
    go_on.set()
    outcome = await stalled
    assert outcome.thread_id == "t"
    assert getattr(outcome, "reason", "") == "superseded"
    assert await checkpoints(store) == before


async def test_dur_06_a_loop_goes_on_round_after_round_behind_a_recovery() -> None:
    graph = (
        StateGraph(Trail)
        .add_node("A", adds("a"), inline=True)
        .add_node("End", lambda state: state, inline=True)
        .add_conditional_edge("A", "A", lambda state: state.n < 5)
        .add_edge("A", "End")
        .compile()
    )
    store = MemoryStore()
    await store.save(running("A", "A", state={"trail": "a", "n": 1}))
    assert (await Runner(graph, store).recover("t")).unwrap().n == 5


async def test_a_recovery_may_come_to_a_pause() -> None:
    store = MemoryStore()
    await store.save(running())
    graph = line("A", "B", "C").add_interrupt_boundary("B").compile()
    assert isinstance(await Runner(graph, store).recover("t"), Interrupted)
    assert await log(store) == ["running:A>B", "running:A>B", "interrupted:B>C"]
