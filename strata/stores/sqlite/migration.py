"""Bringing a file to this build's layout (strata-stores.md 3.6)."""

from __future__ import annotations

import sqlite3

from strata.errors import DatabaseNewer, DatabaseOlder
from strata.stores.sqlite import faults, layout, statements


def bring_up_to_date(connection: sqlite3.Connection, steps: layout.Steps = layout.STEPS) -> None:
    """Create or complete the tables, in one immediate transaction; a database that is current is not locked at all.

    Whoever comes second waits for the first and finds its work done. Safe on every older layout, and to repeat. Tables of
    an application's own are left as they are.

    Raises:
        DatabaseNewer: a newer build made the layout; nothing was changed.
        DatabaseOlder: an older build made it, and the file may not be written to.
    """
    if version_of(connection, steps) == max(steps):
        return
    try:
        _migrate_at_once(connection, steps)
    except sqlite3.OperationalError as error:
        if faults.forbids_writing(error):
            refuse_older(connection, steps)
        raise


def refuse_older(connection: sqlite3.Connection, steps: layout.Steps = layout.STEPS) -> None:
    """Refuse a log that nobody may bring up to date here; a file without one is no older layout.

    Raises:
        DatabaseOlder: an older build made it.
        DatabaseNewer: a newer build made it.
    """
    known, found = max(steps), version_of(connection, steps)
    if found < known and has_log(connection):
        raise DatabaseOlder(
            f"database is at {layout.COMPONENT} schema version {found}, and this build needs {known}: nothing can be changed here",
            hint="open it once as a user who may write to the file and its folder",
        )


def has_log(connection: sqlite3.Connection) -> bool:
    """Whether the file has the engines' table of checkpoints, of whatever version."""
    return connection.execute(statements.HAS_LOG).fetchone() is not None


def format_of_another_program(connection: sqlite3.Connection) -> int | None:
    """What another program has marked the file with as one in a format of its own, if none of the engines' tables is in it.

    SQLite's `application_id` is for that; no engine sets one. Without it the tables of others say nothing: an application
    may keep its own and ours in one file.
    """
    ((mark,),) = connection.execute(statements.APPLICATION_ID).fetchall()
    if not mark or any(_columns(connection, table) for table in layout.OF_THE_ENGINES):
        return None
    return int(mark)


def _migrate_at_once(connection: sqlite3.Connection, steps: layout.Steps) -> None:
    connection.execute(statements.BEGIN)
    try:
        _migrate(connection, steps)
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise


def is_blank(connection: sqlite3.Connection) -> bool:
    """Whether nobody has made a table in the file."""
    return connection.execute(layout.ANYTHING).fetchone() is None


def version_of(connection: sqlite3.Connection, steps: layout.Steps = layout.STEPS) -> int:
    """The layout's version; 0 where none is recorded.

    Raises:
        DatabaseNewer: it is above the last of `steps`.
    """
    known = max(steps)
    if not _columns(connection, "strata_schema_version"):
        return 0
    row = connection.execute(statements.VERSION_OF, (layout.COMPONENT,)).fetchone()
    found = 0 if row is None else int(row[0])
    if found > known:
        raise DatabaseNewer(f"database is at {layout.COMPONENT} schema version {found}, and this build knows {known}: upgrade the runtime")
    return found


def _migrate(connection: sqlite3.Connection, steps: layout.Steps) -> None:
    connection.execute(layout.VERSIONS)
    known = max(steps)
    found = version_of(connection, steps)
    if found == known:  # somebody did it while this one waited for the lock
        return
    if found == 0:
        _lay_baseline(connection)
    for version in sorted(steps):
        if version > found:
            for statement in steps[version]:
                connection.execute(statement)
    connection.execute(statements.RECORD_VERSION, (layout.COMPONENT, known))


def _lay_baseline(connection: sqlite3.Connection) -> None:
    connection.execute(layout.CHECKPOINTS)
    _add_missing(connection, "checkpoints", layout.ADDED_TO_CHECKPOINTS)
    if not _columns(connection, "checkpoint_threads"):
        connection.execute(layout.HEADS)
        _lay_head_rules(connection)
        connection.execute(layout.FILL_HEADS)
    elif _add_missing(connection, "checkpoint_threads", layout.ADDED_TO_HEADS):
        connection.execute(layout.DROP_HEAD_TRIGGER)
        _lay_head_rules(connection)
    connection.execute(layout.LEASES)


def _lay_head_rules(connection: sqlite3.Connection) -> None:
    for index in layout.HEAD_INDEXES:
        connection.execute(index)
    connection.execute(layout.HEAD_TRIGGER)


def _add_missing(connection: sqlite3.Connection, table: str, additions: dict[str, str]) -> bool:
    there = _columns(connection, table)
    missing = [statement for column, statement in additions.items() if column not in there]
    for statement in missing:
        connection.execute(statement)
    return bool(missing)


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute(statements.COLUMNS_OF, (table,))}
