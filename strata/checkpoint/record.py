"""A checkpoint: where a thread stands, as a chain of levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from strata.graph.identity import Identity

Status: TypeAlias = Literal["interrupted", "completed", "failed", "cancelled", "ended", "running"]
WaitKind: TypeAlias = Literal["human", "event", "timer"]
ThreadState: TypeAlias = Literal["interrupted", "failed", "cancelled", "resumed", "completed", "ended", "running"]

UnknownKeys: TypeAlias = Mapping[str, msgspec.Raw]
"""Keys of another engine's record that this build does not know; they are written back as they came."""


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A person's answer to a boundary of a level (strata-checkpoint.md 1.3). `overrides` is the JSON object as stored."""

    boundary: str
    is_approved: bool
    reviewer: str
    overrides: msgspec.Raw
    decided_at: str
    unknown: UnknownKeys | None = None


class WaitRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What an interrupted level waits for (strata-checkpoint.md 1.4)."""

    kind: WaitKind
    event_type: str | None = None
    wake_at: str | None = None
    unknown: UnknownKeys | None = None


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One level of a record, and the level below it in `nested` (strata-checkpoint.md 1.1).

    Times are the wire's own text (`2026-11-02T09:15:04Z`), states the JSON bytes that were or will be stored: neither
    is parsed before somebody needs it. The sequence is the store's and not part of the record.
    """

    schema_version: str
    thread_id: str
    status: Status
    suspended_node: str | None
    next_node: str | None
    frozen_state: msgspec.Raw
    metadata: Mapping[str, str] | None
    created_at: str
    resumed_at: str | None = None
    nested: Checkpoint | None = None
    decision: DecisionRecord | None = None
    wait: WaitRecord | None = None
    graph: Identity | None = None
    unknown: UnknownKeys | None = None
    graph_unknown: UnknownKeys | None = None
    """Unknown keys inside `graph`; they are no part of the identity."""

    @property
    def state_name(self) -> ThreadState:
        """What listings, purges and messages call the thread: `resumed` once stamped, else the status."""
        return "resumed" if self.resumed_at is not None else self.status

    @property
    def updated_at(self) -> str:
        return self.created_at if self.resumed_at is None else self.resumed_at

    def levels(self) -> tuple[Checkpoint, ...]:
        """The chain, outermost first."""
        chain: list[Checkpoint] = [self]
        while (below := chain[-1].nested) is not None:
            chain.append(below)
        return tuple(chain)

    @property
    def innermost(self) -> Checkpoint:
        level = self
        while level.nested is not None:
            level = level.nested
        return level

    @property
    def waiting_at(self) -> tuple[str, ...]:
        """The suspended node of each level, outermost first; levels without one add nothing."""
        return tuple(level.suspended_node for level in self.levels() if level.suspended_node is not None)
