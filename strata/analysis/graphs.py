"""Graphs on their way: an empty builder, one that holds data, one that lists nodes, and a compiled one."""

from __future__ import annotations

from strata.analysis.drafts import Draft
from strata.analysis.values import Listed, Value
from strata.rules.facts import GraphFacts


class Builder(Value, frozen=True, eq=False):
    """`StateGraph(S)`, which its methods change; `doubt` is that of the place where it was made (see `Execution`)."""

    draft: Draft
    doubt: int


class Wiring(Value, frozen=True, eq=False):
    """`StateGraph(S).start(a)...`: the values that it lists, UNKNOWN for each that cannot be told."""

    state: Value
    listed: tuple[Value, ...]


class Compiled(Value, frozen=True, eq=False):
    """What `compile()` gave: the facts if all of them are known, `durable` if it can be told."""

    facts: GraphFacts | None
    durable: bool | None


def escape(value: Value) -> None:
    """The value is in hands that are not followed: what may change in them is not known any more."""
    if isinstance(value, Builder):
        value.draft.is_lost = True
    elif isinstance(value, Listed):
        for item in value.items:
            escape(item)
