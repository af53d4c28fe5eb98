"""A stored wait as callers see it."""

from __future__ import annotations

from strata.checkpoint.record import WaitRecord
from strata.graph.answers import WaitingFor
from strata.graph.times import parse_wire_time


def waiting_for(wait: WaitRecord | None) -> WaitingFor | None:
    """What a thread waits for beside a person, and until when; None for a boundary without a time limit."""
    if wait is None:
        return None
    wake_at = None if wait.wake_at is None else parse_wire_time(wait.wake_at)
    return WaitingFor(kind=wait.kind, event_type=wait.event_type, wake_at=wake_at)
