"""Calls of `ctx.once` with one key that come together: one does it, from whatever thread or attempt, and the others wait for its result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from strata import Completed, Context, Failed, FatalError, NodeTimedOut, OnceBlocksLoop, OnceInsideItself, Outcome, Runner, StateGraph
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import context
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.logs import checkpoints


class Bank:
    """Counts what it was paid. The first payment takes until `go` is set; `busy` says that it has begun."""

    def __init__(self) -> None:
        self.paid = 0
        self.busy, self.go = threading.Event(), threading.Event()

    def pay(self) -> int:
        self.paid += 1
        number = self.paid
        if number == 1:
            self.busy.set()
            self.go.wait()
        return number

    def goes_on_with(self, call: Callable[[], int]) -> int:
        self.go.set()
        return call()


def pays_in_two_threads(bank: Bank, ctx: Context) -> set[int]:
    """The second comes when the first has begun, and the first ends when the second has come."""
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ctx.once_sync, "pay", bank.pay)
        bank.busy.wait()
        second = pool.submit(bank.goes_on_with, lambda: ctx.once_sync("pay", bank.pay))
        return {first.result(), second.result()}


def pays_beside_a_thread(bank: Bank, ctx: Context) -> set[int]:
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ctx.once_sync, "pay", bank.pay)
        bank.busy.wait()
        bank.go.set()
        return {ctx.once_sync("pay", bank.pay), first.result()}


Pays = Callable[[Bank, Context], set[int]]

BOTH = pytest.mark.parametrize("pays", [pays_in_two_threads, pays_beside_a_thread])


def ends(state: Trail) -> Trail:
    return state


def charges(handler: Callable[..., Any], *, behind: Callable[..., Any] = ends, **options: Any) -> StateGraph[Trail]:
    """Charge -> End."""
    return StateGraph(Trail).add_node("Charge", handler, **options).add_node("End", behind).add_edge("Charge", "End")


@BOTH
@pytest.mark.parametrize("inline", [True, False])
async def test_threads_that_a_node_starts_do_it_once(pays: Pays, inline: bool) -> None:
    bank = Bank()

    def charge(state: Trail, ctx: Context) -> Trail:
        assert pays(bank, ctx) == {1}
        return state

    assert isinstance(await Runner(charges(charge, inline=inline).compile(), MemoryStore()).run("t", Trail()), Completed)
    assert bank.paid == 1


@BOTH
def test_threads_of_a_sync_program_do_it_once_and_the_store_has_it_behind_the_node(pays: Pays, tmp_path: Path) -> None:
    bank, dies = Bank(), [KeyboardInterrupt()]

    def charge(state: Trail, ctx: Context) -> Trail:
        assert pays(bank, ctx) == {1}
        if dies:
            raise dies.pop()
        return state

    def pays_again(state: Trail, ctx: Context) -> Trail:
        return state.replace(n=ctx.once_sync("pay", bank.pay))

    with SqliteStore(tmp_path / "t.db") as store:
        with pytest.raises(KeyboardInterrupt):
            Runner(charges(charge).compile(), store).run_sync("t", Trail())
        done = Runner(charges(pays_again).compile(), store).recover_sync("t")
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (1, 1)


@BOTH
def test_threads_do_it_once_with_a_context_made_by_hand(pays: Pays) -> None:
    bank = Bank()
    assert pays(bank, context("Charge")) == {1}
    assert bank.paid == 1


@pytest.mark.parametrize("durable", [True, False])
async def test_a_task_waits_for_a_thread_and_a_thread_for_a_task(durable: bool) -> None:
    bank, called = Bank(), list[str]()

    async def slow() -> int:
        called.append("slow")
        await asyncio.sleep(0.01)
        return 7

    async def charge(state: Trail, ctx: Context) -> Trail:
        thread = asyncio.create_task(asyncio.to_thread(ctx.once_sync, "pay", bank.pay))
        await asyncio.to_thread(bank.busy.wait)
        task = asyncio.create_task(ctx.once("pay", bank.pay))
        other = asyncio.create_task(ctx.once("tip", slow))
        await asyncio.sleep(0)
        assert await asyncio.to_thread(ctx.once_sync, "tip", bank.pay) == await other == 7
        bank.go.set()
        assert await task == await thread == 1
        return state

    assert isinstance(await Runner(charges(charge).compile(durable=durable), MemoryStore()).run("t", Trail()), Completed)
    assert (bank.paid, called) == (1, ["slow"])


# Attempts whose threads run on

GRACE = 2.0
"""Seconds that a thread which was given up is waited for."""


class Slow:
    """Charge, sync and with a timeout of one second: its first attempt pays for as long as the bank takes."""

    def __init__(self) -> None:
        self.bank, self.clock, self.store = Bank(), HandClock(), MemoryStore()
        self.loop = asyncio.get_running_loop()
        self.called: asyncio.Queue[int] = asyncio.Queue()
        self.left: asyncio.Queue[object] = asyncio.Queue()

    def charge(self, state: Trail, ctx: Context) -> Trail:
        self.loop.call_soon_threadsafe(self.called.put_nowait, ctx.attempt)
        try:
            number = ctx.once_sync("pay", self.bank.pay)
        except BaseException as error:
            self.loop.call_soon_threadsafe(self.left.put_nowait, type(error))
            raise
        self.loop.call_soon_threadsafe(self.left.put_nowait, number)
        return state.replace(n=number)

    def run(self, handler: Callable[..., Any], *, behind: Callable[..., Any] = ends) -> asyncio.Task[Outcome[Trail]]:
        graph = charges(handler, behind=behind, timeout=1).set_recovery_policy("Charge", retries=1).compile()
        return asyncio.create_task(Runner(graph, self.store, clock=self.clock).run("t", Trail()))


async def test_the_next_attempt_waits_for_what_the_last_one_still_does_and_takes_its_result() -> None:
    slow = Slow()
    running = slow.run(slow.charge)
    assert await slow.called.get() == 1
    await asyncio.to_thread(slow.bank.busy.wait)
    await slow.clock.pass_time(1)
    await slow.clock.pass_time(GRACE)
    assert await slow.called.get() == 2
    slow.bank.go.set()
    done = await running
    assert isinstance(done, Completed)
    assert (done.state.n, slow.bank.paid) == (1, 1)
    assert [await slow.left.get(), await slow.left.get()] == [1, 1]


async def test_it_waits_no_longer_than_its_own_time() -> None:
    slow = Slow()
    running = slow.run(slow.charge)
    await asyncio.to_thread(slow.bank.busy.wait)
    assert await slow.called.get() == 1
    await slow.clock.pass_time(1)
    await slow.clock.pass_time(GRACE)
    assert await slow.called.get() == 2
    await slow.clock.pass_time(1)
    failed = await running
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, NodeTimedOut)
    assert await slow.left.get() is asyncio.CancelledError, "the thread that waited"
    slow.bank.go.set()
    assert await slow.left.get() == 1
    assert slow.bank.paid == 1


async def test_what_ends_when_its_node_has_committed_is_nobodys() -> None:
    slow = Slow()

    def charge(state: Trail, ctx: Context) -> Trail:
        return slow.charge(state, ctx) if ctx.attempt == 1 else state

    async def wait(state: Trail, ctx: Context) -> Trail:
        slow.bank.go.set()
        assert await slow.left.get() == 1
        await ctx.once("own", lambda: 2)
        raise FatalError("so that a record says what is kept")

    running = slow.run(charge, behind=wait)
    await asyncio.to_thread(slow.bank.busy.wait)
    await slow.clock.pass_time(1)
    await slow.clock.pass_time(GRACE)
    assert isinstance(await running, Failed)
    assert ((await checkpoints(slow.store))[-1].metadata or {})["strata.once"] == '{"End#2":{"own":2}}'


# What waits for itself


async def pays_each_inside_the_other(ctx: Context) -> None:
    await asyncio.gather(_does(ctx, "a", "b"), _does(ctx, "b", "a"))


async def pays_in_a_circle(ctx: Context) -> None:
    await asyncio.gather(_does(ctx, "a", "b"), _does(ctx, "b", "c"), _does(ctx, "c", "a"))


async def pays_each_inside_something_inside_the_other(ctx: Context) -> None:
    async def inner(key: str, other: str) -> None:
        await ctx.once(key, lambda: _does(ctx, f"in {key}", other))

    await asyncio.gather(inner("a", "b"), inner("b", "a"))


async def pays_each_inside_the_other_in_threads(ctx: Context) -> None:
    begun = threading.Barrier(2)

    def does(key: str, other: str) -> int:
        def do() -> int:
            begun.wait()
            return ctx.once_sync(other, lambda: 1)

        return ctx.once_sync(key, do)

    both = await asyncio.gather(asyncio.to_thread(does, "a", "b"), asyncio.to_thread(does, "b", "a"), return_exceptions=True)
    [error] = [came_to for came_to in both if isinstance(came_to, Exception)]
    raise error


async def _does(ctx: Context, key: str, inside: str) -> int:
    async def do() -> int:
        await asyncio.sleep(0)
        return await ctx.once(inside, lambda: 1)

    return await ctx.once(key, do)


CIRCLES: list[tuple[Callable[[Context], Awaitable[None]], str]] = [
    (pays_each_inside_the_other, "'Charge' calls ctx.once('a') inside the function of ctx.once('b'), and 'a' waits for 'b': none of them would end"),
    (
        pays_in_a_circle,
        "'Charge' calls ctx.once('a') inside the function of ctx.once('c'), and 'a' waits for 'b', which waits for 'c': none of them would end",
    ),
]
MORE_CIRCLES = [pays_each_inside_something_inside_the_other, pays_each_inside_the_other_in_threads]


@pytest.mark.parametrize(("pays", "text"), CIRCLES)
async def test_calls_that_wait_for_each_other_fail_and_say_which(pays: Callable[[Context], Awaitable[None]], text: str) -> None:
    assert await _failure(pays) == text
    with pytest.raises(OnceInsideItself, match="none of them would end"):
        await pays(context("Charge"))


@pytest.mark.parametrize("pays", MORE_CIRCLES)
async def test_calls_that_wait_for_each_other_fail_from_wherever_they_come(pays: Callable[[Context], Awaitable[None]]) -> None:
    assert (await _failure(pays)).endswith("none of them would end")


async def _failure(pays: Callable[[Context], Awaitable[None]]) -> str:
    async def charge(state: Trail, ctx: Context) -> Trail:
        await pays(ctx)
        return state

    async with asyncio.timeout(5):
        failed = await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, OnceInsideItself)
    return failed.message


async def test_one_that_waits_for_another_which_does_not_wait_for_it_gets_its_result() -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        async def slow() -> int:
            await asyncio.sleep(0)
            return 1

        results = await asyncio.gather(ctx.once("b", slow), _does(ctx, "a", "b"), _does(ctx, "c", "a"), _does(ctx, "d", "b"))
        return state.replace(n=sum(results))

    assert (await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail())).unwrap().n == 4


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_task_that_outlives_the_function_in_which_it_was_started_is_inside_it_no_longer(by_hand: bool) -> None:
    async def pays(ctx: Context) -> int:
        over, tasks = asyncio.Event(), list[asyncio.Task[int]]()

        async def later() -> int:
            await over.wait()
            return await ctx.once("pay", lambda: 2)

        async def pay() -> int:
            tasks.append(asyncio.create_task(later()))
            return 1

        first = await ctx.once("pay", pay)
        over.set()
        return first + await tasks[0]

    async def charge(state: Trail, ctx: Context) -> Trail:
        return state.replace(n=await pays(ctx))

    if by_hand:
        assert await pays(context("Charge")) == 2
    else:
        assert (await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail())).unwrap().n == 2


@pytest.mark.parametrize("by_hand", [True, False])
async def test_the_event_loop_cannot_wait_for_a_task_of_its_own(by_hand: bool) -> None:
    async def pays(ctx: Context) -> None:
        task = asyncio.create_task(ctx.once("pay", lambda: asyncio.sleep(0, 1)))
        await asyncio.sleep(0)
        try:
            ctx.once_sync("pay", lambda: 2)
        finally:
            assert await task == 1

    async def charge(state: Trail, ctx: Context) -> Trail:
        await pays(ctx)
        return state

    if by_hand:
        with pytest.raises(OnceBlocksLoop):
            await pays(context("Charge"))
        return
    failed = await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, OnceBlocksLoop)
    assert failed.message == "'Charge' calls ctx.once_sync('pay') on the event loop while another call does it, for which only a thread could wait"


# What the one that does it comes to


async def test_where_it_fails_one_of_those_that_waited_does_it() -> None:
    tries = [ValueError("not now"), None]

    async def pay() -> int:
        await asyncio.sleep(0)
        if (error := tries.pop(0)) is not None:
            raise error
        return 1

    async def charge(state: Trail, ctx: Context) -> Trail:
        first, *others = await asyncio.gather(*(ctx.once("pay", pay) for _ in range(4)), return_exceptions=True)
        assert isinstance(first, ValueError)
        assert others == [1, 1, 1]
        return state

    assert isinstance(await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail()), Completed)
    assert not tries


async def test_one_that_stops_waiting_leaves_the_others_waiting() -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        first, second, third = (asyncio.create_task(ctx.once("pay", lambda: asyncio.sleep(0.01, 1))) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        with suppress(asyncio.CancelledError):
            await second
        return state.replace(n=await first + await third)

    assert (await Runner(charges(charge).compile(), MemoryStore()).run("t", Trail())).unwrap().n == 2
