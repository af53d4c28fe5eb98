"""The store of one process's memory: whole logs, exact listings, nothing kept at its end (strata-stores.md 7)."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from datetime import datetime

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint, ThreadState
from strata.graph.clock import SYSTEM, Clock
from strata.ports.checkpoints import Logged, LogPage, Stored, ThreadPage, ThreadQuery
from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease
from strata.ports.progress import Items
from strata.stores.asked import check_checkpoint, check_expected, check_items, check_progress, check_thread_id
from strata.stores.base import StoreBase
from strata.stores.lease_terms import check_lease, check_owner, check_thread, milliseconds_of
from strata.stores.refusals import lease_lost, thread_changed
from strata.wire.listing import check_limit, check_states, check_time, conditions_of, encode_cursor, first_behind, matches, summary_of


class MemoryStore(StoreBase):
    """Keeps the records themselves, which are frozen and hold their states as bytes: nothing is encoded or copied.

    For tests and for programs that need no thread after their end. Not for several threads of the operating system.
    """

    def __init__(self, *, clock: Clock = SYSTEM) -> None:
        given.answering(clock, ("time",), "a store's clock tells the time")
        self.clock = clock
        self._logs: dict[str, list[Checkpoint]] = {}
        self._tokens: dict[str, int] = {}
        self._leases: dict[str, ThreadLease] = {}
        self._progress: dict[str, tuple[int, dict[tuple[str, str], bytes]]] = {}

    async def save(self, checkpoint: Checkpoint, /) -> int:
        check_checkpoint(checkpoint)
        log = self._logs.get(checkpoint.thread_id)
        if log is None:
            self._logs[checkpoint.thread_id] = [checkpoint]
            return 0
        log.append(checkpoint)
        self._progress.pop(checkpoint.thread_id, None)
        return len(log) - 1

    async def save_if_latest(self, checkpoint: Checkpoint, /, expected: int | None) -> int:
        check_checkpoint(checkpoint)
        check_expected(expected)
        log = self._logs.get(checkpoint.thread_id)
        latest = -1 if log is None else len(log) - 1
        if expected is not None and expected != latest:
            raise thread_changed(checkpoint.thread_id, expected=expected, latest=latest)
        if log is None:
            self._logs[checkpoint.thread_id] = [checkpoint]
        else:
            log.append(checkpoint)
            if self._progress:
                self._progress.pop(checkpoint.thread_id, None)
        return latest + 1

    async def load(self, thread_id: str, /) -> Checkpoint | None:
        check_thread_id(thread_id)
        log = self._logs.get(thread_id)
        return None if log is None else log[-1]

    async def load_latest(self, thread_id: str, /) -> Stored | None:
        check_thread_id(thread_id)
        log = self._logs.get(thread_id)
        return None if log is None else Stored(log[-1], len(log) - 1)

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        check_thread_id(thread_id)
        check_limit(limit)
        first = first_behind(after)
        page = self._logs.get(thread_id, [])[first : first + limit]
        records = tuple(Logged(sequence, checkpoint) for sequence, checkpoint in enumerate(page, first))
        return LogPage(records, records[-1].sequence if len(records) == limit else None)

    async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
        conditions = conditions_of(query)
        matching = (log for log in self._logs.values() if matches(log[-1], conditions))
        shown = heapq.nlargest(conditions.limit + 1, matching, key=_place)
        threads = tuple(summary_of(log[-1], len(log) - 1) for log in shown[: conditions.limit])
        return ThreadPage(threads=threads, next_cursor=encode_cursor(threads[-1]) if len(shown) > conditions.limit else None)

    async def purge(self, *, older_than: datetime, states: Collection[ThreadState] = ("completed", "ended"), limit: int = 100) -> int:
        check_limit(limit)
        wanted, cutoff = check_states(states), check_time(older_than, "older_than")
        old = (log for log in self._logs.values() if log[-1].state_name in wanted and log[-1].updated_at < cutoff)
        free = (log for log in old if self._live_lease(log[-1].thread_id) is None)
        purged = [log[-1].thread_id for log in heapq.nsmallest(limit, free, key=_place)]
        for thread_id in purged:
            del self._logs[thread_id]
            self._tokens.pop(thread_id, None)
            self._leases.pop(thread_id, None)
            self._progress.pop(thread_id, None)
        return len(purged)

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        check_progress(thread_id, base)
        check_items(items)
        if len(self._logs.get(thread_id, ())) - 1 != base:
            return
        since, kept = self._progress.get(thread_id, (base, {}))
        self._progress[thread_id] = (base, {**(kept if since == base else {}), **items})

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        check_progress(thread_id, base)
        since, kept = self._progress.get(thread_id, (base, {}))
        return dict(kept) if since == base == len(self._logs.get(thread_id, ())) - 1 else {}

    # Leases: nothing here suspends, so that each call is one step

    async def try_acquire_lease(self, thread_id: str, owner: str, ttl: float, /) -> Acquisition:
        check_thread_id(thread_id)
        check_owner(owner)
        milliseconds = milliseconds_of(ttl)
        if (holder := self._live_lease(thread_id)) is not None:
            return Held(holder)
        token = self._tokens[thread_id] = self._tokens.get(thread_id, 0) + 1
        return Acquired(self._hold(thread_id, owner, token, milliseconds))

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        check_lease(lease)
        milliseconds = milliseconds_of(ttl)
        if not self._is_latest(lease):
            return None
        return self._hold(lease.thread_id, lease.owner, lease.token, milliseconds)

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        check_lease(lease)
        if not self._is_latest(lease):
            return False
        self._leases.pop(lease.thread_id, None)
        return True

    async def get_lease(self, thread_id: str, /) -> ThreadLease | None:
        check_thread_id(thread_id)
        return self._live_lease(thread_id)

    async def save_under_lease(self, checkpoint: Checkpoint, lease: ThreadLease, /, expected: int | None = None) -> int:
        check_checkpoint(checkpoint)
        check_thread(lease, checkpoint)
        check_expected(expected)
        if not self._is_latest(lease):
            raise lease_lost(lease)
        return await self.save_if_latest(checkpoint, expected)

    def _hold(self, thread_id: str, owner: str, token: int, milliseconds: int) -> ThreadLease:
        lease = self._leases[thread_id] = ThreadLease(thread_id, owner, token, self._now() + milliseconds)
        return lease

    def _live_lease(self, thread_id: str) -> ThreadLease | None:
        lease = self._leases.get(thread_id)
        return lease if lease is not None and lease.expires_at > self._now() else None

    def _is_latest(self, lease: ThreadLease) -> bool:
        return self._tokens.get(lease.thread_id) == lease.token

    def _now(self) -> int:
        return int(self.clock.time() * 1000)


def _place(log: list[Checkpoint]) -> tuple[str, str]:
    """Where a thread stands in a listing, by its newest record."""
    return log[-1].updated_at, log[-1].thread_id
