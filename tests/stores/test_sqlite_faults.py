"""What goes wrong with a file is said with its name and what to do, and loses nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from strata.errors import DatabaseNewer, DatabaseOlder, OptionRefused, StoreError
from strata.ports.checkpoints import ThreadQuery
from strata.stores.sqlite import SqliteStore
from strata.stores.sqlite.database import connect_in_place
from tests.records import record
from tests.stores.sqlite_files import SCHEMA, opened, told

BIG = {"text": "x" * 200_000}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.db"


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system with about 2 MB left; `ballast` is what takes the other half."""
    folder = Path(tempfile.mkdtemp())
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "strata", str(folder)], capture_output=True, check=False)
    try:
        if mounted.returncode:
            pytest.skip("mounting a small file system takes root")
        (folder / "ballast").write_bytes(bytes(2_000_000))
        yield folder
        subprocess.run(["umount", str(folder)], check=True)
    finally:
        folder.rmdir()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can write to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def without_rights(path: Path) -> Generator[None]:
    """Somebody who may read `path` and not write to it; root would be asked for no permission."""
    before, user = path.stat().st_mode, os.geteuid()
    path.chmod(before & ~0o222)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(before)


async def refusal(store: SqliteStore) -> StoreError:
    """The error of a first call."""
    with pytest.raises(StoreError) as refused:
        await store.save(record("t"))
    assert refused.value.written is False
    assert str(store.path) in str(refused.value)
    return refused.value


async def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    error = await refusal(SqliteStore(tmp_path / "no" / "t.db"))
    assert f"its folder '{tmp_path / 'no'}' does not exist" in str(error)
    assert error.hint == "create the folder first"


async def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    assert "it is a folder" in str(await refusal(SqliteStore(tmp_path)))


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    text = "this is a text, and long enough to be looked at as a header" * 40
    path.write_text(text)
    assert "is not a SQLite database" in str(asyncio.run(refusal(SqliteStore(path))))
    assert path.read_text() == text


def test_a_damaged_file(path: Path) -> None:
    with SqliteStore(path) as store:
        for number in range(50):
            store.run_in_loop(store.save(record("t", state={"number": number, "padding": "x" * 2000})))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x55" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged") as refused:
        asyncio.run(SqliteStore(path).load("t"))
    assert refused.value.hint is not None


async def test_a_file_locked_by_another_program(path: Path) -> None:
    async with SqliteStore(path, busy_timeout=0.05) as store:
        await store.save(record("t"))
        with opened(path) as other:
            other.execute("BEGIN EXCLUSIVE")
            error = await refusal(store)
            assert await store.load("t") == record("t")  # a reader does not wait for a writer
            other.execute("ROLLBACK")
        assert await store.save(record("t")) == 1
    assert "was locked by another program for 0.05 s" in str(error)


