"""What a node does, from the arguments of its decorator or of the builder's method."""

from __future__ import annotations

from collections.abc import Sequence

from strata.analysis.arguments import Arguments
from strata.analysis.graphs import Compiled
from strata.analysis.nodes import Body, Child, Role
from strata.analysis.values import UNKNOWN, Branch, Function, Join, Value, is_given, is_true, seconds, text, whole_number
from strata.rules.facts import JoinFacts, SourcePlace

STATE = "the state"
OWN = Role(UNKNOWN)
"""Where the function that is decorated will stand."""


def handler_body(arguments: Arguments) -> Body:
    return Body(kind="plain", word="node", roles=(OWN,), inline=is_true(arguments.get("inline")))


def group_body(parts: Sequence[Value] | None, arguments: Arguments, place: SourcePlace | None) -> Body:
    """`parts` is None where it cannot be told what they are, `place` where an unnamed branch stands."""
    named = [] if parts is None else [_branch(part, place) for part in parts]
    branches = tuple(branch for branch in named if branch is not None)
    is_whole = parts is not None and len(branches) == len(named)
    return Body(
        kind="parallel_group",
        word="parallel",
        roles=(_merge("branches"), *(Role(branch.function, f"branch '{branch.name}'") for branch in branches), *_predicate(arguments)),
        # A group of which not all is known has a branch for the rules, and no count that could be wrong.
        branches=branches or (() if is_whole else (Branch("branch", UNKNOWN, place),)),
        has_all_branches=is_whole,
        join=_join(arguments) if is_whole else None,
        max_concurrency=whole_number(arguments.get("max_concurrency")),
        part_timeout=seconds(arguments.get("branch_timeout")),
    )


def subgraph_body(child: Value | None, arguments: Arguments) -> Body:
    leave = Role(UNKNOWN, takes=(STATE, "the child's last state"))
    return Body(kind="subgraph", word="subgraph", roles=(leave, *_asked(arguments, "enter", STATE)), child=_child(child))


def map_body(child: Value | None, arguments: Arguments) -> Body:
    return Body(
        kind="map",
        word="map_each",
        roles=(
            _merge("items"),
            *_asked(arguments, "items", STATE),
            *_asked(arguments, "key", "an item"),
            *_asked(arguments, "enter", STATE, "an item"),
            *_predicate(arguments),
        ),
        child=_child(child),
        join=_join(arguments),
        max_concurrency=whole_number(arguments.get("max_concurrency")),
        max_items=whole_number(arguments.get("max_items")),
        part_timeout=seconds(arguments.get("item_timeout")),
    )


def event_wait_body(event_type: Value | None, arguments: Arguments) -> Body:
    return Body(
        kind="wait",
        word="wait_for_event",
        roles=(Role(UNKNOWN, takes=(STATE, "the payload")),),
        event_type=text(event_type),
        names_payload=arguments.get("payload") is not None,
        timeout=seconds(arguments.get("timeout")),
    )


def timer_body(delay: Value | None, arguments: Arguments) -> Body:
    return Body(kind="wait", word="timer", roles=(Role(UNKNOWN, takes=(STATE,)), *_asked(arguments, "until", STATE)), delay=seconds(delay))


def _merge(parts: str) -> Role:
    return Role(UNKNOWN, takes=(STATE, f"the results of the {parts}"))


def _asked(arguments: Arguments, name: str, *takes: str) -> tuple[Role, ...]:
    value = arguments.get(name)
    return (Role(value, f"{name}=", takes),) if value is not None and is_given(value) else ()


def _predicate(arguments: Arguments) -> tuple[Role, ...]:
    join = arguments.get("join")
    if not isinstance(join, Join) or join.predicate is None:
        return ()
    return (Role(join.predicate, "the predicate of its join", ("a part's state",)),)


def _join(arguments: Arguments) -> JoinFacts | None:
    """None where it cannot be told, which no rule objects to."""
    join = arguments.get("join")
    if not is_given(join):
        return JoinFacts(policy="all")
    if not isinstance(join, Join) or (join.policy == "quorum" and join.count is None):
        return None
    return JoinFacts(policy=join.policy, count=join.count)


def _branch(part: Value, place: SourcePlace | None) -> Branch | None:
    """None for what cannot be told, and for what Python refuses."""
    if isinstance(part, Branch):
        return part
    return Branch(part.name, part, place) if isinstance(part, Function) and part.name is not None else None


def _child(child: Value | None) -> Child:
    return Child(child.facts, child.durable) if isinstance(child, Compiled) else Child(None, None)
