"""What a node must not do twice it does once: through retries, questions, failures and deaths (design section 2, ctx.once)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strata import (
    Completed,
    Context,
    Failed,
    FatalError,
    Interrupted,
    OnceInsideItself,
    Resume,
    Runner,
    StateGraph,
    TransientError,
    branch,
)
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import FaultyStore, context
from tests.graphs.trails import Trail, adds
from tests.logs import checkpoints


class Receipt(msgspec.Struct, frozen=True):
    number: int


class Bank:
    """Counts what it was paid."""

    def __init__(self) -> None:
        self.paid = 0

    def pay(self) -> Receipt:
        self.paid += 1
        return Receipt(self.paid)

    async def pay_later(self) -> Receipt:
        await asyncio.sleep(0)
        return self.pay()


class Errors:
    """Raises its errors one after another, and then none."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)

    def raise_next(self) -> None:
        if self.errors:
            raise self.errors.pop(0)


def charges(handler: Callable[..., Any], *, retries: int = 0, durable: bool = True, inline: bool = False) -> Any:
    """A -> Charge."""
    graph = StateGraph(Trail).add_node("A", adds("A"), inline=True).add_node("Charge", handler, inline=inline).add_edge("A", "Charge")
    if retries:
        graph = graph.set_recovery_policy("Charge", retries=retries)
    return graph.compile(id="charges", version="1", durable=durable)


@pytest.mark.parametrize("durable", [True, False])
async def test_a_retry_is_given_the_result_again(durable: bool) -> None:
    bank, errors = Bank(), Errors(TransientError("one"), TransientError("two"))

    async def charge(state: Trail, ctx: Context) -> Trail:
        receipt = await ctx.once("pay", bank.pay_later)
        errors.raise_next()
        return state.replace(n=receipt.number)

    done = await Runner(charges(charge, retries=2, durable=durable), MemoryStore()).run("t", Trail())
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (1, 1)


@pytest.mark.parametrize("durable", [True, False])
async def test_a_resume_after_a_failure_is_given_the_result_again(durable: bool) -> None:
    bank, errors = Bank(), Errors(FatalError("one"))

    async def charge(state: Trail, ctx: Context) -> Trail:
        receipt = await ctx.once("pay", bank.pay)
        errors.raise_next()
        return state.replace(n=receipt.number)

    store = MemoryStore()
    runner = Runner(charges(charge, durable=durable), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert ((await checkpoints(store))[-1].metadata or {})["strata.once"] == '{"Charge#2":{"pay":{"number":1}}}'
    done = await runner.resume("t")
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (1, 1)
    assert not durable or "strata.once" not in ((await checkpoints(store))[-1].metadata or {})


@pytest.mark.parametrize("inline", [True, False])
async def test_a_sync_node_does_it_once_across_its_question(inline: bool, tmp_path: Path) -> None:
    bank = Bank()

    def charge(state: Trail, ctx: Context) -> Trail:
        receipt = ctx.once_sync("pay", bank.pay)
        return state.replace(n=receipt.number + ctx.interrupt("more?", returns=int))

    async with SqliteStore(tmp_path / "t.db") as store:
        assert isinstance(await Runner(charges(charge, inline=inline), store).run("t", Trail()), Interrupted)
    async with SqliteStore(tmp_path / "t.db") as store:
        done = await Runner(charges(charge, inline=inline), store).resume("t", Resume(10))
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (11, 1)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_recovery_is_given_the_result_again_and_so_is_the_one_after_it(kind: str, tmp_path: Path) -> None:
    bank, errors = Bank(), Errors(KeyboardInterrupt(), KeyboardInterrupt())

    async def charge(state: Trail, ctx: Context) -> Trail:
        await ctx.once("pay", bank.pay)
        await ctx.once("again", bank.pay)
        errors.raise_next()
        return state.replace(n=bank.paid)

    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "t.db")
    async with store:
        runner = Runner(charges(charge), store)
        with pytest.raises(KeyboardInterrupt):
            await _guarded(runner.run("t", Trail()))
        with pytest.raises(KeyboardInterrupt):
            await _guarded(runner.recover("t"))
        done = await runner.recover("t")
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (2, 2)


