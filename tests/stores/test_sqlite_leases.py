"""Leases in a SQLite file: the rows themselves, rows of other writers, and processes that want the same thread."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from strata.errors import LeaseLost, StoreError
from strata.ports.leases import Acquired, Held, ThreadLease
from strata.stores.sqlite import SqliteStore
from tests.clocks import START, HandClock
from tests.records import record
from tests.stores.sqlite_files import DUMPS, SCHEMA, asked, columns_of, left_by, told

NOW = int(START * 1000)
DUMP_OF = {dump.stem: dump for dump in DUMPS}
ROWS = "SELECT thread_id, owner, token, expires_at, typeof(expires_at) FROM checkpoint_leases ORDER BY thread_id"


async def acquired(store: SqliteStore, owner: str, ttl: float = 30, *, thread_id: str = "t") -> ThreadLease:
    answer = await store.try_acquire_lease(thread_id, owner, ttl)
    assert isinstance(answer, Acquired)
    return answer.lease


async def test_waits_ls8_sq5_a_lease_is_a_row_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    async with SqliteStore(path, clock=HandClock()) as store:
        lease = await acquired(store, "worker-1")
        assert asked(path, ROWS) == [("t", "worker-1", 1, lease.expires_at, "integer")] == [("t", "worker-1", 1, NOW + 30_000, "integer")]
        await store.release_lease(lease)
        assert asked(path, ROWS) == [("t", None, 1, None, "null")]
    assert columns_of(path, "checkpoint_leases") == ["thread_id", "owner", "token", "expires_at"]


@pytest.mark.leaves_leases("worker-1")
async def test_waits_ls10_sq5_a_row_of_another_writer_is_honoured(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    clock = HandClock()
    async with SqliteStore(path, clock=clock) as store:
        await store.open()
        told(path, f"INSERT INTO checkpoint_leases VALUES ('t', 'worker-9', 41, {NOW + 5_000})")
        theirs = ThreadLease("t", "worker-9", token=41, expires_at=NOW + 5_000)
        assert await store.get_lease("t") == theirs
        assert await store.try_acquire_lease("t", "worker-1", 30) == Held(theirs)
        await clock.pass_time(5)
        assert (await acquired(store, "worker-1")).token == 42


@pytest.mark.leaves_leases("")
async def test_a_row_without_an_owner_that_lives_is_held_by_nobody_known(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    async with SqliteStore(path, clock=HandClock()) as store:
        await store.open()
        told(path, f"INSERT INTO checkpoint_leases VALUES ('t', NULL, 7, {NOW + 5_000})")
        assert await store.try_acquire_lease("t", "worker-1", 30) == Held(ThreadLease("t", "", token=7, expires_at=NOW + 5_000))


@pytest.mark.leaves_leases
@pytest.mark.parametrize(
    ("row", "column", "found"),
    [
        (f"('t', 'worker-9', 'abc', {NOW + 5_000})", "token", "abc"),
        (f"('t', 'worker-9', 4.5, {NOW + 5_000})", "token", "4.5"),
        ("('t', 'worker-9', 7, 'noon')", "expires_at", "noon"),
        ("('t', 'worker-9', 4.5, NULL)", "token", "5.5"),
    ],
)
async def test_a_row_that_is_no_lease_is_told_and_left_alone(tmp_path: Path, row: str, column: str, found: str) -> None:
    path = tmp_path / "t.db"
    async with SqliteStore(path, clock=HandClock()) as store:
        await store.open()
        told(path, f"INSERT INTO checkpoint_leases VALUES {row}")
        before = asked(path, ROWS)
        text = f"the lease of thread 't' cannot be read: its column {column} holds '{found}', and not a whole number"
        with pytest.raises(StoreError, match=re.escape(text)) as raised:
            await store.try_acquire_lease("t", "worker-1", 30)
        assert raised.value.written is False
        assert asked(path, ROWS) == before


@pytest.mark.leaves_leases("worker-1")
async def test_waits_ls11_sc5_a_file_without_the_table_works_once_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    told(path, SCHEMA)
    told(path, "DROP TABLE checkpoint_leases; DROP TABLE strata_schema_version")
    async with SqliteStore(path) as store:
        lease = await acquired(store, "worker-1")
        assert lease.token == 1
        assert await store.save_under_lease(record(), lease, -1) == 0


@pytest.mark.leaves_leases("worker-c")
async def test_the_count_of_a_file_that_the_rust_engine_left_goes_on(tmp_path: Path) -> None:
    left_by(DUMP_OF["lease"], tmp_path / "theirs.db")
    async with SqliteStore(tmp_path / "theirs.db", clock=HandClock()) as store:
        assert await store.get_lease("order-1") is None
        lease = await acquired(store, "worker-c", thread_id="order-1")
        assert lease.token == 4
        with pytest.raises(LeaseLost):
            await store.save_under_lease(record("order-1"), ThreadLease("order-1", "worker-a", token=3, expires_at=0), 6)
        assert await store.save_under_lease(record("order-1"), lease, 6) == 7


async def test_a_lease_that_the_rust_engine_gave_holds_and_fences(tmp_path: Path) -> None:
    left_by(DUMP_OF["lease_lost"], tmp_path / "theirs.db")
    thief = ThreadLease("order-1", "thief", token=2, expires_at=1_796_066_954_960)
    async with SqliteStore(tmp_path / "theirs.db", clock=HandClock()) as store:
        assert await store.try_acquire_lease("order-1", "worker-a", 30) == Held(thief)
        with pytest.raises(LeaseLost):
            await store.save_under_lease(record("order-1"), ThreadLease("order-1", "worker-a", token=1, expires_at=0))
        assert await store.renew_lease(thief, 30) == ThreadLease("order-1", "thief", token=2, expires_at=NOW + 30_000)
        assert await store.release_lease(thief)


RIVAL = """
import asyncio, json, sys
from strata.errors import LeaseLost, ThreadChanged
from strata.ports.leases import Acquired
from strata.stores.sqlite import SqliteStore
from tests.records import record

