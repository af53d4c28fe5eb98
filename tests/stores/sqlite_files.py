"""SQLite files seen from outside: what the tests look at, and make, with no store in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.records import WIRE

SCHEMA = (WIRE / "stores" / "sqlite" / "schema.sql").read_text()
"""What the Rust engine makes of an empty file."""

DUMPS = sorted(path for path in (WIRE / "stores" / "sqlite").glob("*.sql") if path.stem not in {"schema", "history", "long_term_memory"})
"""Files that the Rust engine left, one a scenario."""

ROW = "INSERT INTO checkpoints (thread_id, sequence, schema_version, status, frozen_state, created_at) VALUES (?, ?, '1.0.0', ?, ?, ?)"


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """A plain connection, in autocommit."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def told(path: Path, script: str) -> None:
    """Run `script` on the file."""
    with opened(path) as connection:
        connection.executescript(script)


def left_by(dump: Path, path: Path) -> None:
    """Make the file that the Rust engine left, of its dump."""
    told(path, dump.read_text())


def asked(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with opened(path) as connection:
        return connection.execute(query, values).fetchall()


def objects_of(path: Path) -> dict[str, str]:
    """Each table, index and trigger with the text that made it."""
    return dict(asked(path, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"))


def columns_of(path: Path, table: str) -> list[str]:
    return [name for (name,) in asked(path, "SELECT name FROM pragma_table_info(?)", table)]


def versions_of(path: Path) -> dict[str, int]:
    return dict(asked(path, "SELECT component, version FROM strata_schema_version"))
