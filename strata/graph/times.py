"""Times and durations as the wire has them: whole seconds, UTC, `YYYY-MM-DDTHH:MM:SSZ` (strata-checkpoint.md 1.2)."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta

_last: tuple[int, str] = (-1, "")


def wire_time(seconds: float) -> str:
    """The wire's text of a Unix time, cut (not rounded) to whole seconds."""
    global _last
    whole = math.floor(seconds)
    last, text = _last
    if whole != last:  # a run asks several times a second: formatting takes 1.2 us, this test 0.1
        moment = time.gmtime(whole)
        text = time.strftime(f"{moment.tm_year:04}-%m-%dT%H:%M:%SZ", moment)  # %Y has no leading zeros everywhere
        _last = (whole, text)
    return text


def wire_datetime(moment: datetime) -> str:
    """The wire's text of an aware datetime, cut to whole seconds.

    Raises:
        ValueError: the datetime has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone: use datetime.now(UTC), or give it one with replace(tzinfo=...)")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"  # strftime leaves year 999 with three digits


def parse_wire_time(text: str) -> datetime:
    """An aware datetime (UTC) of any RFC 3339 text.

    Raises:
        ValueError: it is none.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"'{text}' has no offset")
    return moment.astimezone(UTC)


def seconds_of(duration: timedelta | float) -> float:
    """A duration given as a timedelta or as seconds, in seconds.

    Raises:
        TypeError: it is neither.
        ValueError: it is not finite.
    """
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if isinstance(duration, bool) or not isinstance(duration, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a duration is a timedelta or a number of seconds, not {duration!r}")
    try:
        seconds = float(duration)
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds):
        raise ValueError(f"a duration is finite, and {duration!r} is not")
    return seconds


def whole_milliseconds(seconds: float) -> int:
    """A duration in the unit of exports, cut off downwards (strata-graph.md 4.1).

    Counted in microseconds first, the finest that a timedelta has: 1.001 s is 1000.9999999999999 ms to a float.
    """
    return round(seconds * 1_000_000) // 1000
