"""The options that every call that runs something takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

import msgspec

from strata.checkpoint import given
from strata.checkpoint.metadata import check_caller_metadata
from strata.engine.stream import Overflow, StreamEvent
from strata.errors import OptionRefused
from strata.graph.clock import Clock
from strata.graph.state import did_you_mean
from strata.graph.times import seconds_of
from strata.runtime.leases import Lease, ttl_of
from strata.runtime.observers import Observer

MOST_HOPS = 2**32 - 1


class SweepOptions(TypedDict, total=False):
    """Options of the runs that a sweep makes.

    Keys:
        deadline: when the run is cancelled: an aware datetime, or a timedelta or seconds from now. It is not stored.
        max_node_hops: the outermost graph's hop limit for this call, in place of the compiled one.
        services: objects that nodes ask for by type, laid over the runner's.
        observers: callables that get the run's events, added to the runner's.
        priority: higher first in the runner's scheduler; 32 bits, 0 by default.
    """

    deadline: datetime | timedelta | float
    max_node_hops: int | None
    services: Iterable[object]
    observers: Iterable[Observer]
    priority: int


class RunOptions(SweepOptions, total=False):
    """Options of one call.

    Keys:
        metadata: text to text, stored on every record of the run and seen by every node; a resume lays it over what is stored.
        run_id: of this call; a fresh UUID of version 7 by default.
    """

    metadata: Mapping[str, str]
    run_id: str


class CheckedOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a call, found sound. `deadline` is when the run is cancelled, and `due` the same on the monotonic clock."""

    metadata: dict[str, str]
    deadline: datetime | None
    due: float | None
    max_node_hops: int | None
    run_id: str
    services: Mapping[type[Any], object]
    observers: tuple[Observer, ...]
    priority: int


def check_options(
    options: RunOptions,
    *,
    services: Mapping[type[Any], object],
    observers: Iterable[Observer],
    lease: Lease | None,
    clock: Clock,
) -> CheckedOptions:
    """Before anything is loaded or written (strata-execution.md 10).

    Raises:
        TypeError: there is no option of that name.
        OptionRefused: the first that cannot be used.
    """
    _refuse_unknown(options)
    metadata = given.pairs(options.get("metadata", {}), "a run's metadata")
    check_caller_metadata(metadata)
    run_id = options.get("run_id")
    if run_id is None:
        run_id = clock.new_id()
    check_id(run_id, "a run id")
    limit = options.get("max_node_hops")
    if limit is not None:
        given.whole_number(limit, "a run's max_node_hops")
    if limit is not None and limit < 1:
        raise OptionRefused("a run's max_node_hops must be at least 1")
    if limit is not None and limit > MOST_HOPS:
        raise OptionRefused(f"a run's max_node_hops must be at most {MOST_HOPS}")
    if lease is not None:
        ttl_of(lease)
    deadline, seconds = _deadline(options.get("deadline"), clock)
    return CheckedOptions(
        metadata=metadata,
        deadline=deadline,
        due=None if seconds is None else clock.monotonic() + seconds,
        max_node_hops=limit,
        run_id=run_id,
        services={**services, **by_type(options.get("services", ()))},
        observers=(*observers, *callables(options.get("observers", ()))),
        priority=given.whole_number(options.get("priority", 0), "a run's priority"),
    )


def _refuse_unknown(options: RunOptions) -> None:
    """Options come as keywords: a checker knows their names, and so must a program that none was run over."""
    known = tuple(RunOptions.__annotations__)
    for name in options:
        if name not in known:
            raise TypeError(f"a run has no option '{name}'{did_you_mean(name, known)}")


def check_id(text: str, what: str) -> None:
    """Refuse an id that no store could keep."""
    given.text(text, what)
    if not text:
        raise OptionRefused(f"{what} can't be empty")


def by_type(services: Iterable[object]) -> dict[type[Any], object]:
    """One service a type; a later one replaces."""
    return {type(service): service for service in given.several(services, "services= of a run or runner")}


def callables(observers: Iterable[Observer]) -> tuple[Observer, ...]:
    """The observers, each found to be one.

    Raises:
        OptionRefused: they are no list, or one of them cannot be called.
    """
    found = tuple(given.several(observers, "observers= of a run or runner"))
    for observer in found:
        if not callable(observer):
            raise OptionRefused(f"an observer is a function of an event, and {observer!r} is none")
    return found


def check_stream(select: Collection[type[StreamEvent]] | None, overflow: Overflow) -> None:
    """Raises OptionRefused for kinds that are no kinds of stream events, and for another word than `wait` and `drop`."""
    given.one_of(overflow, ("wait", "drop"), "the overflow= of a stream")
    for kind in () if select is None else given.several(select, "the select= of a stream"):
        given.subclass(kind, StreamEvent, "the select= of a stream lists classes of events, such as Token and Committed")


def _deadline(at: datetime | timedelta | float | None, clock: Clock) -> tuple[datetime | None, float | None]:
    if at is None:
        return None, None
    now = clock.time()
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise OptionRefused(f"the deadline {at!r} has no time zone: use datetime.now(UTC) + timedelta(...), or give a timedelta")
        return given.moment(at, "the deadline"), at.timestamp() - now
    try:
        seconds = seconds_of(at)
        return datetime.fromtimestamp(now, UTC) + timedelta(seconds=seconds), seconds
    except (TypeError, ValueError, OverflowError):
        raise OptionRefused(f"a deadline is an aware datetime, a timedelta or a number of seconds from now, not {at!r}") from None
