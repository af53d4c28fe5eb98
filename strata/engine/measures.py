"""What run events add to the metrics: one event in, measurements out (strata-observability.md 4)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from strata.ports import metrics
from strata.ports.events import (
    CheckpointSaved,
    HopLimitExceeded,
    LeaseAcquired,
    LeaseLost,
    NodeCompleted,
    Recovered,
    Resumed,
    RetryScheduled,
    RunCompleted,
    RunEvent,
    RunMode,
    RunStarted,
)
from strata.ports.metrics import Metric

NO_LABELS: Mapping[str, str] = {}


class Measure(msgspec.Struct, frozen=True):
    """A value for a metric, under its labels."""

    metric: Metric
    value: float
    labels: Mapping[str, str] = NO_LABELS


def measures_of(event: RunEvent, mode: RunMode) -> tuple[Measure, ...]:
    """What `event` of a run in that mode adds; most add nothing or one thing."""
    match event:
        case RunStarted():
            return Measure(metrics.GRAPHS_STARTED, 1, {"strata.run.mode": mode}), Measure(metrics.GRAPHS_ACTIVE, 1)
        case RunCompleted():
            return (Measure(metrics.GRAPH_DURATION, event.duration, {"strata.run.mode": mode, "strata.outcome": event.outcome}),)
        case CheckpointSaved():
            return (latency("save", event.status, event.duration),)
        case Resumed() if event.wake != "human":
            return (wake(event.wake),)
        case Recovered():
            return (Measure(metrics.THREAD_RECOVERIES, 1),)
        case LeaseAcquired():
            return (acquisition("acquired"),)
        case LeaseLost():
            return (Measure(metrics.LEASE_LOSSES, 1),)
        case _:
            return _of_a_node(event)


def _of_a_node(event: RunEvent) -> tuple[Measure, ...]:
    match event:
        case HopLimitExceeded(node_path=path):
            return (Measure(metrics.HOP_LIMIT_EXCEEDED, 1, {"strata.node.path": path}),)
        case RetryScheduled(node_path=path, timed_out=timed_out):
            return (Measure(metrics.NODE_RETRIES, 1, {"strata.node.path": path, "error.type": "timeout" if timed_out else "transient"}),)
        case NodeCompleted(node_path=path, fallback=fallback):
            lasted = Measure(metrics.NODE_DURATION, event.duration, {"strata.node.path": path, "strata.node.result": event.result})
            return (lasted,) if fallback is None else (lasted, transition(path, beside(path, fallback)))
        case _:
            return ()


def latency(operation: str, status: str | None, seconds: float) -> Measure:
    """Of a save or a load that succeeded; a load of a thread that does not exist has no status."""
    return Measure(metrics.CHECKPOINT_LATENCY, seconds, {"strata.checkpoint.operation": operation, "strata.checkpoint.status": status or "none"})


def wake(reason: str) -> Measure:
    return Measure(metrics.THREAD_WAKES, 1, {"strata.wake.reason": reason})


def acquisition(outcome: str) -> Measure:
    return Measure(metrics.LEASE_ACQUISITIONS, 1, {"strata.lease.outcome": outcome})


def transition(path: str, next_path: str) -> Measure:
    return Measure(metrics.TRANSITION, 1, {"strata.node.path": path, "strata.next_node.path": next_path})


def beside(path: str, node: str) -> str:
    """The qualified path of a node of the same level."""
    level, slash, _ = path.rpartition("/")
    return f"{level}{slash}{node}"
