"""The version that a record carries: the lowest that can express it (strata-checkpoint.md 2)."""

from __future__ import annotations

from typing import Final

from strata.checkpoint.record import Checkpoint, DecisionRecord, Status, WaitRecord
from strata.graph.identity import Identity

READABLE_VERSIONS: Final = frozenset({"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0"})
"""What this build resumes, ends and recovers. The encodings of stores (`1.8.0`, `1.9.0`) are undone before an engine looks."""


def schema_version_of(level: Checkpoint) -> str:
    """The version of `level`, from what it and the levels below it hold; the version that it carries now is not looked at."""
    return lowest_version(
        status=level.status,
        nested=level.nested,
        decision=level.decision,
        wait=level.wait,
        graph=level.graph,
    )


def lowest_version(
    *,
    status: Status,
    nested: Checkpoint | None = None,
    decision: DecisionRecord | None = None,
    wait: WaitRecord | None = None,
    graph: Identity | None = None,
) -> str:
    """The version of a level that is about to be made of these; the first rule that matches decides."""
    if status == "running":  # every record of a durable run but its last: nothing else needs to be looked at
        return "1.7.0"
    below = () if nested is None else nested.levels()
    if graph is not None or any(level.graph is not None for level in below):
        return "1.6.0"
    if status == "ended":
        return "1.4.0"
    if (below[-1].wait if below else wait) is not None:
        return "1.5.0"
    if decision is not None or any(level.decision is not None for level in below):
        return "1.3.0"
    if status == "cancelled" or any(level.status == "cancelled" for level in below):
        return "1.2.0"
    return "1.1.0" if below else "1.0.0"
