"""What is done once is done once at every depth: in a graph inside a node as in a graph alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strata import Completed, Context, Failed, Interrupted, Resume, Runner, StateGraph
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.graphs.trails import Trail


def nested(graph: Any, depth: int) -> Any:
    for _ in range(depth):
        graph = StateGraph(Trail).add_subgraph("In", graph, enter=lambda state: state, leave=lambda _, inner: inner).compile()
    return graph


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_sub_06_what_stands_before_a_question_is_not_done_again_at_any_depth(kind: str, depth: int, tmp_path: Path) -> None:
    paid, fails = list[str](), [True]

    async def charge(state: Trail, ctx: Context) -> Trail:
        async def pay() -> str:
            paid.append(ctx.idempotency_key)
            return f"receipt {len(paid)}"

        receipt = await ctx.once("pay", pay)
        answer = ctx.interrupt("may I?", returns=str)
        if fails:
            fails.clear()
            raise ValueError("a failure behind the answer")
        return state.replace(trail=f"{receipt}, {answer}")

    graph = nested(StateGraph(Trail).add_node("Charge", charge).compile(), depth)
    async with MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "t.db") as store:
        assert isinstance(await Runner(graph, store).run("t", Trail()), Interrupted)
        assert isinstance(await Runner(graph, store).resume("t", Resume("yes")), Failed)
        done = await Runner(graph, store).resume("t")
    assert isinstance(done, Completed)
    assert done.state.trail == "receipt 1, yes"
    assert len(paid) == 1
