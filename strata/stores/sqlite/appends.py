"""Appending to the log on one connection: one record, or several in one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from strata.stores.sqlite import faults, statements
from strata.stores.sqlite.rows import Row

Refusal: TypeAlias = Literal["not latest", "lease lost"]
"""Why an append wrote nothing: another record came first, or another owner took the thread."""

Verdict: TypeAlias = int | Refusal | Exception
"""What became of an append: its sequence, its refusal, or why it could not be written."""


class Append:
    """A record on its way to the log, its conditions, and who waits for what becomes of it."""

    __slots__ = ("expected", "row", "token", "waiter")

    def __init__(self, row: Row, expected: int | None, token: int | None, waiter: asyncio.Future[int | Refusal]) -> None:
        self.row, self.expected, self.token, self.waiter = row, expected, token, waiter

    def settle(self, verdict: Verdict) -> None:
        if self.waiter.done():  # its caller was cancelled; the record was written all the same
            return
        if isinstance(verdict, Exception):
            self.waiter.set_exception(verdict)
        else:
            self.waiter.set_result(verdict)


def append_one(connection: sqlite3.Connection, row: Row, expected: int | None, token: int | None) -> int | Refusal:
    """Append `row` if `expected` (None: whatever it is; -1: no record) is still its thread's newest sequence.

    With a `token`, also only if that is still its thread's latest. One statement, so a transaction of its own unless
    one is open. Gives the new sequence, or why nothing was written.
    """
    if expected is None:  # RETURNING costs 8 us more than a row count, so only who does not know the sequence pays for it
        return _append_behind_the_latest(connection, row, token)
    try:
        connection.execute(*_conditional(row, expected, token))
    except sqlite3.IntegrityError as error:
        if not faults.is_refused(error):
            raise
        return _why_refused(connection, row, token)
    return expected + 1


def _append_behind_the_latest(connection: sqlite3.Connection, row: Row, token: int | None) -> int | Refusal:
    thread_id = row[0]
    if token is None:
        written = connection.execute(statements.APPEND, (*row, thread_id)).fetchall()
    else:
        written = connection.execute(statements.APPEND_UNDER_LEASE, (*row, thread_id, thread_id, token)).fetchall()
    for (sequence,) in written:
        return int(sequence)
    return "lease lost"


def _conditional(row: Row, expected: int, token: int | None) -> tuple[str, tuple[Any, ...]]:
    """The statement and its values."""
    thread_id = row[0]
    if token is None:
        return statements.APPEND_IF_LATEST, (*row, thread_id, expected, expected + 1)
    return statements.APPEND_IF_LATEST_UNDER_LEASE, (*row, thread_id, expected, thread_id, token, expected + 1)


def _why_refused(connection: sqlite3.Connection, row: Row, token: int | None) -> Refusal:
    is_ours = token is None or connection.execute(statements.TOKEN_OF, (row[0],)).fetchall() == [(token,)]
    return "not latest" if is_ours else "lease lost"


def append_together(connection: sqlite3.Connection, appends: Sequence[Append], now: Callable[[], float]) -> tuple[Sequence[Verdict], float]:
    """Append all, in order and in one transaction, and say what became of each and how long the commit took (s).

    A record that came too late does not disturb the others. Any error undoes all, and is raised.
    """
    if len(appends) == 1:
        started = now()
        verdict = append_one(connection, appends[0].row, appends[0].expected, appends[0].token)
        return [verdict], now() - started
    try:
        connection.execute(statements.BEGIN)
        verdicts = _append_in_one_call(connection, appends) or _append_one_by_one(connection, appends)
        started = now()
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise
    return verdicts, now() - started


def _append_in_one_call(connection: sqlite3.Connection, appends: Sequence[Append]) -> Sequence[Verdict] | None:
    """The usual case, and a third faster: all of one kind, and none refused. Else nothing has been written, and the result is None."""
    together: dict[str, list[tuple[Any, ...]]] = {}
    sequences: list[int] = []
    for append in appends:
        if append.expected is None:
            return None
        statement, values = _conditional(append.row, append.expected, append.token)
        together.setdefault(statement, []).append(values)
        sequences.append(append.expected + 1)
    if len(together) > 1:
        return None
    ((statement, rows),) = together.items()
    try:
        connection.executemany(statement, rows)
    except sqlite3.IntegrityError as error:
        if not faults.is_refused(error):
            raise
        connection.execute(statements.ROLLBACK)
        connection.execute(statements.BEGIN)
        return None
    return sequences


def _append_one_by_one(connection: sqlite3.Connection, appends: Sequence[Append]) -> Sequence[Verdict]:
    return [append_one(connection, append.row, append.expected, append.token) for append in appends]


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
        return append_one(connection, append.row, append.expected, append.token)
    except Exception as error:
        return error
