"""However runs end, in branches, items, fallbacks and graphs inside graphs: under one key nothing is done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import Context, FatalError, Runner, StateGraph, ThreadNotFound, TransientError, branch
from strata.ports.progress import Items
from strata.stores.memory import MemoryStore
from tests.asking.blows import Blow, Blows, Grief
from tests.graphs.trails import Trail
from tests.kinds.parts import first_of

pytestmark = pytest.mark.usefixtures("quiet")

GRIEFS: tuple[Grief, ...] = ("fails", "fails for now", "dies", "is abandoned", "is abandoned while its result is kept", "is cancelled")
NODES = ("A", "G/b", "G/c", "H/b", "P", "Q", "Z", "F")


class Dies(BaseException):
    """The process does; a KeyboardInterrupt in a task of a branch would end the loop."""


BLOWS = [
    *(Blow(f"{when} {node}", grief) for node in NODES for when in ("before", "behind") for grief in GRIEFS),
    *(Blow(f"the function of {node}", grief) for node in ("G", "H", "M", "W") for grief in ("fails", "fails for now", "dies", "is cancelled")),
]


class Way(NamedTuple):
    """`retries`: of all nodes; `sync`: they run on threads."""

    durable: bool
    retries: int
    sync: bool


WAYS = [Way(durable, retries, sync) for durable in (True, False) for retries in (0, 1) for sync in (True, False)]


class Store(MemoryStore):
    """Takes a turn of the loop to keep what was done, and says when it has begun."""

    def __init__(self, life: Life) -> None:
        super().__init__()
        self._life = life

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        self._life.keeps()
        await asyncio.sleep(0)
        await super().keep_progress(thread_id, base, items)


class Life:
    """W, or else F. In W: A -> G, or else H -> M -> Z. G and H have branches b and c; M has items x and y, in each P -> Q."""

    def __init__(self, way: Way, *blows: Blow) -> None:
        self._way = way
        self._blows = Blows(blows)
        self._loop = asyncio.get_running_loop()
        self._leg: asyncio.Task[None] | None = None
        self._is_abandoned_when_kept = False
        self.done, self.ended = Counter[str](), False
        self._store = Store(self)
        item = self._tried(StateGraph(Trail).add_node("P", self._node("P")).add_node("Q", self._node("Q")).add_edge("P", "Q"), "P", "Q")
        work = StateGraph(Trail).add_node("A", self._node("A")).add_node("Z", self._node("Z"))
        for group in ("G", "H"):
            parts = [branch(name, self._node(f"{group}/{name}")) for name in "bc"]
            work.add_parallel_group(group, parts, self._merge(group))
        work.add_map(
            "M", item.compile(durable=way.durable), items=lambda _: ["x", "y"], key=str, enter=lambda state, _: state, merge=self._merge("M")
        )
        work.add_edge("A", "G").add_edge("G", "M").add_edge("H", "M").add_edge("M", "Z")
        self._tried(work, "A", "H", "M", "Z").set_recovery_policy("G", retries=way.retries, fallback="H")
        graph = StateGraph(Trail).add_subgraph(
            "W", work.set_entry_point("A").compile(durable=way.durable), enter=lambda state: state, leave=self._leave
        )
        graph.add_node("F", self._node("F"))
        graph.set_recovery_policy("W", retries=way.retries, fallback="F")
        self._runner = Runner(graph.compile(durable=way.durable), self._store)

    def _tried(self, graph: StateGraph[Trail], *names: str) -> StateGraph[Trail]:
        for name in names:
            graph.set_recovery_policy(name, retries=self._way.retries)
        return graph

    def _node(self, name: str) -> Any:
        async def node(state: Trail, ctx: Context) -> Trail:
            await asyncio.sleep(0)
            self._meets(f"before {name}")
            await asyncio.sleep(0)
            await ctx.once("do", lambda: self._does(ctx))
            self._meets(f"behind {name}")
            await asyncio.sleep(0)
            return state

        def sync_node(state: Trail, ctx: Context) -> Trail:
            self._meets(f"before {name}")
            ctx.once_sync("do", lambda: self._does(ctx))
            self._meets(f"behind {name}")
            return state

        return sync_node if self._way.sync else node

    def _does(self, ctx: Context) -> None:
        self.done.update([ctx.idempotency_key.partition("@")[0]])

    def _merge(self, name: str) -> Any:
        def merge(state: Trail, results: list[Trail]) -> Trail:
            self._meets(f"the function of {name}")
            return first_of(state, results)

        return merge

    def _leave(self, state: Trail, inner: Trail) -> Trail:
        self._meets("the function of W")
        return inner

    def _meets(self, place: str) -> None:
        match self._blows.at(place):
            case "fails":
                raise FatalError(place)
            case "fails for now":
                raise TransientError(place)
            case "dies":
                raise Dies
            case "is abandoned":
                self._loop.call_soon_threadsafe(self._abandon)
            case "is abandoned while its result is kept":
                self._is_abandoned_when_kept = True
            case "is cancelled":
                self._runner.cancel("t")
            case _:
                pass

    def keeps(self) -> None:
        if self._is_abandoned_when_kept:
            self._is_abandoned_when_kept = False
            self._abandon()

    def _abandon(self) -> None:
        assert self._leg is not None
        self._leg.cancel()

    async def live(self) -> None:
        """Goes on with the thread, as whoever looks after it would, until it has come to its end."""
        for _ in range(20):
            self._leg = asyncio.create_task(self._go_on())
            await asyncio.wait({self._leg})
            if not self._leg.cancelled():
                self._leg.result()
            if self.ended:
                return
        raise AssertionError("it comes to no end")

    async def _go_on(self) -> None:
        try:
            await self._next()
        except Dies:
            return

    async def _next(self) -> None:
        try:
            thread = await self._runner.thread("t")
        except ThreadNotFound:
            await self._ends(self._runner.run("t", Trail()))
            return
        match thread.state_name:
            case "completed":
                self.ended = True
            case "running":
                await self._ends(self._runner.recover("t"))
            case "resumed":
                await self._runner.reopen("t")
            case _:
                await self._ends(self._runner.resume("t"))

    async def _ends(self, call: Any) -> None:
        outcome = await call
        self.ended = type(outcome).__name__ == "Completed"


async def lives(way: Way, *blows: Blow) -> None:
    life = Life(way, *blows)
    await life.live()
    assert {key: times for key, times in life.done.items() if times > 1} == {}, (way, blows)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_one_blow(way: Way) -> None:
    for blow in BLOWS:
        await lives(way, blow)


FALLBACKS = {"G/c": ("H", "H/b"), "Z": ("F",)}
"""By the node that fails, whatever becomes of it: where its fallback comes to grief."""


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("failing", FALLBACKS)
async def test_a_blow_in_a_fallback(failing: str, way: Way) -> None:
    always = [Blow(f"behind {failing}", "fails", visit) for visit in range(1, 20)]
    for blow in BLOWS:
        if blow.place.split()[-1] in FALLBACKS[failing]:
            await lives(way, *always, blow, blow.again(2))


@given(way=st.sampled_from(WAYS), blows=st.lists(st.builds(Blow.again, st.sampled_from(BLOWS), st.integers(1, 3)), min_size=2, max_size=5))
def test_several_blows(way: Way, blows: list[Blow]) -> None:
    asyncio.run(lives(way, *blows))
