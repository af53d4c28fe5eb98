"""The tables of a SQLite file: made as the engines make them, completed where they are older, left alone where they are newer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.errors import DatabaseNewer, OptionRefused, StoreError
from strata.graph.identity import Identity
from strata.ports.checkpoints import ThreadQuery
from strata.stores.sqlite import SqliteStore
from strata.stores.sqlite.layout import STEPS
from strata.stores.sqlite.migration import bring_up_to_date
from tests.records import record, recorded
from tests.stores.sqlite_files import ROW, SCHEMA, asked, columns_of, objects_of, opened, told, versions_of

MADE_BEFORE_NESTED = """
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, sequence INTEGER NOT NULL, schema_version TEXT NOT NULL, status TEXT NOT NULL, suspended_node TEXT, next_node TEXT,
    frozen_state TEXT NOT NULL, metadata TEXT, created_at TEXT NOT NULL, resumed_at TEXT, PRIMARY KEY (thread_id, sequence));
INSERT INTO checkpoints VALUES ('old', 0, '1.0.0', 'interrupted', 'review', 'publish', '{"score":7}', NULL, '2026-01-05T10:00:00Z', NULL);
"""

HEAD_OF_OLD_TRIGGER = """
CREATE INDEX checkpoint_threads_by_state ON checkpoint_threads (state, updated_at, thread_id);
CREATE INDEX checkpoint_threads_by_updated ON checkpoint_threads (updated_at, thread_id);
CREATE TRIGGER checkpoints_head AFTER INSERT ON checkpoints BEGIN
    INSERT INTO checkpoint_threads (thread_id, sequence, state, updated_at, metadata)
    VALUES (NEW.thread_id, NEW.sequence, CASE WHEN NEW.resumed_at IS NOT NULL THEN 'resumed' ELSE NEW.status END,
            COALESCE(NEW.resumed_at, NEW.created_at), NEW.metadata)
    ON CONFLICT (thread_id) DO UPDATE SET sequence = excluded.sequence, state = excluded.state, updated_at = excluded.updated_at,
        metadata = excluded.metadata WHERE excluded.sequence > checkpoint_threads.sequence;
END;
INSERT INTO checkpoint_threads (thread_id, sequence, state, updated_at) VALUES ('old', 0, 'interrupted', '2026-01-05T10:00:00Z');
"""

MADE_BEFORE_WAKE_TIMES = f"""{MADE_BEFORE_NESTED}
CREATE TABLE checkpoint_threads (
    thread_id TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, state TEXT NOT NULL, updated_at TEXT NOT NULL, metadata TEXT);
{HEAD_OF_OLD_TRIGGER}"""

MADE_BEFORE_IDENTITIES = f"""{MADE_BEFORE_NESTED}
ALTER TABLE checkpoints ADD COLUMN nested TEXT; ALTER TABLE checkpoints ADD COLUMN decision TEXT;
ALTER TABLE checkpoints ADD COLUMN wait TEXT; ALTER TABLE checkpoints ADD COLUMN wake_at TEXT;
CREATE TABLE checkpoint_threads (
    thread_id TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, state TEXT NOT NULL, updated_at TEXT NOT NULL, metadata TEXT, wake_at TEXT);
