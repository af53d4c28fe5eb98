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


def undoing() -> StateGraph[Trail]:
    """A, which asks -> B, or Undo where it is rejected."""
    return line("A", "B").add_node("Undo", adds("U"), inline=True).add_interrupt_boundary("A", on_reject="Undo")


def revising() -> StateGraph[Trail]:
    """Approve, which asks -> Publish; a rejection leads over Revise back to Approve."""
    return (
        StateGraph(Trail)
        .add_node("Approve", adds("a"), inline=True)
        .add_node("Publish", adds("p"), inline=True)
        .add_node("Revise", adds("r"), inline=True)
        .add_edge("Approve", "Publish")
        .add_edge("Revise", "Approve")
        .add_interrupt_boundary("Approve", on_reject="Revise")
    )


def loop(*, until: int | None = None) -> StateGraph[Trail]:
    """A -> B, back to A while n is below `until` (None: for ever), else to Done."""
    return (
        line("A", "B")
        .add_node("Done", adds("D"), inline=True)
        .add_conditional_edge("B", "A", lambda state: until is None or state.n < until)
        .add_edge("B", "Done")
    )
