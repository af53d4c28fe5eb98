"""What run events leave on spans: attributes of the run's span, and notes with their fields (strata-observability.md 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from strata.ports.events import (
    CheckpointSaved,
    HopLimitExceeded,
    JoinDecided,
    LeaseAcquired,
    LeaseLost,
    MapExpanded,
    NodeCompleted,
    Recovered,
    Resumed,
    RetryScheduled,
    RunCompleted,
    RunEvent,
    RunStarted,
)
from strata.ports.instrument import Value


class Note(NamedTuple):
    """A message of the sheet's section 3.1, with its fields."""

    message: str
    fields: Mapping[str, Value]


def attributes_of(event: RunEvent) -> Mapping[str, Value]:
    """What is known of the run from `event` on."""
    match event:
        case RunStarted():
            return _of_the_start(event)
        case RunCompleted(outcome=outcome, cancel_reason=reason):
            return {"strata.outcome": outcome} if reason is None else {"strata.outcome": outcome, "strata.cancel_reason": reason}
        case Resumed(wake=wake):
            return {"strata.wake.reason": wake}
        case Recovered(recoveries=recoveries):
            return {"strata.recoveries": recoveries}
        case LeaseAcquired(owner=owner, token=token):
            return {"strata.lease.owner": owner, "strata.lease.token": token}
        case _:
            return {}


def _of_the_start(event: RunStarted) -> Mapping[str, Value]:
    known: dict[str, Value] = {"strata.run.mode": event.mode}
    if event.metadata:
        known["strata.metadata"] = msgspec.json.encode(event.metadata).decode()
    if event.graph is not None:
        known["strata.graph.id"] = event.graph.id
        if event.graph.version is not None:
            known["strata.graph.version"] = event.graph.version
    if event.queued_for is not None:
        known["strata.scheduler.wait_ms"] = event.queued_for * 1000
    return known


def note_of(event: RunEvent) -> Note | None:
    """The note that `event` leaves on the span it belongs to."""
    match event:
        case RunStarted(node=node):
            return Note("run started", {"node": node})
        case RunCompleted(outcome=outcome):
            return Note("run completed", {"outcome": outcome})
        case CheckpointSaved():
            return _saved(event)
        case LeaseLost(owner=owner, token=token):
            return Note("lease lost", {"strata.lease.owner": owner, "strata.lease.token": token})
        case HopLimitExceeded(node_path=path, hops=hops, limit=limit):
            return Note("hop limit exceeded", {"strata.node.path": path, "strata.hops": hops, "strata.hop_limit": limit})
        case _:
            return _note_of_a_node(event)


def _note_of_a_node(event: RunEvent) -> Note | None:
    match event:
        case RetryScheduled():
            return _retry(event)
        case NodeCompleted(result="failed", error=error):
            return Note(f"node failed: {error}", {})
        case JoinDecided(policy=policy, met=met, deciding=deciding):
            return Note("join decided", {"strata.join.policy": policy, "strata.join.met": met, "strata.join.deciding": ",".join(deciding)})
        case MapExpanded(keys=keys):
            return Note("map expanded", {"strata.map.item_count": len(keys), "strata.map.keys": ",".join(keys)})
        case _:
            return None


def _saved(event: CheckpointSaved) -> Note:
    return Note(
        "checkpoint saved",
        {
            "strata.checkpoint.status": event.status,
            "strata.checkpoint.resume_stamp": event.resume_stamp,
            "strata.checkpoint.duration_ms": event.duration * 1000,
        },
    )


def _retry(event: RetryScheduled) -> Note:
    return Note(
        f"retry scheduled: {event.error}",
        {
            "strata.attempt": event.attempt,
            "error.type": "timeout" if event.timed_out else "transient",
            "strata.retry.delay_ms": event.delay * 1000,
        },
    )
