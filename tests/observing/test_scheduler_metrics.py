"""What a scheduler's decisions leave in the metrics (strata-observability.md 4, MT5)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from strata import NotAdmitted, Runner, Scheduler, StateGraph
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line
from tests.telemetry.test_recorded_runs import Collected


def about(collected: Collected, name: str) -> dict[str, Any]:
    """The values of a metric by outcome, or its only one by `-`."""
    return {
        json.loads(labels).get("strata.scheduler.outcome", "-"): value for (metric, labels), value in collected.metrics().items() if metric == name
    }


async def test_mt5_admissions_refusals_waits_and_gauges() -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def hold(state: Trail) -> Trail:
        entered.set()
        await go_on.wait()
        return state

    collected, scheduler = Collected(), Scheduler(1, max_queued=0)
    slow = Runner(StateGraph(Trail).add_node("A", hold).compile(), MemoryStore(), scheduler=scheduler, instrument=collected.instrument)
    quick = Runner(line("A").compile(), MemoryStore(), scheduler=scheduler, instrument=collected.instrument)
    running = asyncio.create_task(slow.run("t", Trail()))
    await entered.wait()
    with pytest.raises(NotAdmitted):
        await quick.run("u", Trail())
    assert about(collected, "strata.scheduler.active") == {"-": 1}
    go_on.set()
    await running
    await quick.run("u", Trail())
    assert about(collected, "strata.scheduler.admissions") == {"admitted": 2, "queue_full": 1}
    assert about(collected, "strata.scheduler.wait") == {"admitted": 2, "queue_full": 1}
    assert about(collected, "strata.scheduler.queued") == about(collected, "strata.scheduler.active") == {"-": 0}
