"""No record says that a fallback was taken: a recovery begins with the node that failed, and does of both nothing again that was done."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from strata import Context, FatalError, Runner, StateGraph, branch
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail
from tests.kinds.parts import first_of


class Shop:
    """Charge fails, and its fallback, Refund, dies so many times; both do something once."""

    def __init__(self, *, deaths: int) -> None:
        self.deaths = [KeyboardInterrupt()] * deaths
        self.done = Counter[str]()

    async def charge(self, state: Trail, ctx: Context) -> Trail:
        await ctx.once("do", lambda: self.done.update(["charge"]))
        raise FatalError("no money")

    async def refund(self, state: Trail, ctx: Context) -> Trail:
        await ctx.once("do", lambda: self.done.update(["refund"]))
        self.die()
        return state.replace(trail="refunded")

    async def finishes(self, state: Trail, ctx: Context) -> Trail:
        self.done.update(["/".join(ctx.path.split("/")[-2:])])
        return state

    async def comes_to_grief(self, state: Trail, ctx: Context) -> Trail:
        await asyncio.sleep(0)
        if ctx.path.endswith("Charge/c"):
            raise FatalError("no money")
        self.die()
        return state

    def die(self) -> None:
        if self.deaths:
            raise self.deaths.pop()

    def group(self, graph: StateGraph[Trail], name: str) -> StateGraph[Trail]:
        return graph.add_parallel_group(name, [branch("b", self.finishes), branch("c", self.comes_to_grief)], first_of)


async def lived(graph: StateGraph[Trail], store: Any) -> Trail:
    """What the thread comes to, recovered as often as it dies."""
    runner = Runner(graph.compile(), store)
    try:
        return (await runner.run("t", Trail())).unwrap()
    except KeyboardInterrupt:
        pass
    while True:
        try:
            return (await runner.recover("t")).unwrap()
        except KeyboardInterrupt:
            continue


def nested(graph: StateGraph[Trail], retries: int | None) -> StateGraph[Trail]:
    """Alone, or inside a node that is tried again so many times."""
    if retries is None:
        return graph
    around = StateGraph(Trail).add_subgraph("Work", graph.compile(), enter=lambda state: state, leave=lambda _, inner: inner)
    return around.set_recovery_policy("Work", retries=retries)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("retries", [None, 0, 1])
@pytest.mark.parametrize("deaths", [1, 2])
async def test_what_was_done_once_is_not_done_again_when_the_process_dies_in_a_fallback(
    deaths: int, retries: int | None, kind: str, tmp_path: Path
) -> None:
    shop = Shop(deaths=deaths)
    graph = StateGraph(Trail).add_node("Charge", shop.charge).add_node("Refund", shop.refund).set_recovery_policy("Charge", fallback="Refund")
    async with MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "t.db") as store:
        assert (await lived(nested(graph, retries), store)).trail == "refunded"
    assert shop.done == {"charge": 1, "refund": 1}


@pytest.mark.parametrize("retries", [None, 0, 1])
async def test_branches_of_a_fallback_that_have_finished_do_not_run_again_either(retries: int | None) -> None:
    shop = Shop(deaths=2)
    graph = shop.group(shop.group(StateGraph(Trail), "Charge"), "Refund").set_recovery_policy("Charge", fallback="Refund")
    await lived(nested(graph, retries), MemoryStore())
    assert shop.done == {"Charge/b": 1, "Refund/b": 1}


async def test_a_recovery_that_gets_further_before_it_fails_too_keeps_what_its_fallback_did() -> None:
    shop, fails = Shop(deaths=1), [FatalError("at first")]

    async def reserve(state: Trail) -> Trail:
        if fails:
            raise fails.pop()
        return state

    def leave(state: Trail, inner: Trail) -> Trail:
        raise FatalError("behind all that it has committed")

    work = StateGraph(Trail).add_node("Reserve", reserve).add_node("Ship", shop.finishes).add_edge("Reserve", "Ship")
    graph = StateGraph(Trail).add_subgraph("Work", work.compile(), enter=lambda state: state, leave=leave).add_node("Refund", shop.refund)
    await lived(graph.set_recovery_policy("Work", fallback="Refund"), MemoryStore())
    assert shop.done == {"Work/Ship": 1, "refund": 1}
