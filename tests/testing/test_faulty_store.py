"""A store with faults laid over it: what a graph's thread comes to."""

from __future__ import annotations

import asyncio

import pytest

from strata import Completed, Runner, State, StateGraph, StoreError, ThreadChanged, node
from strata.stores.memory import MemoryStore
from strata.testing import FaultyStore
from tests.records import record


class Count(State):
    n: int = 0


@node(inline=True)
def add(count: Count) -> Count:
    return count.replace(n=count.n + 1)


COUNTING = StateGraph(Count).start(add).compile()


@pytest.fixture
def store() -> FaultyStore:
    return FaultyStore(MemoryStore())


async def test_without_a_fault_it_is_the_store(store: FaultyStore) -> None:
    outcome = await Runner(COUNTING, store).run("t", Count())
    assert isinstance(outcome, Completed)
    assert outcome.state == Count(n=1)
    assert store.saves == 2


@pytest.mark.parametrize(("written", "kept"), [(False, 1), (True, 2), (None, 2)])
async def test_a_save_fails_before_or_after_it_is_written(store: FaultyStore, written: bool | None, kept: int) -> None:
    store.fail_save(2, written=written)
    with pytest.raises(StoreError) as failure:
        await Runner(COUNTING, store).run("t", Count())
    assert failure.value.written is written
    assert len((await store.get_log("t")).records) == kept


async def test_faults_count_from_the_moment_they_are_told(store: FaultyStore) -> None:
    await store.save(record())
    store.fail_save()
    with pytest.raises(StoreError):
        await store.save(record())
    assert await store.save(record()) == 1


async def test_a_race_is_lost(store: FaultyStore) -> None:
    store.lose_race()
    with pytest.raises(ThreadChanged):
        await store.save_if_latest(record(), -1)
    assert await store.load("t") is None


async def test_a_load_fails(store: FaultyStore) -> None:
    store.fail_load()
    with pytest.raises(StoreError):
        await store.load("t")
    assert await store.load("t") is None


async def test_nothing_works_while_it_is_disconnected(store: FaultyStore) -> None:
    store.disconnect()
    for call in (store.load("t"), store.save(record()), store.get_log("t"), store.get_lease("t")):
        with pytest.raises(StoreError):
            await call
    store.reconnect()
    assert await store.save(record()) == 0


async def test_a_save_that_is_held_is_written_and_returns_when_it_is_let_go(store: FaultyStore) -> None:
    store.hold_saves()
    saving = asyncio.create_task(store.save(record()))
    await store.saving.wait()
    assert await store.load("t") == record()
    assert not saving.done()
    store.let_saves_go()
    assert await saving == 0
