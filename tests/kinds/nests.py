"""Graphs inside graphs, over trails: a level's nodes add their names, a child's trail comes back in brackets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from strata import CompiledGraph, Context, StateGraph
from tests.graphs.trails import Trail, adds


def inside(
    name: str, child: CompiledGraph[Trail], *, before: str = "Before", after: str = "After", timeout: float | None = None
) -> StateGraph[Trail]:
    """before -> the child -> after; the child starts with an empty trail and the parent's n."""
    return (
        StateGraph(Trail)
        .add_node("Before", adds("B"), inline=True)
        .add_subgraph(name, child, enter=starts_empty, leave=in_brackets, timeout=timeout)
        .add_node("After", adds("A"), inline=True)
        .add_edge("Before", name)
        .add_edge(name, "After")
    )


def alone(name: str, child: CompiledGraph[Trail], *, timeout: float | None = None) -> StateGraph[Trail]:
    """The child, and nothing else."""
    return StateGraph(Trail).add_subgraph(name, child, enter=starts_empty, leave=in_brackets, timeout=timeout)


def starts_empty(state: Trail) -> Trail:
    return Trail(n=state.n)


def in_brackets(state: Trail, child: Trail) -> Trail:
    return state.replace(trail=f"{state.trail}({child.trail})", n=child.n)


def steps(*nodes: tuple[str, Any], **options: Any) -> StateGraph[Trail]:
    """The named handlers one after another."""
    graph = StateGraph(Trail)
    for name, handler in nodes:
        graph.add_node(name, handler, **options)
    for (source, _), (target, _) in pairwise(nodes):
        graph.add_edge(source, target)
    return graph


class Keys:
    """Nodes that keep the idempotency keys and flags they were told."""

    def __init__(self) -> None:
        self.seen = list[str]()

    def node(self, name: str) -> Any:
        async def look(state: Trail, ctx: Context) -> Trail:
            self.seen.append(ctx.idempotency_key + (" again" if ctx.is_recovery else ""))
            return state.replace(trail=state.trail + name, n=state.n + 1)

        return look
