"""Deleting whole threads that have been finished for long (strata-stores.md 13)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

import msgspec

from strata.stores.sqlite import statements


def purge(connection: sqlite3.Connection, *, states: Collection[str], cutoff: str, now: int, limit: int) -> int:
    """Delete up to `limit` threads in one of `states`, last written before `cutoff`, oldest first, in one transaction.

    Never one with a lease that lives at `now` (ms). Everything of a thread goes: its log, head, lease and blobs.
    """
    if not states:
        return 0
    connection.execute(statements.BEGIN)
    try:
        wanted = msgspec.json.encode(sorted(states)).decode()
        threads = connection.execute(statements.FINISHED, (wanted, cutoff, now, limit)).fetchall()
        for statement in statements.FORGET:
            connection.executemany(statement, threads)
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise
    return len(threads)
