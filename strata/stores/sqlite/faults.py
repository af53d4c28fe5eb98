"""What SQLite says, in words that name the file and say what to do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from strata.errors import StoreError


def is_busy(error: Exception) -> bool:
    """Whether somebody else holds the lock that was needed; nothing was changed, and the same may work later."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def forbids_writing(error: Exception) -> bool:
    """Whether this user may not write to the file, or to the folder where its journal goes."""
    return _code(error) in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


def keeps_from_writing(error: Exception) -> bool:
    """Whether the file can be read all the same."""
    return is_busy(error) or _code(error) == sqlite3.SQLITE_READONLY


def is_refused(error: sqlite3.IntegrityError) -> bool:
    """Whether the record's condition does not hold, or its sequence is in the log already, though not in the head row."""
    return error.sqlite_errorcode in {sqlite3.SQLITE_CONSTRAINT_NOTNULL, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}


def store_error(error: BaseException, path: Path, *, busy_timeout: float, is_write: bool = False) -> StoreError:
    """The error as ours; `written` is None where SQLite itself cannot tell what the disk has kept."""
    if isinstance(error, StoreError):
        error.add_note(f"the database is '{path}'")
        return error
    if isinstance(error, UnicodeEncodeError):
        return _cannot_keep(error, path)
    code = _code(error)
    text, hint = _told(code, error, path, busy_timeout)
    written = None if is_write and code == sqlite3.SQLITE_IOERR else False
    ours = StoreError(f"{text} ({error})", written=written, hint=hint)
    ours.__cause__ = error
    return ours


def _cannot_keep(error: UnicodeEncodeError, path: Path) -> StoreError:
    text = f"the database '{path}' keeps text as UTF-8, which {error.object!a} is not: it has half a surrogate pair"
    ours = StoreError(text, written=False, hint="where it came from a command line or a file name, it was not UTF-8 there")
    ours.__cause__ = error
    return ours


def _told(code: int | None, error: BaseException, path: Path, busy_timeout: float) -> tuple[str, str | None]:
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return (
                f"the database '{path}' was locked by another program for {busy_timeout:g} s",
                "find what holds a transaction open on it, or wait longer with SqliteStore(..., busy_timeout=)",
            )
        case sqlite3.SQLITE_FULL:
            return (
                f"there is no room left for the database '{path}'",
                "free some space, then resume or recover the thread: its last checkpoint stands",
            )
        case sqlite3.SQLITE_READONLY:
            return f"the database '{path}' is read-only", "this user needs write permission on the file and on its folder"
        case sqlite3.SQLITE_CANTOPEN if not path.parent.is_dir():
            return f"the database '{path}' cannot be opened: its folder '{path.parent}' does not exist", "create the folder first"
        case sqlite3.SQLITE_CANTOPEN if path.is_dir():
            return f"the database '{path}' cannot be opened: it is a folder", "give the path of a file"
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return (
                f"the database '{path}' cannot be opened",
                "this user needs permission on the file and on its folder (beside it come a -wal and a -shm file)",
            )
        case sqlite3.SQLITE_NOTADB:
            return f"the file '{path}' is not a SQLite database", "check the path; nothing was changed"
        case sqlite3.SQLITE_CORRUPT:
            return f"the database '{path}' is damaged", "restore it from a backup, or save what can be read with: sqlite3 FILE .recover"
        case sqlite3.SQLITE_IOERR:
            return f"the disk failed under the database '{path}'", "look at the disk, then at the thread: its last checkpoint stands"
        case sqlite3.SQLITE_TOOBIG:
            return f"the record is too big for the database '{path}'", "SQLite takes values of up to 1,000,000,000 bytes: keep large values elsewhere"
        case sqlite3.SQLITE_ERROR:
            return (
                f"the database '{path}' is not laid out as a store is",
                "its tables were dropped, or are another program's under the same names: give the store a file of its own",
            )
        case _:
            return f"the database '{path}' refused a call with {type(error).__name__}", None


def _code(error: BaseException) -> int | None:
    """The primary code: the extended one carries it in its low byte. Errors of the driver itself have none."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF
