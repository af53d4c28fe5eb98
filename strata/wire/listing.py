"""Listings, log pages and purges as every store and engine answers them (strata-stores.md 12 and 13).

Conditions are compared as texts: a time of the wire, cut to whole seconds, sorts as it reads.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, cast, get_args

import msgspec

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint, ThreadState
from strata.errors import OptionRefused
from strata.graph.times import wire_datetime
from strata.ports.checkpoints import ThreadQuery, ThreadSummary

THREAD_STATES: Final[tuple[ThreadState, ...]] = get_args(ThreadState)
MOST_PER_PAGE: Final = 1000


class Position(msgspec.Struct, frozen=True, order=True):
    """Where a thread stands in a listing: pages go from the greatest down, and a cursor is the last one shown."""

    updated_at: str
    thread_id: str


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """A query in the words of the wire; None and empty conditions hold for every thread."""

    states: frozenset[ThreadState]
    metadata: Mapping[str, str]
    updated_after: str | None
    updated_before: str | None
    due_by: str | None
    graph_id: str | None
    graph_version: str | None
    limit: int
    below: Position | None


def conditions_of(query: ThreadQuery) -> Conditions:
    """The query, checked.

    Raises:
        OptionRefused: its limit, graph version without an id, cursor, a state, a time, its metadata or identity cannot be used; in this order.
    """
    given.instance(query, ThreadQuery, "threads are listed by a ThreadQuery(...)")
    limit = check_limit(query.limit)
    if query.graph_version is not None and query.graph_id is None:
        raise OptionRefused("a thread query's graph_version needs a graph_id")
    return Conditions(
        below=None if query.cursor is None else decode_cursor(query.cursor),
        states=check_states(query.states),
        updated_after=_time(query.updated_after, "updated_after"),
        updated_before=_time(query.updated_before, "updated_before"),
        due_by=_time(query.due_by, "due_by"),
        metadata=_metadata(query.metadata),
        graph_id=_text(query.graph_id, "graph_id"),
        graph_version=_text(query.graph_version, "graph_version"),
        limit=limit,
    )


def matches(checkpoint: Checkpoint, conditions: Conditions) -> bool:
    """Whether the thread with this newest record is meant; its place behind the cursor is part of it."""
    updated_at = checkpoint.updated_at
    return (
        (not conditions.states or checkpoint.state_name in conditions.states)
        and (conditions.updated_after is None or updated_at > conditions.updated_after)
        and (conditions.updated_before is None or updated_at < conditions.updated_before)
        and (conditions.below is None or Position(updated_at, checkpoint.thread_id) < conditions.below)
        and _has_metadata(checkpoint, conditions.metadata)
        and (conditions.graph_id is None or _is_of_graph(checkpoint, conditions.graph_id, conditions.graph_version))
        and (conditions.due_by is None or is_due(checkpoint, conditions.due_by))
    )


def is_due(checkpoint: Checkpoint, moment: str) -> bool:
    """Whether the thread waits, and its wake time has come (strata-checkpoint.md 7)."""
    wake_at = wake_time_of(checkpoint)
    return wake_at is not None and wake_at <= moment and checkpoint.state_name == "interrupted"


def wake_time_of(checkpoint: Checkpoint) -> str | None:
    """The wake time that stores keep beside a record: the innermost level's, whatever the status."""
    wait = checkpoint.innermost.wait
    return None if wait is None else wait.wake_at


def summary_of(checkpoint: Checkpoint, sequence: int) -> ThreadSummary:
    """What a listing shows of a thread with this newest record."""
    return ThreadSummary(
        thread_id=checkpoint.thread_id,
        sequence=sequence,
        state=checkpoint.state_name,
        status=checkpoint.status,
        suspended_node=checkpoint.suspended_node,
        next_node=checkpoint.next_node,
        waiting_at=checkpoint.waiting_at,
        metadata=checkpoint.metadata or {},
        updated_at=checkpoint.updated_at,
        schema_version=checkpoint.schema_version,
        wait=checkpoint.innermost.wait,
        graph=checkpoint.graph,
    )


def encode_cursor(last: ThreadSummary | Position) -> str:
    """The cursor behind the last thread of a page: base64url, without padding, of `[updated_at, thread_id]`."""
    return base64.urlsafe_b64encode(msgspec.json.encode((last.updated_at, last.thread_id))).rstrip(b"=").decode()


def decode_cursor(cursor: str) -> Position:
    """The place that a cursor names; it is not tied to the query that gave it.

    Raises:
        OptionRefused: it is no cursor of a thread listing.
    """
    given.instance(cursor, str, "a thread listing cursor is text")
    try:
        text = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return Position(*msgspec.json.decode(text, type=tuple[str, str]))
    except (binascii.Error, UnicodeError, msgspec.DecodeError, RecursionError):
        raise OptionRefused(f"'{cursor}' is not a thread listing cursor") from None


def check_limit(limit: int) -> int:
    """The limit of a page, a log page or a purge.

    Raises:
        OptionRefused: it is not 1 to 1000.
    """
    given.whole_number(limit, "a page size")
    if not 1 <= limit <= MOST_PER_PAGE:
        raise OptionRefused(f"a page size must be between 1 and {MOST_PER_PAGE}, not {limit}")
    return limit


def first_behind(after: int | None) -> int:
    """The first sequence of a log page that begins behind `after`; None is before the first.

    Raises:
        OptionRefused: it is no whole number.
    """
    return 0 if after is None else max(given.whole_number(after, "the after= of a log") + 1, 0)


def check_states(states: Collection[str]) -> frozenset[ThreadState]:
    """The states of a query or purge.

    Raises:
        OptionRefused: one of them is no thread state, or they are no collection.
    """
    wanted = tuple(given.several(states, "a collection of thread states"))
    for state in wanted:
        if state not in THREAD_STATES:
            raise OptionRefused(f"'{state}' is not a thread state: they are {', '.join(THREAD_STATES)}")
    return frozenset(cast("Collection[ThreadState]", wanted))


def check_time(moment: datetime, what: str = "a time") -> str:
    """The moment as the wire has it, cut to whole seconds; `what` names it in the error.

    Raises:
        OptionRefused: it is no datetime, or has no time zone.
    """
    return wire_datetime(given.moment(moment, what))


def _time(moment: datetime | None, option: str) -> str | None:
    return None if moment is None else check_time(moment, f"a thread query's {option}")


def _text(value: str | None, option: str) -> str | None:
    return None if value is None else given.text(value, f"a thread query's {option}")


def _metadata(wanted: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in given.pairs(wanted, "a thread query's metadata").items():
        given.text(key, "a key of a thread query's metadata")
        given.text(value, f"the value of '{key}' in a thread query's metadata")
    return wanted


def _has_metadata(checkpoint: Checkpoint, wanted: Mapping[str, str]) -> bool:
    if not wanted:
        return True
    stored = checkpoint.metadata
    return stored is not None and all(stored.get(key) == value for key, value in wanted.items())


def _is_of_graph(checkpoint: Checkpoint, graph_id: str, version: str | None) -> bool:
    graph = checkpoint.graph
    return graph is not None and graph.id == graph_id and (version is None or graph.version == version)
