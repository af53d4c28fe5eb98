"""A run's lease: the option, and what keeps it while the run goes on (strata-waits.md 8.4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint
from strata.errors import LeaseHeld, LeaseLost, OptionRefused
from strata.graph.clock import Clock, Timer
from strata.ports.checkpoints import CheckpointStore
from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease
from strata.runtime import lease_answers, renewals
from strata.runtime.renewals import Term

logger = logging.getLogger("strata")


class Lease(msgspec.Struct, frozen=True):
    """Only one worker at a time: `Runner(graph, store, lease=Lease("worker-1", ttl=30))`.

    A run takes its thread's lease before it writes, renews it every third of `ttl` (a timedelta or seconds, at least
    one millisecond), and gives it back at its end. `owner` tells people who holds a thread: name the process.

    A run that loses its lease stops, writes nothing more and comes to `Cancelled("lease_lost")`: another owner took
    the thread, or the store could not be reached until a second before the lease's expiry. All workers of a thread
    need leases, or none.
    """

    owner: str
    ttl: timedelta | float


def ttl_of(lease: Lease) -> float:
    """The ttl in seconds of a lease found sound; asked before anything is loaded or written.

    Raises:
        OptionRefused: the owner is blank, or the ttl no duration of at least one millisecond.
    """
    given.text(lease.owner, "the owner of a run's lease")
    if not lease.owner.strip():
        raise OptionRefused("a run's lease needs an owner")
    ttl = given.seconds(lease.ttl, "a run's lease ttl")
    if ttl < 0.001:
        raise OptionRefused("a run's lease ttl must be at least 1 millisecond")
    return ttl


class LeaseKeeper:
    """Holds a thread's lease for one run: renews it, notices when it is lost, gives it back.

    `on_lost` is called once, on the loop, as soon as the loss is known. From then on `save` writes nothing.
    """

    def __init__(self, store: CheckpointStore, held: ThreadLease, term: Term, *, clock: Clock, on_lost: Callable[[], object]) -> None:
        self.held = held
        """The lease as last renewed."""
        self.is_lost = False
        self._store, self._term, self._clock, self._on_lost = store, term, clock, on_lost
        self._is_over = False
        self._renewal: asyncio.Task[ThreadLease | None] | None = None
        self._next: Timer | None = None
        self._loss: Timer | None = None
        self._wait(term)

    @classmethod
    async def acquire(cls, store: CheckpointStore, thread_id: str, lease: Lease, *, clock: Clock, on_lost: Callable[[], object]) -> LeaseKeeper:
        """Take the thread's lease, trying once, and begin to keep it.

        Raises:
            LeaseHeld: somebody has it, possibly of the same name; nothing was changed.
            StoreLacksLeases: the store has none to give.
            StoreError: the store failed. A lease that was given all the same runs out by itself.
            asyncio.CancelledError: the caller was cancelled meanwhile. What it was given all the same has gone back.
        """
        ttl = ttl_of(lease)
        asked_at = clock.monotonic()
        match await _taken(store, thread_id, lease.owner, ttl, clock):
            case Held(lease=holder):
                raise LeaseHeld(thread_id, owner=holder.owner, expires_at=holder.expires_at)
            case Acquired(lease=held):
                term = renewals.granted(ttl, asked_at=asked_at, now=clock.monotonic())
                return cls(store, held, term, clock=clock, on_lost=on_lost)

    async def save(self, checkpoint: Checkpoint, /, expected: int | None = None) -> int | None:
        """Append `checkpoint` under the lease if `expected` is still the thread's latest sequence (None: whatever it is).

        Raises:
            LeaseLost: the lease is lost, known before or found out by this save; nothing was written.
            ThreadChanged: something was appended since; nothing was written.
        """
        if self.is_lost:
            raise LeaseLost(self.held.thread_id, owner=self.held.owner, token=self.held.token)
        try:
            return await self._store.save_under_lease(checkpoint, self.held, expected)
        except LeaseLost:
            self._lose()
            raise

    async def release(self) -> None:
        """Stop renewing, wait for a renewal in flight, and give the lease back unless it is lost.

        What fails here is ignored: the lease then runs out by itself, and so it does if the caller is cancelled.
        """
        if self._is_over:
            return
        self._is_over = True
        self._stop_timers()
        if self._renewal is not None:
            await asyncio.wait([self._renewal])
        if self.is_lost:
            return
        giving_back = asyncio.get_running_loop().create_task(self._store.release_lease(self.held))
        bound = self._clock.call_later(self._term.interval, giving_back.cancel)
        try:
            await asyncio.wait([giving_back])
        finally:
            bound.cancel()
        if (error := _fault_of(giving_back)) is not None:
            logger.warning("the lease of thread '%s' was not given back, and runs out by itself: %s", self.held.thread_id, error)

    # Renewing: the store's call is the only task; its end and the timers are callbacks

    def _wait(self, term: Term) -> None:
        """Set the timers to what `term` says."""
        self._stop_timers()
        self._term = term
        now = self._clock.monotonic()
        self._loss = self._clock.call_later(max(term.lost_at - now, 0.0), self._lose)
        if term.next_at is not None:
            self._next = self._clock.call_later(max(term.next_at - now, 0.0), self._renew)

    def _renew(self) -> None:
        asked_at = self._clock.monotonic()
        renewal = self._renewal = asyncio.get_running_loop().create_task(self._ask_for_more())
        bound = self._clock.call_later(renewals.patience(self._term, now=asked_at), renewal.cancel)
        renewal.add_done_callback(lambda done: self._renewed(done, asked_at, bound))

    async def _ask_for_more(self) -> ThreadLease | None:
        return lease_answers.renewed(await self._store.renew_lease(self.held, self._term.ttl), self._store)

    def _renewed(self, done: asyncio.Task[ThreadLease | None], asked_at: float, bound: Timer) -> None:
        bound.cancel()
        self._renewal = None
        error = _fault_of(done)
        if self._is_over or self.is_lost:
            return
        now = self._clock.monotonic()
        if error is not None:
            logger.warning("the lease of thread '%s' could not be renewed: %s", self.held.thread_id, error)
            self._wait(renewals.refused_for_now(self._term, now=now))
        elif (held := done.result()) is None:
            self._lose()
        else:
            self.held = held
            self._wait(renewals.granted(self._term.ttl, asked_at=asked_at, now=now))

    def _lose(self) -> None:
        if self.is_lost or self._is_over:
            return
        self.is_lost = True
        self._stop_timers()
        self._on_lost()

    def _stop_timers(self) -> None:
        for timer in (self._next, self._loss):
            if timer is not None:
                timer.cancel()
        self._next = self._loss = None


def _fault_of(done: asyncio.Task[Any]) -> object:
    """Why the call failed, None if it did not."""
    return "it took too long" if done.cancelled() else done.exception()


async def _taken(store: CheckpointStore, thread_id: str, owner: str, ttl: float, clock: Clock) -> Acquisition:
    """The store's answer. A lease that is given to a caller who was cancelled meanwhile goes back at once."""
    loop = asyncio.get_running_loop()
    asking = loop.create_task(_asked(store, thread_id, owner, ttl))
    try:
        await asyncio.wait([asking])
    except asyncio.CancelledError:
        await _until_done(asking, clock, ttl)
        if not asking.cancelled() and asking.exception() is None and isinstance(answer := asking.result(), Acquired):
            await _until_done(loop.create_task(store.release_lease(answer.lease)), clock, ttl)
        raise
    return asking.result()


async def _asked(store: CheckpointStore, thread_id: str, owner: str, ttl: float) -> Acquisition:
    return lease_answers.acquisition(await store.try_acquire_lease(thread_id, owner, ttl), store)


async def _until_done(work: asyncio.Task[Any], clock: Clock, ttl: float) -> None:
    """Wait however often the waiter is cancelled, but no longer than the lease would live: then it has run out by itself."""
    bound = clock.call_later(ttl, work.cancel)
    try:
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work])
    finally:
        bound.cancel()
    if not work.cancelled():
        work.exception()  # asked for, so that nothing is said of it later
