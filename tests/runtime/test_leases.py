"""Keeping a lease on a clock that the test moves: renewals, losses, giving back (strata-waits.md 8.4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from strata.checkpoint.record import Checkpoint
from strata.errors import LeaseHeld, LeaseLost, OptionRefused, StoreError, StoreLacksLeases, ThreadChanged
from strata.ports.leases import Acquired, ThreadLease
from strata.runtime.leases import Lease, LeaseKeeper, ttl_of
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from tests.clocks import START, HandClock, settle
from tests.records import record

WORKER = Lease("worker-1", timedelta(seconds=30))
NOW = int(START * 1000)


class Troubled(MemoryStore):
    """A store of which the next `failing` renewals fail and the next `hanging` ones never answer."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock=clock)
        self.failing = self.hanging = 0
        self.release_fails = self.release_hangs = False
        self.renewed_at: list[float] = []
        self.answers = asyncio.Event()

    async def renew_lease(self, lease: ThreadLease, ttl: float, /) -> ThreadLease | None:
        self.renewed_at.append(self.clock.time() - START)
        if self.hanging:
            self.hanging -= 1
            await self.answers.wait()
        if self.failing:
            self.failing -= 1
            raise StoreError("the store is away")
        return await super().renew_lease(lease, ttl)

    async def release_lease(self, lease: ThreadLease, /) -> bool:
        if self.release_hangs:
            await self.answers.wait()
        if self.release_fails:
            raise StoreError("the store is away")
        return await super().release_lease(lease)


