"""Waking what is due and recovering what died: oldest first, several at once if asked to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from strata.checkpoint import given
from strata.checkpoint.metadata import recoveries_of
from strata.checkpoint.record import Checkpoint, ThreadState
from strata.engine.outcomes import Outcome
from strata.errors import (
    CheckpointUnreadable,
    LeaseHeld,
    NotAdmitted,
    NotDue,
    NotRunning,
    OptionRefused,
    Refused,
    SchemaUnsupported,
    StoreError,
    ThreadChanged,
    ThreadFinished,
    ThreadNotFound,
    ThreadRunning,
)
from strata.graph.compiled import CompiledGraph
from strata.graph.times import parse_wire_time
from strata.ports import CheckpointStore, ThreadQuery, ThreadSummary
from strata.ports.paging import pages_of
from strata.wire.listing import MOST_PER_PAGE, check_limit

S = TypeVar("S")
T = TypeVar("T")


class LeftAlone(Refused):
    """A sweep's own reason not to recover a thread."""


class StopToken(Protocol):
    """Anything that says whether to stop: an `asyncio.Event`, a `threading.Event`."""

    def is_set(self) -> bool: ...


class Woken(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A thread that was woken, by what, and what its run came to."""

    thread_id: str
    by: Literal["timer", "timeout"]
    outcome: Outcome[S]


class Recovered(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """A thread that was recovered: the node it went on with (one a level), how often since a node last committed, and what it came to."""

    thread_id: str
    at: tuple[str, ...]
    recoveries: int
    outcome: Outcome[S]


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A thread that was left as it stood, and why; `error` is what said so."""

    thread_id: str
    reason: str
    error: Exception | None = None


class WakeReport(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """What a sweep of due threads did."""

    woken: tuple[Woken[S], ...]
    skipped: tuple[Skipped, ...]


class RecoveryReport(msgspec.Struct, Generic[S], frozen=True, kw_only=True):
    """What a sweep of dead threads did."""

    recovered: tuple[Recovered[S], ...]
    skipped: tuple[Skipped, ...]


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep looks for, and how much it does: `limit` threads done (skipped ones do not count), `max_concurrent` at once."""

    metadata: Mapping[str, str]
    limit: int
    match_graph: bool
    max_concurrent: int
    stop: StopToken | None

    def check(self) -> None:
        """Raises OptionRefused where a number is out of its range, and for what is not of its type."""
        check_limit(self.limit)
        if given.whole_number(self.max_concurrent, "a sweep's max_concurrent") < 1:
            raise OptionRefused("a sweep's max_concurrent must be at least 1")
        given.yes_or_no(self.match_graph, "a sweep's match_graph")
        if self.stop is not None:
            given.answering(self.stop, ("is_set",), "a sweep's stop says whether to stop, with is_set()")

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


async def find(
    store: CheckpointStore,
    graph: CompiledGraph[Any],
    sweep: Sweep,
    *,
    state: ThreadState,
    due_by: datetime | None = None,
    updated_before: datetime | None = None,
) -> tuple[list[ThreadSummary], list[Skipped]]:
    """All threads that the sweep is for, oldest first, and the rows that cannot be read."""
    identity = graph.identity if sweep.match_graph else None
    any_version = identity is None or graph.migrate is not None
    found: list[ThreadSummary] = []
    skipped: list[Skipped] = []
    query = ThreadQuery(
        states=(state,),
        metadata=sweep.metadata,
        due_by=due_by,
        updated_before=updated_before,
        graph_id=None if identity is None else identity.id,
        graph_version=None if identity is None or any_version else identity.version,
        limit=MOST_PER_PAGE,
    )
    async for page in pages_of(store, query):
        found += page.threads
        skipped += [Skipped(thread_id=row.thread_id or "", reason=f"its checkpoint can't be loaded: {row}", error=row) for row in page.unreadable]
    found.reverse()  # listings are newest first; with a limit the oldest would starve
    return found, skipped


async def sweep_over(
    threads: Iterable[ThreadSummary],
    sweep: Sweep,
    work: Callable[[ThreadSummary], Awaitable[T | Skipped]],
) -> tuple[list[T], list[Skipped]]:
    """Do `work` on one thread after another, `max_concurrent` at once, until the limit is done or the sweep is told to stop."""
    waiting = iter(threads)
    done: list[T] = []
    skipped: list[Skipped] = []
    under_way = 0

    async def worker() -> None:
        nonlocal under_way
        while not sweep.is_stopped and len(done) + under_way < sweep.limit:
            thread = next(waiting, None)
            if thread is None:
                return
            under_way += 1
            try:
                result = await work(thread)
            finally:
                under_way -= 1
            if isinstance(result, Skipped):
                skipped.append(result)
            else:
                done.append(result)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(sweep.max_concurrent, sweep.limit)):
            group.create_task(worker(), name="strata-sweep")
    return done, skipped


def refuse_living(checkpoint: Checkpoint, *, before: datetime | None, max_recoveries: int | None) -> None:
    """What the listing said may have changed since.

    Raises:
        LeftAlone: the thread was written after `before`, or was recovered as often as it may be.
    """
    if before is not None and parse_wire_time(checkpoint.updated_at) >= before.replace(microsecond=0):
        raise LeftAlone("it is not stale yet")
    count = recoveries_of(checkpoint)
    if max_recoveries is not None and count >= max_recoveries:
        raise LeftAlone(f"it was recovered {count} time(s) without a node completing")


def skipped_because(thread_id: str, error: Refused | StoreError, *, changed: str, over: str) -> Skipped:
    """Why a sweep left a thread alone (strata-waits.md 5.7 and 9.3)."""
    match error:
        case NotDue() | NotRunning() | ThreadRunning() | ThreadFinished() | ThreadChanged(reason="resumed"):  # so it was when it was loaded
            reason = over
        case ThreadNotFound():
            reason = "it has no checkpoint"
        case LeaseHeld():
            reason = error.told_of("it")
        case NotAdmitted():
            reason = f"it was not admitted: {error}"
        case ThreadChanged():
            reason = changed
        case SchemaUnsupported():
            reason = error.told_of("its checkpoint")
        case CheckpointUnreadable():
            reason = f"its checkpoint can't be loaded: {error}"
        case _:
            reason = str(error)
    return Skipped(thread_id=thread_id, reason=reason, error=error)


def moment_of(now: datetime | None, seconds: float) -> datetime:
    """The caller's now, else the clock's."""
    if now is None:
        return datetime.fromtimestamp(seconds, UTC)
    return given.moment(now, "now=")


def stale_before(now: datetime, stale_after: timedelta | float | None, *, has_lease: bool) -> datetime | None:
    """Threads that were last written before this are stale; None for no age at all.

    Raises:
        OptionRefused: neither a lease nor an age says when a thread is dead, or the age is none.
    """
    if stale_after is None:
        if not has_lease:
            raise OptionRefused("recover_stale needs stale_after= when its runs have no lease: nothing else says which threads are dead")
        return None
    age = given.seconds(stale_after, "stale_after=")
    if age < 0:
        raise OptionRefused("stale_after= must be at least 0: it is an age, and not a time to come")
    try:
        return now - timedelta(seconds=age) if age else None
    except OverflowError:
        raise OptionRefused(f"stale_after= of {age:g} s goes back behind the year 1") from None
