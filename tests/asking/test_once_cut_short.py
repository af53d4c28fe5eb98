"""A run that is stopped or abandoned while the result of `ctx.once` is on its way to the store ends when it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from strata import Context, Outcome, Runner, StateGraph, branch
from strata.ports.progress import Items
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.kinds.parts import Handler, first_of


class SlowProgress(MemoryStore):
    """Keeps what a node has done when `gate` is open; `keeping` says that it is to."""

    def __init__(self) -> None:
        super().__init__()
        self.keeping, self.gate = asyncio.Event(), asyncio.Event()

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        self.keeping.set()
        await self.gate.wait()
        await super().keep_progress(thread_id, base, items)


class Shop:
    """Pays once, and is stopped while the store is still busy with that."""

    def __init__(self) -> None:
        self.paid = 0
        self.store, self.clock = SlowProgress(), HandClock()

    def pay(self) -> int:
        self.paid += 1
        return self.paid

    async def alone(self, state: Trail, ctx: Context) -> Trail:
        return state.replace(n=await ctx.once("pay", self.pay))

    async def in_a_task(self, state: Trail, ctx: Context) -> Trail:
        task = asyncio.create_task(ctx.once("pay", self.pay))
        await asyncio.wait({task})
        return state.replace(n=task.result())

    async def in_a_thread(self, state: Trail, ctx: Context) -> Trail:
        return state.replace(n=await asyncio.to_thread(ctx.once_sync, "pay", self.pay))

    def runner(self, charge: Handler, *, as_branch: bool) -> Runner[Trail]:
        graph = StateGraph(Trail)
        if as_branch:
            graph.add_parallel_group("Charge", [branch("a", charge)], first_of, timeout=1)
        else:
            graph.add_node("Charge", charge, timeout=1)
        return Runner(graph.compile(), self.store, clock=self.clock)


async def by_its_task(runner: Runner[Trail], running: asyncio.Task[Any], clock: HandClock) -> None:
    running.cancel()


async def by_cancel(runner: Runner[Trail], running: asyncio.Task[Any], clock: HandClock) -> None:
    assert runner.cancel("t")


async def by_its_time(runner: Runner[Trail], running: asyncio.Task[Any], clock: HandClock) -> None:
    await clock.pass_time(1)


Stop = Callable[[Runner[Trail], "asyncio.Task[Any]", HandClock], Awaitable[None]]


@pytest.mark.parametrize("stop", [by_its_task, by_cancel, by_its_time])
@pytest.mark.parametrize("as_branch", [False, True])
@pytest.mark.parametrize("charge", [Shop.alone, Shop.in_a_task, Shop.in_a_thread])
async def test_what_was_done_is_in_the_store_when_the_run_is_over(charge: Any, as_branch: bool, stop: Stop) -> None:
    shop = Shop()
    runner = shop.runner(charge.__get__(shop), as_branch=as_branch)
    running = asyncio.create_task(runner.run("t", Trail()))
    await shop.store.keeping.wait()
    await stop(runner, running, shop.clock)
    await settle()
    assert not running.done(), "the row has still to be written"
    shop.store.gate.set()
    await asyncio.wait({running})
    state = (await runner.thread("t")).state_name
    done = await (runner.recover("t") if state == "running" else runner.resume("t"))
    assert (done.unwrap().n, shop.paid) == (1, 1)


async def test_a_scope_around_the_call_that_cancels_it_again_and_again_waits_too() -> None:
    shop = Shop()
    runner = shop.runner(shop.alone, as_branch=False)

    async def run() -> Outcome[Trail] | None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            return await runner.run("t", Trail())
        return None

    scopes = list[anyio.CancelScope]()
    running = asyncio.create_task(run())
    await shop.store.keeping.wait()
    scopes[0].cancel()
    await settle()
    assert not running.done()
    shop.store.gate.set()
    assert await running is None
    assert ((await runner.recover("t")).unwrap().n, shop.paid) == (1, 1)


async def test_whoever_cancels_it_once_more_does_not_wait() -> None:
    shop = Shop()
    runner = shop.runner(shop.alone, as_branch=False)
    running = asyncio.create_task(runner.run("t", Trail()))
    await shop.store.keeping.wait()
    for _ in range(2):
        running.cancel()
        await settle()
    assert running.cancelled()
    shop.store.gate.set()
    await settle()
    assert ((await runner.recover("t")).unwrap().n, shop.paid) == (1, 1)
