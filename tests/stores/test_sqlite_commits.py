"""Which saves share a transaction, where they are committed, and who owns them."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from strata.errors import StoreError, ThreadChanged
from strata.graph.clock import SystemClock
from strata.stores.sqlite import SqliteStore
from tests.records import record
from tests.stores.sqlite_files import asked, opened, told

REFUSE_POISON = """
CREATE TRIGGER refuse_poison BEFORE INSERT ON checkpoints WHEN NEW.suspended_node = 'poison' BEGIN SELECT RAISE(ABORT, 'poison'); END
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(path, clock=Disk(seconds=0)) as store:
        yield store


class Disk(SystemClock):
    """A clock by which each commit takes `seconds`."""

    def __init__(self, *, seconds: float) -> None:
        self.now, self.seconds = 0.0, seconds

    def monotonic(self) -> float:
        self.now += self.seconds
        return self.now


@contextmanager
def locked(path: Path) -> Generator[sqlite3.Connection]:
    """Somebody else has a write transaction open on the file."""
    with opened(path) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
        if other.in_transaction:
            other.execute("ROLLBACK")


def transactions_of(path: Path) -> int:
    """How many transactions stand in the write-ahead log: the last frame of each carries the size of the file (SQLite's file format, 4.1)."""
    log = path.with_name(f"{path.name}-wal").read_bytes()
    page_size = int.from_bytes(log[8:12])
    frames = range(32, len(log), 24 + page_size)
    salt = log[16:24]
    return sum(1 for frame in frames if log[frame + 8 : frame + 16] == salt and log[frame + 4 : frame + 8] != b"\0\0\0\0")


async def saves(store: SqliteStore, thread: str, count: int) -> list[int]:
    """A run: each save waits for the one before."""
    return [await store.save_if_latest(record(thread), number - 1) for number in range(count)]


# Transactions


async def test_gc1_a_save_alone_is_committed_at_once(store: SqliteStore, path: Path) -> None:
    """Before the loop turns, and in a transaction of its own."""
    before = transactions_of(path)
    assert not await loop_turns_while(saves(store, "t", 3))
    assert transactions_of(path) == before + 3


async def test_saves_of_one_turn_share_a_transaction(store: SqliteStore, path: Path) -> None:
    before = transactions_of(path)
    await asyncio.gather(*(store.save(record(f"t{number}")) for number in range(20)))
    assert transactions_of(path) == before + 2  # the first of them could not know of the others


async def test_runs_that_save_together_go_on_sharing(store: SqliteStore, path: Path) -> None:
    before = transactions_of(path)
    await asyncio.gather(*(saves(store, f"t{number}", 10) for number in range(8)))
    assert transactions_of(path) - before < 30
    assert [len((await store.get_log(f"t{number}")).records) for number in range(8)] == [10] * 8


async def test_a_run_left_alone_commits_at_once_again(store: SqliteStore, path: Path) -> None:
    await asyncio.gather(saves(store, "a", 5), saves(store, "b", 5))
    await asyncio.sleep(0)
    await test_gc1_a_save_alone_is_committed_at_once(store, path)


async def test_gc5_24_writers_of_20_saves_lose_none(store: SqliteStore, path: Path) -> None:
    before = transactions_of(path)
    logs = await asyncio.gather(*(saves(store, f"t{number}", 20) for number in range(24)))
    assert logs == [list(range(20))] * 24
    assert transactions_of(path) - before < 480
    assert asked(path, "SELECT count(*) FROM checkpoints") == [(480,)]


async def test_more_saves_than_one_transaction_takes_go_in_several(store: SqliteStore, path: Path) -> None:
    before = transactions_of(path)
    sequences = await asyncio.gather(*(store.save(record("t")) for _ in range(600)))
    assert sequences == list(range(600))
    assert transactions_of(path) - before == 4  # one in place, then 256, 256 and 87


