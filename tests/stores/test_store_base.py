"""A store of which only `save` and `load` are written, and the loop of a synchronous program."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from strata.checkpoint.record import Checkpoint
from strata.errors import LoopRunning, OptionRefused, StoreError, StoreLacksLeases
from strata.ports.checkpoints import CheckpointStore, Stored, ThreadQuery
from strata.ports.leases import ThreadLease
from strata.stores import StoreBase
from tests.records import record


class Shelf(StoreBase):
    """As little of a store as works."""

    def __init__(self) -> None:
        self.latest: dict[str, Checkpoint] = {}
        self.calls: list[str] = []

    async def save(self, checkpoint: Checkpoint, /) -> None:
        self.latest[checkpoint.thread_id] = checkpoint

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        return self.latest.get(thread_id)

    async def open(self) -> None:
        self.calls.append("open")

    async def close(self) -> None:
        self.calls.append("close")


async def test_st11_save_and_load_are_enough() -> None:
    store: CheckpointStore = Shelf()
    assert await store.load_latest("t") is None
    assert await store.save(record()) is None
    assert await store.load_latest("t") == Stored(record(), None)
    assert await store.save_if_latest(record(status="ended"), 7) is None
    assert await store.load_latest("t") == Stored(record(status="ended"), None)


async def test_what_such_a_store_lacks_is_said() -> None:
    with pytest.raises(StoreError, match="this checkpoint store has no log"):
        await Shelf().get_log("t")
    with pytest.raises(StoreError, match="this checkpoint store has no thread listing"):
        await Shelf().list_threads(ThreadQuery())
    with pytest.raises(StoreError, match="this checkpoint store has no purge"):
        await Shelf().purge(older_than=datetime(2027, 1, 1, tzinfo=UTC))


LEASE = ThreadLease("t", "alice", token=1, expires_at=0)


async def test_such_a_store_has_no_leases() -> None:
    store = Shelf()
    calls = [
        store.try_acquire_lease("t", "", 0),
        store.renew_lease(LEASE, 30),
        store.release_lease(LEASE),
        store.get_lease("t"),
        store.save_under_lease(record(), LEASE),
    ]
    for call in calls:
        with pytest.raises(StoreLacksLeases) as error:
            await call
        assert (str(error.value), error.value.written) == ("this checkpoint store has no leases", False)
    assert not store.latest


async def test_async_with_opens_and_closes() -> None:
    store = Shelf()
    async with store as entered:
        assert entered is store
        assert store.calls == ["open"]
    assert store.calls == ["open", "close"]


def test_with_keeps_one_loop() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with Shelf() as store:
        assert store.has_loop
        assert store.run_in_loop(loop()) is store.run_in_loop(loop())
        store.run_in_loop(store.save(record()))
        assert store.run_in_loop(store.load("t")) == record()
    assert not store.has_loop
    assert store.calls == ["open", "close"]


def test_a_store_can_be_used_in_another_with() -> None:
    store = Shelf()
    for _ in range(2):
        with store:
            store.run_in_loop(store.save(record()))
    assert store.calls == ["open", "close"] * 2


def test_an_error_in_the_block_goes_up_and_closes_the_store() -> None:
    store = Shelf()
    with pytest.raises(ZeroDivisionError), store:
        raise ZeroDivisionError
    assert store.calls == ["open", "close"]
    assert not store.has_loop


def test_a_store_that_does_not_open_keeps_no_loop() -> None:
    class Broken(Shelf):
        async def open(self) -> None:
            raise StoreError("the disk is gone")

    store = Broken()
    with pytest.raises(StoreError, match="the disk is gone"), store:
        pass
    assert not store.has_loop


def test_one_with_at_a_time() -> None:
    with Shelf() as store, pytest.raises(StoreError, match="in a `with` block already"), store:
        pass


def test_outside_of_with_there_is_no_loop() -> None:
    store = Shelf()
    with pytest.raises(StoreError, match="use it in a `with` block"):
        store.run_in_loop(store.load("t"))


async def test_with_inside_a_running_loop_says_to_write_async_with() -> None:
    with pytest.raises(LoopRunning, match="write `async with` there"), Shelf():
        pass


@pytest.mark.parametrize("coroutine", [None, 5, "load"])
def test_run_in_loop_of_what_is_no_coroutine_is_refused(coroutine: Any) -> None:
    with Shelf() as store, pytest.raises(OptionRefused, match=r"run_in_loop\(\) runs a coroutine, as in .*, not "):
        store.run_in_loop(coroutine)


def test_run_in_loop_inside_a_running_loop_is_refused() -> None:
    with Shelf() as store:

        async def nested() -> None:
            store.run_in_loop(store.load("t"))

        with pytest.raises(LoopRunning, match="await there"):
            store.run_in_loop(nested())