def told(**words):
    print(json.dumps(words), flush=True)

async def main(path, owner):
    async with SqliteStore(path) as store:
        told(ready=owner)
        lease = None
        for command in iter(sys.stdin.readline, ""):
            match command.strip():
                case "acquire":
                    answer = await store.try_acquire_lease("t", owner, 60)
                    lease = answer.lease if isinstance(answer, Acquired) else lease
                    told(acquired=isinstance(answer, Acquired), owner=answer.lease.owner, token=answer.lease.token)
                case "release":
                    told(released=await store.release_lease(lease))
                case "save":
                    try:
                        told(saved=await store.save_under_lease(record("t"), lease))
                    except LeaseLost:
                        told(saved="lease lost")

asyncio.run(main(*sys.argv[1:]))
"""


class Rival:
    """A process with the file open, which does what it is told, and answers with a line."""

    def __init__(self, path: Path, owner: str) -> None:
        command = [sys.executable, "-c", RIVAL, str(path), owner]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])

    def tell(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, command: str) -> dict[str, Any]:
        self.tell(command)
        return self.answer()

    def end(self) -> None:
        self.process.communicate(timeout=30)


@pytest.mark.slow
def test_of_processes_that_acquire_at_once_exactly_one_gets_the_thread(tmp_path: Path) -> None:
    rivals = [Rival(tmp_path / "t.db", f"worker-{number}") for number in range(4)]
    try:
        assert [rival.answer()["ready"] for rival in rivals] == ["worker-0", "worker-1", "worker-2", "worker-3"]
        before = None
        for token in range(1, 9):
            for rival in rivals:
                rival.tell("acquire")
            answers = [rival.answer() for rival in rivals]
            [winner] = [rival for rival, answer in zip(rivals, answers, strict=True) if answer["acquired"]]
            assert {answer["owner"] for answer in answers} == {f"worker-{rivals.index(winner)}"}
            assert {answer["token"] for answer in answers} == {token}
            assert winner.ask("save") == {"saved": token - 1}
            if before not in (None, winner):
                assert before.ask("save") == {"saved": "lease lost"}
            assert winner.ask("release") == {"released": True}
            before = winner
    finally:
        for rival in rivals:
            rival.end()
