"""When a waiting thread wakes, at the ends of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from strata import Completed, Failed, Interrupted, Runner, StateGraph
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds

NEVER = datetime.max.replace(tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
AGES = 1e12
"""Seconds: 31,700 years."""


def waits(kind: str, **times: Any) -> StateGraph[Trail]:
    graph = StateGraph(Trail).add_node("Start", adds("s")).add_node("Done", adds("D"))
    match kind:
        case "timer":
            graph.add_timer("Wait", times.get("delay"), until=times.get("until"))
        case "event":
            graph.add_wait_for_event("Wait", "paid", timeout=times["delay"], on_timeout="Done")
        case _:
            graph.add_node("Wait", adds("W")).add_interrupt_boundary("Wait", timeout=times["delay"], on_timeout="Done")
    return graph.add_edge("Start", "Wait").add_edge("Wait", "Done")


def never(_: Trail) -> datetime:
    return NEVER


def first(_: Trail) -> datetime:
    return FIRST


@pytest.mark.parametrize("kind", ["timer", "event", "boundary"])
@pytest.mark.parametrize("delay", [AGES, 1e300])
async def test_a_wait_beyond_the_year_9999_fails_its_node(kind: str, delay: float) -> None:
    runner = Runner(waits(kind, delay=delay).compile(), MemoryStore())
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'Wait' would wake after the year 9999, which no record can hold"
    assert (await runner.thread("t")).status == "failed"


async def test_a_timer_until_the_last_moment_waits_for_it() -> None:
    runner = Runner(waits("timer", until=never).compile(), MemoryStore())
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert outcome.wait is not None
    assert outcome.wait.wake_at == NEVER.replace(microsecond=0)


async def test_a_timer_until_the_first_moment_is_due_at_once() -> None:
    runner = Runner(waits("timer", until=first).compile(), MemoryStore())
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Interrupted)
    assert outcome.wait is not None
    assert outcome.wait.wake_at == FIRST
    assert isinstance(await runner.wake("t"), Completed)
