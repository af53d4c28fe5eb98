"""What a scheduler's decisions add to the metrics of the runner that asked (strata-observability.md 4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from strata.errors import NotAdmitted
from strata.graph.clock import Clock
from strata.ports.instrument import Instrument
from strata.ports.metrics import SCHEDULER_ACTIVE, SCHEDULER_ADMISSIONS, SCHEDULER_QUEUED, SCHEDULER_WAIT
from strata.runtime.slots import Admission, Slot


@asynccontextmanager
async def measured(slot: Slot, *, name: str, priority: int, clock: Clock, instrument: Instrument) -> AsyncGenerator[Admission]:
    """`slot`, with its wait, what came of it and its time measured. A wait that is abandoned counts as cancelled."""
    scheduler = {"strata.scheduler.name": name}
    asked_at, outcome = clock.monotonic(), "cancelled"
    instrument.record(SCHEDULER_QUEUED, 1, scheduler)
    try:
        admission = await slot.__aenter__()
        outcome = "admitted"
    except NotAdmitted as refusal:
        outcome = refusal.reason
        raise
    finally:
        decided = {**scheduler, "strata.scheduler.outcome": outcome}
        instrument.record(SCHEDULER_QUEUED, -1, scheduler)
        instrument.record(SCHEDULER_ADMISSIONS, 1, {**decided, "strata.run.priority": str(priority)})
        instrument.record(SCHEDULER_WAIT, clock.monotonic() - asked_at, decided)
    instrument.record(SCHEDULER_ACTIVE, 1, scheduler)
    try:
        yield admission
    finally:
        await slot.__aexit__(None, None, None)
        instrument.record(SCHEDULER_ACTIVE, -1, scheduler)
