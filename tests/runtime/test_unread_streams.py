"""A reader who does not read slows a run down, and holds nothing of one that has been told to stop or has written its last record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any, Literal

import pytest

from strata import (
    Cancelled,
    Committed,
    Completed,
    Context,
    Failed,
    Interrupted,
    Lease,
    NodeEnded,
    NodeFailed,
    NodeStarted,
    Runner,
    StateGraph,
    StreamEvent,
    Token,
    branch,
)
from strata.ports.events import RunCompleted, RunEvent
from strata.runtime.stream import RunStream
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.kinds.nests import alone, steps

HANG = 3600.0
ROOM = 1024


class Desk:
    """A worker whose runs are read by nobody, and its store; time stands still until the test moves it."""

    def __init__(self, graph: StateGraph[Trail], *, durable: bool = True, deadline: float = HANG) -> None:
        self.clock = HandClock()
        self.store = MemoryStore(clock=self.clock)
        self.runner = Runner(graph.compile(durable=durable), self.store, lease=Lease("worker-1", 30.0), clock=self.clock)
        self.stream: RunStream[Trail] = self.runner.stream("t", Trail(), deadline=deadline, observers=[self._look])
        self.over = asyncio.Event()

    def _look(self, event: RunEvent) -> None:
        if isinstance(event, RunCompleted):
            self.over.set()

    async def is_held(self) -> bool:
        return await self.store.get_lease("t") is not None


def says(count: int) -> Any:
    async def talk(state: Trail, ctx: Context) -> Trail:
        for number in range(count):
            await ctx.token(str(number))
        return state

    return talk


async def endless(state: Trail, ctx: Context) -> Trail:
    while True:
        await ctx.token("word")


TALKERS: list[Callable[[Any], StateGraph[Trail]]] = [
    lambda talk: steps(("Talk", talk)),
    lambda talk: StateGraph(Trail).add_parallel_group("Gather", [branch("Talk", talk)], lambda state, _: state),
    lambda talk: alone("W", steps(("Talk", talk)).compile()),
]


@pytest.mark.parametrize("stop", ["cancel", "deadline"])
@pytest.mark.parametrize("make", TALKERS)
async def test_a_run_told_to_stop_ends_and_gives_back_its_lease(
    make: Callable[[Any], StateGraph[Trail]], stop: Literal["cancel", "deadline"]
) -> None:
    desk = Desk(make(endless), deadline=10)
    async with desk.stream as events:
        await settle()
        assert await desk.is_held()
        if stop == "cancel":
            assert desk.runner.cancel("t")
            await settle()
        else:
            await desk.clock.pass_time(10)
        assert not await desk.is_held()
        assert not desk.runner.cancel("t"), "the run is over"
        kinds = [type(event) async for event in events if not isinstance(event, Token)]
    assert kinds[-1] is Committed
    assert NodeEnded not in kinds
    outcome = events.outcome
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == ("requested" if stop == "cancel" else "deadline")


async def test_a_thread_of_a_branch_that_waits_for_room_waits_no_longer() -> None:
    loop, full = asyncio.get_running_loop(), asyncio.Event()

    def talk(state: Trail, ctx: Context) -> Trail:
        for number in count():
            if number == ROOM - 1:  # one place is taken by the start of the group
                loop.call_soon_threadsafe(full.set)
            if ctx.cancelled:
                break
            ctx.token_sync(str(number))
        return state

    desk = Desk(TALKERS[1](talk))
    async with desk.stream as events:
        await full.wait()
        desk.runner.cancel("t")
        async with asyncio.timeout(5):
            await desk.over.wait()
        assert not await desk.is_held()
        _ = [event async for event in events]
    assert isinstance(events.outcome, Cancelled)


@pytest.mark.parametrize("words", [1, 5_000])
async def test_a_clean_up_that_goes_on_talking_comes_to_its_end(words: int) -> None:
    said = asyncio.Event()

    async def talk(state: Trail, ctx: Context) -> Trail:
        try:
            while True:
                await ctx.token("word")
        finally:
            for number in range(words):
                await ctx.token(f"bye {number}")
            said.set()

    desk = Desk(steps(("Talk", talk)))
    async with desk.stream as events:
        await settle()
        desk.runner.cancel("t")
        await said.wait()
        await settle()
        assert not await desk.is_held()
        last = [event.text async for event in events if isinstance(event, Token)][-words:]
    assert last == [f"bye {number}" for number in range(words)]


async def test_what_may_be_dropped_is_dropped_of_a_run_told_to_stop_too() -> None:
    said = asyncio.Event()

    async def talk(state: Trail, ctx: Context) -> Trail:
        try:
            while True:
                await ctx.token("word")
                await asyncio.sleep(0)
        finally:
            for _ in range(2 * ROOM):
                await ctx.token("bye")
            said.set()

    runner = Runner(steps(("Talk", talk)).compile(), MemoryStore())
    async with runner.stream("t", Trail(), overflow="drop") as events:
        await settle()
        runner.cancel("t")
        await said.wait()
        await settle()
        seen = [type(event) async for event in events]
    assert seen == [NodeStarted, *[Token] * (ROOM - 1), Committed]


async def test_the_lease_goes_back_with_the_last_record_of_whatever_kind() -> None:
    """Start, tokens and end of the only node fill the buffer; what says that the record was stored comes on top."""

    async def fails(state: Trail, ctx: Context) -> Trail:
        await says(ROOM - 3)(state, ctx)
        raise ValueError("wrong")

    for graph, last, kind in [
        (steps(("A", says(ROOM - 3))), NodeEnded, Completed),
        (steps(("A", says(ROOM - 3)), ("B", says(1))).add_interrupt_boundary("A"), NodeEnded, Interrupted),
        (steps(("A", fails)), NodeFailed, Failed),
    ]:
        desk = Desk(graph)
        async with desk.stream as events:
            await settle()
            assert not await desk.is_held()
            seen = [event async for event in events]
        assert [type(event) for event in seen] == [NodeStarted, *[Token] * (ROOM - 3), last, Committed]
        assert isinstance(events.outcome, kind)


async def test_a_run_under_way_waits_for_its_reader() -> None:
    desk = Desk(steps(("A", says(ROOM)), ("B", says(1))))
    async with desk.stream as events:
        await settle()
        assert await desk.is_held()
        seen = [event async for event in events]
    assert len(seen) == ROOM + 7
    assert [event.sequence for event in seen] == list(range(1, ROOM + 8))


async def test_a_child_whose_time_is_over_loses_nothing_that_it_had_to_say() -> None:
    desk = Desk(alone("W", steps(("Fill", says(ROOM - 2)), ("Next", says(1))).compile(), timeout=1))
    async with desk.stream as events:
        await desk.clock.pass_time(1)
        kinds = [(type(event), event.path) async for event in events if not isinstance(event, Token | Committed)]
    assert kinds == [(NodeStarted, "W"), (NodeStarted, "W/Fill"), (NodeEnded, "W/Fill"), (NodeFailed, "W")]


async def test_a_node_that_was_told_not_to_start_is_not_said_to_have_started() -> None:
    desk = Desk(steps(("Fill", says(ROOM - 2)), ("Next", says(1))), durable=False)
    seen: list[StreamEvent] = []
    async with desk.stream as events:
        await settle()
        desk.runner.cancel("t")
        seen = [event async for event in events]
    assert [type(event) for event in seen[-2:]] == [NodeEnded, Committed]
    assert [event.path for event in seen if isinstance(event, NodeStarted)] == ["Fill"]
