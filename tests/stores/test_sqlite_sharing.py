"""Several processes on one SQLite file: none loses a record, and one that dies leaves what it had written."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from strata.stores.sqlite import SqliteStore
from tests.records import record
from tests.stores.sqlite_files import SCHEMA, asked, told
from tests.stores.sqlite_writer import THREADS

ROOT = Path(__file__).parents[2]
SEQUENCES = "SELECT thread_id, sequence FROM checkpoints ORDER BY 1, 2"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.db"


def writer(path: Path, what: str, number: int) -> subprocess.Popen[str]:
    """A process that writes to the file."""
    arguments = [sys.executable, "-m", "tests.stores.sqlite_writer", str(path), what, str(number)]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outputs_of(path: Path, what: str, number: int, *, processes: int) -> list[tuple[str, int]]:
    """What some processes, started together, said they had written; each must end well."""
    with ExitStack() as stack:
        running = [stack.enter_context(writer(path, what, number)) for _ in range(processes)]
        ended = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * processes, [errors for _, errors in ended]
    return [(thread, int(sequence)) for output, _ in ended for thread, sequence in map(str.split, output.splitlines())]


def assert_contiguous(path: Path) -> None:
    logs: dict[str, list[int]] = {}
    for thread, sequence in asked(path, SEQUENCES):
        logs.setdefault(thread, []).append(sequence)
    assert logs == {thread: list(range(len(log))) for thread, log in logs.items()}


def test_con_01_of_processes_on_the_same_threads_one_wins_each_sequence(path: Path) -> None:
    won = outputs_of(path, "race", 90, processes=4)
    assert sorted(won) == asked(path, SEQUENCES)
    assert Counter(won).most_common(1)[0][1] == 1
    assert {thread for thread, _ in won} == set(THREADS)
    assert_contiguous(path)


def test_sto_01_two_processes_write_to_one_file_and_neither_fails(path: Path) -> None:
    written = outputs_of(path, "append", 100, processes=2)
    assert sorted(written) == asked(path, SEQUENCES) == [(thread, sequence) for thread in THREADS for sequence in range(200)]


def test_sto_10_eight_processes_open_an_empty_file_at_once(path: Path) -> None:
    written = outputs_of(path, "append", 1, processes=8)
    assert sorted(written) == [(thread, sequence) for thread in THREADS for sequence in range(8)]
    assert asked(path, "SELECT * FROM strata_schema_version") == [("checkpoints", 2)]
    assert asked(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_file_without_a_write_ahead_log_is_shared_as_well(path: Path) -> None:
    """Its readers keep writers waiting, so commits leave the loop; nothing else is different."""
    told(path, SCHEMA)
    with ExitStack() as stack:
        holder = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", HOLDS.format(path=str(path))], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        )
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"holding\n"
        running = stack.enter_context(writer(path, "append", 1))
        holder.stdin.close()
        output, errors = running.communicate(timeout=60)
    assert (len(output.splitlines()), errors) == (3, "")


HOLDS = """
import sqlite3, sys
connection = sqlite3.connect({path!r}, isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT * FROM checkpoints").fetchall()
print("holding", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("lines", [1, 25, 80])
def test_dur_01_a_killed_process_leaves_every_record_that_it_had_reported(path: Path, lines: int) -> None:
    with writer(path, "append", 10_000) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        said += process.stdout.readlines()
    reported = {(thread, int(sequence)) for thread, sequence in (line.split() for line in said if line.endswith("\n"))}
    assert reported <= set(asked(path, SEQUENCES))
    assert_contiguous(path)
    assert asked(path, "PRAGMA integrity_check") == [("ok",)]


async def test_what_a_killed_process_left_is_read_and_goes_on(path: Path) -> None:
    await asyncio.to_thread(kill_after_some_saves, path)
    async with SqliteStore(path) as store:
        for thread in THREADS:
            latest = await store.load_latest(thread)
            assert await store.save(record(thread)) == (0 if latest is None else (latest.sequence or 0) + 1)


def kill_after_some_saves(path: Path) -> None:
    with writer(path, "append", 10_000) as process:
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
        process.kill()


async def test_con_09_the_latest_is_the_highest_sequence_whatever_the_clock_says(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.save(record("t", created_at="2026-11-02T09:15:04Z"))
        await store.save(record("t", created_at="2020-01-01T00:00:00Z", suspended_node="later"))
        latest = await store.load("t")
    assert latest is not None
    assert latest.suspended_node == "later"


async def test_con_04_records_of_one_second_are_told_apart_by_their_sequence(path: Path) -> None:
    async with SqliteStore(path) as store:
        assert [await store.save_if_latest(record("t"), expected) for expected in (-1, 0, 1, 2)] == [0, 1, 2, 3]


async def test_sto_02_reading_a_long_log_page_by_page_keeps_nobody_from_writing(path: Path) -> None:
    async with SqliteStore(path) as store, SqliteStore(path, busy_timeout=0) as other:
        for _ in range(5):
            await store.save(record("t"))
        page = await store.get_log("t", limit=2)
        assert await other.save(record("t")) == 5
        rest = await store.get_log("t", after=page.next_after)
    assert [row.sequence for row in rest.records] == [2, 3, 4, 5]


async def test_con_10_a_reader_sees_all_of_a_record_or_none(path: Path) -> None:
    """Row, head and derived columns come in one statement."""
    async with SqliteStore(path) as store, SqliteStore(path) as reader:
        saving = asyncio.gather(*(store.save(record("t")) for _ in range(200)))
        seen = -1
        while not saving.done():
            latest = await reader.load_latest("t")
            if latest is not None:
                assert latest.sequence is not None
                assert latest.sequence >= seen
                seen = latest.sequence
        await saving


def test_a_forked_child_opens_the_file_for_itself(path: Path) -> None:
    store = SqliteStore(path)
    assert asyncio.run(one_save(store)) == 0
    child = multiprocessing.get_context("fork").Process(target=save_in_child, args=(store,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert asyncio.run(one_save(store)) == 2
    asyncio.run(store.close())
    assert_contiguous(path)


def save_in_child(store: SqliteStore) -> None:
    os._exit(0 if asyncio.run(one_save(store)) == 1 else 1)


async def one_save(store: SqliteStore) -> int:
    return await store.save(record("t"))
