"""Admission of runs in one process: how many go on at once, who waits, and who is turned away (strata-waits.md 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import msgspec

from strata.checkpoint import given
from strata.errors import OptionRefused
from strata.graph.clock import SYSTEM, Clock
from strata.runtime.admission import Rules, TenantLoad, check, check_tenant_limit, reservation_of
from strata.runtime.slots import Slot, SlotQueue

LOWEST_PRIORITY: Final = -(2**31)
HIGHEST_PRIORITY: Final = 2**31 - 1


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduler as it stands; `tenants` are those that have a run or a limit of their own."""

    name: str
    active: int
    queued: int
    max_concurrent: int
    max_queued: int
    closed: bool
    tenants: Mapping[str, TenantLoad]


class Scheduler:
    """Lets at most `max_concurrent` runs of this process go on at once: `Runner(graph, store, scheduler=Scheduler(4))`.

    Others wait, `max_queued` at most and `max_queue_time` (a timedelta or seconds) at longest: higher `priority=` first,
    then who came first. Each pair of `reservations`, `Reservation(min_priority, slots)`, keeps slots for the important.
    A run's tenant is its metadata under `tenant_key`: a tenant has at most `tenant_limit` active runs, or its own of
    `tenant_limits` (0: it is paused), and at most `tenant_max_queued` waiting ones. Who is turned away gets `NotAdmitted`.

    Several runners may share one; all on one event loop. A run holds one slot, whatever groups and subgraphs it has.

    Raises:
        OptionRefused: an option cannot be used.
    """

    def __init__(
        self,
        max_concurrent: int = 16,
        *,
        max_queued: int = 1024,
        max_queue_time: timedelta | float | None = None,
        reservations: Iterable[tuple[int, int]] = (),
        tenant_key: str = "tenant",
        tenant_limit: int | None = None,
        tenant_limits: Mapping[str, int] = MappingProxyType({}),
        tenant_max_queued: int | None = None,
        name: str = "default",
        clock: Clock = SYSTEM,
    ) -> None:
        rules = Rules(
            name=name,
            max_concurrent=max_concurrent,
            max_queued=max_queued,
            max_queue_time=None if max_queue_time is None else given.seconds(max_queue_time, "the scheduler's max_queue_time"),
            reservations=tuple(map(reservation_of, given.several(reservations, "the scheduler's reservations"))),
            tenant_key=tenant_key,
            tenant_limit=tenant_limit,
            tenant_limits=given.pairs(tenant_limits, "the scheduler's tenant_limits", "text to whole numbers"),
            tenant_max_queued=tenant_max_queued,
        )
        check(rules)
        given.answering(clock, ("monotonic", "call_later"), "a scheduler's clock tells the time and waits")
        self.clock = clock
        self._queue = SlotQueue(rules)

    @property
    def name(self) -> str:
        return self._queue.admissions.rules.name

    @property
    def tenant_key(self) -> str:
        """The metadata key that names a run's tenant."""
        return self._queue.admissions.rules.tenant_key

    def slot(
        self,
        *,
        priority: int = 0,
        tenant: str | None = None,
        deadline: float | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
        clock: Clock | None = None,
    ) -> Slot:
        """Ask for a slot; the place in the queue is taken now. `async with` waits for it, and gives it back at the end.

        `deadline` is in seconds from now. `is_cancelled` is asked whether the run has been told to stop; who tells it
        while it waits also calls `Slot.cancel`. Either refuses a wait, and not a slot that is free. `clock` is the
        run's, where that is another than the scheduler's.

        Raises:
            OptionRefused: the priority does not fit 32 bits.
            UnsupportedEventLoop: runs of another event loop have slots or wait for them.
        """
        given.whole_number(priority, "a run's priority")
        if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
            raise OptionRefused(f"a run's priority must be between {LOWEST_PRIORITY} and {HIGHEST_PRIORITY}")
        return self._queue.ask(priority=priority, tenant=tenant, deadline=deadline, is_cancelled=is_cancelled, clock=clock or self.clock)

    def set_tenant_limit(self, tenant: str, limit: int | None) -> None:
        """Let `tenant` have at most `limit` active runs, None: as many as any tenant. It acts at once, and stops nobody.

        Raises:
            OptionRefused: the tenant has no name, or the limit is below 0.
        """
        check_tenant_limit(tenant, limit)
        self._queue.tell(self._queue.admissions.set_limit(tenant, limit))

    def close(self) -> None:
        """Turn away all runs that wait, and all that come; those that have a slot go on."""
        self._queue.tell(self._queue.admissions.close())

    def snapshot(self) -> Snapshot:
        admissions = self._queue.admissions
        return Snapshot(
            name=admissions.rules.name,
            active=len(admissions.active),
            queued=len(admissions.waiting),
            max_concurrent=admissions.rules.max_concurrent,
            max_queued=admissions.rules.max_queued,
            closed=admissions.is_closed,
            tenants=admissions.tenants(),
        )
