"""A node over one state in a graph over another."""

from __future__ import annotations

from strata.analysis.annotations import is_state, may_be, state_class
from strata.analysis.drafts import guard_name
from strata.analysis.findings import Findings
from strata.analysis.nodes import Node
from strata.analysis.signatures import state_parameter
from strata.analysis.values import Class, Function, Value
from strata.rules import codes


def refuse_other_states(node: Node, state: Value, method: str, findings: Findings) -> bool:
    """Look at all functions of a node and the guards of its edges, as far as their annotations are known."""
    if not isinstance(state, Class) or not is_state(state):
        return False
    is_refused = False
    for role in node.body.roles:
        if role.takes_state and (other := _other_state(role.function, state)) is not None:
            what = f"node '{node.name}'" if role.role is None else f"{role.role} of node '{node.name}'"
            text = f"{what} is over {other.name}, and {method}() of a graph over {state.name} was given it"
            findings.error(codes.OTHER_STATE, text, node.place, node=node.name)
            is_refused = True
    for mark in node.edges:
        if mark.guard is not None and (other := _other_state(mark.guard, state)) is not None:
            text = (
                f"node '{node.name}' has a guard over {other.name}, '{guard_name(mark.guard)}', and its graph is over {state.name}: "
                f"give @when a function of {state.name}"
            )
            findings.error(codes.OTHER_STATE, text, mark.place, node=node.name)
            is_refused = True
    return is_refused


def _other_state(function: Value, state: Class) -> Class | None:
    """The state that a function is annotated with, if it is one that cannot be `state`."""
    if not isinstance(function, Function) or (parameter := state_parameter(function)) is None:
        return None
    found = state_class(parameter.annotation, function.scope)
    return found if found is not None and not may_be(state, found) else None
