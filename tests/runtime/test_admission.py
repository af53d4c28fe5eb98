"""Who gets a slot: the sheet's cases step by step, and any sequence of steps beside a small model (strata-waits.md 7)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from strata.errors import OptionRefused, RefusalReason
from strata.runtime.admission import (
    Admissions,
    Changes,
    Reservation,
    Rules,
    TenantLoad,
    Ticket,
    check,
    check_tenant_limit,
    first_of,
    why_to_stop_waiting,
)


class Desk:
    """Admissions whose requests have letters, as the cases tell them: `desk.arrive("A", 5)`."""

    def __init__(self, rules: Rules) -> None:
        self.admissions = Admissions(rules)
        self.tickets: dict[str, Ticket] = {}

    def arrive(self, letter: str, priority: int = 0, *, tenant: str | None = None) -> dict[str, RefusalReason]:
        """Who is turned away by it."""
        ticket = self.tickets[letter] = Ticket(len(self.tickets), priority, tenant)
        return self.refused(self.admissions.arrive(ticket))

    def release(self, letter: str) -> None:
        self.admissions.release(self.tickets[letter])

    def refused(self, changes: Changes) -> dict[str, RefusalReason]:
        return {self.letter(ticket): reason for ticket, reason in changes.refused}

    def letter(self, ticket: Ticket) -> str:
        return next(letter for letter, known in self.tickets.items() if known == ticket)

    @property
    def active(self) -> str:
        return "".join(sorted(self.letter(ticket) for ticket in self.admissions.active))

    @property
    def waiting(self) -> str:
        """In the order of the queue."""
        return "".join(self.letter(ticket) for ticket in self.admissions.waiting)


# The cases


def test_waits_sc8_a_full_queue_sheds_its_lowest_for_a_higher_newcomer() -> None:
    desk = Desk(Rules(max_concurrent=1, max_queued=1))
    desk.arrive("X")
    assert desk.arrive("A") == {}
    assert desk.arrive("B") == {"B": "queue_full"}
    assert desk.arrive("C", 1) == {"A": "shed"}
    assert (desk.active, desk.waiting) == ("X", "C")


def test_waits_sc10_reserved_slots_are_kept_for_the_important() -> None:
    desk = Desk(Rules(max_concurrent=3, reservations=(Reservation(min_priority=5, slots=1),)))
    for letter in "ABC":
        desk.arrive(letter)
    assert (desk.active, desk.waiting) == ("AB", "C")
    desk.arrive("D", 5)
    assert (desk.active, desk.waiting) == ("ABD", "C")
    desk.release("D")
    assert (desk.active, desk.waiting) == ("AB", "C")


def test_waits_sc11_a_tenant_at_its_limit_holds_back_only_its_own() -> None:
    desk = Desk(Rules(max_concurrent=2, tenant_limit=1))
    desk.arrive("A", tenant="acme")
    desk.arrive("B", tenant="acme")
    assert (desk.active, desk.waiting) == ("A", "B")
    desk.arrive("C", tenant="globex")
    assert (desk.active, desk.waiting) == ("AC", "B")
    desk.release("A")
    assert (desk.active, desk.waiting) == ("BC", "")


# The rules one by one


def test_higher_priorities_go_first_and_among_equals_who_came_first() -> None:
    desk = Desk(Rules(max_concurrent=1))
    desk.arrive("X")
    for letter, priority in [("A", 0), ("B", 7), ("C", -3), ("D", 7), ("E", 0)]:
        desk.arrive(letter, priority)
    assert desk.waiting == "BDAEC"


def test_a_waiter_without_a_slot_stops_all_behind_it() -> None:
    desk = Desk(Rules(max_concurrent=2, reservations=(Reservation(5, 1),), tenant_limits={"paused": 0}))
    desk.arrive("A")
    desk.arrive("B")
    desk.arrive("P", 9, tenant="paused")
    assert (desk.active, desk.waiting) == ("A", "PB")


def test_a_newcomer_that_can_start_starts_past_a_full_queue() -> None:
    desk = Desk(Rules(max_concurrent=2, max_queued=1, tenant_limit=1))
    desk.arrive("A", tenant="acme")
    desk.arrive("B", tenant="acme")
    assert desk.arrive("C", tenant="globex") == {}
    assert (desk.active, desk.waiting) == ("AC", "B")


def test_a_newcomer_of_the_lowest_rank_is_itself_turned_away() -> None:
    desk = Desk(Rules(max_concurrent=1, max_queued=1))
    desk.arrive("X")
    desk.arrive("A", 3)
    assert desk.arrive("B", 3) == {"B": "queue_full"}
    assert desk.arrive("C", 2) == {"C": "queue_full"}


def test_without_a_queue_a_request_starts_at_once_or_never() -> None:
    desk = Desk(Rules(max_concurrent=1, max_queued=0))
    assert desk.arrive("A") == {}
    assert desk.arrive("B", 9) == {"B": "queue_full"}
    assert (desk.active, desk.waiting) == ("A", "")


def test_a_tenant_with_too_many_waiting_is_turned_away_whatever_its_priority() -> None:
    desk = Desk(Rules(max_concurrent=1, tenant_max_queued=1))
    desk.arrive("X")
    desk.arrive("A", tenant="acme")
    assert desk.arrive("B", 9, tenant="acme") == {"B": "queue_full"}
    assert desk.arrive("C", tenant="globex") == {}
    for letter in "DE":
        assert desk.arrive(letter) == {}  # who has no tenant has none of its limits
    assert desk.waiting == "ACDE"


def test_a_tenants_limit_acts_at_once_and_stops_nobody() -> None:
    desk = Desk(Rules(max_concurrent=9, tenant_limit=1))
    for letter in "ABC":
        desk.arrive(letter, tenant="acme")
    assert (desk.active, desk.waiting) == ("A", "BC")
    desk.admissions.set_limit("acme", 2)
    assert (desk.active, desk.waiting) == ("AB", "C")
    desk.admissions.set_limit("acme", 0)
    desk.release("A")
    assert (desk.active, desk.waiting) == ("B", "C")
    desk.release("B")
    desk.admissions.set_limit("acme", None)
    assert (desk.active, desk.waiting) == ("C", "")


def test_who_leaves_lets_nobody_start() -> None:
    desk = Desk(Rules(max_concurrent=1, tenant_max_queued=1))
    desk.arrive("X")
    desk.arrive("A", tenant="acme")
    desk.arrive("B")
    desk.admissions.leave(desk.tickets["A"])
    assert (desk.active, desk.waiting) == ("X", "B")
    assert desk.arrive("C", tenant="acme") == {}


def test_a_closed_desk_turns_away_who_waits_and_who_comes() -> None:
    desk = Desk(Rules(max_concurrent=1))
    for letter in "XAB":
        desk.arrive(letter)
    assert desk.refused(desk.admissions.close()) == {"A": "closed", "B": "closed"}
    assert desk.arrive("C") == {"C": "closed"}
    assert (desk.active, desk.waiting) == ("X", "")
    desk.release("X")
    assert desk.arrive("D") == {"D": "closed"}


def test_tenants_are_told_while_they_have_a_run_or_a_limit() -> None:
    desk = Desk(Rules(max_concurrent=1, tenant_limit=2, tenant_limits={"paused": 0}))
    desk.arrive("A", tenant="acme")
    desk.arrive("B", tenant="globex")
    assert desk.admissions.tenants() == {"acme": TenantLoad(1, 0, 2), "globex": TenantLoad(0, 1, 2), "paused": TenantLoad(0, 0, 0)}
    desk.release("A")
    desk.release("B")
    assert desk.admissions.tenants() == {"paused": (0, 0, 0)}


@pytest.mark.parametrize(
    ("deadline_at", "queue_ends_at", "is_cancelled", "reason"),
    [
        (None, None, False, None),
        (11, 11, False, None),
        (10, None, False, "deadline"),
        (None, 10, False, "queue_timeout"),
        (10, 10, False, "deadline"),
        (10, 9, False, "deadline"),
        (9, 9, True, "cancelled"),
        (None, None, True, "cancelled"),
    ],
)
def test_of_two_reasons_at_once_the_more_telling_is_told(
    deadline_at: float | None, queue_ends_at: float | None, is_cancelled: bool, reason: RefusalReason | None
) -> None:
    assert why_to_stop_waiting(10, deadline_at=deadline_at, queue_ends_at=queue_ends_at, is_cancelled=is_cancelled) == reason


def test_the_first_of_moments_that_may_not_come() -> None:
    assert (first_of([3, None, 2]), first_of([None, None])) == (2, None)


# Creation


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (Rules(name=" ", max_concurrent=0), "the scheduler's name must not be empty"),
        (Rules(max_concurrent=0, max_queue_time=0), "the scheduler's max_concurrent must be at least 1"),
        (Rules(max_queue_time=0, reservations=(Reservation(1, 0),)), "the scheduler's max_queue_time must be more than zero"),
        (Rules(reservations=(Reservation(1, 0),), tenant_key=""), "the reservation for priority 1 must keep at least one slot"),
        (Rules(reservations=(Reservation(-2, 1), Reservation(-2, 0))), "the reservation for priority -2 must keep at least one slot"),
        (Rules(reservations=(Reservation(5, 9), Reservation(5, 9))), "two reservations are for priority 5: give each priority one"),
        (
            Rules(max_concurrent=4, reservations=(Reservation(1, 1), Reservation(5, 3)), tenant_key=""),
            "the reservations keep 4 of 4 slots: they must leave at least one for every priority",
        ),
        (Rules(tenant_key="", tenant_limits={"": 1}), "the scheduler's tenant_key must not be empty"),
        (Rules(tenant_limits={"acme": 0, " ": 1}), "a tenant limit names no tenant"),
        (Rules(tenant_limits={"acme": -1}), "the limit of tenant 'acme' must be at least 0"),
        (Rules(max_queued=-1), "the scheduler's max_queued must be at least 0"),
        (Rules(tenant_limit=-1), "the scheduler's tenant_limit must be at least 0"),
        (Rules(tenant_max_queued=-1), "the scheduler's tenant_max_queued must be at least 0"),
    ],
)
def test_waits_sc7_the_first_option_that_cannot_be_used_is_told(rules: Rules, text: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        check(rules)
    assert str(refusal.value) == text


def test_the_smallest_options_that_can_be_used() -> None:
    check(Rules(max_concurrent=1, max_queued=0, max_queue_time=0.001, tenant_limit=0, tenant_limits={"acme": 0}, tenant_max_queued=0))
    check_tenant_limit("acme", None)


# Any sequence of steps

TENANTS = (None, "acme", "globex")
some_limits = st.none() | st.integers(0, 2)
some_two_limits = st.tuples(some_limits, some_limits)


@dataclass
class Model:
    """The rules once more, with nothing kept but who is where."""

    rules: Rules
    limits: dict[str, int] = field(default_factory=dict[str, int])
    active: list[Ticket] = field(default_factory=list[Ticket])
    waiting: list[Ticket] = field(default_factory=list[Ticket])
    closed: bool = False

    def has_slot(self, priority: int) -> bool:
        return len(self.active) < self.rules.max_concurrent - sum(slots for least, slots in self.rules.reservations if least > priority)

    def is_full(self, tenant: str | None) -> bool:
        limit = None if tenant is None else self.limits.get(tenant, self.rules.tenant_limit)
        return limit is not None and sum(ticket.tenant == tenant for ticket in self.active) >= limit

    def next_to_start(self) -> Ticket | None:
        for ticket in sorted(self.waiting, key=lambda ticket: (-ticket.priority, ticket.arrival)):
            if not self.has_slot(ticket.priority):
                return None
            if not self.is_full(ticket.tenant):
                return ticket
        return None

    def dispatch(self) -> list[Ticket]:
        started: list[Ticket] = []
        while (ticket := self.next_to_start()) is not None:
            self.waiting.remove(ticket)
            self.active.append(ticket)
            started.append(ticket)
        return started

    def turned_away_by(self, newcomer: Ticket) -> list[tuple[Ticket, RefusalReason]]:
        if newcomer not in self.waiting:
            return []
        most = self.rules.tenant_max_queued
        if newcomer.tenant is not None and most is not None and sum(ticket.tenant == newcomer.tenant for ticket in self.waiting) > most:
            return [(newcomer, "queue_full")]
        if len(self.waiting) <= self.rules.max_queued:
            return []
        last = max(self.waiting, key=lambda ticket: (-ticket.priority, ticket.arrival))
        return [(last, "queue_full" if last == newcomer else "shed")]


class AdmissionsBesideModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.arrivals = 0

    @initialize(most=st.integers(1, 4), queued=st.integers(0, 4), reservation=st.tuples(st.integers(0, 2), st.integers(0, 3)), limits=some_two_limits)
    def open(self, most: int, queued: int, reservation: tuple[int, int], limits: tuple[int | None, int | None]) -> None:
        least, kept = reservation
        limit, tenant_queued = limits
        reservations = (Reservation(least, kept),) if 0 < kept < most else ()
        rules = Rules(max_concurrent=most, max_queued=queued, reservations=reservations, tenant_limit=limit, tenant_max_queued=tenant_queued)
        self.model = Model(rules)
        self.admissions = Admissions(rules)

    @rule(priority=st.integers(-1, 3), tenant=st.sampled_from(TENANTS))
    def arrive(self, priority: int, tenant: str | None) -> None:
        ticket = Ticket(self.arrivals, priority, tenant)
        self.arrivals += 1
        changes = self.admissions.arrive(ticket)
        if self.model.closed:
            assert changes == Changes(refused=((ticket, "closed"),))
            return
        self.model.waiting.append(ticket)
        assert list(changes.admitted) == self.model.dispatch()
        refused = self.model.turned_away_by(ticket)
        for other, _ in refused:
            self.model.waiting.remove(other)
        assert list(changes.refused) == refused

    @precondition(lambda self: self.model.active)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.model.active))
        self.model.active.remove(ticket)
        assert self.admissions.release(ticket) == Changes(tuple(self.model.dispatch()))

    @precondition(lambda self: self.model.waiting)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.model.waiting))
        self.model.waiting.remove(ticket)
        self.admissions.leave(ticket)

    @rule(tenant=st.sampled_from(["acme", "globex"]), limit=some_limits)
    def set_limit(self, tenant: str, limit: int | None) -> None:
        if limit is None:
            self.model.limits.pop(tenant, None)
        else:
            self.model.limits[tenant] = limit
        assert self.admissions.set_limit(tenant, limit) == Changes(tuple(self.model.dispatch()))

    @precondition(lambda self: self.arrivals > 15)
    @rule()
    def close(self) -> None:
        refused = sorted(self.model.waiting, key=lambda ticket: (-ticket.priority, ticket.arrival))
        assert [ticket for ticket, _ in self.admissions.close().refused] == refused
        self.model.waiting, self.model.closed = [], True

    @invariant()
    def both_agree(self) -> None:
        if self.arrivals:
            assert self.admissions.active == set(self.model.active)
            assert self.admissions.waiting == sorted(self.model.waiting, key=lambda ticket: (-ticket.priority, ticket.arrival))

    @invariant()
    def tenants_are_counted(self) -> None:
        if self.arrivals:
            for tenant, load in self.admissions.tenants().items():
                assert load.active == sum(ticket.tenant == tenant for ticket in self.model.active)
                assert load.queued == sum(ticket.tenant == tenant for ticket in self.model.waiting)

    @invariant()
    def nobody_waits_who_could_start_and_no_limit_is_passed(self) -> None:
        if self.arrivals:
            rules = self.model.rules
            assert self.model.next_to_start() is None
            assert len(self.admissions.active) <= rules.max_concurrent
            assert len(self.admissions.waiting) <= rules.max_queued
            for least, kept in rules.reservations:
                assert sum(ticket.priority < least for ticket in self.admissions.active) <= rules.max_concurrent - kept


def test_any_sequence_of_steps_agrees_with_the_model() -> None:
    run_state_machine_as_test(AdmissionsBesideModel, settings=settings(max_examples=150, stateful_step_count=40, deadline=None))