async def test_a_late_record_does_not_disturb_the_others(store: SqliteStore, path: Path) -> None:
    await store.save(record("late"))
    results = await asyncio.gather(
        store.save(record("a")),
        store.save_if_latest(record("late"), -1),
        store.save_if_latest(record("b"), -1),
        return_exceptions=True,
    )
    assert results[0] == results[2] == 0
    assert isinstance(results[1], ThreadChanged)


async def test_later_saves_of_a_batch_see_the_earlier_ones(store: SqliteStore) -> None:
    results = await asyncio.gather(*(store.save_if_latest(record("t"), expected) for expected in (-1, 0, 0, 1)), return_exceptions=True)
    assert [result if isinstance(result, int) else type(result) for result in results] == [0, 1, ThreadChanged, 2]


async def test_gc6_only_the_record_that_cannot_be_written_fails(store: SqliteStore, path: Path) -> None:
    told(path, REFUSE_POISON)
    results = await asyncio.gather(
        store.save(record("a")),
        store.save(record("b")),
        store.save(record("c", suspended_node="poison")),
        store.save(record("d")),
        return_exceptions=True,
    )
    assert [result if isinstance(result, int) else type(result) for result in results] == [0, 0, StoreError, 0]
    assert asked(path, "SELECT thread_id FROM checkpoints ORDER BY 1") == [("a",), ("b",), ("d",)]


# The lock of somebody else


async def test_a_save_waits_on_the_thread_for_a_lock_and_the_loop_goes_on(store: SqliteStore, path: Path) -> None:
    with locked(path) as other:
        saving = asyncio.ensure_future(store.save(record("t")))
        turns = 0
        while turns < 50:
            await asyncio.sleep(0)
            turns += 1
        assert not saving.done()
        other.execute("COMMIT")
    assert await saving == 0


async def test_saves_behind_one_that_waits_keep_their_order(store: SqliteStore, path: Path) -> None:
    with locked(path) as other:
        waiting = [asyncio.ensure_future(store.save(record("t", suspended_node=f"n{number}"))) for number in range(5)]
        await asyncio.sleep(0)
        other.execute("COMMIT")
    assert await asyncio.gather(*waiting) == [0, 1, 2, 3, 4]
    assert [node for (node,) in asked(path, "SELECT suspended_node FROM checkpoints ORDER BY sequence")] == ["n0", "n1", "n2", "n3", "n4"]


async def test_gc6_a_lock_that_is_never_released_fails_every_save_that_waits(path: Path) -> None:
    async with SqliteStore(path, busy_timeout=0.05) as store:
        with locked(path):
            results = await asyncio.gather(*(store.save(record(f"t{number}")) for number in range(5)), return_exceptions=True)
        assert [str(result).partition(" (")[0] for result in results] == [f"the database '{path}' was locked by another program for 0.05 s"] * 5
        assert all(isinstance(result, StoreError) and result.written is False for result in results)
        assert await store.save(record("t")) == 0


# Slow disks


async def test_commits_that_take_long_leave_the_loop_and_come_back(path: Path) -> None:
    disk = Disk(seconds=0.05)
    async with SqliteStore(path, clock=disk) as store:
        await store.save(record("t"))
        assert await loop_turns_while(store.save(record("t")))
        disk.seconds = 0
        for _ in range(100):
            await store.save(record("t"))
        assert not await loop_turns_while(store.save(record("t")))


async def loop_turns_while(saving: Coroutine[Any, Any, object]) -> bool:
    turned: list[bool] = []
    asyncio.get_running_loop().call_soon(turned.append, True)
    await saving
    return bool(turned)


# Owned writes


async def test_a_save_whose_caller_was_cancelled_is_written(store: SqliteStore, path: Path) -> None:
    with locked(path) as other:
        saving = asyncio.ensure_future(store.save(record("t")))
        await asyncio.sleep(0)
        saving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saving
        other.execute("COMMIT")
    with pytest.raises(ThreadChanged):
        await store.save_if_latest(record("t"), -1)
    assert await store.save(record("t")) == 1


