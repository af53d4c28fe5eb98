"""Files that the Rust engine left are read as it reads them, and ours hold what it writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from strata.errors import CheckpointUnreadable
from strata.ports.checkpoints import ThreadQuery
from strata.stores.sqlite import SqliteStore
from strata.wire.checkpoint import decode_checkpoint
from tests.records import WIRE, record, recorded, value_of
from tests.stores.sqlite_files import DUMPS, ROW, asked, left_by, opened, told

SCENARIOS = [path for path in DUMPS if path.stem != "listing_after_purges"]
MOMENTS = {"created_at", "resumed_at", "decided_at", "wake_at"}
DOCUMENTS = ("frozen_state", "metadata", "nested", "decision", "wait")


@pytest.mark.parametrize("dump", SCENARIOS, ids=[path.stem for path in SCENARIOS])
async def test_sq2_a_file_of_the_rust_engine_is_read_as_it_was_written(tmp_path: Path, dump: Path) -> None:
    """Among them deltas and offloaded values: what comes back is what the engine had handed to its store."""
    left_by(dump, tmp_path / "theirs.db")
    logs: dict[str, list[Any]] = {}
    for checkpoint in recorded(dump.stem.rpartition("-")[2]):
        logs.setdefault(checkpoint.thread_id, []).append(timeless(value_of(checkpoint)))
    async with SqliteStore(tmp_path / "theirs.db") as store:
        page = await store.list_threads(ThreadQuery(limit=1000))
        assert {thread.thread_id: thread.sequence + 1 for thread in page.threads} == {thread: len(log) for thread, log in logs.items()}
        for thread_id, log in logs.items():
            read = [row.checkpoint for row in (await store.get_log(thread_id)).records]
            assert [timeless(value_of(checkpoint)) for checkpoint in read if not isinstance(checkpoint, CheckpointUnreadable)] == log
            assert await store.load(thread_id) == read[-1]


@pytest.mark.parametrize("dump", SCENARIOS, ids=[path.stem for path in SCENARIOS])
async def test_a_listing_shows_what_the_newest_record_says(tmp_path: Path, dump: Path) -> None:
    left_by(dump, tmp_path / "theirs.db")
    async with SqliteStore(tmp_path / "theirs.db") as store:
        page = await store.list_threads(ThreadQuery())
        for thread in page.threads:
            newest = await store.load(thread.thread_id)
            assert newest is not None
            assert (thread.state, thread.schema_version, thread.waiting_at) == (newest.state_name, newest.schema_version, newest.waiting_at)
            assert (thread.wait, thread.metadata, thread.graph) == (newest.innermost.wait, newest.metadata or {}, newest.graph)
    assert page.unreadable == ()


async def test_pu1_the_same_saves_and_purges_leave_the_same_rows_as_the_rust_engine(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    left_by(WIRE / "stores" / "sqlite" / "listing_after_purges.sql", theirs)
    async with SqliteStore(ours) as store:
        for line in (WIRE / "listing" / "input.jsonl").read_text().splitlines():
            await store.save(decode_checkpoint(line))
        cutoff = datetime(2026, 10, 2, 9, 40, tzinfo=UTC)
        assert await store.purge(older_than=cutoff, limit=2) == 2
        assert await store.purge(older_than=cutoff) == 7
        assert await store.purge(older_than=datetime(2027, 1, 1, tzinfo=UTC), states=["failed"]) == 3
    for table in ("checkpoints", "checkpoint_threads", "checkpoint_leases", "checkpoint_blobs"):
        assert rows_of(ours, table) == rows_of(theirs, table)


async def test_dur_09_earlier_records_never_change(tmp_path: Path) -> None:
    left_by(WIRE / "stores" / "sqlite" / "order_approve_every.sql", tmp_path / "t.db")
    before = asked(tmp_path / "t.db", "SELECT * FROM checkpoints")
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(record("order-1", status="completed"))
    assert asked(tmp_path / "t.db", "SELECT * FROM checkpoints")[: len(before)] == before


async def test_a_state_is_stored_as_the_bytes_it_is(tmp_path: Path) -> None:
    """Numbers that no double holds, keys in their order, spaces: nothing is parsed on the way."""
    text = '{ "b":9007199254740993, "a":1.50, "z":"\\u0000", "ü":-0.0 }'
    theirs = json.loads((WIRE / "listing" / "input.jsonl").read_text().splitlines()[0])
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(decode_checkpoint(json.dumps(theirs).replace(json.dumps(theirs["frozen_state"]), text)))
        stored = await store.load(theirs["thread_id"])
    assert stored is not None
    assert bytes(stored.frozen_state) == text.encode()
    assert asked(tmp_path / "t.db", "SELECT frozen_state FROM checkpoints") == [(text,)]


# Rows that cannot be read


@pytest.mark.parametrize(
    ("column", "value", "path"),
    [
        ("status", "paused", "$.status"),
        ("created_at", "yesterday", "$.created_at"),
        ("metadata", "{", "$.metadata"),
        ("metadata", '{"a":1}', "$.metadata.a"),
        ("nested", "null", "$.nested"),
        ("wait", '{"kind":"tide"}', "$.wait.kind"),
        ("schema_version", b"\xff", "schema_version"),
        ("suspended_node", b"\xc3", "suspended_node"),
    ],
)
async def test_one_unreadable_row_names_its_place_and_hides_no_other(tmp_path: Path, column: str, value: Any, path: str) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        for thread in ("a", "b", "c"):
            await store.save(record(thread))
            await store.save(record(thread))
        with opened(tmp_path / "t.db") as connection:
            connection.execute(f"UPDATE checkpoints SET {column} = ? WHERE thread_id = 'b' AND sequence = 1", (value,))
        with pytest.raises(CheckpointUnreadable) as refused:
            await store.load("b")
        page = await store.list_threads(ThreadQuery())
        log = await store.get_log("b")
        others = [await store.load(thread) for thread in ("a", "c")]
    assert others == [record("a"), record("c")]
    assert (refused.value.thread_id, refused.value.sequence) == ("b", 1)
    assert refused.value.path == path
    assert [type(row.checkpoint) for row in log.records] == [type(record()), CheckpointUnreadable]
    assert [thread.thread_id for thread in page.threads] == ["c", "a"]
    assert [row.thread_id for row in page.unreadable] == ["b"]


async def test_pages_go_on_behind_an_unreadable_row(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        for thread in ("a", "b", "c"):
            await store.save(record(thread))
        told(tmp_path / "t.db", "UPDATE checkpoints SET status = 'paused' WHERE thread_id = 'b'")
        pages = [await store.list_threads(ThreadQuery(limit=1))]
        while pages[-1].next_cursor is not None:
            pages.append(await store.list_threads(ThreadQuery(limit=1, cursor=pages[-1].next_cursor)))
    assert [[thread.thread_id for thread in page.threads] for page in pages] == [["c"], [], ["a"]]


@pytest.mark.parametrize("sequence", ["one", 1.5, b"1"])
async def test_a_sequence_that_is_no_whole_number_hides_no_other_row(tmp_path: Path, sequence: object) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        for thread in ("a", "b", "b", "b", "c"):
            await store.save(record(thread))
        with opened(tmp_path / "t.db") as connection:
            connection.execute("UPDATE checkpoints SET sequence = ? WHERE thread_id = 'b' AND sequence = 2", (sequence,))
            connection.execute("UPDATE checkpoint_threads SET sequence = ? WHERE thread_id = 'b'", (sequence,))
        with pytest.raises(CheckpointUnreadable, match=r"column sequence holds '(one|1\.5|1)', and not a whole number") as refused:
            await store.load_latest("b")
        page = await store.list_threads(ThreadQuery())
        log = await store.get_log("b")
    assert (refused.value.thread_id, refused.value.path) == ("b", "sequence")
    assert [thread.thread_id for thread in page.threads] == ["c", "a"]
    assert [row.thread_id for row in page.unreadable] == ["b"]
    assert [type(row.checkpoint) for row in log.records] == [type(record()), type(record()), CheckpointUnreadable]


async def test_a_log_has_nothing_behind_the_last_sequence(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(record("t"))
        assert (await store.get_log("t", after=2**63 - 1)).records == ()


async def test_pages_go_on_behind_an_id_that_no_cursor_can_name(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        for thread in ("a", "b", "c", "d", "e"):
            await store.save(record(thread))
        for table in ("checkpoints", "checkpoint_threads"):
            told(tmp_path / "t.db", f"UPDATE {table} SET thread_id = CAST(CAST(thread_id AS BLOB) || x'ff' AS TEXT) WHERE thread_id IN ('b', 'd')")
        pages = [await store.list_threads(ThreadQuery(limit=2))]
        while pages[-1].next_cursor is not None:
            pages.append(await store.list_threads(ThreadQuery(limit=2, cursor=pages[-1].next_cursor)))
    assert [[thread.thread_id for thread in page.threads] for page in pages] == [["e", "c"], ["a"]]
    assert [[row.path for row in page.unreadable] for page in pages] == [["thread_id"], ["thread_id"]]


async def test_a_leased_thread_is_not_purged(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        for thread in ("free", "held", "expired"):
            await store.save(record(thread, status="completed"))
        with opened(tmp_path / "t.db") as connection:
            lease = "INSERT INTO checkpoint_leases VALUES (?, 'worker-1', 1, ?)"
            connection.executemany(lease, [("held", 2**62), ("expired", 1)])
        assert await store.purge(older_than=datetime(2027, 1, 1, tzinfo=UTC)) == 2
        assert [thread.thread_id for thread in (await store.list_threads(ThreadQuery())).threads] == ["held"]
        assert await store.save(record("expired")) == 0
    assert asked(tmp_path / "t.db", "SELECT thread_id FROM checkpoint_leases") == [("held",)]


async def test_sto_04_a_listing_is_answered_by_the_heads(tmp_path: Path) -> None:
    """Its order comes from an index, and only the rows shown are looked up in the log: its cost does not grow with the file."""
    async with SqliteStore(tmp_path / "t.db") as store:
        with opened(tmp_path / "t.db") as connection:
            connection.execute("BEGIN")
            times = [f"2026-01-{day:02}T{hour:02}:{minute:02}:00Z" for day in range(1, 8) for hour in range(24) for minute in range(60)]
            connection.executemany(ROW, ((f"t{n}", 0, "completed", "{}", moment) for n, moment in enumerate(times)))
            connection.execute("COMMIT")
        page = await store.list_threads(ThreadQuery(limit=3))
    assert [thread.thread_id for thread in page.threads] == [f"t{len(times) - back}" for back in (1, 2, 3)]


def rows_of(path: Path, table: str) -> list[dict[str, Any]]:
    """A table as plain values; documents are compared by value, since the order of metadata is nobody's."""
    with opened(path) as connection:
        found = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found]
    for row in rows:
        row |= {name: json.loads(value) for name, value in row.items() if name in DOCUMENTS and value}
    return [timeless(row) for row in rows]


def timeless(value: Any) -> Any:
    """The value without what differs from one recording to the next: of times only whether there is one."""
    return json.loads(json.dumps(value), object_hook=without_times)


def without_times(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value is not None if key in MOMENTS else value for key, value in fields.items()}
