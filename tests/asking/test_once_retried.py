"""A node that is tried again runs the graph inside it again: under the same keys, and so with what was done once and was answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from strata import (
    CheckpointUnreadable,
    CompiledGraph,
    Completed,
    Context,
    Failed,
    Interrupted,
    Resume,
    Runner,
    StateGraph,
    TransientError,
)
from strata.ports import Logged, LogPage
from strata.stores import StoreBase
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail
from tests.logs import checkpoints
from tests.odd_stores import BareStore

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


async def test_a_failed_record_has_what_the_nodes_did_that_may_run_again_in_whatever_attempt() -> None:
    shop, store = Shop(LATE, EARLY), MemoryStore()
    runner = Runner(order(shop.pay, shop.ship, retries=1).compile(), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    failed = (await checkpoints(store))[-1].innermost
    assert (failed.metadata or {})["strata.once"] == '{"Order/Pay#1.1":{"do":"Pay1"},"Order/Ship#1.2":{"do":"Ship2"}}'
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


# Where the results stand


class Steps:
    """A node that goes round so many times, and does something once in each round; `late` comes at the end of the last, `early` in the second."""

    def __init__(self, rounds: int, *, late: Sequence[BaseException] = (), early: Sequence[BaseException | None] = ()) -> None:
        self.rounds = rounds
        self.late, self.early = list(late), list(early)
        self.done = list[str]()

    async def step(self, state: Trail, ctx: Context) -> Trail:
        def do() -> str:
            self.done.append(ctx.idempotency_key)
            return "x" * 500

        if state.n == 1 and self.early and (error := self.early.pop(0)) is not None:
            raise error
        await ctx.once("do", do)
        if state.n == self.rounds - 1 and self.late:
            raise self.late.pop(0)
        return state.replace(n=state.n + 1)

    @property
    def graph(self) -> CompiledGraph[Trail]:
        graph = StateGraph(Trail).add_node("Step", self.step).add_node("End", lambda state: state, inline=True)
        graph.add_conditional_edge("Step", "Step", lambda state: state.n < self.rounds).add_edge("Step", "End")
        return around("Order", graph, durable=True).set_recovery_policy("Order", retries=2).compile()


def dies_in_the_second_attempt(rounds: int) -> Steps:
    return Steps(rounds, late=[TransientError("late")], early=[None, KeyboardInterrupt()])


class Unlogged(MemoryStore):
    """Knows sequences, and gives no record back but the newest."""

    get_log = StoreBase.get_log


class Torn(MemoryStore):
    """Cannot read the record with number 1 any more."""

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        page = await super().get_log(thread_id, after=after, limit=limit)
        torn = CheckpointUnreadable("it is torn", thread_id=thread_id)
        return LogPage(tuple(Logged(one.sequence, torn) if one.sequence == 1 else one for one in page.records), page.next_after)


async def test_each_result_stands_in_the_log_once_however_often_its_node_is_tried_again() -> None:
    steps, store = Steps(100, late=[TransientError("one"), TransientError("two")]), MemoryStore()
    assert isinstance(await Runner(steps.graph, store).run("t", Trail()), Completed)
    metadata = [level.metadata or {} for record in await checkpoints(store) for level in record.levels()]
    assert sum(text.get("strata.once", "").count("x" * 500) for text in metadata) == len(steps.done) == 100


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_recovery_reads_them_where_they_stand(kind: str, tmp_path: Path) -> None:
    steps = dies_in_the_second_attempt(120)
    async with MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(steps.graph, store)
        with pytest.raises(KeyboardInterrupt):
            await _guarded(runner.run("t", Trail()))
        newest = (await checkpoints(store))[-1].innermost.metadata or {}
        assert (newest["strata.kept_from"], list(json.loads(newest["strata.once"]))) == ("1", ["Order/Step#1.120"])
        assert isinstance(await runner.recover("t"), Completed)
    assert len(steps.done) == 120


@pytest.mark.parametrize("store_of", [BareStore, Unlogged])
async def test_where_no_log_can_be_read_each_record_has_them_all(store_of: type[BareStore | Unlogged]) -> None:
    steps, store = dies_in_the_second_attempt(5), store_of()
    with pytest.raises(KeyboardInterrupt):
        await _guarded(Runner(steps.graph, store).run("t", Trail()))
    newest = await store.load("t")
    assert newest is not None
    assert (newest.innermost.metadata or {})["strata.once"].count("x" * 500) == 5
    assert isinstance(await Runner(steps.graph, store).recover("t"), Completed)
    assert len(steps.done) == 5


async def test_a_record_that_cannot_be_read_any_more_is_not_passed_over() -> None:
    steps, store = dies_in_the_second_attempt(5), Torn()
    with pytest.raises(KeyboardInterrupt):
        await _guarded(Runner(steps.graph, store).run("t", Trail()))
    newest = await store.load("t")
    with pytest.raises(CheckpointUnreadable, match="it is torn"):
        await Runner(steps.graph, store).recover("t")
    assert await store.load("t") is newest
