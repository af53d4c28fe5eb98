"""Waiting for a slot on an event loop: the futures and timers around `admission`'s decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from types import TracebackType
from typing import Literal, TypeAlias

import msgspec

from strata.errors import NotAdmitted, RefusalReason, UnsupportedEventLoop
from strata.graph.clock import Clock, Timer
from strata.runtime.admission import Admissions, Changes, Rules, Ticket, first_of, why_to_stop_waiting

Decision: TypeAlias = Literal["admitted"] | RefusalReason


class Admission(msgspec.Struct, frozen=True):
    """A slot was given: to a run of what priority and tenant, and after how many seconds."""

    waited: float
    priority: int
    tenant: str | None


class SlotQueue:
    """Admissions whose waiting requests are woken, and end in time. One event loop's at a time."""

    def __init__(self, rules: Rules) -> None:
        self.admissions = Admissions(rules)
        self._arrivals = count()
        self._places: dict[Ticket, _Place] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def ask(self, *, priority: int, tenant: str | None, deadline: float | None, is_cancelled: Callable[[], bool], clock: Clock) -> Slot:
        """A place in the queue, taken now.

        Raises:
            UnsupportedEventLoop: requests of another event loop have slots or wait.
        """
        self._come_to_loop()
        now = clock.monotonic()
        longest = self.admissions.rules.max_queue_time
        place = _Place(
            Ticket(next(self._arrivals), priority, tenant),
            asked_at=now,
            deadline_at=None if deadline is None else now + deadline,
            queue_ends_at=None if longest is None else now + longest,
            is_cancelled=is_cancelled,
            clock=clock,
        )
        self._places[place.ticket] = place
        self.tell(self.admissions.arrive(place.ticket))
        self._look(place)
        return Slot(self, place)

    def tell(self, changes: Changes) -> None:
        """Wake those of whom a step has decided."""
        for ticket in changes.admitted:
            self._places[ticket].decide("admitted")
        for ticket, reason in changes.refused:
            self._places.pop(ticket).decide(reason)

    def withdraw(self, place: _Place, reason: RefusalReason) -> None:
        """Stop waiting, if it is not too late: what has been decided stands."""
        if place.decision is None:
            self.admissions.leave(place.ticket)
            del self._places[place.ticket]
            place.decide(reason)

    def give_back(self, place: _Place) -> None:
        """The run is over, or was never begun."""
        if self._places.pop(place.ticket, None) is not None:
            self.tell(self.admissions.release(place.ticket))

    def drop(self, place: _Place) -> None:
        """Nobody asks for this place any more; it may be the garbage collector that says so, on whatever thread."""
        if place.ticket not in self._places:
            return
        loop = self._loop
        if loop is None or loop.is_closed() or _is_running_here(loop):
            self.withdraw(place, "cancelled")
            self.give_back(place)
        else:
            loop.call_soon_threadsafe(self.drop, place)

    def _look(self, place: _Place) -> None:
        """Turn the request away if it may wait no longer, and else look again when that may be so."""
        if place.decision is not None:
            return
        now = place.clock.monotonic()
        reason = why_to_stop_waiting(now, deadline_at=place.deadline_at, queue_ends_at=place.queue_ends_at, is_cancelled=place.is_cancelled())
        if reason is not None:
            self.withdraw(place, reason)
        elif (end := first_of((place.deadline_at, place.queue_ends_at))) is not None:
            place.timer = place.clock.call_later(end - now, lambda: self._look(place))

    def _come_to_loop(self) -> None:
        """Belong to the running loop; to another than before only if nobody of that one is left here."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._places:
            name = self.admissions.rules.name
            raise UnsupportedEventLoop(f"the scheduler '{name}' is in use by another event loop: give the runners of each loop one of their own")
        self._loop = loop


class Slot:
    """A place in the queue, and then a slot. `async with slot:` waits for it, and gives it back at the end.

    Dropping it unused withdraws it, or gives back what nobody has taken.

    Raises:
        NotAdmitted: on entering; there was no slot for this run.
    """

    __slots__ = ("_place", "_queue")

    def __init__(self, queue: SlotQueue, place: _Place) -> None:
        self._queue, self._place = queue, place

    async def __aenter__(self) -> Admission:
        place = self._place
        try:
            decision = await place.decided()
        except BaseException:
            self.give_up()
            raise
        if decision != "admitted":
            raise NotAdmitted(decision, waited=place.waited)
        return Admission(place.waited, place.ticket.priority, place.ticket.tenant)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None:
        self._queue.give_back(self._place)

    def cancel(self) -> None:
        """The run was told to stop: end the wait. A slot that was given stays given."""
        self._queue.withdraw(self._place, "cancelled")

    def give_up(self) -> None:
        """Leave the queue, or give back the slot; may be repeated."""
        self._queue.drop(self._place)

    def __del__(self) -> None:
        self._queue.drop(self._place)


class _Place:
    """A request on its way: what becomes of it, and when it may wait no longer (monotonic moments)."""

    __slots__ = ("_waiter", "asked_at", "clock", "deadline_at", "decision", "is_cancelled", "queue_ends_at", "ticket", "timer", "waited")

    def __init__(
        self,
        ticket: Ticket,
        *,
        asked_at: float,
        deadline_at: float | None,
        queue_ends_at: float | None,
        is_cancelled: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self.ticket, self.asked_at, self.deadline_at, self.queue_ends_at = ticket, asked_at, deadline_at, queue_ends_at
        self.is_cancelled, self.clock = is_cancelled, clock
        self.decision: Decision | None = None
        self.waited = 0.0
        self.timer: Timer | None = None
        self._waiter: asyncio.Future[None] | None = None

    def decide(self, decision: Decision) -> None:
        self.decision = decision
        self.waited = self.clock.monotonic() - self.asked_at
        if self.timer is not None:
            self.timer.cancel()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def decided(self) -> Decision:
        while self.decision is None:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self.decision


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
