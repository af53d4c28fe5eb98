"""The metrics by their names on the sheet, each with its kind, unit and description (strata-observability.md 4)."""

from __future__ import annotations

from typing import Literal

import msgspec

SECONDS = "s"
COUNT = "count"

RUNS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
SAVES = (0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metric(msgspec.Struct, frozen=True):
    """`boundaries` are those advised for a histogram; the sheet pins none."""

    name: str
    kind: Literal["counter", "up_down", "histogram"]
    unit: str
    description: str
    boundaries: tuple[float, ...] = ()


def _counter(name: str, description: str) -> Metric:
    return Metric(name, "counter", COUNT, description)


def _up_down(name: str, description: str) -> Metric:
    return Metric(name, "up_down", COUNT, description)


def _duration(name: str, description: str, boundaries: tuple[float, ...]) -> Metric:
    return Metric(name, "histogram", SECONDS, description, boundaries)


GRAPHS_STARTED = _counter("strata.graphs.started", "Runs and resumes started.")
GRAPHS_ACTIVE = _up_down("strata.graphs.active", "Runs and resumes executing in this process.")
GRAPH_DURATION = _duration("strata.graph.duration", "How long a run or resume took, by outcome.", RUNS)
TRANSITION = _counter("strata.graph.transition", "Edges followed from one node to the next.")
HOP_LIMIT_EXCEEDED = _counter("strata.graph.hop_limit_exceeded", "Runs a graph level's hop limit stopped, by the node refused.")
NODE_DURATION = _duration("strata.node.duration", "How long a node took, every attempt included, by result.", RUNS)
NODE_RETRIES = _counter("strata.node.retries", "Attempts that failed transiently and were retried.")
CHECKPOINT_LATENCY = _duration("strata.checkpoint.latency", "How long a checkpoint save or load took.", SAVES)
OBSERVER_ERRORS = _counter("strata.observer.errors", "Run events that an observer failed on.")
THREAD_WAKES = _counter("strata.thread.wakes", "Waiting threads a signal or the wake driver woke or ended, by reason.")
THREAD_RECOVERIES = _counter("strata.thread.recoveries", "Running threads a recovery claimed and continued.")
LEASE_ACQUISITIONS = _counter("strata.lease.acquisitions", "Thread leases a run tried to acquire, by outcome (acquired or held).")
LEASE_LOSSES = _counter("strata.lease.losses", "Runs that lost their thread's lease and stopped.")
TOOL_REQUESTS = _counter("strata.tool.requests", "Tool calls dispatched, by result.")
TOOL_DURATION = _duration("strata.tool.duration", "How long a tool call took, by result.", RUNS)
SCHEDULER_ADMISSIONS = _counter("strata.scheduler.admissions", "Runs a scheduler admitted or refused, by outcome and priority.")
SCHEDULER_WAIT = _duration("strata.scheduler.wait", "How long a run waited for a scheduler's slot, admitted or not, by outcome.", RUNS)
SCHEDULER_QUEUED = _up_down("strata.scheduler.queued", "Runs waiting for a scheduler's slot.")
SCHEDULER_ACTIVE = _up_down("strata.scheduler.active", "Runs holding a scheduler's slot.")
