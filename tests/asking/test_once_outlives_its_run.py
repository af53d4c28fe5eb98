"""What `ctx.once` still does on a thread when its run is over is not done again beside it: whoever goes on with the thread waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from strata import Context, Outcome, Runner, StateGraph
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail

GRACE = 2.0
"""Seconds that a thread which was given up is waited for."""


class Bank:
    """Charge pays: the first time for as long as the test likes. `deaths` come when it has paid."""

    def __init__(self, store: Any, *, durable: bool = True) -> None:
        self.store, self.clock, self.loop = store, HandClock(), asyncio.get_running_loop()
        self.paid, self.deaths = 0, list[KeyboardInterrupt]()
        self.busy, self.go, self.left = asyncio.Event(), threading.Event(), asyncio.Event()
        self.graph = StateGraph(Trail).add_node("Charge", self.charge, timeout=60).compile(durable=durable)
        self.runner = Runner(self.graph, store, clock=self.clock)

    def pay(self) -> int:
        self.paid += 1
        number = self.paid
        if number == 1:
            self.loop.call_soon_threadsafe(self.busy.set)
            self.go.wait()
        return number

    def charge(self, state: Trail, ctx: Context) -> Trail:
        try:
            number = ctx.once_sync("pay", self.pay)
        finally:
            self.loop.call_soon_threadsafe(self.left.set)
        if self.deaths:
            raise self.deaths.pop()
        return state.replace(n=number)

    async def run_until_over(self, stop: Stop) -> None:
        running = asyncio.create_task(self.runner.run("t", Trail()))
        await self.busy.wait()
        await stop(self, running)
        await settle()
        await self.clock.pass_time(GRACE)
        await asyncio.wait({running})

    async def let_go(self) -> None:
        """The first payment comes to its end."""
        self.left.clear()
        self.go.set()
        await self.left.wait()

    async def gone_on(self, store: Any = None) -> Outcome[Trail]:
        runner = Runner(self.graph, store or self.store, clock=self.clock)
        state = (await runner.thread("t")).state_name
        return await (runner.recover("t") if state == "running" else runner.resume("t"))


async def by_its_task(bank: Bank, running: asyncio.Task[Any]) -> None:
    running.cancel()


async def by_cancel(bank: Bank, running: asyncio.Task[Any]) -> None:
    assert bank.runner.cancel("t")


async def by_its_time(bank: Bank, running: asyncio.Task[Any]) -> None:
    await bank.clock.pass_time(60)


Stop = Callable[[Bank, "asyncio.Task[Any]"], Awaitable[None]]

WAYS = pytest.mark.parametrize("stop", [by_its_task, by_cancel, by_its_time])


@WAYS
@pytest.mark.parametrize("durable", [True, False])
async def test_the_next_run_waits_for_it_and_takes_its_result(durable: bool, stop: Stop) -> None:
    bank = Bank(MemoryStore(), durable=durable)
    await bank.run_until_over(stop)
    going_on = asyncio.create_task(bank.gone_on())
    await settle()
    assert not going_on.done()
    bank.go.set()
    assert ((await going_on).unwrap().n, bank.paid) == (1, 1)


@WAYS
@pytest.mark.parametrize("durable", [True, False])
async def test_the_next_run_has_the_result_if_it_came_in_between(durable: bool, stop: Stop) -> None:
    bank = Bank(MemoryStore(), durable=durable)
    await bank.run_until_over(stop)
    await bank.let_go()
    assert ((await bank.gone_on()).unwrap().n, bank.paid) == (1, 1)


@WAYS
async def test_the_run_behind_one_that_gave_up_waiting_waits_for_it_too(stop: Stop) -> None:
    bank = Bank(MemoryStore())
    await bank.run_until_over(stop)
    waiting = asyncio.create_task(bank.gone_on())
    await settle()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    going_on = asyncio.create_task(bank.gone_on())
    await settle()
    bank.go.set()
    assert ((await going_on).unwrap().n, bank.paid) == (1, 1)


@pytest.mark.parametrize("is_late", [True, False])
async def test_the_store_has_the_result_once_the_next_run_has_it(is_late: bool, tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "t.db") as store:
        bank = Bank(store)
        await bank.run_until_over(by_its_task)
        bank.deaths = [KeyboardInterrupt(), KeyboardInterrupt()]
        if is_late:
            await bank.let_go()
        else:
            bank.loop.call_later(0.05, bank.go.set)
        with pytest.raises(KeyboardInterrupt):
            await bank.gone_on()
    async with SqliteStore(tmp_path / "t.db") as of_another_process:
        bank.deaths.clear()
        assert ((await bank.gone_on(of_another_process)).unwrap().n, bank.paid) == (1, 1)


async def test_a_thread_that_starts_over_has_nothing_to_do_with_it() -> None:
    bank = Bank(MemoryStore())
    await bank.run_until_over(by_its_task)
    assert (await bank.runner.run("t", Trail(), start_over=True)).unwrap().n == 2
    await bank.let_go()


async def test_another_store_has_other_threads() -> None:
    bank, other = Bank(MemoryStore()), MemoryStore()
    await bank.run_until_over(by_its_task)
    for checkpoint in [record.checkpoint async for record in bank.runner.log("t")]:
        await other.save(checkpoint)
    assert (await bank.gone_on(other)).unwrap().n == 2
    await bank.let_go()
