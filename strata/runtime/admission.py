"""Who gets a slot next, who waits, and who is turned away (strata-waits.md 7.2); no time and no event loop."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

import msgspec

from strata.checkpoint import given
from strata.errors import OptionRefused, RefusalReason


class Reservation(NamedTuple):
    """`slots` that only runs of at least `min_priority` may use."""

    min_priority: int
    slots: int


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler is made with; `max_queue_time` is in seconds. `tenant_limits` are those to begin with."""

    name: str = "default"
    max_concurrent: int = 16
    max_queued: int = 1024
    max_queue_time: float | None = None
    reservations: tuple[Reservation, ...] = ()
    tenant_key: str = "tenant"
    tenant_limit: int | None = None
    tenant_limits: Mapping[str, int] = {}
    tenant_max_queued: int | None = None


def check(rules: Rules) -> None:
    """Raises OptionRefused for the first option that cannot be used (strata-waits.md 7.1)."""
    _check_types(rules)
    if not rules.name.strip():
        raise OptionRefused("the scheduler's name must not be empty")
    if rules.max_concurrent < 1:
        raise OptionRefused("the scheduler's max_concurrent must be at least 1")
    if rules.max_queue_time is not None and rules.max_queue_time <= 0:
        raise OptionRefused("the scheduler's max_queue_time must be more than zero")
    _check_reservations(rules)
    if not rules.tenant_key.strip():
        raise OptionRefused("the scheduler's tenant_key must not be empty")
    for tenant, limit in rules.tenant_limits.items():
        check_tenant_limit(tenant, limit)
    for name in ("max_queued", "tenant_limit", "tenant_max_queued"):
        value: int | None = getattr(rules, name)
        if value is not None and value < 0:
            raise OptionRefused(f"the scheduler's {name} must be at least 0")


def check_tenant_limit(tenant: str, limit: int | None) -> None:
    given.text(tenant, "the tenant of a limit")
    if limit is not None:
        given.whole_number(limit, f"the limit of tenant '{tenant}'")
    if not tenant.strip():
        raise OptionRefused("a tenant limit names no tenant")
    if limit is not None and limit < 0:
        raise OptionRefused(f"the limit of tenant '{tenant}' must be at least 0")


def reservation_of(pair: tuple[int, int]) -> Reservation:
    """Raises OptionRefused for what is no pair of whole numbers."""
    given.instance(pair, (tuple, list), "a reservation is a pair, Reservation(min_priority, slots)")
    if len(pair) != 2:
        raise OptionRefused(f"a reservation is a pair, Reservation(min_priority, slots), not {pair!r}")
    priority, slots = pair
    return Reservation(
        given.whole_number(priority, "the priority of a reservation"),
        given.whole_number(slots, "the slots of a reservation"),
    )


class Ticket(msgspec.Struct, frozen=True):
    """A request for a slot. Higher priorities come first, and among equals who arrived first."""

    arrival: int
    priority: int = 0
    tenant: str | None = None

    @property
    def rank(self) -> tuple[int, int]:
        return -self.priority, self.arrival


class Changes(msgspec.Struct, frozen=True):
    """Whom a step gave a slot, and whom it turned away."""

    admitted: tuple[Ticket, ...] = ()
    refused: tuple[tuple[Ticket, RefusalReason], ...] = ()


class TenantLoad(NamedTuple):
    """What a tenant has; `limit` is how many of its runs may be active, None any number."""

    active: int
    queued: int
    limit: int | None


