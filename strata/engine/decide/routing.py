"""Where a run goes from a node."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias

from strata.engine.plan import EdgePlan, NodePlan
from strata.errors import GuardFailed, NoMatchingEdge
from strata.graph.functions import neither_yes_nor_no


class Finish(Enum):
    """The run ends here: the node has no way out."""

    FINISH = "finish"


FINISH: Final = Finish.FINISH
Step: TypeAlias = NodePlan | Literal[Finish.FINISH]


def next_step(node: NodePlan, state: object) -> Step:
    """Where the run goes after `node` has returned `state`.

    Edges are tried in the order they were added and the first that matches is taken; a plain edge always matches
    (strata-graph.md 6.2). A node without edges ends the run.

    Raises:
        NoMatchingEdge: it has edges, and no guard said yes.
        GuardFailed: a guard raised, or answered with no bool.
    """
    for edge in node.edges:
        if edge.guard is None:
            return edge.target
        try:
            answer = edge.guard(state)
        except Exception as error:
            raise _failed(node, edge, f"raised {type(error).__name__}: {error}") from error
        if answer is True:
            return edge.target
        if answer is not False:
            raise _failed(node, edge, neither_yes_nor_no(answer))
    if node.edges:
        raise NoMatchingEdge(node.name)
    return FINISH


def _failed(node: NodePlan, edge: EdgePlan, what: str) -> GuardFailed:
    guard = getattr(edge.guard, "__qualname__", None) or repr(edge.guard)
    return GuardFailed(f"guard '{guard}' of the edge '{node.name}' -> '{edge.target.name}' {what}", node=node.name, guard=guard)
