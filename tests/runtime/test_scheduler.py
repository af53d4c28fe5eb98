"""Waiting for a slot on a clock that the test moves: times, cancellations, abandonment, closing (strata-waits.md 7)."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from strata.errors import NotAdmitted, OptionRefused, RefusalReason, UnsupportedEventLoop
from strata.runtime.admission import Reservation
from strata.runtime.scheduler import Scheduler
from strata.runtime.slots import Admission, Slot
from tests.clocks import HandClock, settle
from tests.records import WIRE

T = TypeVar("T")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def one_slot(clock: HandClock, **options: Any) -> Scheduler:
    return Scheduler(1, clock=clock, **options)


class Visit:
    """A run that asks for a slot, and holds it until it is told to leave."""

    def __init__(self, slot: Slot) -> None:
        self.admission: Admission | None = None
        self.leaves = asyncio.Event()
        self.task = asyncio.ensure_future(self.go_on(slot))

    async def go_on(self, slot: Slot) -> None:
        async with slot as self.admission:
            await self.leaves.wait()

    async def end(self) -> None:
        self.leaves.set()
        await self.task

    async def refusal(self) -> tuple[RefusalReason, float]:
        with pytest.raises(NotAdmitted) as refused:
            await self.task
        return refused.value.reason, refused.value.waited


async def counts(scheduler: Scheduler) -> tuple[int, int]:
    await settle()
    snapshot = scheduler.snapshot()
    return snapshot.active, snapshot.queued


# Times


async def test_waits_sc1_a_wait_ends_with_the_longest_queue_time(clock: HandClock) -> None:
    scheduler = one_slot(clock, max_queue_time=timedelta(seconds=30))
    async with scheduler.slot():
        waiting = Visit(scheduler.slot())
        await clock.pass_time(29)
        assert await counts(scheduler) == (1, 1)
        await clock.pass_time(1)
        assert await waiting.refusal() == ("queue_timeout", 30.0)
        assert await counts(scheduler) == (1, 0)
    assert clock.timers == 0


async def test_waits_sc2_a_wait_ends_with_the_deadline(clock: HandClock) -> None:
    scheduler = one_slot(clock, max_queue_time=300)
    async with scheduler.slot():
        waiting = Visit(scheduler.slot(deadline=10))
        await clock.pass_time(20)
        assert await waiting.refusal() == ("deadline", 10.0)


@pytest.mark.parametrize("deadline", [0, -5])
async def test_waits_sc3_a_passed_deadline_takes_a_free_slot_and_waits_for_none(clock: HandClock, deadline: float) -> None:
    scheduler = one_slot(clock)
    async with scheduler.slot(deadline=deadline) as admission:
        assert admission.waited == 0
        assert await Visit(scheduler.slot(deadline=deadline)).refusal() == ("deadline", 0.0)
        assert await counts(scheduler) == (1, 0)


async def test_a_deadline_and_the_queue_time_at_once_are_the_deadline(clock: HandClock) -> None:
    scheduler = one_slot(clock, max_queue_time=10)
    async with scheduler.slot():
        waiting = Visit(scheduler.slot(deadline=10))
        await clock.pass_time(10)
        assert await waiting.refusal() == ("deadline", 10.0)


async def test_waits_sc19_who_waited_is_told_how_long(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    first, second = Visit(scheduler.slot()), Visit(scheduler.slot(priority=2, tenant="acme", deadline=60))
    await clock.pass_time(3)
    await first.end()
    await settle()
    assert first.admission == Admission(waited=0.0, priority=0, tenant=None)
    assert second.admission == Admission(waited=3.0, priority=2, tenant="acme")
    await clock.pass_time(100)  # its deadline is the run's own business now
    await second.end()
    assert await counts(scheduler) == (0, 0)


async def test_the_times_are_those_of_the_runs_own_clock() -> None:
    clock = HandClock()
    scheduler = Scheduler(1)
    async with scheduler.slot():
        waiting = Visit(scheduler.slot(deadline=5, clock=clock))
        await clock.pass_time(5)
        assert await waiting.refusal() == ("deadline", 5.0)


# Cancellation


async def test_waits_sc17_who_is_told_to_stop_waits_no_longer(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    async with scheduler.slot():
        slot = scheduler.slot(deadline=60)
        waiting = Visit(slot)
        await clock.pass_time(5.5)
        slot.cancel()
        assert await waiting.refusal() == ("cancelled", 5.5)
        assert await counts(scheduler) == (1, 0)
    assert clock.timers == 0


async def test_waits_sc15_who_was_told_to_stop_before_takes_a_free_slot_and_waits_for_none(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    async with scheduler.slot(is_cancelled=lambda: True):
        assert await Visit(scheduler.slot(is_cancelled=lambda: True, deadline=0)).refusal() == ("cancelled", 0.0)


async def test_who_was_told_to_stop_when_the_time_is_over_was_cancelled(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    told: list[bool] = []
    async with scheduler.slot():
        waiting = Visit(scheduler.slot(deadline=10, is_cancelled=lambda: bool(told)))
        await clock.pass_time(9)
        told.append(True)
        await clock.pass_time(1)
        assert await waiting.refusal() == ("cancelled", 10.0)


async def test_a_slot_that_was_given_stays_given(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    first = Visit(scheduler.slot())
    await settle()
    slot = scheduler.slot(deadline=10)
    first.leaves.set()
    await settle()
    slot.cancel()  # it has been admitted, though nobody has looked yet
    await clock.pass_time(10)
    async with slot as admission:
        assert admission.waited == 0


# Abandonment


async def test_waits_sc5_a_dropped_request_leaves_the_queue(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    async with scheduler.slot():
        waiting = scheduler.slot(deadline=60)
        assert await counts(scheduler) == (1, 1)
        del waiting
        gc.collect()
        assert await counts(scheduler) == (1, 0)
    assert clock.timers == 0


async def test_waits_sc5_an_admission_that_nobody_took_is_given_back(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    first = scheduler.slot()
    second = scheduler.slot()
    assert await counts(scheduler) == (1, 1)
    del first
    gc.collect()
    assert await counts(scheduler) == (1, 0)
    async with second as admission:
        assert admission.waited == 0
    assert await counts(scheduler) == (0, 0)


async def test_a_request_dropped_on_another_thread_is_withdrawn_on_the_loop(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    slots = [scheduler.slot(), scheduler.slot()]
    thread = threading.Thread(target=slots.clear)
    thread.start()
    thread.join()
    assert await counts(scheduler) == (0, 0)


async def test_a_task_that_is_cancelled_while_it_waits_leaves_the_queue(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    async with scheduler.slot():
        waiting = Visit(scheduler.slot())
        assert await counts(scheduler) == (1, 1)
        waiting.task.cancel()
        await asyncio.wait([waiting.task])
        assert waiting.task.cancelled()
        assert await counts(scheduler) == (1, 0)


async def test_a_task_that_is_cancelled_as_it_is_admitted_gives_the_slot_back(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    first = scheduler.slot()
    waiting = Visit(scheduler.slot())
    await settle()
    first.give_up()  # admits the other, whose task has not run yet
    waiting.task.cancel()
    await asyncio.wait([waiting.task])
    assert await counts(scheduler) == (0, 0)


async def test_a_slot_may_be_given_up_twice(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    slot, other = scheduler.slot(), scheduler.slot()
    slot.give_up()
    slot.give_up()
    assert await counts(scheduler) == (1, 0)
    other.give_up()


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, KeyboardInterrupt])
async def test_waits_sc15_a_slot_is_given_back_however_the_run_ends(clock: HandClock, error: type[BaseException]) -> None:
    scheduler = one_slot(clock)
    with pytest.raises(error):
        async with scheduler.slot():
            raise error
    assert await counts(scheduler) == (0, 0)


# Queues


async def test_the_place_is_taken_at_the_call_and_not_at_the_wait(clock: HandClock) -> None:
    scheduler = one_slot(clock)
    first, second = scheduler.slot(), scheduler.slot()
    third = Visit(scheduler.slot())
    await settle()
    first.give_up()
    async with second:
        assert third.admission is None
    await settle()
    assert third.admission is not None
    await third.end()


async def test_waits_sc8_a_waiting_run_is_shed_for_a_more_important_one(clock: HandClock) -> None:
    scheduler = one_slot(clock, max_queued=1)
    async with scheduler.slot():
        low = Visit(scheduler.slot())
        await clock.pass_time(2)
        assert await Visit(scheduler.slot()).refusal() == ("queue_full", 0.0)
        high = Visit(scheduler.slot(priority=1))
        assert await low.refusal() == ("shed", 2.0)
    await settle()
    assert high.admission is not None
    await high.end()


async def test_waits_sc10_a_reserved_slot_waits_for_the_important(clock: HandClock) -> None:
    scheduler = Scheduler(2, reservations=[(5, 1)], clock=clock)
    visits = [Visit(scheduler.slot(priority=priority)) for priority in (0, 5, 0)]
    await settle()
    assert [visit.admission is not None for visit in visits] == [True, True, False]
    for visit in visits:
        await visit.end()


async def test_waits_sc6_a_snapshot_tells_each_tenant(clock: HandClock) -> None:
    scheduler = Scheduler(4, tenant_limit=2, tenant_limits={"paused": 0}, name="nightly", clock=clock)
    async with scheduler.slot(tenant="acme"):
        waiting = Visit(scheduler.slot(tenant="paused"))
        await settle()
        snapshot = scheduler.snapshot()
        assert (snapshot.name, snapshot.active, snapshot.queued, snapshot.max_concurrent, snapshot.max_queued) == ("nightly", 1, 1, 4, 1024)
        assert (snapshot.tenants, snapshot.closed) == ({"acme": (1, 0, 2), "paused": (0, 1, 0)}, False)
        scheduler.close()
        assert await waiting.refusal() == ("closed", 0.0)
        assert (scheduler.snapshot().tenants["paused"], scheduler.snapshot().closed) == ((0, 0, 0), True)
        assert await Visit(scheduler.slot()).refusal() == ("closed", 0.0)
        assert await counts(scheduler) == (1, 0)


async def test_waits_sc18_a_tenants_limit_can_be_changed_while_runs_wait(clock: HandClock) -> None:
    scheduler = Scheduler(tenant_limits={"acme": 0}, clock=clock)
    acme, other = Visit(scheduler.slot(tenant="acme")), Visit(scheduler.slot())
    await settle()
    assert (acme.admission, other.admission is None) == (None, False)
    scheduler.set_tenant_limit("acme", None)
    await settle()
    assert acme.admission is not None
    for visit in (acme, other):
        await visit.end()
    with pytest.raises(OptionRefused, match="a tenant limit names no tenant"):
        scheduler.set_tenant_limit("", 1)


# What the Rust engine recorded


async def test_the_recorded_calls_are_turned_away_for_the_recorded_reasons(clock: HandClock) -> None:
    free, full, paused, closed = (json.loads(line) for line in (WIRE / "checkpoints" / "scheduler" / "calls.jsonl").read_text().splitlines())
    scheduler = one_slot(clock, max_queued=0)
    assert free["call"]["config"] == {"priority": 5, "scheduler": "1 slot, queue of 0, free"}
    async with scheduler.slot(priority=5):
        assert full["call"]["config"] == {"scheduler": "1 slot, queue of 0, its slot taken"}
        assert await Visit(scheduler.slot()).refusal() == (full["result"]["reason"], 0.0)
    assert paused["call"]["config"]["scheduler"] == "4 slots, tenant acme limited to 0, queue time 30 ms"
    scheduler = Scheduler(4, tenant_limits={"acme": 0}, max_queue_time=0.25, clock=clock)
    waiting = Visit(scheduler.slot(tenant=paused["call"]["config"]["metadata"][scheduler.tenant_key]))
    await clock.pass_time(0.25)
    assert await waiting.refusal() == (paused["result"]["reason"], 0.25)
    assert closed["call"]["config"] == {"scheduler": "closed"}
    scheduler.close()
    assert await Visit(scheduler.slot()).refusal() == (closed["result"]["reason"], 0.0)


# Texts


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("queue_full", "run not admitted: the scheduler's queue is full"),
        ("shed", "run not admitted: shed from the scheduler's queue for a higher-priority run"),
        ("queue_timeout", "run not admitted: no slot within the scheduler's longest wait"),
        ("cancelled", "run not admitted: cancelled while waiting for a slot"),
        ("deadline", "run not admitted: its deadline passed while it waited for a slot"),
        ("closed", "run not admitted: the scheduler is closed"),
    ],
)
def test_waits_sc7_each_refusal_has_its_text(reason: RefusalReason, text: str) -> None:
    assert str(NotAdmitted(reason, waited=0)) == text


def test_waits_sc7_a_scheduler_is_refused_its_options() -> None:
    with pytest.raises(OptionRefused, match="the scheduler's max_concurrent must be at least 1"):
        Scheduler(0)
    with pytest.raises(OptionRefused, match="the scheduler's max_queue_time must be more than zero"):
        Scheduler(max_queue_time=timedelta(0))
    with pytest.raises(OptionRefused, match="the reservation for priority 3 must keep at least one slot"):
        Scheduler(reservations=[Reservation(min_priority=3, slots=0)])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_concurrent": "4"}, "the scheduler's max_concurrent is a whole number, not '4'"),
        ({"max_queued": None}, "the scheduler's max_queued is a whole number, not None"),
        ({"max_queue_time": "1h"}, "the scheduler's max_queue_time cannot be used: a duration is a timedelta or a number of seconds, not '1h'"),
        ({"reservations": 3}, r"the scheduler's reservations is a list, not 3"),
        ({"reservations": [3]}, r"a reservation is a pair, Reservation\(min_priority, slots\), not 3"),
        ({"reservations": [(1, 2, 3)]}, r"a reservation is a pair, Reservation\(min_priority, slots\), not \(1, 2, 3\)"),
        ({"reservations": [("high", 1)]}, "the priority of a reservation is a whole number, not 'high'"),
        ({"tenant_key": 3}, "the scheduler's tenant_key is text, not 3"),
        ({"tenant_limit": "x"}, "the scheduler's tenant_limit is a whole number, not 'x'"),
        ({"tenant_limits": 3}, "the scheduler's tenant_limits is a dict of text to whole numbers, not 3"),
        ({"tenant_limits": {"acme": "x"}}, "the limit of tenant 'acme' is a whole number, not 'x'"),
        ({"tenant_limits": {3: 1}}, "the tenant of a limit is text, not 3"),
        ({"name": 3}, "the scheduler's name is text, not 3"),
        ({"clock": 3}, "a scheduler's clock tells the time and waits, which 3 does not"),
    ],
)
def test_an_option_of_another_type_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        Scheduler(**options)


@pytest.mark.parametrize("priority", [-(2**31) - 1, 2**31])
async def test_a_priority_has_32_bits(priority: int) -> None:
    with pytest.raises(OptionRefused, match="a run's priority must be between"):
        Scheduler().slot(priority=priority)


# Event loops


def test_a_second_event_loop_is_refused_while_the_first_has_runs() -> None:
    scheduler = Scheduler()

    async def inside() -> None:
        async with scheduler.slot():
            refused = await asyncio.to_thread(lambda: asyncio.run(outcome_of(lambda: use(scheduler))))
        assert str(refused) == "the scheduler 'default' is in use by another event loop: give the runners of each loop one of their own"
        assert isinstance(refused, UnsupportedEventLoop)

    asyncio.run(inside())


def test_one_loop_after_another_may_use_it() -> None:
    scheduler = Scheduler(1)
    for _ in range(2):
        asyncio.run(use(scheduler))
    assert scheduler.snapshot().active == 0


async def use(scheduler: Scheduler) -> None:
    async with scheduler.slot():
        await asyncio.sleep(0)


async def outcome_of(call: Callable[[], Awaitable[T]]) -> T | Exception:
    try:
        return await call()
    except Exception as error:
        return error
