"""A state that says which nodes ran, and lines and loops over it, from data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from strata import State, StateGraph


class Trail(State):
    trail: str = ""
    n: int = 0


def adds(name: str) -> Callable[[Trail], Trail]:
    """A node that appends its name to the trail and counts."""

    def add(state: Trail) -> Trail:
        return state.replace(trail=state.trail + name, n=state.n + 1)

    return add


def line(*names: str) -> StateGraph[Trail]:
    """The nodes one after another."""
    graph = StateGraph(Trail)
    for name in names:
        graph.add_node(name, adds(name), inline=True)
    for source, target in pairwise(names):
        graph.add_edge(source, target)
    return graph


def loop(*, until: int | None = None) -> StateGraph[Trail]:
    """A -> B, back to A while n is below `until` (None: for ever), else to Done."""
    return (
        line("A", "B")
        .add_node("Done", adds("D"), inline=True)
        .add_conditional_edge("B", "A", lambda state: until is None or state.n < until)
        .add_edge("B", "Done")
    )
