"""The small values that decorators are given: branches, joins, backoffs, durations."""

from __future__ import annotations

from datetime import timedelta

from strata.analysis.arguments import Arguments
from strata.analysis.findings import Findings
from strata.analysis.values import UNKNOWN, Backoff, Branch, Constant, Join, Value, known_seconds, pairs, text, whole_number


def branch(arguments: Arguments, findings: Findings) -> Value:
    name = text(arguments.at(0))
    if name is None:
        return UNKNOWN
    return Branch(name, arguments.at(1) or UNKNOWN, arguments.place, pairs(arguments.get("metadata")))


def all_of(arguments: Arguments, findings: Findings) -> Value:
    return Join("all")


def first_success(arguments: Arguments, findings: Findings) -> Value:
    return Join("first_success")


def first_matching(arguments: Arguments, findings: Findings) -> Value:
    return Join("first_matching", predicate=arguments.at(0))


def quorum(arguments: Arguments, findings: Findings) -> Value:
    return Join("quorum", whole_number(arguments.at(0)))


def backoff(arguments: Arguments, findings: Findings) -> Value:
    initial, maximum = known_seconds(arguments.get("initial")), known_seconds(arguments.get("maximum"))
    return UNKNOWN if initial is None or maximum is None else Backoff(initial, maximum)


_UNITS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")


def duration(arguments: Arguments, findings: Findings) -> Value:
    """`timedelta(...)` of numbers that are written out."""
    if arguments.star is not None or arguments.has_unknown_names or len(arguments.positional) > len(_UNITS):
        return UNKNOWN
    given = {**dict(zip(_UNITS, arguments.positional, strict=False)), **arguments.named}
    numbers = {unit: value.value for unit, value in given.items() if isinstance(value, Constant)}
    if len(numbers) < len(given):
        return UNKNOWN
    try:
        return Constant(timedelta(**numbers))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    except (TypeError, OverflowError, ValueError):
        return UNKNOWN
