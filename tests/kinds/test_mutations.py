"""Handlers that change their state in place: what they did goes no further than it must."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strata import Cancelled, Context, Failed, Interrupted, Runner, State, StateGraph, StateMutated, branch
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.kinds.parts import HANG, Item, Items, fatal, transient
from tests.logs import checkpoints


class Basket(State):
    goods: list[str] = []  # noqa: RUF012 (msgspec copies it)
    prices: dict[str, int] = {}  # noqa: RUF012


STORES = [MemoryStore, None]
"""With a store and durable, and without one."""


class Adds:
    """Changes the list that it was given; fails so many times."""

    def __init__(self, fails: int = 0, *, fatally: bool = False) -> None:
        self.fails = fails
        self.seen = list[list[str]]()
        self.fatally = fatally

    async def __call__(self, basket: Basket) -> Basket:
        self.seen.append(list(basket.goods))
        basket.goods.append("mine")
        if len(self.seen) <= self.fails:
            raise fatal("no") if self.fatally else transient("busy")
        return basket.replace(goods=[*basket.goods, "new"])


@pytest.mark.parametrize("store", STORES)
async def test_the_next_attempt_starts_from_what_the_first_one_was_given(store: type[MemoryStore] | None) -> None:
    adds = Adds(2)
    graph = StateGraph(Basket).add_node("Add", adds).set_recovery_policy("Add", retries=2).compile()
    outcome = await Runner(graph, store() if store else None).run("t", Basket(goods=["one"]))
    assert outcome.unwrap().goods == ["one", "mine", "new"]
    assert adds.seen == [["one"]] * 3


@pytest.mark.parametrize("store", STORES)
async def test_so_does_the_fallback(store: type[MemoryStore] | None) -> None:
    adds, sees = Adds(9, fatally=True), Adds()
    graph = StateGraph(Basket).add_node("Add", adds).add_node("Recover", sees).set_recovery_policy("Add", fallback="Recover").compile()
    await Runner(graph, store() if store else None).run("t", Basket(goods=["one"]))
    assert sees.seen == [["one"]]


@pytest.mark.parametrize(("durable", "retries"), [(True, 0), (True, 1), (False, 1)])
async def test_a_failed_record_and_its_outcome_hold_the_state_from_before_the_node(durable: bool, retries: int) -> None:
    store, graph = MemoryStore(), StateGraph(Basket).add_node("Add", Adds(9))
    if retries:
        graph.set_recovery_policy("Add", retries=retries)
    outcome = await Runner(graph.compile(durable=durable), store).run("t", Basket(goods=["one"]))
    assert isinstance(outcome, Failed)
    assert outcome.state.goods == ["one"]
    assert bytes((await checkpoints(store))[-1].frozen_state) == b'{"goods":["one"],"prices":{}}'


async def test_and_so_does_a_cancelled_one() -> None:
    store, clock = MemoryStore(), HandClock()

    async def add(basket: Basket, ctx: Context) -> Basket:
        basket.goods.append("mine")
        await ctx.sleep(HANG)
        return basket

    runner = Runner(StateGraph(Basket).add_node("Add", add).compile(), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Basket()))
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert outcome.state.goods == []


def shared(first: Any, second: Any, **policy: Any) -> StateGraph[Basket]:
    def merge(basket: Basket, results: list[Basket]) -> Basket:
        return basket.replace(goods=[good for result in results for good in result.goods])

    graph = StateGraph(Basket).add_parallel_group("Both", [branch("a", first), branch("b", second)], merge)
    return graph.set_recovery_policy("Both", **policy) if policy else graph


async def keeps(basket: Basket) -> Basket:
    await asyncio.sleep(0)
    return basket.replace(goods=[*basket.goods, "kept"])


@pytest.mark.parametrize("store", STORES)
async def test_a_branch_that_changes_the_shared_state_in_place_fails_its_group(store: type[MemoryStore] | None) -> None:
    outcome = await Runner(shared(Adds(), keeps).compile(), store() if store else None).run("t", Basket(goods=["one"]))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StateMutated)
    assert (outcome.kind, outcome.error.node, outcome.error.path) == ("fatal", "Both", "Basket.goods")
    assert outcome.message.startswith("the state that node 'Both' started with was changed in place at Basket.goods")
    assert outcome.state.goods == ["one"]


async def test_what_is_deep_inside_is_found_as_well() -> None:
    async def reprices(basket: Basket) -> Basket:
        basket.prices["one"] = 2
        return basket

    outcome = await Runner(shared(reprices, keeps).compile()).run("t", Basket(prices={"one": 1}))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StateMutated)
    assert outcome.error.path.startswith("Basket.prices")


@pytest.mark.parametrize("check", ["full", "fields", "type"])
async def test_branches_that_make_new_states_are_left_in_peace(check: Any) -> None:
    outcome = await Runner(shared(keeps, keeps).compile(check=check), MemoryStore()).run("t", Basket(goods=["one"]))
    assert outcome.unwrap().goods == ["one", "kept"] * 2


async def test_the_next_round_of_a_group_starts_from_what_the_first_was_given() -> None:
    adds, sees = Adds(9, fatally=True), list[list[str]]()

    async def look(basket: Basket, ctx: Context) -> Basket:
        sees.append(list(basket.goods))
        if ctx.attempt == 1:
            basket.goods.append("mine")
            raise transient("busy")
        return basket

    await Runner(shared(look, keeps, retries=1).compile()).run("t", Basket(goods=["one"]))
    assert sees == [["one"], ["one"]]
    assert adds.seen == []


async def test_an_item_that_changes_what_it_was_given_of_the_maps_state_fails_the_map() -> None:
    class Row(State):
        words: list[str]

    def spoil(row: Row) -> Row:
        row.words.append("spoilt")
        return row

    class Table(State):
        rows: list[list[str]]

    child = StateGraph(Row).add_node("Spoil", spoil, inline=True).compile()

    def merge(table: Table, rows: list[Row]) -> Table:
        return table.replace(rows=[row.words for row in rows])

    graph = StateGraph(Table).add_map(
        "Rows", child, items=lambda table: table.rows, key=lambda words: words[0], enter=lambda _, words: Row(words=words), merge=merge
    )
    outcome = await Runner(graph.compile()).run("t", Table(rows=[["a"], ["b"]]))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StateMutated)
    assert outcome.error.path.startswith("Table.rows[0]")


async def test_a_retried_child_that_was_resumed_starts_from_what_is_stored() -> None:
    seen = list[list[str]]()

    async def send(basket: Basket) -> Basket:
        seen.append(list(basket.goods))
        basket.goods.append("mine")
        if len(seen) == 1:
            raise transient("busy")
        return basket.replace(goods=[*basket.goods, "sent"])

    child = StateGraph(Basket).add_node("Ask", keeps).add_node("Send", send).add_edge("Ask", "Send").add_interrupt_boundary("Ask").compile()
    inner = StateGraph(Basket).add_subgraph("Inner", child, enter=lambda basket: basket, leave=lambda _, basket: basket).compile()
    graph = (
        StateGraph(Basket)
        .add_subgraph("Outer", inner, enter=lambda basket: basket, leave=lambda _, basket: basket)
        .set_recovery_policy("Outer", retries=1)
        .compile()
    )
    runner = Runner(graph, MemoryStore())
    assert isinstance(await runner.run("t", Basket(goods=["one"])), Interrupted)
    await runner.resume("t", child.approve("ed"))
    assert seen == [["one", "kept"]] * 2


async def test_an_item_of_a_map_gets_a_state_of_its_own_on_every_round() -> None:
    seen = list[str]()

    async def work(item: Item, ctx: Context) -> Item:
        seen.append(item.log)
        if len(seen) == 1:
            raise transient("busy")
        return item.replace(log=item.log + "x")

    def merge(state: Items, items: list[Item]) -> Items:
        return state.replace(done=[item.log for item in items])

    child = StateGraph(Item).add_node("Work", work).set_recovery_policy("Work", retries=1).compile()
    graph = StateGraph(Items).add_map(
        "Map",
        child,
        items=lambda state: state.keys,
        key=str,
        enter=lambda state, key: Item(key=key),
        merge=merge,
    )
    assert (await Runner(graph.compile()).run("t", Items(keys=["a"]))).unwrap().done == ["x"]
    assert seen == ["", ""]
