"""Appending to the log on one connection: one record, or several in one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

from strata.stores.sqlite import faults, statements
from strata.stores.sqlite.rows import Row

Verdict: TypeAlias = int | Exception | None
"""What became of an append: its sequence, None where another record came first, or why it could not be written."""


class Append:
    """A record on its way to the log, and who waits for what becomes of it."""

    __slots__ = ("expected", "row", "waiter")

    def __init__(self, row: Row, expected: int | None, waiter: asyncio.Future[int | None]) -> None:
        self.row, self.expected, self.waiter = row, expected, waiter

    def settle(self, verdict: Verdict) -> None:
        if self.waiter.done():  # its caller was cancelled; the record was written all the same
            return
        if isinstance(verdict, Exception):
            self.waiter.set_exception(verdict)
        else:
            self.waiter.set_result(verdict)


def append_one(connection: sqlite3.Connection, row: Row, expected: int | None) -> int | None:
    """Append `row` if `expected` (None: whatever it is; -1: no record) is still its thread's newest sequence.

    One statement, so a transaction of its own unless one is open. Gives the new sequence, or None for nothing written.
    """
    if expected is None:  # RETURNING costs 8 us more than a row count, so only who does not know the sequence pays for it
        ((sequence,),) = connection.execute(statements.APPEND, (*row, row[0])).fetchall()
        return int(sequence)
    try:
        written = connection.execute(statements.APPEND_IF_LATEST, (*row, expected, row[0], expected)).rowcount
    except sqlite3.IntegrityError as error:
        if faults.is_taken(error):
            return None
        raise
    return expected + 1 if written else None


def append_together(connection: sqlite3.Connection, appends: Sequence[Append], now: Callable[[], float]) -> tuple[Sequence[Verdict], float]:
    """Append all, in order and in one transaction, and say what became of each and how long the commit took (s).

    A record that came too late does not disturb the others. Any error undoes all, and is raised.
    """
    if len(appends) == 1:
        started = now()
        verdict = append_one(connection, appends[0].row, appends[0].expected)
        return [verdict], now() - started
    try:
        connection.execute(statements.BEGIN)
        verdicts = [append_one(connection, append.row, append.expected) for append in appends]
        started = now()
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise
    return verdicts, now() - started


def append_all_that_can_be(connection: sqlite3.Connection, appends: Sequence[Append], now: Callable[[], float]) -> tuple[Sequence[Verdict], float]:
    """The same, but a record that cannot be written fails alone: each is then tried by itself (strata-stores.md 10).

    A file that stays locked fails them all at once: waiting again for each would take minutes.
    """
    try:
        return append_together(connection, appends, now)
    except Exception as error:
        if len(appends) == 1 or faults.is_busy(error):
            return [error] * len(appends), 0.0
    return [_append_alone(connection, append) for append in appends], 0.0


def _append_alone(connection: sqlite3.Connection, append: Append) -> Verdict:
    try:
        return append_one(connection, append.row, append.expected)
    except Exception as error:
        return error
