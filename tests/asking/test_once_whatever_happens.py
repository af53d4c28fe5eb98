"""Whatever comes to grief in graphs inside graphs, and however the thread is gone on with: what is done once is done once, and so is asking."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import Context, MapperFailed, Resume, Runner, StateGraph, ThreadNotFound, TransientError
from strata.stores.memory import MemoryStore
from tests.asking.blows import Blow, Blows, Grief
from tests.graphs.trails import Trail

pytestmark = pytest.mark.usefixtures("quiet")

GRIEFS: tuple[Grief, ...] = ("fails", "fails for now", "dies", "is abandoned")
NODES = ("A", "Ask", "P", "Q", "Z")
QUESTIONS = ("Ask", "P")
BLOWS = [
    *(Blow(f"{when} {node}", grief) for node in NODES for when in ("before", "behind") for grief in GRIEFS),
    *(Blow(f"the function of {node}", grief) for node in ("Inner", "Work") for grief in GRIEFS if grief != "is abandoned"),
    *(Blow(f"the edge of {node}", grief) for node in ("Q", "Z", "Work") for grief in GRIEFS if grief in ("fails", "dies")),
]


class Way(NamedTuple):
    """`guarded`: no edge need match, so that a graph inside may have nowhere to go; `retries`: of the nodes around graphs."""

    durable: bool
    retries: int
    guarded: bool


WAYS = [Way(durable, retries, guarded) for durable in (True, False) for retries in (0, 1) for guarded in (True, False)]


class Life:
    """Work -> End. In Work: A -> Ask -> Sign, where a person approves -> Inner -> Z -> Out. In Inner: P -> Q -> Out. Ask and P ask."""

    def __init__(self, way: Way, *blows: Blow) -> None:
        self._way = way
        self._blows = Blows(blows)
        self._store = MemoryStore()
        self.done, self.people = Counter[str](), Counter[str]()
        self.trails = list[str]()
        inner = self._line("P", "Q", "Out")
        work = self._line("A", "Ask", "Sign", "Inner", "Z", "Out", Inner=inner).add_interrupt_boundary("Sign")
        self._work, self._graph = self._compiled(work), self._compiled(self._line("Work", "End", Work=work))

    def _line(self, *names: str, **inside: StateGraph[Trail]) -> StateGraph[Trail]:
        graph = StateGraph(Trail)
        for name in names:
            if name in inside:
                graph.add_subgraph(name, self._compiled(inside[name]), enter=lambda state: state, leave=self._function(name))
                graph.set_recovery_policy(name, retries=self._way.retries, on=(TransientError, MapperFailed))
            elif name in NODES:
                graph.add_node(name, self._node(name))
            else:
                graph.add_node(name, self._end if name == "End" else lambda state: state, inline=True)
        for source, target in pairwise(names):
            if self._way.guarded and source in ("Q", "Z", "Work"):
                graph.add_conditional_edge(source, target, self._guard(source))
            else:
                graph.add_edge(source, target)
        return graph

    def _compiled(self, graph: StateGraph[Trail]) -> Any:
        return graph.compile(durable=self._way.durable)

    def _node(self, name: str) -> Any:
        async def node(state: Trail, ctx: Context) -> Trail:
            await self._meets(f"before {name}")
            await ctx.once("do", lambda: self.done.update([name]))
            answer = ctx.interrupt(name, returns=str) if name in QUESTIONS else ""
            await self._meets(f"behind {name}")
            return state.replace(trail=state.trail + name + answer)

        return node

    def _function(self, name: str) -> Any:
        def leave(state: Trail, inner: Trail) -> Trail:
            self._is_abandoned_at(f"the function of {name}")
            return inner

        return leave

    def _guard(self, name: str) -> Any:
        def matches(state: Trail) -> bool:
            try:
                self._is_abandoned_at(f"the edge of {name}")
            except LookupError:
                return False
            return True

        return matches

    def _end(self, state: Trail) -> Trail:
        self.trails.append(state.trail)
        return state

    async def _meets(self, place: str) -> None:
        if self._is_abandoned_at(place):
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.Event().wait()

    def _is_abandoned_at(self, place: str) -> bool:
        """Any other blow falls here."""
        grief = self._blows.at(place)
        match grief:
            case "fails":
                raise LookupError(place)
            case "fails for now":
                raise TransientError(place)
            case "dies":
                raise KeyboardInterrupt
            case _:
                return grief == "is abandoned"

    async def live(self) -> None:
        """Goes on with the thread, as whoever looks after it would, until it has come to its end."""
        for _ in range(16):
            leg = asyncio.create_task(self._go_on())
            await asyncio.wait({leg})
            if not leg.cancelled():
                leg.result()
            if self.trails:
                return
        raise AssertionError("it comes to no end")

    async def _go_on(self) -> None:
        try:
            await self._leg(Runner(self._graph, self._store))
        except KeyboardInterrupt:  # which would end the loop
            return

    async def _leg(self, runner: Runner[Trail]) -> None:
        try:
            thread = await runner.thread("t")
        except ThreadNotFound:
            await runner.run("t", Trail())
            return
        match thread.state_name:
            case "running":
                await runner.recover("t")
            case "interrupted" if thread.questions:
                self.people.update(str(question.asked) for question in thread.questions)
                await runner.resume("t", Resume("!"))
            case "interrupted":
                self.people.update(["approves"])
                await runner.resume("t", self._work.approve("ed"))
            case _:
                await runner.resume("t")


async def lives(way: Way, *blows: Blow) -> None:
    life = Life(way, *blows)
    await life.live()
    assert life.trails == ["AAsk!P!QZ"]
    assert life.done == dict.fromkeys(NODES, 1)
    assert [life.people[question] for question in QUESTIONS] == [1, 1]
    begun_anew = sum(blow[:2] == ("the edge of Z", "fails") for blow in set(blows))  # Work has nowhere to go: strata-checkpoint.md 5
    assert life.people["approves"] <= 1 + begun_anew


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_one_blow(way: Way) -> None:
    for blow in BLOWS:
        await lives(way, blow)


@given(way=st.sampled_from(WAYS), blows=st.lists(st.builds(Blow.again, st.sampled_from(BLOWS), st.integers(1, 3)), min_size=2, max_size=4))
def test_several_blows(way: Way, blows: list[Blow]) -> None:
    asyncio.run(lives(way, *blows))
