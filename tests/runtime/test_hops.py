"""Hops: what counts, what a limit refuses, and what a resume makes of it."""

from __future__ import annotations

import pytest

from strata import CheckpointUnreadable, Completed, GraphInvalid, HopLimitExceeded, Interrupted, OptionRefused, Runner
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line, loop, undoing
from tests.logs import checkpoints, log
from tests.records import record

pytestmark = pytest.mark.filterwarnings("ignore:.*guarded:strata.GraphWarning")


async def test_gh1_without_a_limit_nothing_is_counted_in_a_run_that_is_not_durable() -> None:
    store = MemoryStore()
    graph = loop(until=51).add_interrupt_boundary("B").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert (await checkpoints(store))[-1].metadata is None
    unpaused = Runner(loop(until=50).compile(durable=False))
    assert (await unpaused.run("t", Trail())).unwrap().n == 51


async def test_gh2_ck68_an_endless_loop_trips_at_its_limit() -> None:
    store = MemoryStore()
    outcome = await Runner(loop().compile(max_node_hops=5, durable=False), store).run("t", Trail())
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops, outcome.limit, outcome.state.trail) == ("B", 5, 5, "ABABA")
    last = (await checkpoints(store))[-1]
    assert (last.status, last.suspended_node, last.next_node) == ("failed", "B", "B")
    assert last.metadata == {
        "error": "hop limit of 5 reached: node 'B' would be hop 6",
        "error_kind": "hop_limit",
        "strata.hops": "5",
    }


@pytest.mark.parametrize("limit", [5, 6])
async def test_gh3_ck69_a_run_of_exactly_as_many_hops_completes(limit: int) -> None:
    assert isinstance(await Runner(line(*"ABCDE").compile(max_node_hops=limit)).run("t", Trail()), Completed)


async def test_gh8_ck70_a_pause_carries_the_count_on() -> None:
    store = MemoryStore()
    graph = loop().add_interrupt_boundary("B").compile(max_node_hops=5, durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert (await runner.thread("t")).hops == 2
    assert isinstance(await runner.resume("t", graph.approve("ana")), Interrupted)
    assert (await runner.thread("t")).hops == 4
    tripped = await runner.resume("t", graph.approve("ana"))
    assert isinstance(tripped, HopLimitExceeded)
    assert (tripped.node, tripped.hops) == ("B", 5)


async def test_gh10_ck72_a_tripped_thread_trips_again_until_the_limit_is_raised() -> None:
    store = MemoryStore()
    runner = Runner(loop().compile(max_node_hops=5, durable=False), store)
    await runner.run("t", Trail())
    again = await runner.resume("t")
    assert isinstance(again, HopLimitExceeded)
    assert (again.hops, again.limit, again.state.n) == (5, 5, 5)
    assert (await checkpoints(store))[-1].resumed_at is None
    raised = await runner.resume("t", max_node_hops=7)
    assert isinstance(raised, HopLimitExceeded)
    assert (raised.node, raised.hops, raised.limit, raised.state.n) == ("B", 7, 7, 7)


@pytest.mark.parametrize("text", ["-1", "", "+1", "1.0", "4294967296", "²"])
async def test_gh12_ck74_a_count_that_is_no_number_refuses_the_resume(text: str) -> None:
    store = MemoryStore()
    await store.save(record(status="failed", suspended_node="A", next_node="A", state={"trail": "", "n": 0}, metadata={"strata.hops": text}))
    with pytest.raises(CheckpointUnreadable) as refused:
        await Runner(line("A").compile(), store).resume("t")
    assert str(refused.value) == f"checkpoint for thread 't' has an invalid 'strata.hops' value '{text}'"
    assert await log(store) == ["failed:A>A"]


async def test_ck74_leading_zeros_are_a_number() -> None:
    store = MemoryStore()
    await store.save(record(status="failed", suspended_node="A", next_node="A", state={"trail": "", "n": 0}, metadata={"strata.hops": "007"}))
    outcome = await Runner(line("A").compile(max_node_hops=7), store).resume("t")
    assert isinstance(outcome, HopLimitExceeded)
    assert outcome.hops == 7


@pytest.mark.parametrize(("compiled", "given", "node", "hops"), [(10, 3, "B", 3), (None, 2, "A", 2), (2, 4, "A", 4)])
async def test_gh13_ck76_the_runs_own_limit_replaces_the_compiled_one(compiled: int | None, given: int, node: str, hops: int) -> None:
    outcome = await Runner(loop().compile(max_node_hops=compiled)).run("t", Trail(), max_node_hops=given)
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops, outcome.limit) == (node, hops, given)


async def test_gh14_a_limit_below_the_count_says_both_as_they_are() -> None:
    runner = Runner(loop().compile(max_node_hops=5), MemoryStore())
    await runner.run("t", Trail())
    outcome = await runner.resume("t", max_node_hops=3)
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.hops, outcome.limit) == (5, 3)
    assert outcome.message == "hop limit of 3 reached: node 'B' would be hop 6"


async def test_gb13_a_limit_of_0_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(GraphInvalid, match="max_node_hops must be at least 1"):
        line("A").compile(max_node_hops=0)
    store = MemoryStore()
    runner = Runner(line("A").compile(), store)
    with pytest.raises(OptionRefused, match=r"^a run's max_node_hops must be at least 1$"):
        await runner.run("t", Trail(), max_node_hops=0)
    assert await store.load_latest("t") is None


async def test_a_reject_route_counts_as_the_hop_that_it_is() -> None:
    graph = undoing().compile(max_node_hops=2)
    store = MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    assert isinstance(await runner.resume("t", graph.reject("ana")), Completed)
    assert (await runner.thread("t")).hops == 2
