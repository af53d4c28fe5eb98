"""Reading a file in write-ahead mode as it stands, where SQLite may not make the log and the index that reading it takes.

So it is on a file system without writing, and in a folder that this user may not write to, once the last connection has
closed the file and taken both away. SQLite's `immutable` then reads it without them, takes no lock and notices no change:
each piece of work opens the file anew, and what it reads counts only if nobody has written to the file meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from strata.errors import StoreError
from strata.stores.sqlite import migration

T = TypeVar("T")

_TRIES: Final = 5

_CANNOT_KEEP_A_LOG: Final = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_READONLY_DIRECTORY,
    sqlite3.SQLITE_READONLY_RECOVERY,
}
_MODES: Final = slice(18, 20)
_WRITE_AHEAD: Final = b"\x02\x02"
"""What a file's header says in `_MODES`: that writers and readers need a log."""


class Moment(NamedTuple):
    """What tells whether a file was written to; `is_closed`: its log is empty or gone, so the file itself holds everything."""

    inode: int
    size: int
    written_at: int
    is_closed: bool


def stands_alone(path: Path, error: sqlite3.Error) -> bool:
    """Whether `error`, of opening `path`, says no more than that the log cannot be made, and the file can be read without one.

    Raises:
        StoreError: the log is there and holds records, and cannot be read.
    """
    if error.sqlite_errorcode not in _CANNOT_KEEP_A_LOG or not _writes_ahead(path):
        return False
    if not _moment(path).is_closed:
        raise StoreError(
            f"the database '{path}' cannot be read: its last records are in '{_log_of(path).name}', and to read that takes writing to the folder",
            hint="open the database once as a user who may write to the folder, or copy both files to a folder that may be written to",
        )
    return True


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the file as it stands, for one that need not be read: a write is refused as on any other read-only file.

    Raises:
        DatabaseNewer, DatabaseOlder: another build made the tables, and nobody may bring them up to date here.
        StoreError: there are no tables, and nobody may make them here.
    """
    connection = _connect(path, is_closed=True)
    try:
        _refuse_what_must_be_changed(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """What `work` reads of the file at one moment; while somebody has it open, of the file and its log.

    Raises:
        sqlite3.Error: it cannot be read.
        StoreError: it was written to each time.
    """
    for _ in range(_TRIES):
        before = _moment(path)
        try:
            with closing(_connect(path, is_closed=before.is_closed)) as connection:
                found = work(connection)
        except Exception:
            if _moment(path) == before:
                raise
        else:
            if not before.is_closed or _moment(path) == before:
                return found
    raise StoreError(f"the database '{path}' was written to each time that it was read", hint="try again: nothing of what was read was used")


def _connect(path: Path, *, is_closed: bool) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_closed else ''}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = bytes
    return connection


def _refuse_what_must_be_changed(path: Path, connection: sqlite3.Connection) -> None:
    migration.refuse_older(connection)
    if not migration.has_log(connection):
        raise StoreError(
            f"the database '{path}' is read-only, and holds no checkpoints", hint="this user needs write permission on the file and on its folder"
        )


def _moment(path: Path) -> Moment:
    """Raises StoreError for a file that is gone."""
    try:
        file = path.stat()
    except OSError as error:
        raise StoreError(f"the database '{path}' cannot be looked at: {error.strerror}") from error
    return Moment(file.st_ino, file.st_size, file.st_mtime_ns, is_closed=_size_of(_log_of(path)) == 0)


def _writes_ahead(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(_MODES.stop)[_MODES] == _WRITE_AHEAD
    except OSError:
        return False


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
