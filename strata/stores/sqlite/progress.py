"""What a node has done before it commits, in a table of our own that other engines clear by appending (design section 3, point 6)."""

from __future__ import annotations

import sqlite3

from strata.ports.progress import Items
from strata.stores.sqlite import statements


def keep(connection: sqlite3.Connection, thread_id: str, base: int, items: Items) -> None:
    """Keep `items` if `base` is the thread's newest sequence, in one transaction; the first to keep anything makes the table."""
    connection.execute(statements.BEGIN)
    try:
        for statement in statements.PROGRESS_LAYOUT:
            connection.execute(statement)
        rows = [(thread_id, base, path, item, record.decode(), thread_id, base) for (path, item), record in items.items()]
        connection.executemany(statements.KEEP_PROGRESS, rows)
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise


def load(connection: sqlite3.Connection, thread_id: str, base: int) -> Items:
    """What was kept since `base`; nothing where nobody has kept anything yet."""
    if not connection.execute(statements.HAS_PROGRESS).fetchall():
        return {}
    rows = connection.execute(statements.PROGRESS_OF, (thread_id, base)).fetchall()
    return {(path.decode(), item.decode()): record for path, item, record in rows}