async def test_a_file_that_is_locked_while_it_is_opened(path: Path) -> None:
    """The next call tries again."""
    store = SqliteStore(path, busy_timeout=0.05)
    with opened(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE others (id)")
        assert "was locked" in str(await refusal(store))
        other.execute("COMMIT")
    assert await store.save(record("t")) == 0
    await store.close()


async def test_a_current_file_opens_while_another_program_writes(path: Path) -> None:
    """Only a file whose tables must be made or completed is locked by opening it."""
    async with SqliteStore(path):
        pass
    with opened(path) as other:
        other.execute("BEGIN IMMEDIATE")
        async with SqliteStore(path, busy_timeout=0.05) as store:
            assert await store.load("t") is None
        other.execute("ROLLBACK")


def test_the_loops_own_connection_waits_while_it_opens_and_never_again(path: Path) -> None:
    """After a crash whoever opens the file first holds it while the log is read: the others came a moment too early, and failed."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE others (id)")
        other.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.1, other.execute, ["COMMIT"])
        release.start()
        with closing(connect_in_place(path, "full", busy_timeout=60.0)) as connection:
            release.join()
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                connection.execute("BEGIN IMMEDIATE")


def test_a_path_that_is_no_path() -> None:
    with pytest.raises(OptionRefused, match="half a surrogate pair"):
        SqliteStore("/tmp/\ud800.db")


async def test_a_full_disk_keeps_what_was_written(small_disk: Path) -> None:
    async with SqliteStore(small_disk / "t.db") as store:
        written = 0
        error: StoreError | None = None
        while error is None and written < 100:
            try:
                assert await store.save(record("t", state=BIG)) == written
                written += 1
            except StoreError as failed:
                error = failed
        assert error is not None
        assert (error.written, "there is no room left" in str(error)) == (False, True)
        latest = await store.load_latest("t")
        assert latest is not None
        assert latest.sequence == written - 1
        with pytest.raises(StoreError, match="no room left"):
            await asyncio.gather(store.save(record("t", state=BIG)), store.save(record("u", state=BIG)))
        os.unlink(small_disk / "ballast")
        assert await store.save(record("t", state=BIG)) == written


async def test_a_text_that_is_no_unicode_fails_alone(path: Path) -> None:
    async with SqliteStore(path) as store:
        results = await asyncio.gather(store.save(record("a")), store.save(record("\ud800")), store.save(record("b")), return_exceptions=True)
        assert [result if isinstance(result, int) else type(result) for result in results] == [0, StoreError, 0]


async def test_an_id_that_is_no_unicode_is_found_nowhere(path: Path) -> None:
    async with SqliteStore(path) as store:
        for call in (store.load_latest("\udcff"), store.get_log("\udcff")):
            with pytest.raises(OptionRefused, match=r"a thread id '\\udcff' has half a surrogate pair") as raised:
                await call
            assert "command line" in str(raised.value.hint)


async def test_another_programs_table_under_the_same_name(path: Path) -> None:
    told(path, "CREATE TABLE checkpoints (x)")
    error = await refusal(SqliteStore(path))
    assert "is not laid out as a store is" in str(error)
    assert "a file of its own" in str(error.hint)


@pytest.mark.parametrize("table", ["checkpoints (thread_id, checkpoint)", "strata_schema_version (version)", "checkpoint_threads (name)"])
def test_another_programs_file_is_left_as_it_was(path: Path, table: str) -> None:
    told(path, f"CREATE TABLE {table}; CREATE TABLE writes (thread_id)")
    before = path.read_bytes()
    assert "is not laid out as a store is" in str(asyncio.run(refusal(SqliteStore(path))))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


async def test_a_table_that_is_gone(path: Path) -> None:
    async with SqliteStore(path) as store:
        told(path, "DROP TABLE checkpoint_threads")
        error = await refusal(store)
        with pytest.raises(StoreError, match="no such table"):
            await store.list_threads(ThreadQuery())
    assert "no such table" in str(error)


async def test_a_read_only_file_can_be_read(open_folder: Path) -> None:
    async with SqliteStore(open_folder / "t.db") as store:
        await store.save(record("t"))
    with without_rights(open_folder / "t.db"):
        async with SqliteStore(open_folder / "t.db") as store:
            assert await store.load("t") == record("t")
            assert "is read-only" in str(await refusal(store))


async def test_a_folder_that_may_not_be_written_to(open_folder: Path) -> None:
    async with SqliteStore(open_folder / "t.db") as store:
        await store.save(record("t"))
    with without_rights(open_folder):
        async with SqliteStore(open_folder / "t.db") as store:
            error = await refusal(store)
        assert "cannot be opened" in str(await refusal(SqliteStore(open_folder / "new.db")))
    assert error.hint is not None
    assert "permission on the file and on its folder" in error.hint


# A file that was closed, in a folder where SQLite may not make the log that reading it takes


async def test_a_closed_file_is_read_where_nothing_may_be_written(open_folder: Path) -> None:
    async with SqliteStore(open_folder / "t.db") as store:
        await store.save(record("t"))
    with without_rights(open_folder):
        async with SqliteStore(open_folder / "t.db") as store:
            assert await store.load("t") == record("t")
            assert [logged.sequence for logged in (await store.get_log("t")).records] == [0]
            assert [thread.thread_id for thread in (await store.list_threads(ThreadQuery())).threads] == ["t"]
            assert await store.get_lease("t") is None
            assert "is read-only" in str(await refusal(store))
            with pytest.raises(StoreError, match="is read-only"):
                await store.try_acquire_lease("t", "worker-1", 30)
    assert os.listdir(open_folder) == ["t.db"]


async def test_what_others_write_meanwhile_is_read(open_folder: Path) -> None:
    async with SqliteStore(open_folder / "t.db") as writer:
        await writer.save(record("t"))
    async with SqliteStore(open_folder / "t.db") as reader:
        with without_rights(open_folder):
            assert (await reader.get_log("t")).records[-1].sequence == 0
        async with SqliteStore(open_folder / "t.db") as writer:
            await writer.save(record("t"))
            with without_rights(open_folder):
                assert (await reader.get_log("t")).records[-1].sequence == 1
            await writer.save(record("t"))
        with without_rights(open_folder):
            assert (await reader.get_log("t")).records[-1].sequence == 2


async def test_a_log_that_cannot_be_read_is_not_passed_over(open_folder: Path) -> None:
    async with SqliteStore(open_folder / "t.db") as store:
        await store.save(record("t"))
        for name in ("t.db", "t.db-wal"):
            shutil.copy(open_folder / name, open_folder / f"copy-{name}")
    with without_rights(open_folder):
        error = await refusal(SqliteStore(open_folder / "copy-t.db"))
    assert "its last records are in 'copy-t.db-wal'" in str(error)
    assert "as a user who may write to the folder" in str(error.hint)


OLDER = {
    0: "DROP TABLE checkpoint_leases; DROP TABLE checkpoint_blobs",
    1: "DROP TABLE checkpoint_blobs; INSERT INTO strata_schema_version VALUES ('checkpoints', 1)",
}
"""What makes the layout one of an older build, by its version."""


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("what", ["t.db", "."])
async def test_a_file_of_an_older_build_says_so_where_nothing_may_be_written(open_folder: Path, what: str, mode: str, version: int) -> None:
    path = open_folder / "t.db"
    told(path, f"PRAGMA journal_mode = {mode}; {SCHEMA}; {OLDER[version]}")
    path.chmod(0o666)
    with (
        without_rights(open_folder / what),
        pytest.raises(DatabaseOlder, match=f"is at checkpoints schema version {version}, and this build needs 2"),
    ):
        await SqliteStore(path).load("t")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("what", ["t.db", "."])
async def test_a_file_without_checkpoints_is_read_only_and_not_older(open_folder: Path, what: str, mode: str) -> None:
    path = open_folder / "t.db"
    told(path, f"PRAGMA journal_mode = {mode}; CREATE TABLE checkpoints (thread_id, checkpoint)")
    with without_rights(open_folder / what):
        error = await refusal(SqliteStore(path))
    assert not isinstance(error, DatabaseOlder)
    assert "is read-only" in str(error)


def test_a_file_on_a_disk_without_writing_is_read(small_disk: Path) -> None:
    with SqliteStore(small_disk / "t.db") as store:
        store.run_in_loop(store.save(record("t")))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with SqliteStore(small_disk / "t.db") as store:
        assert store.run_in_loop(store.load("t")) == record("t")
        assert "is read-only" in str(store.run_in_loop(refusal(store)))


async def test_a_newer_database_says_which_file_it_is(path: Path) -> None:
    told(path, SCHEMA)
    told(path, "INSERT INTO strata_schema_version VALUES ('checkpoints', 9)")
    with pytest.raises(DatabaseNewer) as refused:
        await SqliteStore(path).save(record("t"))
    assert refused.value.written is False
