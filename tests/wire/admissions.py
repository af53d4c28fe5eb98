"""The recorded schedulers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from strata import Scheduler


@asynccontextmanager
async def scheduler_of(words: str) -> AsyncGenerator[Scheduler]:
    """The scheduler that the record describes so."""
    match words:
        case "1 slot, queue of 0, free":
            yield Scheduler(1, max_queued=0)
        case "1 slot, queue of 0, its slot taken":
            scheduler = Scheduler(1, max_queued=0)
            async with scheduler.slot():
                yield scheduler
        case "4 slots, tenant acme limited to 0, queue time 30 ms":
            yield Scheduler(4, tenant_limits={"acme": 0}, max_queue_time=0.030)
        case "closed":
            scheduler = Scheduler()
            scheduler.close()
            yield scheduler
        case _:
            raise NotImplementedError(words)
