"""A checkpoint as a row of `checkpoints`, and back (strata-stores.md 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn, TypeAlias, overload

from strata.checkpoint.record import Checkpoint
from strata.errors import CheckpointUnreadable
from strata.ports.checkpoints import Logged
from strata.wire.checkpoint import decode_columns, encode_decision, encode_metadata, encode_nested, encode_wait
from strata.wire.listing import wake_time_of

Row: TypeAlias = tuple[Any, ...]
"""The parameters of an append: every column but the sequence, the log's own."""


LAST_SEQUENCE: Final = 2**63 - 1
"""SQLite's greatest integer."""


@overload
def as_integer(sequence: int) -> int: ...
@overload
def as_integer(sequence: int | None) -> int | None: ...
def as_integer(sequence: int | None) -> int | None:
    """A sequence as SQLite can hold it: the nearest of its integers, at which no thread has a record if it has none at `sequence`."""
    return sequence if sequence is None or -1 <= sequence < LAST_SEQUENCE else max(-2, min(sequence, LAST_SEQUENCE - 1))


def row_of(checkpoint: Checkpoint) -> Row:
    graph = checkpoint.graph
    return (
        checkpoint.thread_id,
        checkpoint.schema_version,
        checkpoint.status,
        checkpoint.suspended_node,
        checkpoint.next_node,
        checkpoint.frozen_state,
        encode_metadata(checkpoint.metadata),
        checkpoint.created_at,
        checkpoint.resumed_at,
        encode_nested(checkpoint.nested),
        encode_decision(checkpoint.decision),
        encode_wait(checkpoint.wait),
        wake_time_of(checkpoint),
        None if graph is None else graph.id,
        None if graph is None else graph.version,
    )


READ: Final = (
    "thread_id",
    "sequence",
    "schema_version",
    "status",
    "suspended_node",
    "next_node",
    "frozen_state",
    "metadata",
    "created_at",
    "resumed_at",
    "nested",
    "decision",
    "wait",
    "graph_id",
    "graph_version",
)
"""The columns in the order in which the statements select them; texts arrive as bytes."""


def logged(row: Sequence[Any]) -> Logged:
    """The record of a selected row, or why it cannot be read."""
    sequence: int = row[1]
    try:
        return Logged(sequence, _checkpoint(row, sequence))
    except CheckpointUnreadable as unreadable:
        return Logged(sequence, unreadable)


def _checkpoint(row: Sequence[Any], sequence: int) -> Checkpoint:
    thread_id = bytes(row[0]).decode(errors="replace")
    columns = _Columns(row, thread_id, sequence)
    return decode_columns(
        thread_id=columns.text(0),
        sequence=sequence,
        schema_version=columns.text(2),
        status=columns.text(3),
        suspended_node=columns.optional_text(4),
        next_node=columns.optional_text(5),
        frozen_state=columns.document(6) or columns.refuse(6),
        metadata=columns.document(7),
        created_at=columns.text(8),
        resumed_at=columns.optional_text(9),
        nested=columns.document(10),
        decision=columns.document(11),
        wait=columns.document(12),
        graph_id=columns.optional_text(13),
        graph_version=columns.optional_text(14),
    )


class _Columns:
    """The values of a row, held to the kinds that its columns promise; SQLite itself holds nobody to them."""

    __slots__ = ("_row", "_sequence", "_thread_id")

    def __init__(self, row: Sequence[Any], thread_id: str, sequence: int) -> None:
        self._row, self._thread_id, self._sequence = row, thread_id, sequence

    def text(self, column: int) -> str:
        text = self.optional_text(column)
        return self.refuse(column) if text is None else text

    def optional_text(self, column: int) -> str | None:
        value = self.document(column)
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            return self.refuse(column)

    def document(self, column: int) -> bytes | None:
        value = self._row[column]
        return value if value is None or type(value) is bytes else self.refuse(column)

    def refuse(self, column: int) -> NoReturn:
        value, name = self._row[column], READ[column]
        found = "is NULL" if value is None else "is not UTF-8" if isinstance(value, bytes) else f"holds the number {value}"
        raise CheckpointUnreadable(
            f"checkpoint '{self._thread_id}' #{self._sequence} cannot be read: its column {name} {found}",
            thread_id=self._thread_id,
            sequence=self._sequence,
            path=name,
            hint="the row was left as it is: look at it with the sqlite3 program, or purge the thread",
        )
