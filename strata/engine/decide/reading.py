"""The first looks at a stored thread, the same for every call that takes one."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.checkpoint.version import READABLE_VERSIONS
from strata.engine.plan import GraphPlan
from strata.errors import (
    CheckpointUnreadable,
    SchemaUnsupported,
    StateUnreadable,
    ThreadChanged,
    ThreadFinished,
    ThreadNotFound,
    WrongGraph,
    at_level,
)
from strata.ports import Stored


def readable(stored: Stored | None, thread_id: str) -> Stored:
    """The record, if there is one and this build knows its version."""
    if stored is None:
        raise ThreadNotFound(thread_id)
    require_version(stored.checkpoint, thread_id, sequence=stored.sequence)
    return stored


def require_version(level: Checkpoint, thread_id: str, *, path: tuple[str, ...] = (), sequence: int | None = None) -> None:
    version = level.schema_version
    if version not in READABLE_VERSIONS:
        raise SchemaUnsupported(version, readable=READABLE_VERSIONS, thread_id=thread_id, sequence=sequence, level=path)


def require_latest(stored: Stored, thread_id: str, at_sequence: int | None) -> None:
    """The caller answered what it saw, and that is still what there is."""
    if at_sequence is not None and stored.sequence != at_sequence:
        raise ThreadChanged(
            f"thread '{thread_id}' is at sequence {stored.sequence}, and the answer was made for sequence {at_sequence}",
            thread_id=thread_id,
            hint="show the person what the thread holds now, and ask again",
        )


def refuse_finished(checkpoint: Checkpoint, thread_id: str) -> None:
    if checkpoint.status == "ended":
        raise ThreadFinished(f"thread '{thread_id}' was ended: an ended thread can't be resumed", thread_id=thread_id)
    if checkpoint.status == "completed":
        raise ThreadFinished(
            f"checkpoint for thread '{thread_id}' is not resumable (status: Completed): only an interrupted, failed or cancelled checkpoint can be",
            thread_id=thread_id,
        )


def rehydrated(plan: GraphPlan, data: msgspec.Raw, thread_id: str, path: tuple[str, ...] = ()) -> Any:
    """The state as a value of this graph's type."""
    try:
        return plan.codec.decode(data)
    except StateUnreadable as error:
        raise unreadable_state(error, thread_id, path) from error


def unreadable_state(error: StateUnreadable, thread_id: str, path: tuple[str, ...]) -> CheckpointUnreadable:
    return CheckpointUnreadable(
        f"failed to rehydrate state for thread '{thread_id}'{at_level(path)}: {error}",
        thread_id=thread_id,
        level=path,
        path=error.path,
        hint="give a new field a default, accept the old state in compile(migrate=...), or override the field in the answer",
    )


def lacks(level: Checkpoint, plan: GraphPlan, thread_id: str, path: tuple[str, ...], which: str, name: str) -> WrongGraph:
    """The graph has no node of a name that the record goes on with."""
    return WrongGraph(
        f"the {which} node of thread '{thread_id}'{at_level(path)} is '{name}', "
        f"which this graph does not have: its nodes are {', '.join(plan.nodes)}",
        thread_id=thread_id,
        level=path,
        wrote=level.graph,
        runs=plan.identity,
        hint="run the thread with the graph that wrote it, or name the node's successor in a migration: compile(migrate=...)",
    )
