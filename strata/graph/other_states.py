"""A node over one state in a graph over another: found by checkers too, and here for who runs none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from strata.graph.functions import name_of, other_state_of
from strata.graph.spec import Body, EventWaitBody, GroupBody, Handler, MapBody, NodeSpec, SubgraphBody, TimerBody
from strata.graph.state import State


def refuse_other_state(spec: NodeSpec, method: str, state: type[State], names: Mapping[str, Any]) -> None:
    """Look at all functions of a node, as far as their annotations can be read.

    Raises:
        TypeError: one is of another state than the graph's.
    """
    for role, fn in _functions(spec.body):
        if (other := other_state_of(fn, state, names)) is not None:
            what = f"node '{spec.name}'" if role is None else f"{role} of node '{spec.name}'"
            raise TypeError(f"{spec.place}: {what} is over {other.__name__}, and {method}() of a graph over {state.__name__} was given it")
    for way in spec.edges:
        if way.guard is not None and (other := other_state_of(way.guard, state, names)) is not None:
            guard = name_of(way.guard) or "lambda"
            text = f"node '{spec.name}' has a guard over {other.__name__}, '{guard}', and its graph is over {state.__name__}"
            raise TypeError(f"{way.place}: {text}: give @when a function of {state.__name__}")


def _functions(body: Body) -> Iterator[tuple[str | None, Any]]:
    """The functions whose first parameter is the state, and what they are to the node; its own comes first."""
    match body:
        case Handler(fn=fn):
            yield None, fn
        case GroupBody(branches=branches, fanout=fanout):
            yield None, fanout.merge
            yield from ((f"branch '{branch.name}'", branch.handler.fn) for branch in branches)
        case SubgraphBody(enter=enter, leave=leave):
            yield None, leave
            yield "enter=", enter
        case MapBody(items=items, enter=enter, fanout=fanout):
            yield None, fanout.merge
            yield "items=", items
            yield "enter=", enter
        case EventWaitBody(fold=fold):
            if fold is not None:
                yield None, fold
        case TimerBody(until=until, fold=fold):
            if fold is not None:
                yield None, fold
            if until is not None:
                yield "until=", until