async def _guarded(call: Any) -> Any:
    """A KeyboardInterrupt in a task of its own would end the loop."""
    return await call


def test_a_sync_program_recovers_with_the_result(tmp_path: Path) -> None:
    bank, errors = Bank(), Errors(KeyboardInterrupt())

    def charge(state: Trail, ctx: Context) -> Trail:
        receipt = ctx.once_sync("pay", bank.pay)
        errors.raise_next()
        return state.replace(n=receipt.number)

    with SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(charges(charge), store)
        with pytest.raises(KeyboardInterrupt):
            runner.run_sync("t", Trail())
        done = runner.recover_sync("t")
    assert isinstance(done, Completed)
    assert (done.state.n, bank.paid) == (1, 1)


async def test_the_next_hop_of_the_same_node_does_it_anew() -> None:
    bank = Bank()

    async def charge(state: Trail, ctx: Context) -> Trail:
        receipt = await ctx.once("pay", bank.pay)
        return state.replace(n=receipt.number)

    graph = StateGraph(Trail).add_node("Charge", charge).add_conditional_edge("Charge", "Charge", lambda state: state.n < 3)
    graph = graph.add_edge("Charge", "End").add_node("End", adds("E"))
    done = await Runner(graph.compile(), MemoryStore()).run("t", Trail())
    assert isinstance(done, Completed)
    assert bank.paid == 3


async def test_two_calls_at_once_do_it_once() -> None:
    bank = Bank()

    async def charge(state: Trail, ctx: Context) -> Trail:
        first, second = await asyncio.gather(ctx.once("pay", bank.pay_later), ctx.once("pay", bank.pay_later))
        assert first == second
        return state

    assert isinstance(await Runner(charges(charge), MemoryStore()).run("t", Trail()), Completed)
    assert bank.paid == 1


async def test_the_key_alone_says_what_is_meant_in_one_attempt_too() -> None:
    bank = Bank()

    def refund() -> Receipt:
        raise AssertionError("another function under a key that has been used")

    async def charge(state: Trail, ctx: Context) -> Trail:
        first = await ctx.once("pay", bank.pay)
        second = await ctx.once("pay", refund)
        other = await ctx.once("pay the tip", bank.pay)
        return state.replace(trail=f"{first.number} {second.number} {other.number}")

    done = await Runner(charges(charge), MemoryStore()).run("t", Trail())
    assert isinstance(done, Completed)
    assert (done.state.trail, bank.paid) == ("1 1 2", 2)


async def pays_inside_itself(ctx: Context) -> None:
    async def pay() -> int:
        return await ctx.once("pay", pay)

    await ctx.once("pay", pay)


async def pays_inside_a_task_of_itself(ctx: Context) -> None:
    async def pay() -> int:
        [result] = await asyncio.gather(ctx.once("pay", pay))
        return result

    await ctx.once("pay", pay)


async def pays_inside_another_inside_itself(ctx: Context) -> None:
    async def pay() -> int:
        return await ctx.once("tip", lambda: ctx.once("pay", pay))

    await ctx.once("pay", pay)


async def pays_inside_itself_in_sync(ctx: Context) -> None:
    def pay() -> int:
        return ctx.once_sync("pay", pay)

    ctx.once_sync("pay", pay)


INSIDE_ITSELF = [pays_inside_itself, pays_inside_a_task_of_itself, pays_inside_another_inside_itself, pays_inside_itself_in_sync]