async def test_a_save_cancelled_in_a_batch_is_written(store: SqliteStore, path: Path) -> None:
    batch = [asyncio.ensure_future(store.save(record(f"t{number}"))) for number in range(3)]
    await asyncio.sleep(0)
    batch[1].cancel()
    await asyncio.gather(*batch, return_exceptions=True)
    assert batch[1].cancelled()
    assert asked(path, "SELECT count(*) FROM checkpoints") == [(3,)]


async def test_a_save_cancelled_while_the_file_opens_is_written(path: Path) -> None:
    store = SqliteStore(path)
    first, second = asyncio.ensure_future(store.save(record("t"))), asyncio.ensure_future(store.save(record("t")))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1
    await store.close()


async def test_closing_waits_for_what_was_handed_over(path: Path) -> None:
    store = SqliteStore(path)
    saving = [asyncio.ensure_future(store.save(record("t"))) for _ in range(300)]
    await asyncio.sleep(0)
    await store.close()
    assert sorted(await asyncio.gather(*saving)) == list(range(300))
    assert asked(path, "SELECT count(*) FROM checkpoints") == [(300,)]


# Open and closed


async def test_a_store_opens_on_first_use(path: Path) -> None:
    store = SqliteStore(path)
    assert os.listdir(path.parent) == []
    assert await store.load("t") is None
    assert "t.db" in os.listdir(path.parent)
    await store.close()


async def test_a_closed_store_says_so_until_it_is_opened_again(path: Path) -> None:
    store = SqliteStore(path)
    async with store:
        await store.save(record("t"))
    with pytest.raises(StoreError, match="is closed"):
        await store.save(record("t"))
    with pytest.raises(StoreError, match="is closed"):
        await store.load("t")
    async with store:
        assert await store.save(record("t")) == 1


async def test_closing_twice_and_closing_what_never_opened_do_nothing(path: Path) -> None:
    store = SqliteStore(path)
    await store.close()
    await store.open()
    await store.close()
    await store.close()


async def test_the_last_to_close_leaves_one_file(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.save(record("t"))
    assert os.listdir(path.parent) == ["t.db"]


def test_one_loop_after_another_uses_the_same_store(path: Path) -> None:
    store = SqliteStore(path)
    assert [asyncio.run(one_save(store)) for _ in range(3)] == [0, 1, 2]
    asyncio.run(store.close())


def test_a_loop_that_ended_in_the_middle_of_a_call_does_not_spoil_the_next(path: Path) -> None:
    store = SqliteStore(path, clock=Disk(seconds=0.05))

    async def leave_at_once() -> None:
        await store.open()
        for _ in range(20):
            asyncio.ensure_future(store.load("t")).cancel()
            asyncio.ensure_future(store.save(record("t")))  # noqa: RUF006
        await asyncio.sleep(0)

    asyncio.run(leave_at_once())
    assert asyncio.run(one_save(store)) > 0
    asyncio.run(store.close())


async def one_save(store: SqliteStore) -> int:
    return await store.save(record("t"))


async def test_a_second_running_loop_is_refused(store: SqliteStore) -> None:
    with pytest.raises(StoreError, match="in use by another running event loop"):
        await asyncio.to_thread(lambda: asyncio.run(store.load("t")))


def test_a_synchronous_program_keeps_one_loop(path: Path) -> None:
    with SqliteStore(path) as store:
        assert store.run_in_loop(store.save(record("t"))) == 0
        assert store.run_in_loop(store.save(record("t"))) == 1


def test_a_store_that_nobody_closed_is_named(path: Path) -> None:
    def forget() -> None:
        store = SqliteStore(path)
        asyncio.run(one_save(store))
        del store
        gc.collect()

    with pytest.warns(ResourceWarning, match="was never closed"):
        forget()
    assert asked(path, "SELECT count(*) FROM checkpoints") == [(1,)]


def test_a_store_that_nobody_closed_does_not_keep_the_process(path: Path) -> None:
    """aiosqlite's thread would: it is no daemon."""
    program = f"""
import asyncio
from strata.stores.sqlite import SqliteStore
store = SqliteStore({str(path)!r})
print(asyncio.run(store.load("t")))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert ended.stdout == "None\n"
