"""A sync node cannot be stopped: whoever stops or abandons its run waits for its thread, but no longer than the grace of 2 s."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest

from strata import Context, Runner, StateGraph
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail


class Blocking:
    """A sync node whose first call goes on until `release` is set; `ran` says what its calls came to, in their order."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.started, self.release = asyncio.Event(), threading.Event()
        self.calls, self.ran = 0, list[str]()
        self.clock, self.store = HandClock(), MemoryStore()
        graph = StateGraph(Trail).add_node("Block", self.block, timeout=60)
        self.runner = Runner(graph.compile(), self.store, clock=self.clock)

    def block(self, state: Trail, ctx: Context) -> Trail:
        self.calls += 1
        number = self.calls
        self.loop.call_soon_threadsafe(self.started.set)
        if number == 1:
            self.release.wait()
        self.ran.append(f"{number} ended, {'given up' if ctx.cancelled else 'wanted'}")
        return state

    async def in_a_scope(self, scope: anyio.CancelScope) -> None:
        with scope:
            await self.runner.run("t", Trail())


async def by_its_task(node: Blocking, running: asyncio.Task[Any], scope: anyio.CancelScope) -> None:
    running.cancel()


async def by_a_scope(node: Blocking, running: asyncio.Task[Any], scope: anyio.CancelScope) -> None:
    scope.cancel()


async def by_cancel(node: Blocking, running: asyncio.Task[Any], scope: anyio.CancelScope) -> None:
    assert node.runner.cancel("t")


async def by_its_time(node: Blocking, running: asyncio.Task[Any], scope: anyio.CancelScope) -> None:
    await node.clock.pass_time(60)


Stop = Callable[[Blocking, "asyncio.Task[Any]", anyio.CancelScope], Awaitable[None]]

WAYS = pytest.mark.parametrize("stop", [by_its_task, by_a_scope, by_cancel, by_its_time])


async def stopped(node: Blocking, stop: Stop) -> asyncio.Task[None]:
    scope = anyio.CancelScope()
    running = asyncio.create_task(node.in_a_scope(scope))
    await node.started.wait()
    await stop(node, running, scope)
    await settle()
    return running


@WAYS
async def test_whoever_goes_on_with_the_thread_does_not_run_beside_a_call_that_ends_in_time(stop: Stop) -> None:
    node = Blocking()
    running = await stopped(node, stop)
    await node.clock.pass_time(1.9)
    assert not running.done()
    node.release.set()
    await asyncio.wait({running})
    is_durably_running = (await node.runner.thread("t")).state_name == "running"
    assert is_durably_running is (stop in (by_its_task, by_a_scope))
    await (node.runner.recover("t") if is_durably_running else node.runner.resume("t"))
    assert node.ran == ["1 ended, given up", "2 ended, wanted"]
    assert node.clock.timers == 0


@WAYS
async def test_a_call_that_does_not_end_is_waited_for_no_longer(stop: Stop) -> None:
    node = Blocking()
    running = await stopped(node, stop)
    await node.clock.pass_time(2)
    await asyncio.wait({running})
    assert node.ran == []
    assert node.clock.timers == 0
    node.release.set()


async def test_whoever_cancels_the_task_once_more_does_not_wait() -> None:
    node = Blocking()
    running = await stopped(node, by_its_task)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert running.cancelled()
    assert node.ran == []
    node.release.set()


async def test_a_call_that_ends_in_the_turn_in_which_it_is_given_up_is_not_waited_for() -> None:
    clock = HandClock()

    def cancels(state: Trail) -> Trail:
        runner.cancel("t")
        return state

    graph = StateGraph(Trail).add_node("Cancels", cancels).add_node("End", lambda state: state, inline=True).add_edge("Cancels", "End")
    runner = Runner(graph.compile(), MemoryStore(), clock=clock)
    async with asyncio.timeout(20):
        for _ in range(100):  # which of the two the loop hears of first is the system's choice
            await runner.run("t", Trail(), start_over=True)
