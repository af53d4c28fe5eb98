"""A stored thread as a caller looks at it: nothing is decoded before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from strata.checkpoint.metadata import ERROR, HOPS, as_count
from strata.checkpoint.record import Checkpoint, Status, ThreadState
from strata.engine.context import decision_of
from strata.engine.waiting import questions_of, waiting_for
from strata.errors import CheckpointUnreadable, StateUnreadable
from strata.graph.answers import Decision, Question, WaitingFor
from strata.graph.identity import Identity
from strata.graph.state import State
from strata.graph.times import parse_wire_time
from strata.ports import Logged, Stored

if TYPE_CHECKING:
    from strata.graph.codec import StateCodec

S = TypeVar("S", bound=State)


class _View(Generic[S]):
    """What a record says, read from its outermost level unless said otherwise."""

    def __init__(self, checkpoint: Checkpoint, sequence: int | None, codec: StateCodec[S]) -> None:
        self.checkpoint = checkpoint
        self.sequence = sequence
        self._codec = codec

    @property
    def thread_id(self) -> str:
        return self.checkpoint.thread_id

    @property
    def state_name(self) -> ThreadState:
        """`interrupted`, `failed`, `cancelled`, `resumed` (stamped, and nothing came of it yet), `completed`, `ended`, `running`."""
        return self.checkpoint.state_name

    @property
    def status(self) -> Status:
        return self.checkpoint.status

    @property
    def raw_state(self) -> bytes:
        """The stored JSON, whatever type it was written from."""
        return bytes(self.checkpoint.frozen_state)

    @cached_property
    def state(self) -> S:
        """The state as a value of the graph's type.

        Raises:
            CheckpointUnreadable: it does not fit that type; `raw_state` always works.
        """
        try:
            return self._codec.decode(self.checkpoint.frozen_state)
        except StateUnreadable as error:
            raise CheckpointUnreadable(
                f"failed to rehydrate state for thread '{self.thread_id}': {error}",
                thread_id=self.thread_id,
                sequence=self.sequence,
                path=error.path,
                hint="read it as it is with raw_state",
            ) from error

    @property
    def waiting_at(self) -> tuple[str, ...]:
        """The suspended node of each level, outermost first."""
        return self.checkpoint.waiting_at

    @property
    def wait(self) -> WaitingFor | None:
        """What the innermost level waits for."""
        return waiting_for(self.checkpoint.innermost.wait)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What an interrupted thread was asked with `ctx.interrupt` and has not been answered."""
        return questions_of(self.checkpoint)

    @property
    def decision(self) -> Decision | None:
        """The latest answer to a boundary of the outermost level."""
        record = self.checkpoint.decision
        return None if record is None else decision_of(record)

    @property
    def metadata(self) -> Mapping[str, str]:
        """The callers' keys and the engine's."""
        return self.checkpoint.metadata or {}

    @property
    def identity(self) -> Identity | None:
        """Who wrote it."""
        return self.checkpoint.graph

    @property
    def graph(self) -> str | None:
        """The id of the graph that wrote it."""
        return None if self.checkpoint.graph is None else self.checkpoint.graph.id

    @property
    def updated_at(self) -> datetime:
        return parse_wire_time(self.checkpoint.updated_at)

    @property
    def hops(self) -> int | None:
        """Hops of the outermost level before its next node; None where none were counted."""
        return as_count(self.metadata.get(HOPS, ""))

    @property
    def error(self) -> str | None:
        """What a failed thread failed with."""
        return self.metadata.get(ERROR)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} '{self.thread_id}' #{self.sequence} {self.state_name} at {list(self.waiting_at)}>"


class Thread(_View[S]):
    """Where a thread stands: its newest record."""

    @classmethod
    def of(cls, stored: Stored, codec: StateCodec[S]) -> Thread[S]:
        return cls(stored.checkpoint, stored.sequence, codec)


class Record(_View[S]):
    """One record of a thread's log."""

    @classmethod
    def of(cls, logged: Logged, codec: StateCodec[S]) -> Record[S]:
        """Raises CheckpointUnreadable if this row cannot be read."""
        if isinstance(logged.checkpoint, CheckpointUnreadable):
            raise logged.checkpoint
        return cls(logged.checkpoint, logged.sequence, codec)

    @property
    def suspended_node(self) -> str | None:
        return self.checkpoint.suspended_node

    @property
    def next_node(self) -> str | None:
        return self.checkpoint.next_node

    @property
    def schema_version(self) -> str:
        return self.checkpoint.schema_version

    @property
    def created_at(self) -> datetime:
        return parse_wire_time(self.checkpoint.created_at)
