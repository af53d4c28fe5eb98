"""What is read from the log: a thread's newest record, a page of its log, a page of threads."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from strata.errors import CheckpointUnreadable
from strata.ports.checkpoints import Logged, LogPage, Stored, ThreadPage, ThreadSummary
from strata.stores.sqlite import rows, statements
from strata.wire.envelope import blobs_named, is_encoded, restore_page, rows_before
from strata.wire.listing import Conditions, Position, encode_cursor, summary_of


def latest(connection: sqlite3.Connection, thread_id: str) -> Stored | None:
    """The thread's newest record.

    Raises:
        CheckpointUnreadable: there is one, and it cannot be read.
    """
    found = _newest(connection, thread_id)
    if found is not None and _is_encoded(found):
        with _one_view(connection):  # what it builds on, and itself once more: it may have been purged meanwhile
            found = _newest(connection, thread_id)
            if found is not None:
                (found,) = _restored(connection, thread_id, [found])
    if found is None:
        return None
    if isinstance(found.checkpoint, CheckpointUnreadable):
        raise found.checkpoint
    return Stored(found.checkpoint, found.sequence)


def log_page(connection: sqlite3.Connection, thread_id: str, *, first: int, limit: int) -> LogPage:
    """Up to `limit` records from sequence `first` on, oldest first."""
    if first > rows.LAST_SEQUENCE:
        return LogPage((), None)
    with _one_view(connection):
        page = _restored(connection, thread_id, _between(connection, thread_id, first, _BEHIND_ALL, limit))
    return LogPage(tuple(page), page[-1].sequence if len(page) == limit else None)


def thread_page(connection: sqlite3.Connection, conditions: Conditions) -> ThreadPage:
    """The threads that `conditions` mean, newest first."""
    shown, last = _shown(connection, conditions)
    summaries = [_summary(row) for row in shown]
    return ThreadPage(
        threads=tuple(summary for summary in summaries if isinstance(summary, ThreadSummary)),
        unreadable=tuple(summary for summary in summaries if isinstance(summary, CheckpointUnreadable)),
        next_cursor=None if last is None else encode_cursor(last),
    )


# Records

_BEHIND_ALL: Final = b"\xff"
"""SQLite sorts texts behind all numbers and bytes behind all texts: what stands in the place of a sequence is found too."""


def _newest(connection: sqlite3.Connection, thread_id: str) -> Logged | None:
    row = connection.execute(statements.LATEST, (thread_id,)).fetchone()
    return None if row is None else _logged(row)


def _between(connection: sqlite3.Connection, thread_id: str, first: int, last: int | bytes, limit: int) -> list[Logged]:
    return [_logged(row) for row in connection.execute(statements.BETWEEN, (thread_id, first, last, limit))]


def _logged(row: Sequence[Any]) -> Logged:
    """The record of a row, or why it cannot be read. SQLite keeps what is no whole number in a column of whole numbers."""
    sequence = row[1]
    if isinstance(sequence, int):
        return rows.logged(row)
    thread_id, found = bytes(row[0]).decode(errors="replace"), sequence.decode(errors="replace") if isinstance(sequence, bytes) else sequence
    unreadable = CheckpointUnreadable(
        f"a checkpoint of thread '{thread_id}' cannot be read: its column sequence holds '{found}', and not a whole number",
        thread_id=thread_id,
        path="sequence",
        hint="the row was left as it is: look at it with the sqlite3 program, or purge the thread",
    )
    return Logged(_whole_number_before(sequence), unreadable)


def _whole_number_before(sequence: bytes | float) -> int:
    """Where SQLite sorts it: a fraction among the numbers, a text behind all of them."""
    return math.floor(sequence) if isinstance(sequence, float) and math.isfinite(sequence) else rows.LAST_SEQUENCE


def _restored(connection: sqlite3.Connection, thread_id: str, page: list[Logged]) -> Sequence[Logged]:
    """`page` with the encodings of stores undone: deltas need rows before it, offloaded values the thread's blobs."""
    if not any(map(_is_encoded, page)):
        return page
    first, count = page[0].sequence, rows_before(page[0])
    earlier = _between(connection, thread_id, first - count, first - 1, count)
    names = blobs_named([*earlier, *page])
    return restore_page([*earlier, *page], _blobs(connection, thread_id, names) if names else {}, skip=len(earlier))


def _is_encoded(row: Logged) -> bool:
    return not isinstance(row.checkpoint, CheckpointUnreadable) and is_encoded(row.checkpoint)


def _blobs(connection: sqlite3.Connection, thread_id: str, hashes: frozenset[str]) -> dict[str, bytes]:
    found = connection.execute(statements.BLOBS, (thread_id, msgspec.json.encode(sorted(hashes)).decode()))
    return {name.decode(): content for name, content in found}


@contextmanager
def _one_view(connection: sqlite3.Connection) -> Generator[None]:
    """Several statements that see the file at one moment."""
    connection.execute(statements.BEGIN_READING)
    try:
        yield
    finally:
        connection.execute(statements.COMMIT)


# Listings


def _shown(connection: sqlite3.Connection, conditions: Conditions) -> tuple[list[tuple[Any, ...]], Position | None]:
    """The rows of a page, and the place of the last if others follow.

    An id that is not UTF-8 is one that no cursor can name: a page that would end there takes in the next row too.
    """
    room = conditions.limit
    while len(found := _heads(connection, conditions, room + 1)) > room:
        if (last := _position(found[room - 1])) is not None:
            return found[:room], last
        room += 1
    return found, None


def _heads(connection: sqlite3.Connection, conditions: Conditions, limit: int) -> list[tuple[Any, ...]]:
    text, parameters = _asked(conditions)
    return connection.execute(text, [*parameters, limit]).fetchall()


def _asked(conditions: Conditions) -> tuple[str, list[object]]:
    """The statement of constant parts, and its parameters but for the last, how many rows are wanted."""
    parts: list[tuple[str, tuple[object, ...]]] = []
    if conditions.states:
        parts.append((statements.IN_STATES, (msgspec.json.encode(sorted(conditions.states)).decode(),)))
    for clause, value in (
        (statements.UPDATED_AFTER, conditions.updated_after),
        (statements.UPDATED_BEFORE, conditions.updated_before),
        (statements.DUE, conditions.due_by),
        (statements.OF_GRAPH, conditions.graph_id),
        (statements.OF_GRAPH_VERSION, conditions.graph_version),
    ):
        if value is not None:
            parts.append((clause, (value,)))
    parts.extend((statements.HAS_METADATA, pair) for pair in conditions.metadata.items())
    if conditions.below is not None:
        parts.append((statements.BELOW, (conditions.below.updated_at, conditions.below.thread_id)))
    clauses = ["WHERE " + " AND ".join(clause for clause, _ in parts)] if parts else []
    parameters = [value for _, values in parts for value in values]
    return "\n".join([statements.HEADS, *clauses, statements.NEWEST_FIRST]), parameters


def _summary(row: Sequence[Any]) -> ThreadSummary | CheckpointUnreadable:
    read = _logged(row)
    return read.checkpoint if isinstance(read.checkpoint, CheckpointUnreadable) else summary_of(read.checkpoint, read.sequence)


def _position(row: Sequence[Any]) -> Position | None:
    try:
        return Position(bytes(row[-1]).decode(), bytes(row[0]).decode())
    except UnicodeDecodeError:
        return None
