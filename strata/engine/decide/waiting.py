"""What a level that comes to rest waits for."""

from __future__ import annotations

from datetime import datetime
from math import ceil
from typing import Any, Final

from strata.checkpoint.record import WaitRecord
from strata.engine.plan import NodePlan
from strata.errors import NodeError, TimerFailed
from strata.graph.spec import EventWaitBody, TimerBody
from strata.graph.times import wire_time

FIRST_SECOND: Final = -62_135_596_800
LAST_SECOND: Final = 253_402_300_799
"""0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. A fifth digit of the year sorts before all others: it would be due at once."""


def wait_of(node: NodePlan, state: Any, now: float) -> WaitRecord | None:
    """The wait of a node that pauses, from `now` (Unix seconds) on; a boundary without a timeout has none (strata-waits.md 2.2).

    Wake times are rounded up to whole seconds, so that nothing is early.

    Raises:
        TimerFailed: the node's `until` raised, or gave no time with an offset.
        NodeError: the node would wake after the year 9999 (strata-waits.md, "Beat the original" 14).
    """
    match node.work:
        case EventWaitBody(event_type=event_type, timeout=timeout):
            return WaitRecord(kind="event", event_type=event_type, wake_at=_later(node, now, timeout))
        case TimerBody(delay=delay, until=until):
            moment = now + delay if delay is not None else _moment(node, until, state)
            return WaitRecord(kind="timer", wake_at=_wake_at(node, moment))
        case _:
            return None if node.boundary_timeout is None else WaitRecord(kind="human", wake_at=_later(node, now, node.boundary_timeout))


def _later(node: NodePlan, now: float, timeout: float | None) -> str | None:
    return None if timeout is None else _wake_at(node, now + timeout)


def _wake_at(node: NodePlan, moment: float) -> str:
    if moment > LAST_SECOND + 1:  # `datetime.max` is a fraction before
        raise NodeError(f"node '{node.name}' would wake after the year 9999, which no record can hold")
    return wire_time(min(max(ceil(moment), FIRST_SECOND), LAST_SECOND))


def _moment(node: NodePlan, until: Any, state: Any) -> float:
    try:
        moment = until(state)
    except Exception as error:
        raise TimerFailed(node.name, f"raised {type(error).__name__}: {error}") from error
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise TimerFailed(node.name, f"gave {moment!r:.80}, not a datetime with a time zone")
    return moment.timestamp()
