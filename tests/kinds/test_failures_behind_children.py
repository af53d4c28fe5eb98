"""A node that fails behind the graph inside it, which has finished: what the graph did stands, and only its last node runs again.

So strata-checkpoint.md 8 has it where no guard matches, or something raises that is no node: the record is the last one, at every level, as `failed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strata import Failed, Interrupted, Runner, StateGraph
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, adds
from tests.kinds.nests import in_brackets, starts_empty, steps
from tests.kinds.parts import fallback
from tests.logs import checkpoints, log


class Trouble:
    """Comes to grief as often as it is told, behind the child of Work: in the node's function, in a guard, at the routing, with a state."""

    def __init__(self, where: str, times: int = 1) -> None:
        self.where = where
        self.left = times

    def around(self, child: StateGraph[Trail], *, durable: bool) -> StateGraph[Trail]:
        """Before -> Work -> After."""
        return (
            StateGraph(Trail)
            .add_node("Before", adds("B"), inline=True)
            .add_subgraph("Work", child.compile(durable=durable), enter=starts_empty, leave=self._leave)
            .add_node("After", adds("A"), inline=True)
            .add_edge("Before", "Work")
            .add_conditional_edge("Work", "After", self._guard)
        )

    def _leave(self, state: Trail, child: Trail) -> Any:
        if self._comes("function"):
            raise LookupError("none")
        if self._comes("state"):
            return "no state"
        return in_brackets(state, child)

    def _guard(self, state: Trail) -> bool:
        if self._comes("guard"):
            raise LookupError("none")
        return not self._comes("routing")

    def _comes(self, where: str) -> bool:
        if where != self.where or not self.left:
            return False
        self.left -= 1
        return True


TEXTS = {
    "function": "the node's function of node 'Work' raised LookupError: none",
    "guard": "LookupError: none",
    "routing": "no outgoing edge condition matched for node 'Work'",
    "state": "str",
}


class Ran:
    """Nodes that say who ran."""

    def __init__(self) -> None:
        self.names = list[str]()

    def node(self, name: str) -> Callable[[Trail], Trail]:
        def run(state: Trail) -> Trail:
            self.names.append(name)
            return adds(name)(state)

        return run

    def steps(self, *names: str) -> StateGraph[Trail]:
        return steps(*((name, self.node(name)) for name in names), inline=True)


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("where", TEXTS)
async def test_the_child_stands_before_its_last_node_and_only_that_runs_again(where: str, durable: bool) -> None:
    ran, store = Ran(), MemoryStore()
    runner = Runner(Trouble(where).around(ran.steps("X", "Y", "Z"), durable=durable).compile(durable=durable, max_node_hops=9), store)
    failed = await runner.run("t", Trail())
    assert isinstance(failed, Failed)
    assert TEXTS[where] in failed.message
    assert (await log(store))[-1] == "failed:Work>Work / failed:Z>Z"
    record = (await checkpoints(store))[-1]
    assert record.nested is not None
    assert bytes(record.nested.frozen_state) == b'{"trail":"XY","n":3}'
    for level, hops in zip(record.levels(), ("1", "2"), strict=True):
        metadata = dict(level.metadata or {})
        assert metadata.pop("strata.hops", hops) == hops
        assert metadata == {"error": failed.message, "error_kind": "fatal"}
    assert (await runner.resume("t")).unwrap().trail == "B(XYZ)A"
    assert ran.names == ["X", "Y", "Z", "Z"]


@pytest.mark.parametrize("durable", [True, False])
async def test_so_do_the_graphs_inside_that(durable: bool) -> None:
    ran, store = Ran(), MemoryStore()
    inner = ran.steps("P", "Q").compile(durable=durable)
    work = ran.steps("X").add_subgraph("Inner", inner, enter=starts_empty, leave=in_brackets).add_edge("X", "Inner")
    runner = Runner(Trouble("function").around(work, durable=durable).compile(durable=durable), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert (await log(store))[-1] == "failed:Work>Work / failed:Inner>Inner / failed:Q>Q"
    assert (await runner.resume("t")).unwrap().trail == "B(X(PQ))A"
    assert ran.names == ["X", "P", "Q", "Q"]


@pytest.mark.parametrize("durable", [True, False])
async def test_a_child_of_one_node_has_no_record_of_its_own_and_is_entered_anew(durable: bool) -> None:
    ran, store = Ran(), MemoryStore()
    runner = Runner(Trouble("guard").around(ran.steps("X"), durable=durable).compile(durable=durable), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert (await log(store))[-1] == "failed:Work>Work"
    assert (await runner.resume("t")).unwrap().trail == "B(X)A"
    assert ran.names == ["X", "X"]


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("retries", [0, 1])
async def test_nobody_is_asked_again(durable: bool, retries: int) -> None:
    ran, store = Ran(), MemoryStore()
    work = ran.steps("Draft", "Approve", "Send").add_interrupt_boundary("Approve")
    graph = Trouble("function", times=retries + 1).around(work, durable=durable)
    graph.set_recovery_policy("Work", retries=retries, on=Exception)
    runner = Runner(graph.compile(durable=durable), store)
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    assert isinstance(await runner.resume("t", work.compile(durable=durable).approve("ed")), Failed)
    nested = (await checkpoints(store))[-1].nested
    assert nested is not None
    assert (nested.suspended_node, nested.decision and nested.decision.reviewer) == ("Send", "ed")
    assert (await runner.resume("t")).unwrap().trail == "B(DraftApproveSend)A"
    assert ran.names == ["Draft", "Approve", *["Send"] * (retries + 2)]


async def test_a_fallback_goes_on_without_it() -> None:
    graph = fallback(Trouble("function").around(Ran().steps("X", "Y"), durable=False), "Work")
    assert (await Runner(graph.compile(durable=False), MemoryStore()).run("t", Trail())).unwrap().trail == "BR"
