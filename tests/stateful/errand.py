"""An errand that a test steps through: its nodes wait until they are told how to end, and write down that they ran.

open -> approve (a person) -> work -> paid (an event, 60 s) -> noted -> rest (a timer, 20 s) -> close
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec

from strata import CompiledGraph, Context, Event, State, StateGraph, TransientError
from strata.ports import CheckpointStore, Stored

ORDER = "oawprc"
"""What each node adds to the trail, in the only order there is."""

Ending = Literal["good", "failed"]


class Errand(State):
    trail: str = ""


class Gate:
    """A handler that waits."""

    def __init__(self, thread_id: str, letter: str) -> None:
        self.thread_id = thread_id
        self.letter = letter
        self.ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()


class Gates:
    """The handlers that wait now. `latest` is asked what the store has, when a handler starts."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self.waiting: list[Gate] = []
        self.repeated: list[str] = []
        """Handlers that started although the store had their node as committed."""

    async def pass_through(self, errand: Errand, ctx: Context, letter: str) -> Errand:
        gate = Gate(ctx.thread_id, letter)
        self.waiting.append(gate)
        try:
            if letter in trail_of(await self._store.load_latest(ctx.thread_id)):
                self.repeated.append(f"{ctx.idempotency_key} by {ctx.run_id}")
            if await gate.ending == "failed":
                raise TransientError("told to fail")
        finally:
            self.waiting.remove(gate)
        return add(errand, letter)


def add(errand: Errand, letter: str) -> Errand:
    return errand.replace(trail=errand.trail + letter)


def trail_of(stored: Stored | None) -> str:
    """The innermost level's."""
    if stored is None:
        return ""
    return str(msgspec.json.decode(stored.checkpoint.innermost.frozen_state)["trail"])


def errands(gates: Gates, *, durable: bool, nested: bool) -> tuple[CompiledGraph[Errand], CompiledGraph[Errand]]:
    """The graph, and the one that people and events answer: the middle part, inside a node or not."""
    if not nested:
        whole = _middle(_opening(gates), gates).add_edge("open", "approve").add_edge("noted", "rest")
        graph = _closing(whole, gates).compile(durable=durable)
        return graph, graph
    inner = _middle(StateGraph(Errand), gates).compile(durable=durable)
    outer = _opening(gates).add_subgraph("middle", inner, enter=lambda errand: errand, leave=lambda _, child: child)
    outer.add_edge("open", "middle").add_edge("middle", "rest")
    return _closing(outer, gates).compile(durable=durable), inner


def paid() -> Event:
    return Event("paid", payload="yes")


def _opening(gates: Gates) -> StateGraph[Errand]:
    return StateGraph(Errand).add_node("open", _node(gates, "o"))


def _middle(graph: StateGraph[Errand], gates: Gates) -> StateGraph[Errand]:
    graph.add_node("approve", lambda errand: add(errand, "a"), inline=True).add_interrupt_boundary("approve")
    graph.add_node("work", _node(gates, "w"))
    graph.add_wait_for_event("paid", "paid", payload=str, fold=lambda errand, payload: add(errand, "p"), timeout=60)
    graph.add_node("noted", lambda errand: errand, inline=True)
    return graph.add_edge("approve", "work").add_edge("work", "paid").add_edge("paid", "noted")


def _closing(graph: StateGraph[Errand], gates: Gates) -> StateGraph[Errand]:
    graph.add_timer("rest", 20, fold=lambda errand: add(errand, "r"))
    return graph.add_node("close", _node(gates, "c")).add_edge("rest", "close")


def _node(gates: Gates, letter: str) -> Any:
    async def pass_gate(errand: Errand, ctx: Context) -> Errand:
        return await gates.pass_through(errand, ctx, letter)

    return pass_gate
