"""The thread's log as one run writes it: each save is conditional on the run's own last one."""

from __future__ import annotations

import msgspec

from strata.checkpoint.metadata import HOPS
from strata.checkpoint.record import Checkpoint, Status
from strata.checkpoint.transitions import versioned
from strata.engine.level import Level
from strata.errors import ThreadChanged
from strata.graph.clock import Clock
from strata.graph.times import wire_time
from strata.ports import CheckpointStore


class Superseded(Exception):
    """Somebody else appended to the thread; this run writes nothing more."""


class Recorder:
    """Appends this run's records. `sequence` is the last record's (-1: the thread did not exist; None: the store has none)."""

    __slots__ = ("_clock", "_metadata", "_store", "_thread_id", "sequence")

    def __init__(self, store: CheckpointStore, thread_id: str, *, sequence: int | None, metadata: dict[str, str], clock: Clock) -> None:
        self._store = store
        self._thread_id = thread_id
        self._metadata = metadata
        self._clock = clock
        self.sequence = sequence

    async def append(self, checkpoint: Checkpoint) -> None:
        """Raises Superseded if the thread is no longer where this run left it, StoreError if the store failed."""
        try:
            self.sequence = await self._store.save_if_latest(checkpoint, self.sequence)
        except ThreadChanged as error:
            raise Superseded from error

    async def running(self, level: Level, *, after: str | None) -> None:
        """The record between two nodes of a durable run: `after` has committed, `level.at` is next."""
        assert level.stored is not None
        await self.append(
            Checkpoint(
                schema_version="1.7.0",
                thread_id=self._thread_id,
                status="running",
                suspended_node=after,
                next_node=level.at.name,
                frozen_state=level.stored,
                metadata={**self._metadata, HOPS: str(level.hops)},
                created_at=wire_time(self._clock.time()),
                decision=level.decision,
                graph=level.plan.graph.identity,
            )
        )

    async def stop(
        self,
        level: Level,
        status: Status,
        *,
        suspended: str,
        next_node: str | None,
        state: msgspec.Raw,
        engine: dict[str, str] | None = None,
    ) -> None:
        """The record of where the run stopped."""
        counted = {HOPS: str(level.hops)} if level.counts else {}
        await self.append(
            versioned(
                Checkpoint(
                    schema_version="",
                    thread_id=self._thread_id,
                    status=status,
                    suspended_node=suspended,
                    next_node=next_node,
                    frozen_state=state,
                    metadata={**self._metadata, **(engine or {}), **counted} or None,
                    created_at=wire_time(self._clock.time()),
                    decision=level.decision,
                    graph=level.plan.graph.identity,
                )
            )
        )
