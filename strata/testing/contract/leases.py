"""Every store: leases, and saves under them (strata-waits.md 8.2, strata-stores.md 14.1)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from strata.errors import LeaseLost, OptionRefused, ThreadChanged
from strata.ports.leases import Acquired, Held, ThreadLease
from strata.stores import StoreBase
from strata.testing.clock import START, TestClock
from strata.testing.contract.records import record

NOW = int(START.timestamp() * 1000)


async def acquired(store: StoreBase, owner: str, ttl: float = 30, *, thread_id: str = "t") -> ThreadLease:
    answer = await store.try_acquire_lease(thread_id, owner, ttl)
    assert isinstance(answer, Acquired)
    return answer.lease


async def sequences_of(store: StoreBase) -> list[int]:
    return [entry.sequence for entry in (await store.get_log("t")).records]


async def test_waits_ls1_the_first_lease_has_token_1_and_refuses_everybody(store: StoreBase) -> None:
    assert await store.get_lease("t") is None
    lease = await acquired(store, "alice")
    assert lease == ThreadLease("t", "alice", token=1, expires_at=NOW + 30_000)
    assert await store.try_acquire_lease("t", "bob", 60) == Held(lease)
    assert await store.try_acquire_lease("t", "alice", 60) == Held(lease)
    assert await store.get_lease("t") == lease


async def test_waits_ls2_ck116_saves_under_a_lease(store: StoreBase) -> None:
    lease = await acquired(store, "alice")
    assert await store.save_under_lease(record(), lease) == 0
    with pytest.raises(ThreadChanged) as refusal:
        await store.save_under_lease(record(), lease, 5)
    assert refusal.value.thread_id == "t"
    assert await store.save_under_lease(record(), lease, 0) == 1
    assert await sequences_of(store) == [0, 1]


async def test_a_lease_saves_the_first_record_of_a_thread_that_must_not_exist(store: StoreBase) -> None:
    lease = await acquired(store, "alice")
    assert await store.save_under_lease(record(), lease, -1) == 0
    with pytest.raises(ThreadChanged):
        await store.save_under_lease(record(), lease, -1)


async def test_waits_ls3_a_renewal_moves_the_expiry_and_keeps_the_token(store: StoreBase, clock: TestClock) -> None:
    lease = await acquired(store, "alice")
    await clock.advance(20)
    renewed = await store.renew_lease(lease, 30)
    assert renewed == ThreadLease("t", "alice", token=1, expires_at=NOW + 50_000)
    await clock.advance(20)
    assert await store.get_lease("t") == renewed


async def test_waits_ls3_a_release_frees_the_thread_at_once(store: StoreBase) -> None:
    lease = await acquired(store, "alice")
    assert await store.release_lease(lease)
    assert await store.get_lease("t") is None
    assert await acquired(store, "bob") == ThreadLease("t", "bob", token=2, expires_at=NOW + 30_000)


async def test_waits_ls3_who_lost_the_thread_can_do_nothing_to_it(store: StoreBase) -> None:
    lost = await acquired(store, "alice")
    await store.save_under_lease(record(), lost)
    await store.release_lease(lost)
    bobs = await acquired(store, "bob")
    for expected in (None, 0, 5):
        with pytest.raises(LeaseLost) as refusal:
            await store.save_under_lease(record(), lost, expected)
    assert (refusal.value.thread_id, refusal.value.owner, refusal.value.token) == ("t", "alice", 1)
    assert await store.renew_lease(lost, 30) is None
    assert not await store.release_lease(lost)
    assert await store.get_lease("t") == bobs
    assert await sequences_of(store) == [0]


async def test_stores_ls5_an_expired_lease_is_taken_over_and_fenced(store: StoreBase, clock: TestClock) -> None:
    await store.release_lease(await acquired(store, "alice"))
    expired = await acquired(store, "alice")
    await clock.advance(30)
    assert await store.get_lease("t") is None
    taken = await acquired(store, "bob")
    assert taken.token == 3
    with pytest.raises(LeaseLost):
        await store.save_under_lease(record(), expired)
    assert await store.save_under_lease(record(), taken) == 0


async def test_a_lease_is_held_to_its_last_millisecond(store: StoreBase, clock: TestClock) -> None:
    lease = await acquired(store, "alice", 0.5)
    await clock.advance(0.25)
    assert await store.try_acquire_lease("t", "bob", 1) == Held(lease)
    await clock.advance(0.25)
    assert (await acquired(store, "bob", 1)).token == 2


async def test_ck116_a_lease_that_expired_and_nobody_took_still_saves(store: StoreBase, clock: TestClock) -> None:
    lease = await acquired(store, "alice")
    await clock.advance(31)
    assert await store.save_under_lease(record(), lease) == 0


async def test_ck117_tokens_count_on_over_release_and_expiry(store: StoreBase, clock: TestClock) -> None:
    first = await acquired(store, "alice")
    await store.release_lease(first)
    second = await acquired(store, "bob")
    await clock.advance(30)
    third = await acquired(store, "carol")
    assert [first.token, second.token, third.token] == [1, 2, 3]
    for old in (first, second):
        assert await store.renew_lease(old, 60) is None
        assert not await store.release_lease(old)
    assert await store.get_lease("t") == third


@pytest.mark.parametrize("seconds", [0, 31])
async def test_a_released_or_expired_lease_that_nobody_took_can_be_renewed(store: StoreBase, clock: TestClock, seconds: float) -> None:
    lease = await acquired(store, "alice")
    if not seconds:
        await store.release_lease(lease)
    await clock.advance(seconds)
    assert await store.renew_lease(lease, 30) == await store.get_lease("t") != None  # noqa: E711 - and there is one


async def test_a_release_may_be_repeated(store: StoreBase, clock: TestClock) -> None:
    lease = await acquired(store, "alice")
    assert await store.release_lease(lease)
    assert await store.release_lease(lease)
    again = await acquired(store, "alice")
    await clock.advance(31)
    assert await store.release_lease(again)


async def test_waits_ls6_plain_saves_ignore_leases(store: StoreBase) -> None:
    await acquired(store, "alice")
    assert await store.save(record()) == 0
    assert await store.save_if_latest(record(), 0) == 1
    assert await store.save_if_latest(record(), None) == 2


async def test_waits_ls6_leases_are_per_thread(store: StoreBase) -> None:
    ours = await acquired(store, "alice")
    theirs = await acquired(store, "bob", thread_id="other")
    assert theirs.token == 1
    await store.release_lease(theirs)
    assert await store.get_lease("t") == ours


async def test_waits_ls7_a_lease_of_another_thread_saves_nothing(store: StoreBase) -> None:
    lease = await acquired(store, "alice", thread_id="a")
    with pytest.raises(OptionRefused) as refusal:
        await store.save_under_lease(record("b"), lease)
    assert str(refusal.value) == "the lease is for thread 'a', not the checkpoint's thread 'b'"
    assert await store.load("b") is None


@pytest.mark.parametrize("owner", ["", " ", "\t\n"])
async def test_waits_ls7_a_blank_owner_is_refused(store: StoreBase, owner: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        await store.try_acquire_lease("t", owner, 0)
    assert str(refusal.value) == "a lease needs an owner"


@pytest.mark.parametrize("ttl", [0, -1, 0.000_01, 0.000_999, float("nan")])
async def test_waits_ls7_a_ttl_below_a_millisecond_is_refused(store: StoreBase, ttl: float) -> None:
    lease = await acquired(store, "alice", thread_id="other")
    for call in (store.try_acquire_lease("t", "alice", ttl), store.renew_lease(lease, ttl)):
        with pytest.raises(OptionRefused) as refusal:
            await call
        assert str(refusal.value) == "a lease's ttl must be at least 1 millisecond"
    assert await store.get_lease("t") is None
    assert await store.get_lease("other") == lease


async def test_a_ttl_for_ever_is_refused(store: StoreBase) -> None:
    with pytest.raises(OptionRefused, match="a hundred years"):
        await store.try_acquire_lease("t", "alice", float("inf"))


@pytest.mark.parametrize(("ttl", "milliseconds"), [(0.001, 1), (0.001_1, 2), (0.07, 70), (0.29, 290), (1.000_001, 1001), (86_400, 86_400_000)])
async def test_a_ttl_counts_in_milliseconds_rounded_up(store: StoreBase, ttl: float, milliseconds: int) -> None:
    assert (await acquired(store, "alice", ttl)).expires_at == NOW + milliseconds


@pytest.mark.parametrize("name", ["ü/1", "a'b\"c;--", "日本語 🚀", "x" * 5000])
async def test_any_text_is_an_owner_or_a_thread_id(store: StoreBase, name: str) -> None:
    lease = await acquired(store, name, thread_id=name)
    assert await store.get_lease(name) == lease
    assert await store.save_under_lease(record(name), lease) == 0
    assert await store.release_lease(lease)


async def test_of_acquisitions_at_once_exactly_one_succeeds(store: StoreBase) -> None:
    answers = await asyncio.gather(*(store.try_acquire_lease("t", f"worker {number}", 30) for number in range(12)))
    [winner] = [answer.lease for answer in answers if isinstance(answer, Acquired)]
    assert [answer for answer in answers if isinstance(answer, Held)] == [Held(winner)] * 11
    assert winner.token == 1


async def test_of_saves_at_once_a_lost_lease_is_refused_and_the_others_go_on(store: StoreBase) -> None:
    lost = await acquired(store, "alice")
    await store.release_lease(lost)
    good = await acquired(store, "bob")
    other = await acquired(store, "carol", thread_id="other")
    results = await asyncio.gather(
        store.save_under_lease(record(), good),
        store.save_under_lease(record(), lost),
        store.save_under_lease(record(), lost, 0),
        store.save_under_lease(record(), good, 7),
        store.save_under_lease(record(), good, 0),
        store.save_under_lease(record("other"), other, -1),
        return_exceptions=True,
    )
    assert [result if isinstance(result, int) else type(result) for result in results] == [0, LeaseLost, LeaseLost, ThreadChanged, 1, 0]
    assert await sequences_of(store) == [0, 1]


# Purges

LATER = datetime(2027, 1, 1, tzinfo=UTC)


async def save_completed(store: StoreBase, thread_id: str) -> None:
    await store.save(record(thread_id, status="completed", next_node=None))


async def test_pu1_a_thread_under_a_live_lease_is_never_purged(store: StoreBase, clock: TestClock) -> None:
    await save_completed(store, "held")
    await acquired(store, "alice", thread_id="held")
    assert await store.purge(older_than=LATER) == 0
    assert await store.load("held") is not None
    await clock.advance(30)
    assert await store.purge(older_than=LATER) == 1


async def test_pu1_a_thread_under_a_live_lease_takes_no_place_in_the_limit(store: StoreBase) -> None:
    for thread_id in ("a", "b", "c"):
        await save_completed(store, thread_id)
    await acquired(store, "alice", thread_id="a")
    assert await store.purge(older_than=LATER, limit=2) == 2
    assert [await store.load(thread_id) is None for thread_id in ("a", "b", "c")] == [False, True, True]


async def test_pu3_a_purged_thread_counts_its_leases_anew(store: StoreBase) -> None:
    await save_completed(store, "t")
    lease = await acquired(store, "alice")
    await store.release_lease(lease)
    assert await store.purge(older_than=LATER) == 1
    assert await store.renew_lease(lease, 30) is None
    again = await acquired(store, "alice")
    assert again.token == 1
    assert await store.save_under_lease(record(), again, -1) == 0


async def test_without_a_lease_record_a_lease_is_lost(store: StoreBase) -> None:
    with pytest.raises(LeaseLost):
        await store.save_under_lease(record(), ThreadLease("t", "alice", token=1, expires_at=NOW + 30_000))
    assert await store.load("t") is None
