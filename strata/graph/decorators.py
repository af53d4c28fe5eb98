"""`@node`, and what all top decorators do: they make a node of a function and the marks under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from types import FrameType
from typing import Any, Concatenate, Generic, LiteralString, Never, ParamSpec, TypedDict, TypeVar, Unpack, overload

import msgspec

from strata.graph.arguments import seconds_or_none
from strata.graph.functions import handler_of, name_of
from strata.graph.marks import Marks
from strata.graph.nodes import Node, Wired
from strata.graph.places import caller, place_of
from strata.graph.spec import Body, EventWaitBody, Handler, NodeSpec, TimerBody, kind_of
from strata.graph.state import State
from strata.graph.text_pairs import text_pairs
from strata.graph.texts import text_of
from strata.rules.facts import Place

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=State)
N = TypeVar("N", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)


class TopOptions(TypedDict, total=False):
    """What most top decorators take, beside what says what kind of node it is."""

    timeout: timedelta | float | None
    metadata: Mapping[str, str] | None


class NodeOptions(TopOptions, total=False):
    """See `node`."""

    inline: bool


class NodeDecorator(Generic[N]):
    """`@node(...)` on its way to the function."""

    def __init__(self, top: Top) -> None:
        self._top = top

    @overload
    def __call__(self, fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Node[S, Callable[Concatenate[S, P], R], N, T]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, P], R], /) -> Node[S, Callable[Concatenate[S, P], R], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


@overload
def node(fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Node[S, Callable[Concatenate[S, P], R], LiteralString, T]: ...
@overload
def node(name: N, /, **options: Unpack[NodeOptions]) -> NodeDecorator[N]: ...
@overload
def node(name: str, /, **options: Unpack[NodeOptions]) -> NodeDecorator[Any]: ...  # type: ignore[overload-cannot-match]
@overload
def node(**options: Unpack[NodeOptions]) -> NodeDecorator[LiteralString]: ...
@overload
def node(fn: Callable[Concatenate[S, P], R], /) -> Node[S, Callable[Concatenate[S, P], R], LiteralString, Never]: ...
def node(target: Any = None, /, *, timeout: timedelta | float | None = None, metadata: Mapping[str, str] | None = None, inline: bool = False) -> Any:
    """Make a node of a function `(state)` or `(state, ctx: Context)` to state, sync or async.

    Args:
        target: the node's name, which checkpoints store and a rename of the function does not change; without one
            (`@node` or `@node()`) the function's own.
        timeout: limit of each attempt, a timedelta or seconds; none by default.
        metadata: exported with the definition; text to text.
        inline: run a sync function on the event loop instead of a worker thread. For what is quick and never blocks;
            it can have no timeout, and an async function, which runs on the loop anyway, is refused.

    Raises:
        TypeError: it is no function of the state, or decorators are stacked the wrong way round; it says what to swap.
    """

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> Handler:
        return handler_of(fn, where=where, inline=inline, names=names)

    has_name = target is None or isinstance(target, str)
    top = Top(body=body, name=target if has_name else None, timeout=timeout, metadata=metadata)
    return NodeDecorator[Any](top) if has_name else as_node(target, top, caller())


class Top(msgspec.Struct, frozen=True, kw_only=True):
    """What a top decorator was given; `body` makes what the node does of its function, for errors and names at that place."""

    body: Callable[[Any, str, Mapping[str, Any]], Body]
    word: str = "node"
    made: type[Node[Any, Any, Any, Any]] = Node
    name: str | None = None
    timeout: timedelta | float | None = None
    metadata: Mapping[str, str] | None = None


class TopDecorator:
    """A top decorator on its way to the function."""

    def __init__(self, top: Top) -> None:
        self._top = top

    def __repr__(self) -> str:
        return f"<@{self._top.word}(...) with no function under it>"


def as_node(decorated: Any, top: Top, frame: FrameType) -> Node[Any, Any, Any, Any]:
    """The node of a function, with or without marks.

    Raises:
        TypeError: it is none, or its marks do not fit the node's kind; it says what to swap.
    """
    place = place_of(frame)
    if isinstance(decorated, Node):
        raise TypeError(f"{place}: {decorated} has two top decorators: {_remove_one(decorated.top, top.word)}")
    fn, marks = decorated.parts if isinstance(decorated, Wired) else (decorated, Marks())
    name = text_of(top.name if top.name is not None else _own_name(fn, top.word, place), f"{place}: the name of a {kind_of(top.word)}")
    body = top.body(fn, f"{place}: {kind_of(top.word)} '{name}'", frame.f_locals)
    _refuse_marks(marks, body, name)
    spec = NodeSpec(
        name=name,
        body=_with_route(body, marks),
        edges=marks.edges,
        boundary=marks.as_boundary(),
        recovery=marks.as_recovery(),
        timeout=seconds_or_none(top.timeout, f"{place}: the timeout= of {kind_of(top.word)} '{name}'"),
        metadata=None if top.metadata is None else text_pairs(top.metadata, f"node '{name}'"),
        place=place,
    )
    return top.made(spec, fn)


def _own_name(fn: Any, word: str, place: Place) -> str:
    if (own := name_of(fn)) is None:
        advice = "@node('name')" if word == "node" else f"@{word}(..., name='name')"
        raise TypeError(f"{place}: {fn!r} has no name of its own: give the node one, {advice}")
    return own


def _remove_one(lower: str, upper: str) -> str:
    return f"remove one @{lower}" if lower == upper else f"remove @{lower} or @{upper}"


def _with_route(body: Body, marks: Marks) -> Body:
    """A wait holds its timeout's route itself; a boundary's is in the boundary."""
    if not isinstance(body, EventWaitBody) or marks.on_timeout is None:
        return body
    return msgspec.structs.replace(body, on_timeout=marks.on_timeout.to, on_timeout_place=marks.on_timeout.place)


def _refuse_marks(marks: Marks, body: Body, name: str) -> None:
    """Marks that mean nothing on a node of that kind; what needs the whole graph is found by its rules."""
    if isinstance(body, EventWaitBody | TimerBody):
        _refuse_marks_of_wait(marks, body, name)
        return
    if marks.boundary is not None:
        return
    if marks.on_reject is not None:
        raise TypeError(f"{marks.on_reject.place}: node '{name}' has @on_reject and no @boundary: put @boundary above @on_reject")
    if marks.on_timeout is not None:
        raise TypeError(f"{marks.on_timeout.place}: node '{name}' has @on_timeout and no @boundary: put @boundary(timeout=...) above @on_timeout")


def _refuse_marks_of_wait(marks: Marks, body: EventWaitBody | TimerBody, name: str) -> None:
    what = "timer" if isinstance(body, TimerBody) else "wait"
    for mark in (marks.retry, marks.on_failure):
        if mark is not None:
            advice = f"a {what} does nothing that could fail: remove @{mark.word}, or put it on the node behind"
            raise TypeError(f"{mark.place}: {what} '{name}' has @{mark.word}, and {advice}")
    if marks.on_reject is not None:
        raise TypeError(f"{marks.on_reject.place}: {what} '{name}' has @on_reject, and no person answers a {what}: remove @on_reject")
    if marks.on_timeout is not None and isinstance(body, TimerBody):
        raise TypeError(f"{marks.on_timeout.place}: timer '{name}' has @on_timeout, and a timer only has its time: say with @edge where it leads")
