"""The checkpoint store: an append-only log per thread, and listings over the newest record of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from strata.checkpoint.record import Checkpoint, Status, ThreadState, WaitRecord
from strata.errors import CheckpointUnreadable
from strata.graph.identity import Identity
from strata.ports.leases import Acquisition, ThreadLease


class Stored(msgspec.Struct, frozen=True):
    """A thread's newest record; `sequence` is None where the store cannot tell."""

    checkpoint: Checkpoint
    sequence: int | None


class Logged(msgspec.Struct, frozen=True):
    """A record of a log, or why that one row cannot be read: one bad row does not hide the others."""

    sequence: int
    checkpoint: Checkpoint | CheckpointUnreadable


class LogPage(msgspec.Struct, frozen=True):
    """`next_after` is the last sequence of a full page, else None (so a full last page is followed by an empty one)."""

    records: tuple[Logged, ...]
    next_after: int | None


class ThreadQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which threads to list; conditions are all of them, `states` any of (empty: every state).

    `metadata` pairs must match exactly, `updated_after` and `updated_before` are exclusive and whole seconds, `due_by`
    finds interrupted threads whose wake time has come, `graph_version` needs `graph_id`. `limit` is 1 to 1000.
    """

    states: Collection[ThreadState] = ()
    metadata: Mapping[str, str] = {}
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    due_by: datetime | None = None
    graph_id: str | None = None
    graph_version: str | None = None
    limit: int = 100
    cursor: str | None = None


class ThreadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A thread in a listing, read without its state. `schema_version` is the record's own, not the store's encoding."""

    thread_id: str
    sequence: int
    state: ThreadState
    status: Status
    suspended_node: str | None
    next_node: str | None
    waiting_at: tuple[str, ...]
    metadata: Mapping[str, str]
    updated_at: str
    schema_version: str
    wait: WaitRecord | None = None
    graph: Identity | None = None


class ThreadPage(msgspec.Struct, frozen=True, kw_only=True):
    """Threads by (updated_at, thread_id) descending; `unreadable` are rows of this page that could not be read."""

    threads: tuple[ThreadSummary, ...]
    next_cursor: str | None
    unreadable: tuple[CheckpointUnreadable, ...] = ()


class CheckpointStore(Protocol):
    """What every store offers. One contract suite holds them all to it; `strata.stores.StoreBase` has the defaults.

    Raises `StoreError` where the store itself fails, with `written` saying whether the record may have been kept.
    """

    async def save(self, checkpoint: Checkpoint, /) -> int | None:
        """Append `checkpoint` as its thread's newest record and give its sequence (None: the store has none).

        The record is handed over before the first suspension; cancelling the caller does not cancel the write.
        """
        ...

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int | None:
        """The same, if `expected` is still the thread's newest sequence: -1 means that it must not exist, None always appends.

        Raises:
            ThreadChanged: something was appended since; nothing was written.
        """
        ...

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        """The newest record.

        Raises:
            CheckpointUnreadable: there is one, and it cannot be read.
        """
        ...

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        """Records with a sequence above `after` (None: from the first), oldest first; an unknown thread has none."""
        ...

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage: ...

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        """Delete whole threads whose newest record is in one of `states` and was written before `older_than` (exclusive), oldest first.

        Gives the number of threads deleted; a purged id starts again at sequence 0 and token 1. A thread under a live
        lease is left alone and takes no place in `limit`, which is 1 to 1000.
        """
        ...

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        """Take the lease of the thread for `ttl` seconds (at least 0.001, counted in whole milliseconds, rounded up).

        Nobody gets a lease that lives, the holder's own name no exception. Else the next token is the caller's.

        Raises:
            OptionRefused: the owner is blank, or the ttl too short or too long.
            StoreLacksLeases: the store has none; so do all calls below.
        """
        ...

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        """The lease with `ttl` seconds from now, None if its token is no longer the thread's latest.

        Only the token counts: a lease that has expired or was released, and that nobody took since, lives again.
        """
        ...

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        """Give the thread free; whether the token was still the latest. Its count goes on."""
        ...

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        """The lease that lives."""
        ...

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int | None:
        """As `save_if_latest`, and only if the lease's token is still the thread's latest, in one atomic step.

        Only the token counts: a lease that expired, and that nobody took, still saves.

        Raises:
            OptionRefused: the lease is another thread's.
            LeaseLost: another owner took the thread; looked at before `expected`.
            ThreadChanged: something was appended since `expected`.
        """
        ...
