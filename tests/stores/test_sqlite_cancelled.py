"""A program may cancel any task at any moment: nobody waits for ever, no write is reported that was not made, and the store still closes."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import anyio
import pytest

from strata.errors import StoreError
from strata.stores.sqlite import SqliteStore
from tests.records import record
from tests.stores.sqlite_files import asked, opened

MOMENTS = [0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 50, 150, 500, 1500, 5000]
"""Turns of the loop: the first come before the file is open, the last when the work is done."""

LONG = 30.0
"""Seconds: who waits that long would wait for ever."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.db"


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def cancel_every_task() -> None:
    """All but the one that asks, as a program does that ends."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), LONG)


# The file opens


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
def test_a_store_that_was_opening_while_every_task_was_cancelled_is_used_as_any_other(path: Path, moment: int) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        saving = asyncio.ensure_future(store.save(record("t")))
        await turns(moment)
        await cancel_every_task()
        handed_over = int(moment > 0)  # a task that was cancelled before its first step has saved nothing
        async with asyncio.timeout(LONG):
            assert await store.save(record("t")) == handed_over
            await store.close()
        assert saving.cancelled()

    asyncio.run(program())


def test_a_store_whose_first_reader_was_cancelled_while_it_opened_is_read(path: Path) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        reading = asyncio.ensure_future(store.load("t"))
        await turns(1)
        await cancel_every_task()
        async with asyncio.timeout(LONG):
            assert await store.load("t") is None
            await store.close()
        assert reading.cancelled()

    asyncio.run(program())


def test_a_block_that_is_cancelled_while_the_file_opens_leaves_nothing_open(path: Path) -> None:
    async def program() -> None:
        store = SqliteStore(path)

        async def use() -> None:
            async with store:
                raise AssertionError("the block was entered")

        using = asyncio.ensure_future(use())
        await turns(1)
        await cancel_every_task()
        assert using.cancelled()
        with pytest.raises(StoreError, match="is closed"):
            await store.load("t")
        await store.close()

    asyncio.run(program())


def test_a_file_that_cannot_be_opened_is_told_to_whoever_closes_the_store_meanwhile(tmp_path: Path) -> None:
    async def program() -> None:
        store = SqliteStore(tmp_path / "no" / "t.db")
        saving = asyncio.ensure_future(store.save(record("t")))
        await turns(1)
        async with asyncio.timeout(LONG):
            await store.close()
            with pytest.raises(StoreError, match="does not exist"):
                await saving

    asyncio.run(program())


def test_a_loop_that_ends_while_the_file_opens_leaves_nothing_open(path: Path) -> None:
    store = SqliteStore(path)

    async def leave_at_once() -> None:
        asyncio.ensure_future(store.save(record("t")))  # noqa: RUF006
        await turns(1)

    asyncio.run(leave_at_once())
    asyncio.run(store.close())


def test_a_reader_of_a_store_that_closes_while_it_opens_is_told_so(path: Path) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        reading = asyncio.ensure_future(store.load("t"))
        await turns(1)
        async with asyncio.timeout(LONG):
            await store.close()
            with pytest.raises(StoreError, match="is closed"):
                await reading

    asyncio.run(program())


def test_a_process_that_can_start_no_thread_says_so_and_the_next_call_tries_again(path: Path, no_new_threads: list[bool]) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        for call in (store.save(record("t")), store.load("t")):
            with pytest.raises(StoreError, match="can't start new thread"):
                await asyncio.wait_for(call, LONG)
        no_new_threads.clear()
        assert await store.save(record("t")) == 0
        await store.close()

    asyncio.run(program())


@pytest.fixture
def no_new_threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The system has no thread left, until the list is cleared."""
    none_left, start = [True], threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if none_left:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    return none_left


# The store is used


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_save_that_was_reported_is_in_the_log_whenever_every_task_is_cancelled(path: Path, moment: int) -> None:
    reported: list[tuple[str, int]] = []

    async def run(store: SqliteStore, thread: str) -> None:
        for _ in range(20):
            reported.append((thread, await store.save(record(thread))))
            await store.load(thread)

    async def use(store: SqliteStore) -> None:
        async with store:
            await asyncio.gather(*(run(store, thread) for thread in "abc"))

    async def program() -> None:
        store = SqliteStore(path)
        asyncio.ensure_future(use(store))  # noqa: RUF006
        await turns(moment)
        await cancel_every_task()
        async with asyncio.timeout(LONG), store:
            await store.save(record("d"))

    asyncio.run(program())
    stored = asked(path, "SELECT thread_id, sequence FROM checkpoints")
    assert set(reported) <= set(stored)
    assert os.listdir(path.parent) == [path.name]


def test_a_save_that_waits_on_the_thread_is_made_though_every_task_is_cancelled(path: Path) -> None:
    async def program() -> None:
        async with SqliteStore(path) as store:
            with opened(path) as other:
                other.execute("BEGIN IMMEDIATE")
                for _ in range(3):
                    asyncio.ensure_future(store.save(record("t")))  # noqa: RUF006
                await turns(2)
                await cancel_every_task()
                other.execute("COMMIT")
            assert await asyncio.wait_for(store.save(record("t")), LONG) == 3

    asyncio.run(program())


# The store closes


@pytest.mark.parametrize("moment", [0, 1, 2, 3])
def test_a_close_that_is_cancelled_closes_all_the_same(path: Path, moment: int) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        await store.save(record("t"))
        saving = [asyncio.ensure_future(store.save(record("t"))) for _ in range(300)]
        await turns(1)
        asyncio.ensure_future(store.close())  # noqa: RUF006
        await turns(moment)
        await cancel_every_task()
        await asyncio.wait_for(store.close(), LONG)
        assert asked(path, "SELECT count(*) FROM checkpoints") == [(301,)]
        assert all(save.done() for save in saving)
        assert os.listdir(path.parent) == [path.name]

    asyncio.run(program())


async def test_a_scope_that_is_cancelled_around_the_block_leaves_nothing_open(path: Path) -> None:
    """Each wait inside such a scope is cancelled anew, those of closing too."""
    store = SqliteStore(path)
    with anyio.CancelScope() as scope:
        async with store:
            await store.save(record("t"))
            scope.cancel()
            await store.load("t")
    await asyncio.wait_for(store.close(), LONG)
    assert os.listdir(path.parent) == [path.name]


def test_a_store_is_opened_again_behind_a_close_that_was_cancelled(path: Path) -> None:
    async def program() -> None:
        store = SqliteStore(path)
        await store.save(record("t"))
        closing = asyncio.ensure_future(store.close())
        await turns(1)
        closing.cancel()
        async with asyncio.timeout(LONG), store:
            assert await store.save(record("t")) == 1

    asyncio.run(program())