CREATE INDEX checkpoint_threads_by_wake ON checkpoint_threads (wake_at);
{HEAD_OF_OLD_TRIGGER}"""

ADDED = ["nested", "decision", "wait", "wake_at", "graph_id", "graph_version"]


async def test_sc1_a_fresh_file_is_made_as_the_rust_engine_makes_it(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    async with SqliteStore(ours):
        pass
    told(theirs, SCHEMA)
    assert objects_of(ours) == objects_of(theirs)
    assert versions_of(ours) == {"checkpoints": 2}


async def test_sc2_a_table_that_ends_at_resumed_at_gets_six_columns_in_order(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    told(path, MADE_BEFORE_NESTED)
    nested = recorded("sub_interrupt")[0]
    decided = recorded("decision_kept_by_failure")[1]
    async with SqliteStore(path) as store:
        old = await store.load("old")
        await store.save(nested)
        await store.save(decided)
        assert old is not None
        assert (bytes(old.frozen_state), old.nested) == (b'{"score":7}', None)
        assert await store.load(nested.thread_id) == nested
        assert await store.load(decided.thread_id) == decided
        assert [thread.thread_id for thread in (await store.list_threads(ThreadQuery(states=["interrupted"]))).threads if thread.thread_id == "old"]
    assert columns_of(path, "checkpoints")[10:] == ADDED
    before = objects_of(path)
    async with SqliteStore(path):
        pass
    assert objects_of(path) == before


async def test_sc3_a_head_from_before_wake_times_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    told(path, MADE_BEFORE_WAKE_TIMES)
    async with SqliteStore(path) as store:
        await store.save(nested_timer("waits", wake_at="2026-10-06T12:05:00Z"))
        due = await store.list_threads(ThreadQuery(due_by=datetime(2026, 10, 6, 12, 5, tzinfo=UTC)))
        everything = await store.list_threads(ThreadQuery())
    assert [thread.thread_id for thread in due.threads] == ["waits"]
    assert {thread.thread_id for thread in everything.threads} == {"waits", "old"}


async def test_sc4_a_head_from_before_identities_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    told(path, MADE_BEFORE_IDENTITIES)
    async with SqliteStore(path) as store:
        await store.save(record("new", graph=Identity("essays", "1")))
        found = await store.list_threads(ThreadQuery(graph_id="essays"))
        everything = await store.list_threads(ThreadQuery())
    assert [thread.thread_id for thread in found.threads] == ["new"]
    assert {thread.thread_id: thread.graph for thread in everything.threads} == {"new": Identity("essays", "1"), "old": None}
    assert "checkpoint_threads_by_graph" in objects_of(path)


async def test_sc5_a_current_log_without_version_and_leases_is_completed(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    told(path, SCHEMA)
    told(path, "DROP TABLE strata_schema_version; DROP TABLE checkpoint_leases; DROP TABLE checkpoint_blobs")
    with opened(path) as connection:
        connection.execute(ROW, ("t", 0, "completed", "{}", "2026-01-05T10:00:00Z"))
    async with SqliteStore(path) as store:
        log = await store.get_log("t")
    assert [row.sequence for row in log.records] == [0]
    assert versions_of(path) == {"checkpoints": 2}
    assert {"checkpoint_leases", "checkpoint_blobs"} <= objects_of(path).keys()


async def test_sc6_version_1_without_a_blob_table_becomes_version_2(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    told(path, SCHEMA)
    told(path, "DROP TABLE checkpoint_blobs; INSERT INTO strata_schema_version VALUES ('checkpoints', 1)")
    async with SqliteStore(path):
        pass
    assert versions_of(path) == {"checkpoints": 2}
    assert "checkpoint_blobs" in objects_of(path)


def test_sc7_each_step_runs_once_and_in_order(tmp_path: Path) -> None:
    later = {
        **STEPS,
        4: ("INSERT INTO steps VALUES (4)",),
        3: ("CREATE TABLE steps (number INTEGER)", "INSERT INTO steps VALUES (3)"),
    }
    path = tmp_path / "t.db"
    for _ in range(2):
        with opened(path) as connection:
            bring_up_to_date(connection, later)
    assert asked(path, "SELECT number FROM steps ORDER BY rowid") == [(3,), (4,)]
    assert versions_of(path) == {"checkpoints": 4}


async def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    told(path, SCHEMA)
    told(path, "INSERT INTO strata_schema_version VALUES ('checkpoints', 3)")
    before = path.read_bytes()
    with pytest.raises(DatabaseNewer, match="database is at checkpoints schema version 3, and this build knows 2: upgrade the runtime") as refused:
        await SqliteStore(path).open()
    assert any(str(path) in note for note in refused.value.__notes__)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["newer.db"]


# Files of others


async def test_an_applications_own_tables_and_ours_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    told(path, "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON users (name); INSERT INTO users VALUES (1, 'ann')")
    theirs = objects_of(path)
    async with SqliteStore(path) as store:
        await store.save(record("t"))
        with opened(path) as application:
            application.execute("INSERT INTO users VALUES (2, 'bob')")
        assert await store.save(record("t")) == 1
    assert asked(path, "SELECT name FROM users") == [("ann",), ("bob",)]
    assert objects_of(path).items() >= theirs.items()


GEOPACKAGE = 0x47504B47


async def test_a_file_in_the_format_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "map.gpkg"
    told(path, f"CREATE TABLE gpkg_contents (table_name); PRAGMA application_id = {GEOPACKAGE}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"map\.gpkg' is in the format of another program: its application_id is 0x47504b47") as refused:
        await SqliteStore(path).load("t")
    assert "a file of its own" in str(refused.value.hint)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["map.gpkg"]


@pytest.mark.parametrize("made_by_an_engine", [SCHEMA, "CREATE TABLE history_records (session_id TEXT NOT NULL)"])
async def test_an_application_may_mark_a_file_that_an_engine_has_used(tmp_path: Path, made_by_an_engine: str) -> None:
    told(tmp_path / "t.db", f"{made_by_an_engine}; PRAGMA application_id = {GEOPACKAGE}")
    async with SqliteStore(tmp_path / "t.db") as store:
        assert await store.save(record("t")) == 0


async def test_an_application_may_mark_a_file_before_anybody_uses_it(tmp_path: Path) -> None:
    told(tmp_path / "t.db", f"PRAGMA application_id = {GEOPACKAGE}")
    async with SqliteStore(tmp_path / "t.db") as store:
        assert await store.save(record("t")) == 0
    assert asked(tmp_path / "t.db", "PRAGMA application_id") == [(GEOPACKAGE,)]


async def test_sq1_each_field_stands_in_its_column(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(record("t", state={"amount": 100, "note": "é"}, metadata={"tenant": "acme"}))
        await store.save(record("bare", status="completed", suspended_node=None, next_node=None, state={}))
    assert asked(tmp_path / "t.db", "SELECT * FROM checkpoints WHERE thread_id = 't'") == [
        ("t", 0, "1.0.0", "interrupted", "review", "publish", '{"amount":100,"note":"é"}', '{"tenant":"acme"}', "2026-11-02T09:15:04Z", *[None] * 7)
    ]
    assert asked(tmp_path / "t.db", "SELECT * FROM checkpoints WHERE thread_id = 'bare'") == [
        ("bare", 0, "1.0.0", "completed", None, None, "{}", None, "2026-11-02T09:15:04Z", *[None] * 7)
    ]
    assert asked(tmp_path / "t.db", "SELECT DISTINCT typeof(frozen_state), typeof(created_at) FROM checkpoints") == [("text", "text")]


async def test_sq2_a_row_with_only_the_first_ten_columns_loads(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        told(
            tmp_path / "t.db",
            "INSERT INTO checkpoints (thread_id, sequence, schema_version, status, suspended_node, next_node, frozen_state, metadata, created_at,"
            " resumed_at) VALUES ('t', 0, '1.0.0', 'interrupted', 'review', 'publish', '{\"score\":7.5}', NULL, '2026-11-02T09:15:04Z', NULL)",
        )
        assert await store.load("t") == record("t")


async def test_sq3_rows_put_in_by_hand_move_the_head(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(record("t"))
        told(
            tmp_path / "t.db",
            "INSERT INTO checkpoints (thread_id, sequence, schema_version, status, frozen_state, created_at, resumed_at)"
            " VALUES ('t', 1, '1.0.0', 'interrupted', '{}', '2026-11-02T09:15:04Z', '2026-11-03T08:00:00Z')",
        )
        page = await store.list_threads(ThreadQuery())
        assert await store.save(record("t")) == 2
    assert [(thread.state, thread.updated_at, thread.sequence) for thread in page.threads] == [("resumed", "2026-11-03T08:00:00Z", 1)]


async def test_sq4_a_nested_timer_wakes_the_outer_row(tmp_path: Path) -> None:
    outer = nested_timer("t", wake_at="2026-10-06T12:05:00Z", graph=Identity("books", "1"), child_graph=Identity("essays", "7"))
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(outer)
    ((wait, wake_at, graph_id, graph_version, nested),) = asked(
        tmp_path / "t.db", "SELECT wait, wake_at, graph_id, graph_version, nested FROM checkpoints"
    )
    assert (wait, wake_at, graph_id, graph_version) == (None, "2026-10-06T12:05:00Z", "books", "1")
    assert json.loads(nested)["graph"] == {"id": "essays", "version": "7"}


async def test_sq6_a_second_save_leaves_the_first_row_as_it_was(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        await store.save(record("t"))
        first = asked(tmp_path / "t.db", "SELECT * FROM checkpoints")
        await store.save(record("t", resumed_at="2026-11-03T08:00:00Z"))
    assert asked(tmp_path / "t.db", "SELECT * FROM checkpoints WHERE sequence = 0") == first
    assert asked(tmp_path / "t.db", "SELECT count(*) FROM checkpoints") == [(2,)]


async def test_a_new_file_writes_ahead(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db"):
        pass
    assert asked(tmp_path / "t.db", "PRAGMA journal_mode") == [("wal",)]


async def test_a_file_that_another_program_is_reading_keeps_its_journal_mode(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    told(path, SCHEMA)
    told(path, "INSERT INTO strata_schema_version VALUES ('checkpoints', 2)")
    with opened(path) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM checkpoints").fetchall()
        async with SqliteStore(path) as store:
            assert await store.load("t") is None
    assert asked(path, "PRAGMA journal_mode") == [("delete",)]


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_store_without_a_file_is_refused(path: str) -> None:
    with pytest.raises(OptionRefused, match="MemoryStore"):
        SqliteStore(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a\0b", r"no path has a NUL in it, as 'a\\x00b' has"),
        (b"t.db", r"SqliteStore takes the path of a file as text or a Path, not b't.db'"),
        (3, "SqliteStore takes the path of a file as text or a Path, not 3"),
    ],
)
def test_what_is_no_path_is_refused(path: Any, text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        SqliteStore(path)


@pytest.mark.parametrize(
    ("busy_timeout", "text"),
    [
        (-1, "busy_timeout is 0 to 2147483 seconds, not -1"),
        (3_000_000, "busy_timeout is 0 to 2147483 seconds, not 3e"),
        (float("nan"), "busy_timeout cannot be used: a duration is finite, and nan is not"),
        ("x", "busy_timeout cannot be used: a duration is a timedelta or a number of seconds, not 'x'"),
    ],
)
def test_a_time_that_nobody_can_wait_is_refused(tmp_path: Path, busy_timeout: Any, text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        SqliteStore(tmp_path / "t.db", busy_timeout=busy_timeout)


async def test_a_time_to_wait_may_be_a_timedelta(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db", busy_timeout=timedelta(seconds=2)) as store:
        assert await store.save(record("t")) == 0


def test_a_clock_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionRefused, match="a store's clock tells the time, which 3 does not"):
        SqliteStore(tmp_path / "t.db", clock=cast("Any", 3))


ASKED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda store: store.purge(older_than=timedelta(days=30)), r"older_than is a datetime with a time zone, .* and not datetime.timedelta"),
    (lambda store: store.purge(older_than=datetime(2026, 1, 5, tzinfo=UTC), limit="x"), "a page size is a whole number, not 'x'"),
    (lambda store: store.purge(older_than=datetime(2026, 1, 5, tzinfo=UTC), states=3), "a collection of thread states is a list, not 3"),
    (lambda store: store.get_log("t", after="1"), "the after= of a log is a whole number, not '1'"),
    (lambda store: store.get_log("t", limit="x"), "a page size is a whole number, not 'x'"),
    (lambda store: store.list_threads("all"), r"threads are listed by a ThreadQuery\(...\), not 'all'"),
    (lambda store: store.try_acquire_lease("t", 3, 30), "a lease's owner is text, not 3"),
    (lambda store: store.try_acquire_lease("t", "worker-1", "30"), "a lease's ttl is a number of seconds, not '30'"),
]


@pytest.mark.parametrize(("ask", "text"), ASKED)
async def test_what_a_store_is_asked_is_held_to_its_types(tmp_path: Path, ask: Callable[[Any], Any], text: str) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        with pytest.raises(OptionRefused, match=text):
            await ask(store)


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionRefused, match='"full" or "normal"'):
        SqliteStore(tmp_path / "t.db", durability="off")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def nested_timer(thread_id: str, /, *, wake_at: str, graph: Identity | None = None, child_graph: Identity | None = None) -> Checkpoint:
    """A thread that waits in a subgraph for a timer."""
    child = record(thread_id, suspended_node="cool_off", next_node="ship", wait=WaitRecord(kind="timer", wake_at=wake_at), graph=child_graph)
    return record(thread_id, suspended_node="order", next_node="order", nested=child, graph=graph)
