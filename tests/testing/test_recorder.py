"""Run events on a line each."""

from __future__ import annotations

from strata.ports.events import (
    BranchCompleted,
    CheckpointSaved,
    HopLimitExceeded,
    Interrupted,
    JoinDecided,
    MapExpanded,
    NodeCompleted,
    NodeStarted,
    Resumed,
    RetryScheduled,
    RunCompleted,
    RunEvent,
    RunStarted,
)
from strata.testing import EventRecorder


def test_each_event_is_a_line() -> None:
    recorder = EventRecorder()
    for event in EVENTS:
        recorder(event)
    assert recorder.events == EVENTS
    assert recorder.lines() == [
        "RunStarted run Classify",
        "NodeStarted Classify#1",
        'RetryScheduled Classify#1 in 1.5 s "busy"',
        'NodeCompleted Classify#2 failed → Manual "busy"',
        "BranchCompleted Gather/Slow#1 cancelled (lost_race)",
        "MapExpanded Fan#1 [k1, k2]",
        "JoinDecided Gather#1 quorum met [Acme, Bolt]",
        "CheckpointSaved interrupted Work/Approve (stamp)",
        "Resumed interrupted Work/Approve (event)",
        "Interrupted Work/Approve → Work",
        "HopLimitExceeded B 3/3",
        "RunCompleted cancelled (requested)",
    ]


def test_lines_of_some_kinds_or_without_some() -> None:
    recorder = EventRecorder()
    for event in EVENTS[:3]:
        recorder(event)
    assert recorder.lines(NodeStarted) == ["NodeStarted Classify#1"]
    assert recorder.lines(without=[RetryScheduled, RunStarted]) == ["NodeStarted Classify#1"]
    recorder.clear()
    assert recorder.lines() == []


EVENTS: list[RunEvent] = [
    RunStarted(mode="run", node="Classify"),
    NodeStarted(node_path="Classify", attempt=1),
    RetryScheduled(node_path="Classify", attempt=1, error="busy", timed_out=False, delay=1.5),
    NodeCompleted(node_path="Classify", attempt=2, result="failed", duration=0.1, error="busy", fallback="Manual"),
    BranchCompleted(node_path="Gather/Slow", attempt=1, result="cancelled", duration=0.1, reason="lost_race"),
    MapExpanded(node_path="Fan", attempt=1, keys=("k1", "k2")),
    JoinDecided(node_path="Gather", attempt=1, policy="quorum", met=True, deciding=("Acme", "Bolt")),
    CheckpointSaved(status="interrupted", waiting_at=("Work", "Approve"), resume_stamp=True, duration=0.1),
    Resumed(from_status="interrupted", waiting_at=("Work", "Approve"), is_approved=True, reviewer="", wake="event", event_type="paid"),
    Interrupted(waiting_at=("Work", "Approve"), next_node="Work"),
    HopLimitExceeded(node_path="B", hops=3, limit=3),
    RunCompleted(outcome="cancelled", duration=1.0, cancel_reason="requested"),
]
