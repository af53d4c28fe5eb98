"""What a node does, made of the functions that a decorator or the data form of the builder was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Generic, TypeVar, get_args

import msgspec

from strata.graph.arguments import is_whole, one_of, seconds_or_none, true_or_false
from strata.graph.compiled import CompiledGraph
from strata.graph.functions import handler_of, name_of
from strata.graph.joins import Join, Partial, all_of
from strata.graph.mappers import payload_of, pure, takes_outcomes
from strata.graph.nodes import Node, Wired
from strata.graph.spec import BranchSpec, EventWaitBody, Fanout, GroupBody, MapBody, SubgraphBody, TimerBody
from strata.graph.state import State
from strata.graph.texts import text_of
from strata.rules.facts import Place

S = TypeVar("S", bound=State)


class Branch(Generic[S]):
    """A function as a branch of a parallel group, under a name of its own; made by `branch`."""

    __slots__ = ("fn", "inline", "metadata", "name", "place")

    def __init__(self, name: str, fn: Callable[..., Any], *, metadata: Mapping[str, str] | None, inline: bool, place: Place | None) -> None:
        self.name, self.fn, self.metadata, self.inline, self.place = name, fn, metadata, inline, place

    def __repr__(self) -> str:
        return f"<branch '{self.name}'>"


class FanoutSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a group or a map runs its parts, as it was written; a part is a branch or an item."""

    join: Join[Any] | None = None
    partial: Partial = "fail_group"
    max_concurrency: int | None = None
    part_timeout: timedelta | float | None = None
    cancel_siblings: bool = True
    keep_progress: bool = True


def group_body(
    branches: Iterable[Any],
    merge: Any,
    settings: FanoutSettings,
    *,
    where: str,
    names: Mapping[str, Any],
    place: Place | None = None,
) -> GroupBody:
    """A parallel group. `where` opens the text of every error, `names` are those that annotations may use."""
    listed: object = branches
    if isinstance(listed, str) or not isinstance(listed, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{where}: its branches are a list of functions, not {branches!r}")
    return GroupBody(
        branches=tuple(_branch(part, where, names, place) for part in branches),
        fanout=_fanout(merge, settings, "branches", timeout="branch_timeout", where=where, names=names),
    )


def subgraph_body(child: Any, *, enter: Any, leave: Any, where: str, names: Mapping[str, Any]) -> SubgraphBody:
    """A compiled graph as a node."""
    return SubgraphBody(
        child=_child(child, where),
        enter=pure(enter, "the state", where=f"{where}: enter=", names=names),
        leave=pure(leave, "the state", "the child's last state", where=f"{where}: its function", names=names),
    )


def map_body(
    child: Any,
    *,
    items: Any,
    key: Any,
    enter: Any,
    merge: Any,
    max_items: int | None,
    settings: FanoutSettings,
    where: str,
    names: Mapping[str, Any],
) -> MapBody:
    """A compiled graph once an item."""
    return MapBody(
        child=_child(child, where),
        items=pure(items, "the state", where=f"{where}: items=", names=names),
        key=pure(key, "an item", where=f"{where}: key=", names=names),
        enter=pure(enter, "the state", "an item", where=f"{where}: enter=", names=names),
        fanout=_fanout(merge, settings, "items", timeout="item_timeout", where=where, names=names),
        max_items=_count("max_items", max_items, where),
    )


def event_wait_body(
    event_type: object,
    fold: Any,
    *,
    payload: Any = None,
    timeout: timedelta | float | None,
    where: str,
    names: Mapping[str, Any],
) -> EventWaitBody:
    """A wait for an event. The payload's type is `payload`, or what annotates the fold's second parameter."""
    if not isinstance(event_type, str):
        raise TypeError(f"{where} waits for a type of event, as in @wait_for_event('payment.received'), and {event_type!r} is no text")
    text_of(event_type, f"{where}: the type of its event")
    taken = None
    if fold is not None:
        taken = payload_of(fold, names) if callable(fold) else None
        pure(fold, *("the state", "the payload")[: 1 if taken is None else 2], where=f"{where}: its function", names=names)
    if payload is not None and taken is None:
        raise TypeError(f"{where} has payload=, and no fold that takes it: give fold= a function of the state and the payload")
    return EventWaitBody(
        event_type=event_type,
        fold=fold,
        takes_payload=taken is not None,
        payload=payload if payload is not None else taken,
        timeout=seconds_or_none(timeout, f"{where}: its timeout="),
    )


def timer_body(delay: timedelta | float | None, *, until: Any, fold: Any, where: str, names: Mapping[str, Any]) -> TimerBody:
    """A wait for a time."""
    if (delay is None) == (until is None):
        raise TypeError(f"{where} has a delay or until=, one of the two: @timer(60) or @timer(until=when_due)")
    if callable(delay):
        raise TypeError(f"{where} has a function for a delay: @timer(until={name_of(delay) or '...'})")
    return TimerBody(
        delay=seconds_or_none(delay, f"{where}: its delay"),
        until=None if until is None else pure(until, "the state", where=f"{where}: until=", names=names),
        fold=None if fold is None else pure(fold, "the state", where=f"{where}: its function", names=names),
    )


def _branch(part: Any, where: str, names: Mapping[str, Any], place: Place | None) -> BranchSpec:
    if isinstance(part, Node | Wired):
        raise TypeError(f"{where}: {part} is no branch: a branch is a plain function, which has no edges and policies of its own")
    if isinstance(part, Branch):
        named: Branch[Any] = part  # pyright: ignore[reportUnknownVariableType]
    elif (name := name_of(part)) is not None:
        named = Branch[Any](name, part, metadata=None, inline=False, place=place)
    else:
        raise TypeError(f"{where}: the branch {part!r} has no name of its own: give it one, branch('name', ...)")
    return BranchSpec(
        name=text_of(named.name, f"{where}: the name of a branch"),
        handler=handler_of(named.fn, where=f"{where}: branch '{named.name}'", inline=named.inline, names=names),
        metadata=None if named.metadata is None else dict(named.metadata),
        place=named.place,
    )


def _fanout(merge: Any, settings: FanoutSettings, parts: str, *, timeout: str, where: str, names: Mapping[str, Any]) -> Fanout:
    join = all_of() if settings.join is None else settings.join
    if not isinstance(join, Join):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{where}: join= is a join, as in join=quorum(2), not {join!r}")
    if join.predicate is not None:
        pure(join.predicate, "a part's state", where=f"{where}: the predicate of its join", names=names)
    return Fanout(
        merge=pure(merge, "the state", f"the results of the {parts}", where=f"{where}: its merge", names=names),
        takes_outcomes=takes_outcomes(merge, names),
        join=join,
        partial=one_of(settings.partial, get_args(Partial), f"{where}: partial="),
        max_concurrency=_count("max_concurrency", settings.max_concurrency, where),
        part_timeout=seconds_or_none(settings.part_timeout, f"{where}: {timeout}="),
        cancel_siblings=true_or_false(settings.cancel_siblings, f"{where}: cancel_siblings="),
        keep_progress=true_or_false(settings.keep_progress, f"{where}: keep_progress="),
    )


def _child(child: object, where: str) -> CompiledGraph[Any]:
    if isinstance(child, CompiledGraph):
        return child  # pyright: ignore[reportUnknownVariableType]
    advice = ": compile it first" if hasattr(child, "compile") else ""
    raise TypeError(f"{where} runs a compiled graph, not {child!r}{advice}")


def _count(name: str, count: object, where: str) -> int | None:
    if count is None or is_whole(count):
        return count
    raise TypeError(f"{where}: {name}= is a whole number or None, not {count!r}")
