"""How one record becomes the next: a stamp, a claim, an end, a second chance (strata-checkpoint.md 8 to 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from strata.checkpoint.metadata import HOPS
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.checkpoint.version import schema_version_of
from strata.graph.identity import Identity

EndReason = Literal["requested", "timed_out"]


def versioned(checkpoint: Checkpoint) -> Checkpoint:
    """The record with the lowest version that can express it."""
    return msgspec.structs.replace(checkpoint, schema_version=schema_version_of(checkpoint))


def stamped(checkpoint: Checkpoint, *, now: str) -> Checkpoint:
    """What a resume appends where the graph is not durable: the record again, with `resumed_at`, nothing else changed."""
    return msgspec.structs.replace(checkpoint, resumed_at=now)


def claimed(
    checkpoint: Checkpoint,
    *,
    next_node: str,
    state: msgspec.Raw,
    decision: DecisionRecord | None,
    metadata: Mapping[str, str],
    identity: Identity | None,
    now: str,
    recoveries: int | None = None,
    kept: Mapping[str, str] | None = None,
    nested: Checkpoint | None = None,
) -> Checkpoint:
    """What a resume or recovery of a durable graph appends: the level is running again, from `next_node`, answered.

    `nested` is the claim of the level below, `kept` the metadata of what its node has been told and has done once.
    """
    hops = (checkpoint.metadata or {}).get(HOPS, "0")
    engine = {HOPS: hops} if recoveries is None else {HOPS: hops, "strata.recoveries": str(recoveries)}
    return versioned(
        msgspec.structs.replace(
            checkpoint,
            status="running",
            next_node=next_node,
            frozen_state=state,
            decision=decision,
            wait=None,
            resumed_at=None,
            created_at=now,
            metadata={**metadata, **engine, **(kept or {})},
            nested=nested,
            graph=identity,
        )
    )


def ended(checkpoint: Checkpoint, *, metadata: Mapping[str, str], reason: EndReason, by: str | None, now: str) -> Checkpoint:
    """The record that ends a thread, at every level (strata-waits.md 6). A running level stands at its next node."""
    below = checkpoint.nested
    stands_at = checkpoint.next_node if checkpoint.status == "running" else checkpoint.suspended_node
    engine = {"strata.end_reason": reason} if by is None else {"strata.end_reason": reason, "strata.ended_by": by}
    return versioned(
        msgspec.structs.replace(
            checkpoint,
            status="ended",
            suspended_node=stands_at,
            next_node=None,
            wait=None,
            resumed_at=None,
            created_at=now,
            metadata={**metadata, **engine},
            nested=ended(below, metadata=metadata, reason=reason, by=by, now=now) if below is not None else None,
        )
    )


def reopened(checkpoint: Checkpoint, *, by: str | None, now: str) -> Checkpoint:
    """A stamped record again, fresh: it can be resumed once more. For a thread whose run died after the stamp."""
    metadata = dict(checkpoint.metadata or {})
    if by is not None:
        metadata["strata.reopened_by"] = by
    return msgspec.structs.replace(checkpoint, resumed_at=None, created_at=now, metadata=metadata or None)
