"""The thread's log as one run writes it: each save is conditional on the run's own last one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from strata.checkpoint.record import Checkpoint
from strata.engine.watch import Watch
from strata.errors import ThreadChanged
from strata.ports.events import CheckpointSaved

Save: TypeAlias = Callable[[Checkpoint, int | None], Awaitable[int | None]]
"""Appends a record if the thread is still at that sequence, and gives the new one."""


class Superseded(Exception):
    """Somebody else appended to the thread; this run writes nothing more."""


class Recorder:
    """Appends this run's records.

    Attributes:
        sequence: the last record's (-1: the thread did not exist; None: the store has none).
        has_log: the store gives records back that are not the newest.
        fault: what the last save raised. It ends the run, from however deep a child: it is no node's failure.
    """

    __slots__ = ("_watch", "fault", "has_log", "save", "sequence")

    def __init__(self, save: Save, *, sequence: int | None, watch: Watch | None, has_log: bool = True) -> None:
        self.save = save
        self.sequence = sequence
        self.has_log = has_log
        self.fault: Exception | None = None
        self._watch = watch

    @property
    def readable(self) -> int | None:
        """The last record's sequence, if it can be read again."""
        return self.sequence if self.has_log else None

    async def append(self, checkpoint: Checkpoint) -> None:
        """Raises Superseded if the thread is no longer where this run left it, LeaseLost or StoreError if the store says so."""
        began = 0.0 if self._watch is None else self._watch.seconds()
        try:
            self.sequence = await self.save(checkpoint, self.sequence)
        except ThreadChanged as error:
            self.fault = Superseded()
            raise self.fault from error
        except Exception as error:
            self.fault = error
            raise
        if self._watch is not None:
            self._watch.emit(
                CheckpointSaved(
                    status=checkpoint.status,
                    waiting_at=checkpoint.waiting_at,
                    resume_stamp=checkpoint.resumed_at is not None,
                    duration=self._watch.seconds() - began,
                )
            )