class Losses:
    """Who is told of a loss, and how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def store(clock: HandClock) -> Troubled:
    return Troubled(clock)


@pytest.fixture
def losses() -> Losses:
    return Losses()


@pytest.fixture
async def keeper(store: Troubled, clock: HandClock, losses: Losses) -> AsyncIterator[LeaseKeeper]:
    kept = await LeaseKeeper.acquire(store, "t", WORKER, clock=clock, on_lost=losses)
    yield kept
    await kept.release()
    assert clock.timers == 0


async def taken_over(store: Troubled, keeper: LeaseKeeper) -> ThreadLease:
    """Another owner has the thread, though the keeper knows nothing of it."""
    await store.release_lease(keeper.held)
    answer = await store.try_acquire_lease("t", "worker-2", 1000)
    assert isinstance(answer, Acquired)
    return answer.lease


# Options


@pytest.mark.parametrize(
    ("lease", "text"),
    [
        (Lease("", 30), "a run's lease needs an owner"),
        (Lease(" ", 0), "a run's lease needs an owner"),
        (Lease("w", 0.000_01), "a run's lease ttl must be at least 1 millisecond"),
        (Lease("w", timedelta(0)), "a run's lease ttl must be at least 1 millisecond"),
        (Lease("w", timedelta(seconds=-1)), "a run's lease ttl must be at least 1 millisecond"),
        (Lease("w", float("inf")), "a run's lease ttl cannot be used: a duration is finite, and inf is not"),
    ],
)
async def test_a_lease_that_cannot_be_used_is_refused(store: Troubled, clock: HandClock, losses: Losses, lease: Lease, text: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        ttl_of(lease)
    assert str(refusal.value) == text
    with pytest.raises(OptionRefused):
        await LeaseKeeper.acquire(store, "t", lease, clock=clock, on_lost=losses)
    assert await store.get_lease("t") is None


@pytest.mark.parametrize("ttl", [30, 30.0, timedelta(seconds=30)])
def test_a_ttl_is_a_timedelta_or_seconds(ttl: timedelta | float) -> None:
    assert ttl_of(Lease("worker-1", ttl)) == 30.0


# Acquiring


async def test_a_free_thread_is_taken(store: Troubled, keeper: LeaseKeeper) -> None:
    assert keeper.held == await store.get_lease("t") == ThreadLease("t", "worker-1", token=1, expires_at=NOW + 30_000)
    assert not keeper.is_lost


@pytest.mark.leaves_leases("worker-2")
@pytest.mark.parametrize("owner", ["worker-1", "worker-2"])
async def test_a_held_thread_is_refused_even_to_its_own_name(store: Troubled, clock: HandClock, losses: Losses, owner: str) -> None:
    await clock.pass_time(0.25)
    await store.try_acquire_lease("t", "worker-2", 60)
    with pytest.raises(LeaseHeld) as refusal:
        await LeaseKeeper.acquire(store, "t", Lease(owner, 30), clock=clock, on_lost=losses)
    assert str(refusal.value) == "thread 't' is held by 'worker-2' until 2026-11-02T12:01:01Z"
    assert (refusal.value.owner, refusal.value.until) == ("worker-2", datetime(2026, 11, 2, 12, 1, 1, tzinfo=UTC))
    assert clock.timers == 0


def test_a_whole_second_is_not_rounded_and_no_time_is_too_late_to_tell() -> None:
    assert str(LeaseHeld("t", owner="o", expires_at=1_796_066_912_000)) == "thread 't' is held by 'o' until 2026-11-30T19:28:32Z"
    assert str(LeaseHeld("t", owner="o", expires_at=1_796_066_911_001)) == "thread 't' is held by 'o' until 2026-11-30T19:28:32Z"
    assert str(LeaseHeld("t", owner="o", expires_at=2**62)).endswith("until 9999-12-31T23:59:59Z")


async def test_a_store_without_leases_gives_none(clock: HandClock, losses: Losses) -> None:
    class Shelf(StoreBase):
        async def save(self, checkpoint: Checkpoint, /) -> None: ...
        async def load(self, thread_id: str, /) -> Checkpoint | None: ...

    with pytest.raises(StoreLacksLeases, match="this checkpoint store has no leases"):
        await LeaseKeeper.acquire(Shelf(), "t", WORKER, clock=clock, on_lost=losses)


# Renewing


async def test_stores_ls11_a_lease_is_held_as_long_as_the_run_goes_on(store: Troubled, clock: HandClock, keeper: LeaseKeeper) -> None:
    await clock.pass_time(71)
    assert store.renewed_at == [10, 20, 30, 40, 50, 60, 70]
    assert await store.get_lease("t") == keeper.held == ThreadLease("t", "worker-1", token=1, expires_at=NOW + 100_000)
    await keeper.release()
    assert await store.get_lease("t") is None
    await clock.pass_time(100)
    assert len(store.renewed_at) == 7


async def test_stores_ls12_two_failures_lose_nothing(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    store.failing = 2
    await clock.pass_time(71)
    assert (losses.count, keeper.is_lost) == (0, False)
    assert await store.get_lease("t") == keeper.held
    store.failing = 2  # the count has restarted
    await clock.pass_time(71)
    assert not keeper.is_lost


async def test_stores_ls12_three_failures_lose_the_lease_a_second_before_its_expiry(
    store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses
) -> None:
    store.failing = 3
    await clock.pass_time(28.9)
    assert (losses.count, keeper.is_lost) == (0, False)
    await clock.pass_time(0.1)
    assert (losses.count, keeper.is_lost) == (1, True)
    await clock.pass_time(100)
    assert losses.count == 1
    assert len(store.renewed_at) == 3


async def test_a_lost_lease_saves_nothing_even_if_nobody_took_the_thread(store: Troubled, clock: HandClock, keeper: LeaseKeeper) -> None:
    store.failing = 3
    await clock.pass_time(30)
    with pytest.raises(LeaseLost):
        await keeper.save(record(), -1)
    assert await store.load("t") is None


@pytest.mark.leaves_leases("worker-1")
async def test_a_renewal_that_hangs_loses_the_lease_in_time(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    store.hanging = 9
    await clock.pass_time(28.9)
    assert store.renewed_at == [10, 24.5]  # the first was given up after ten seconds
    assert losses.count == 0
    await clock.pass_time(0.1)
    assert losses.count == 1


async def test_a_renewal_that_hangs_once_loses_nothing(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    store.hanging = 1
    await clock.pass_time(60)
    assert losses.count == 0
    assert await store.get_lease("t") == keeper.held


@pytest.mark.leaves_leases("worker-1")
async def test_a_slow_renewal_counts_from_when_it_was_asked(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    store.hanging = 1
    await clock.pass_time(15)
    store.answers.set()
    await settle()
    store.failing = 9
    await clock.pass_time(23.9)
    assert (store.renewed_at[:2], losses.count) == ([10, 20], 0)
    await clock.pass_time(0.1)
    assert losses.count == 1


@pytest.mark.leaves_leases("worker-2")
async def test_a_takeover_is_noticed_at_the_next_renewal(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    theirs = await taken_over(store, keeper)
    await clock.pass_time(9.9)
    assert losses.count == 0
    await clock.pass_time(0.1)
    assert (losses.count, keeper.is_lost) == (1, True)
    await clock.pass_time(100)
    assert (losses.count, store.renewed_at) == (1, [10])
    await keeper.release()
    assert await store.get_lease("t") == theirs


# Saving


async def test_a_keeper_saves_under_its_lease(store: Troubled, keeper: LeaseKeeper) -> None:
    assert await keeper.save(record(), -1) == 0
    assert await keeper.save(record()) == 1
    with pytest.raises(ThreadChanged):
        await keeper.save(record(), 0)
    assert not keeper.is_lost


@pytest.mark.leaves_leases("worker-2")
async def test_a_takeover_is_noticed_by_a_save(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    await taken_over(store, keeper)
    with pytest.raises(LeaseLost) as lost:
        await keeper.save(record(), -1)
    with pytest.raises(LeaseLost):
        await keeper.save(record(), -1)
    assert (lost.value.thread_id, lost.value.owner, lost.value.token) == ("t", "worker-1", 1)
    assert (losses.count, keeper.is_lost, clock.timers) == (1, True, 0)
    assert await store.load("t") is None


# Giving back


async def test_a_release_waits_for_a_renewal_in_flight(store: Troubled, clock: HandClock, keeper: LeaseKeeper) -> None:
    store.hanging = 1
    await clock.pass_time(11)
    releasing = asyncio.ensure_future(keeper.release())
    await settle()
    assert not releasing.done()
    store.answers.set()
    await releasing
    assert await store.get_lease("t") is None
    assert clock.timers == 0


async def test_a_release_waits_no_longer_than_the_renewal_may_take(store: Troubled, clock: HandClock, keeper: LeaseKeeper) -> None:
    store.hanging = 1
    await clock.pass_time(11)
    releasing = asyncio.ensure_future(keeper.release())
    await clock.pass_time(9)
    await releasing
    assert await store.get_lease("t") is None


@pytest.mark.leaves_leases("worker-1")
async def test_a_release_that_fails_is_ignored(store: Troubled, keeper: LeaseKeeper, losses: Losses, caplog: pytest.LogCaptureFixture) -> None:
    store.release_fails = True
    await keeper.release()
    assert losses.count == 0
    assert "the lease of thread 't' was not given back, and runs out by itself: the store is away" in caplog.text


@pytest.mark.leaves_leases("worker-1")
async def test_a_release_that_hangs_is_given_up(store: Troubled, clock: HandClock, keeper: LeaseKeeper) -> None:
    store.release_hangs = True
    releasing = asyncio.ensure_future(keeper.release())
    await clock.pass_time(10)
    await releasing
    assert clock.timers == 0


@pytest.mark.leaves_leases("worker-2")
async def test_a_release_may_be_repeated(store: Troubled, keeper: LeaseKeeper) -> None:
    await keeper.release()
    answer = await store.try_acquire_lease("t", "worker-2", 30)
    await keeper.release()
    assert isinstance(answer, Acquired)
    assert await store.get_lease("t") == answer.lease


@pytest.mark.leaves_leases("worker-2")
async def test_a_loss_found_while_giving_back_is_nobodys_business(store: Troubled, clock: HandClock, keeper: LeaseKeeper, losses: Losses) -> None:
    store.hanging = 1
    await clock.pass_time(11)
    theirs = await taken_over(store, keeper)
    releasing = asyncio.ensure_future(keeper.release())
    await settle()
    store.answers.set()
    await releasing
    assert losses.count == 0
    assert await store.get_lease("t") == theirs
