"""The thread's log as one run writes it: each save is conditional on the run's own last one."""

from __future__ import annotations

from strata.checkpoint.record import Checkpoint
from strata.errors import ThreadChanged
from strata.ports import CheckpointStore


class Superseded(Exception):
    """Somebody else appended to the thread; this run writes nothing more."""


class Recorder:
    """Appends this run's records. `sequence` is the last record's (-1: the thread did not exist; None: the store has none)."""

    __slots__ = ("_store", "sequence")

    def __init__(self, store: CheckpointStore, *, sequence: int | None) -> None:
        self._store = store
        self.sequence = sequence

    async def append(self, checkpoint: Checkpoint) -> None:
        """Raises Superseded if the thread is no longer where this run left it, StoreError if the store failed."""
        try:
            self.sequence = await self._store.save_if_latest(checkpoint, self.sequence)
        except ThreadChanged as error:
            raise Superseded from error