@pytest.mark.parametrize("pays", INSIDE_ITSELF)
async def test_what_would_wait_for_itself_fails_the_node(pays: Callable[[Context], Awaitable[None]]) -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        await pays(ctx)
        return state

    failed = await Runner(charges(charge), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert failed.message == "'Charge' calls ctx.once('pay') inside the function of that same call, which would wait for itself"
    with pytest.raises(OnceInsideItself):
        await pays(context("Charge"))


async def test_a_worker_thread_that_would_wait_for_itself_fails_its_node() -> None:
    def charge(state: Trail, ctx: Context) -> Trail:
        def pay() -> int:
            return ctx.once_sync("pay", pay)

        return state.replace(n=ctx.once_sync("pay", pay))

    failed = await Runner(charges(charge), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, OnceInsideItself)


async def test_what_raised_is_not_kept() -> None:
    bank, errors = Bank(), Errors(TransientError("not now"))

    def pay() -> int:
        errors.raise_next()
        return bank.pay().number

    async def charge(state: Trail, ctx: Context) -> Trail:
        return state.replace(n=await ctx.once("pay", pay))

    done = await Runner(charges(charge, retries=1), MemoryStore()).run("t", Trail())
    assert isinstance(done, Completed)
    assert done.state.n == 1


@pytest.mark.parametrize(
    ("result", "text"),
    [(Receipt(1), "Receipt(number=1) would come back as {'number': 1}"), ((1, 2), "(1, 2) would come back as [1, 2]"), (object(), "it is no JSON")],
)
async def test_a_result_that_would_not_come_back_fails_the_node(result: object, text: str) -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        await ctx.once("pay", lambda: result)
        return state

    failed = await Runner(charges(charge), MemoryStore()).run("t", Trail())
    assert isinstance(failed, Failed)
    assert failed.message.startswith(f"node 'Charge' cannot keep the result of 'pay': {text}")


async def test_branches_and_items_have_results_of_their_own(tmp_path: Path) -> None:
    bank, errors = Bank(), Errors()

    async def pays(state: Trail, ctx: Context) -> Trail:
        receipt = await ctx.once("pay", bank.pay)
        await asyncio.sleep(0.01)
        errors.raise_next()
        return state.replace(n=receipt.number)

    child = StateGraph(Trail).add_node("Pay", pays).compile()
    for graph in (
        StateGraph(Trail).add_parallel_group("G", [branch("a", pays), branch("b", pays)], lambda state, _: state),
        StateGraph(Trail).add_map("G", child, items=lambda _: ["a", "b"], key=str, enter=lambda state, _: state, merge=lambda state, _: state),
    ):
        bank.paid, errors = 0, Errors(FatalError("one"))
        async with SqliteStore(tmp_path / "t.db") as store:
            runner = Runner(graph.compile(id="g", version="1"), store)
            assert isinstance(await runner.run("t", Trail(), start_over=True), Failed)
            assert isinstance(await runner.resume("t"), Completed)
        assert bank.paid == 2


async def test_a_store_that_cannot_keep_it_does_not_stop_the_node() -> None:
    bank, store = Bank(), FaultyStore(MemoryStore())

    async def charge(state: Trail, ctx: Context) -> Trail:
        store.disconnect()
        await ctx.once("pay", bank.pay)
        store.reconnect()
        return state

    assert isinstance(await Runner(charges(charge), store).run("t", Trail()), Completed)


async def test_a_node_is_tested_by_hand() -> None:
    bank, told = Bank(), context("Charge")
    assert await told.once("pay", bank.pay_later) == await told.once("pay", bank.pay_later) == Receipt(1)
    assert told.kept == {"pay": Receipt(1)}


@pytest.mark.parametrize(("key", "text"), [(5, "a key is text, not 5"), ("\ud800", "a key is text that UTF-8 can encode")])
@pytest.mark.parametrize("way", ["once", "once_sync", "interrupt"])
async def test_a_key_that_no_record_can_hold_fails_the_node(way: str, key: Any, text: str) -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        match way:
            case "once":
                await ctx.once(key, lambda: 1)
            case "once_sync":
                ctx.once_sync(key, lambda: 1)
            case _:
                ctx.interrupt("how many?", returns=int, key=key)
        raise AssertionError(way)

    store = MemoryStore()
    failed = await Runner(charges(charge), store).run("t", Trail())
    assert isinstance(failed, Failed)
    assert failed.message.startswith(f"TypeError: {text}")
    assert (await Runner(charges(charge), store).thread("t")).state_name == "failed"
