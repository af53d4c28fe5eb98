"""A node that is tried again runs the graph inside it again: under the same keys, and so with what was done once and was answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from strata import Completed, Context, Failed, Interrupted, Resume, Runner, StateGraph, TransientError
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail
from tests.logs import checkpoints

Fault = tuple[Literal["before", "behind"], BaseException]

LATE: Fault = ("behind", TransientError("late"))
EARLY: Fault = ("before", TransientError("early"))


class Shop:
    """Pay and Ship do something once each; Ship fails before it has, or behind it."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = list(faults)
        self.keys = list[str]()

    async def pay(self, state: Trail, ctx: Context) -> Trail:
        return await self.work(state, ctx)

    async def ship(self, state: Trail, ctx: Context) -> Trail:
        when, error = self.faults.pop(0) if self.faults else ("", None)
        if error is not None and when == "before":
            raise error
        state = await self.work(state, ctx)
        if error is not None:
            raise error
        return state

    async def work(self, state: Trail, ctx: Context) -> Trail:
        def do() -> str:
            self.keys.append(ctx.idempotency_key.partition("@")[0])
            return f"{ctx.node}{len(self.keys)}"

        return state.replace(trail=f"{state.trail} {await ctx.once('do', do)}")


Handler = Callable[[Trail, Context], Any]


def order(pay: Handler, ship: Handler, *, retries: int = 2, depth: int = 1, durable: bool = True) -> StateGraph[Trail]:
    """Order, tried again, around Pay -> Ship; with a depth of 2 one more node is around these."""
    graph = StateGraph(Trail).add_node("Pay", pay).add_node("Ship", ship).add_edge("Pay", "Ship")
    for _ in range(depth - 1):
        graph = around("In", graph, durable=durable)
    return around("Order", graph, durable=durable).set_recovery_policy("Order", retries=retries)


def around(name: str, graph: StateGraph[Trail], *, durable: bool) -> StateGraph[Trail]:
    child = graph.compile(durable=durable)
    return StateGraph(Trail).add_subgraph(name, child, enter=lambda state: state, leave=lambda _, inner: inner.replace(n=inner.n + 1))


async def ask_how(state: Trail, ctx: Context) -> Trail:
    return state.replace(trail=ctx.interrupt("how?", returns=str))


@pytest.mark.parametrize(("depth", "ways"), [(1, ["Order/Pay#1.1", "Order/Ship#1.2"]), (2, ["Order/In/Pay#1.1.1", "Order/In/Ship#1.1.2"])])
@pytest.mark.parametrize("durable", [True, False])
async def test_what_was_done_once_is_given_back_whether_or_not_its_node_had_committed(durable: bool, depth: int, ways: list[str]) -> None:
    shop, store = Shop(LATE, LATE), MemoryStore()
    graph = order(shop.pay, shop.ship, depth=depth, durable=durable).compile(durable=durable)
    assert (await Runner(graph, store).run("t", Trail())).unwrap().trail == " Pay1 Ship2"
    assert shop.keys == [f"t/{way}" for way in ways]
    if durable:
        assert "strata.once" not in ((await checkpoints(store))[-1].metadata or {})


async def test_a_failed_record_has_what_the_failed_node_did_in_an_earlier_attempt() -> None:
    shop, store = Shop(LATE, EARLY), MemoryStore()
    runner = Runner(order(shop.pay, shop.ship, retries=1).compile(), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    failed = (await checkpoints(store))[-1].innermost
    assert (failed.metadata or {})["strata.once"] == '{"Order/Ship#1.2":{"do":"Ship2"}}'
    assert (await runner.resume("t")).unwrap().trail == " Pay1 Ship2"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_death_in_a_later_attempt_loses_nothing_of_an_earlier_one(kind: str, tmp_path: Path) -> None:
    shop = Shop(LATE, ("before", KeyboardInterrupt()))
    async with MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(order(shop.pay, shop.ship).compile(), store)
        with pytest.raises(KeyboardInterrupt):
            await _guarded(runner.run("t", Trail()))
        assert (await runner.recover("t")).unwrap().trail == " Pay1 Ship2"


async def _guarded(call: Any) -> Any:
    """A KeyboardInterrupt in a task of its own would end the loop."""
    return await call


async def test_the_next_hop_of_the_node_around_does_it_anew() -> None:
    shop = Shop(LATE, LATE)
    graph = order(shop.pay, shop.ship).add_node("End", lambda state: state, inline=True)
    graph = graph.add_conditional_edge("Order", "Order", lambda state: state.n < 2).add_edge("Order", "End")
    done = await Runner(graph.compile(), MemoryStore()).run("t", Trail())
    assert done.unwrap().trail == " Pay1 Ship2 Pay3 Ship4"


@pytest.mark.parametrize("durable", [True, False])
async def test_the_node_that_was_answered_is_given_the_answer_again(durable: bool) -> None:
    shop = Shop(LATE, LATE)
    runner = Runner(order(ask_how, shop.ship, durable=durable).compile(durable=durable), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    done = await runner.resume("t", Resume("in cash"))
    assert isinstance(done, Completed)
    assert done.state.trail == "in cash Ship1"


async def test_the_answer_is_not_given_to_the_node_behind() -> None:
    async def ask_where(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=f"{state.trail}, {ctx.interrupt('where to?', returns=str)}")

    runner = Runner(order(ask_how, ask_where).compile(), MemoryStore())
    await runner.run("t", Trail())
    again = await runner.resume("t", Resume("in cash"))
    assert isinstance(again, Interrupted)
    assert [question.asked for question in again.questions] == ["where to?"]
    assert (await runner.resume("t", Resume("home"))).unwrap().trail == "in cash, home"
