"""Durations that are none, or longer than any calendar, wherever a user may give one: refused or lived with, never an error of arithmetic."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from math import inf, nan
from typing import Any

import pytest

from strata import Backoff, CompiledGraph, Lease, Runner, Scheduler, StateGraph, StrataError, branch
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds, line
from tests.kinds.parts import first_of, transient

Given = float | timedelta
Place = Callable[[Any], Awaitable[object]]
"""Builds and runs something with a duration of the test's choice."""


async def ran(graph: StateGraph[Trail], **options: Any) -> object:
    compiled: CompiledGraph[Trail] = graph.compile(durable=False)
    return await Runner(compiled, MemoryStore(), **options).run("t", Trail())


def before_b(graph: StateGraph[Trail], node: str) -> StateGraph[Trail]:
    return graph.add_node("B", adds("B"), inline=True).add_edge(node, "B")


def fanned(**options: Any) -> StateGraph[Trail]:
    return StateGraph(Trail).add_parallel_group("Group", [branch("b", adds("b"))], first_of, **options)


def mapped(given: Any) -> StateGraph[Trail]:
    item = line("Step").compile(durable=False)
    return StateGraph(Trail).add_map("Map", item, items=lambda _: ["k"], key=str, enter=lambda state, _: state, merge=first_of, item_timeout=given)


def retrying(given: Any) -> StateGraph[Trail]:
    def fails(state: Trail) -> Trail:
        raise transient("busy")

    return StateGraph(Trail).add_node("A", fails, inline=True).set_recovery_policy("A", retries=1, backoff=Backoff(initial=0, maximum=given))


PLACES: Mapping[str, Place] = {
    "timer": lambda given: ran(before_b(StateGraph(Trail).add_timer("Wait", given), "Wait")),
    "timeout of a wait": lambda given: ran(before_b(StateGraph(Trail).add_wait_for_event("Wait", "paid", timeout=given), "Wait")),
    "timeout of a boundary": lambda given: ran(line("A", "B").add_interrupt_boundary("A", timeout=given)),
    "timeout of a node": lambda given: ran(StateGraph(Trail).add_node("A", adds("A"), timeout=given)),
    "timeout of a group": lambda given: ran(fanned(timeout=given)),
    "timeout of its branches": lambda given: ran(fanned(branch_timeout=given)),
    "timeout of items": lambda given: ran(mapped(given)),
    "maximum of a backoff": lambda given: ran(retrying(given)),
    "ttl of a lease": lambda given: ran(line("A"), lease=Lease("worker-1", given)),
    "time in a queue": lambda given: ran(line("A"), scheduler=Scheduler(1, max_queue_time=given)),
    "deadline": lambda given: Runner(line("A").compile(), MemoryStore()).run("t", Trail(), deadline=given),
    "age of the dead": lambda given: Runner(line("A").compile(), MemoryStore()).recover_stale(stale_after=given),
}


@pytest.mark.parametrize("given", [nan, inf, -inf])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
async def test_tmr_02_what_is_not_finite_is_refused_by_its_value(place: Place, given: float) -> None:
    async def give() -> None:
        await place(given)

    with pytest.raises(ValueError, match=f"{given}"):
        await give()


@pytest.mark.parametrize("given", [timedelta.max, 1e300])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
async def test_tmr_02_what_no_calendar_holds_is_lived_with_or_refused(place: Place, given: Given) -> None:
    with suppress(StrataError):
        assert await place(given) is not None