class Admissions:
    """The slots and the queue. Each step is whole in itself, and says what it changed."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.is_closed = False
        self.active: set[Ticket] = set()
        self.waiting: list[Ticket] = []
        """By rank: the first is the next."""
        self._limits = dict(rules.tenant_limits)
        self._active_of: Counter[str] = Counter()
        self._waiting_of: Counter[str] = Counter()

    def arrive(self, ticket: Ticket) -> Changes:
        """Take a place in the queue, and a slot if there is one; what has then too many waiting loses its last."""
        if self.is_closed:
            return Changes(refused=((ticket, "closed"),))
        insort(self.waiting, ticket, key=attrgetter("rank"))
        self._count(self._waiting_of, ticket, 1)
        admitted = self._dispatch()
        return Changes(admitted, () if ticket in admitted else self._overflow(ticket))

    def leave(self, ticket: Ticket) -> None:
        """Stop waiting. Nobody can start for it: who stood behind had no better right to a slot."""
        self.waiting.remove(ticket)
        self._count(self._waiting_of, ticket, -1)

    def release(self, ticket: Ticket) -> Changes:
        """Give the slot back."""
        self.active.remove(ticket)
        self._count(self._active_of, ticket, -1)
        return Changes(self._dispatch())

    def set_limit(self, tenant: str, limit: int | None) -> Changes:
        """Let `tenant` have `limit` active runs, None: as many as any tenant. Those that are active go on."""
        if limit is None:
            self._limits.pop(tenant, None)
        else:
            self._limits[tenant] = limit
        return Changes(self._dispatch())

    def close(self) -> Changes:
        """Turn away all who wait, and all who come; those that are active go on."""
        self.is_closed = True
        waiting, self.waiting = self.waiting, []
        self._waiting_of.clear()
        return Changes(refused=tuple((ticket, "closed") for ticket in waiting))

    def tenants(self) -> dict[str, TenantLoad]:
        """Each tenant that has a run, active or waiting, or a limit of its own."""
        names = sorted({*self._active_of, *self._waiting_of, *self._limits})
        return {name: TenantLoad(self._active_of[name], self._waiting_of[name], self._limit_of(name)) for name in names}

    def _dispatch(self) -> tuple[Ticket, ...]:
        """Give slots in the order of the queue. A tenant at its limit holds back its own runs alone."""
        admitted: list[Ticket] = []
        for ticket in self.waiting:
            if not self._has_slot_for(ticket.priority):
                break
            if not self._is_at_limit(ticket.tenant):
                self.active.add(ticket)
                self._count(self._active_of, ticket, 1)
                self._count(self._waiting_of, ticket, -1)
                admitted.append(ticket)
        if admitted:
            self.waiting = [ticket for ticket in self.waiting if ticket not in self.active]
        return tuple(admitted)

    def _overflow(self, newcomer: Ticket) -> tuple[tuple[Ticket, RefusalReason], ...]:
        rules = self.rules
        tenant = newcomer.tenant
        if tenant is not None and rules.tenant_max_queued is not None and self._waiting_of[tenant] > rules.tenant_max_queued:
            self.leave(newcomer)
            return ((newcomer, "queue_full"),)
        if len(self.waiting) <= rules.max_queued:
            return ()
        last = self.waiting[-1]
        self.leave(last)
        return ((last, "queue_full" if last is newcomer else "shed"),)

    def _has_slot_for(self, priority: int) -> bool:
        kept = sum(reservation.slots for reservation in self.rules.reservations if reservation.min_priority > priority)
        return len(self.active) < self.rules.max_concurrent - kept

    def _is_at_limit(self, tenant: str | None) -> bool:
        if tenant is None:
            return False
        limit = self._limit_of(tenant)
        return limit is not None and self._active_of[tenant] >= limit

    def _limit_of(self, tenant: str) -> int | None:
        return self._limits.get(tenant, self.rules.tenant_limit)

    @staticmethod
    def _count(counts: Counter[str], ticket: Ticket, change: int) -> None:
        """Who has none is not kept: tenants may be as many as users."""
        if ticket.tenant is None:
            return
        counts[ticket.tenant] += change
        if not counts[ticket.tenant]:
            del counts[ticket.tenant]


def why_to_stop_waiting(now: float, *, deadline_at: float | None, queue_ends_at: float | None, is_cancelled: bool) -> RefusalReason | None:
    """Why who waits at `now` waits no longer, if so: the more telling of two reasons that hold at once."""
    if is_cancelled:
        return "cancelled"
    if deadline_at is not None and deadline_at <= now:
        return "deadline"
    if queue_ends_at is not None and queue_ends_at <= now:
        return "queue_timeout"
    return None


def first_of(moments: Iterable[float | None]) -> float | None:
    """The earliest of those that come at all."""
    return min((moment for moment in moments if moment is not None), default=None)


def _check_types(rules: Rules) -> None:
    given.text(rules.name, "the scheduler's name")
    given.text(rules.tenant_key, "the scheduler's tenant_key")
    given.whole_number(rules.max_concurrent, "the scheduler's max_concurrent")
    given.whole_number(rules.max_queued, "the scheduler's max_queued")
    for name in ("tenant_limit", "tenant_max_queued"):
        if (value := getattr(rules, name)) is not None:
            given.whole_number(value, f"the scheduler's {name}")


def _check_reservations(rules: Rules) -> None:
    priorities: set[int] = set()
    for priority, slots in rules.reservations:
        if slots < 1:
            raise OptionRefused(f"the reservation for priority {priority} must keep at least one slot")
        if priority in priorities:
            raise OptionRefused(f"two reservations are for priority {priority}: give each priority one")
        priorities.add(priority)
    reserved = sum(slots for _, slots in rules.reservations)
    if reserved >= rules.max_concurrent:
        raise OptionRefused(f"the reservations keep {reserved} of {rules.max_concurrent} slots: they must leave at least one for every priority")
