"""What a level that comes to rest waits for."""

from __future__ import annotations

from datetime import datetime
from math import ceil
from typing import Any

from strata.checkpoint.record import WaitRecord
from strata.engine.plan import NodePlan
from strata.errors import TimerFailed
from strata.graph.spec import EventWaitBody, TimerBody
from strata.graph.times import wire_time


def wait_of(node: NodePlan, state: Any, now: float) -> WaitRecord | None:
    """The wait of a node that pauses, from `now` (Unix seconds) on; a boundary without a timeout has none (strata-waits.md 2.2).

    Wake times are rounded up to whole seconds, so that nothing is early.

    Raises:
        TimerFailed: the node's `until` raised, or gave no time with an offset.
    """
    match node.work:
        case EventWaitBody(event_type=event_type, timeout=timeout):
            return WaitRecord(kind="event", event_type=event_type, wake_at=_later(now, timeout))
        case TimerBody(delay=delay, until=until):
            moment = now + delay if delay is not None else _moment(node, until, state)
            return WaitRecord(kind="timer", wake_at=wire_time(ceil(moment)))
        case _:
            return None if node.boundary_timeout is None else WaitRecord(kind="human", wake_at=_later(now, node.boundary_timeout))


def _later(now: float, timeout: float | None) -> str | None:
    return None if timeout is None else wire_time(ceil(now + timeout))


def _moment(node: NodePlan, until: Any, state: Any) -> float:
    try:
        moment = until(state)
    except Exception as error:
        raise TimerFailed(node.name, f"raised {type(error).__name__}: {error}") from error
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise TimerFailed(node.name, f"gave {moment!r:.80}, not a datetime with a time zone")
    return moment.timestamp()
