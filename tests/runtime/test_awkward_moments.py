"""Awkward moments and answers: nothing is left behind, nothing is lost, and no answer is taken for another."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from strata import Context, Failed, Lease, Runner, StateGraph, TransientError, branch, first_matching
from strata.checkpoint.record import Checkpoint
from strata.ports.leases import Acquisition
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.clocks import settle
from tests.graphs.trails import Trail, adds, line
from tests.logs import log


class SlowToGive(MemoryStore):
    """A lease is given, and the answer takes a turn of the loop."""

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        answer = await super().try_acquire_lease(thread_id, owner, ttl)
        await asyncio.sleep(0)
        return answer


async def test_host_02_a_run_abandoned_while_it_takes_its_lease_leaves_none() -> None:
    for turns in range(12):
        store = SlowToGive()
        call = asyncio.ensure_future(Runner(line("A").compile(), store, lease=Lease("w", 30)).run("t", Trail()))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
        await settle()
        assert await store.get_lease("t") is None, turns


async def test_the_same_on_sqlite(tmp_path: Path) -> None:
    left: list[bool] = []
    for number in range(30):
        async with SqliteStore(tmp_path / f"{number}.db") as store:
            await store.load_latest("t")
            call = asyncio.ensure_future(Runner(line("A").compile(), store, lease=Lease("w", 30)).run("t", Trail()))
            await asyncio.sleep(number * 0.0001)
            call.cancel()
            await asyncio.wait({call})
            await asyncio.sleep(0.005)
            left.append(await store.get_lease("t") is not None)
    assert not any(left)


async def stubborn(state: Trail) -> Trail:
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.3)
    return state


@pytest.mark.parametrize("durable", [True, False])
async def test_can_01_a_reader_told_twice_leaves_no_run_behind(durable: bool) -> None:
    store = MemoryStore()
    runner = Runner(StateGraph(Trail).add_node("A", stubborn).compile(durable=durable), store, lease=Lease("w", 30))

    async def read() -> None:
        async with runner.stream("t", Trail()) as events:
            async for _ in events:
                pass

    before = asyncio.all_tasks()
    reader = asyncio.create_task(read())
    await asyncio.sleep(0.02)
    reader.cancel()
    await settle()
    reader.cancel()
    await asyncio.wait({reader})
    left = asyncio.all_tasks() - before
    held = await store.get_lease("t")
    await asyncio.sleep(0.5)
    assert (held, [task.get_name() for task in left]) == (None, [])


@pytest.mark.parametrize("way", ["gather", "task group"])
async def test_int_10_a_failure_beside_a_question_is_the_nodes_failure(way: str) -> None:
    async def fails() -> None:
        raise ValueError("no such order")

    async def node(state: Trail, ctx: Context) -> Trail:
        async def asks() -> None:
            ctx.interrupt("Send it?")

        if way == "gather":
            await asyncio.gather(fails(), asks())
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(asks())
                group.create_task(fails())
        return state

    store = MemoryStore()
    try:
        outcome = await Runner(StateGraph(Trail).add_node("A", node).compile(), store).run("t", Trail())
    except BaseExceptionGroup as error:
        pytest.fail(f"out of the run came {error!r}, and the thread is left as {await log(store)}")
    assert isinstance(outcome, Failed)
    assert (await log(store))[-1] == "failed:A>A"


@pytest.mark.parametrize("kind", ["node", "group"])
@pytest.mark.parametrize("hint", [1e308, 1e18])
async def test_a_hint_beyond_what_a_record_holds_does_not_cost_the_record(kind: str, hint: float) -> None:
    async def fails(state: Trail) -> Trail:
        raise TransientError("busy", retry_after=hint)

    def first(state: Trail, results: list[Trail]) -> Trail:
        return results[0]

    node = StateGraph(Trail).add_node("A", fails)
    graph = node if kind == "node" else StateGraph(Trail).add_parallel_group("A", [branch("b", fails)], first)
    store = MemoryStore()
    outcome = await Runner(graph.compile(), store).run("t", Trail())
    assert isinstance(outcome, Failed)
    stored = await store.load("t")
    assert isinstance(stored, Checkpoint)
    assert int((stored.metadata or {}).get("strata.retry_after_ms", "0")) < 2**64


async def no(*_: object) -> bool:
    return False


def test_ret_01_an_async_predicate_of_retry_is_refused_and_never_means_yes() -> None:
    graph = StateGraph(Trail).add_node("A", adds("A"))
    with pytest.raises(TypeError, match="is async"):
        graph.set_recovery_policy("A", retries=3, on=no)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", ["a coroutine", "a number"])
async def test_what_is_neither_true_nor_false_fails_the_join_as_it_does_a_guard(answer: str) -> None:
    def asked(state: Trail) -> object:
        return no() if answer == "a coroutine" else 7

    def first(state: Trail, results: list[Trail]) -> Trail:
        return results[0]

    join = first_matching(asked, description="asked")  # type: ignore[arg-type]
    graph = StateGraph(Trail).add_parallel_group("G", [branch("b", adds("b"))], first, join=join)
    assert isinstance(await Runner(graph.compile(), MemoryStore()).run("t", Trail()), Failed)
