"""The marks under a top decorator: where the run goes next, and where the thread pauses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from types import FrameType
from typing import Any, Concatenate, Generic, Literal, LiteralString, Never, ParamSpec, TypeVar, overload

from strata.graph.arguments import seconds_or_none
from strata.graph.functions import name_of
from strata.graph.marks import BoundaryMark, Marks, Policy, RouteMark
from strata.graph.nodes import Node, Wired
from strata.graph.places import caller, place_of
from strata.graph.spec import EdgeSpec
from strata.graph.state import State
from strata.graph.texts import text_of

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=State)
F = TypeVar("F", bound=Callable[..., Any])
L = TypeVar("L", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)


class Route(Generic[L]):
    """A mark that leads to `L`, on its way to the function."""

    def __init__(self, mark: EdgeSpec | Policy) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[F, T], /) -> Wired[F, T | L]: ...
    @overload
    def __call__(self, fn: F, /) -> Wired[F, L]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


class Guarded(Generic[S, L]):
    """`@when(...)` on its way to the function, which must be of the guard's state."""

    def __init__(self, mark: EdgeSpec) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Wired[Callable[Concatenate[S, P], R], T | L]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, P], R], /) -> Wired[Callable[Concatenate[S, P], R], L]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


class Modifier:
    """A mark that leads nowhere, on its way to the function."""

    def __init__(self, mark: Policy) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[F, T], /) -> Wired[F, T]: ...
    @overload
    def __call__(self, fn: F, /) -> Wired[F, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


# Where the run goes next


@overload
def edge(to: L | Node[Any, Any, L, Any], /) -> Route[L]: ...
@overload
def edge(to: str, /) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def edge(to: Any, /) -> Any:
    """Where the run goes next, always: a plain edge. Under `@when` edges it is the else.

    `to` is a node's name, or a node that stands above. Edges are tried from top to bottom, and the first that
    matches is taken (strata-graph.md 6.2).
    """
    place = place_of(caller())
    return Route[Any](EdgeSpec(target=target_name(to, f"{place}: @edge"), place=place))


@overload
def when(guard: Callable[[S], bool], /, *, to: L | Node[Any, Any, L, Any]) -> Guarded[S, L]: ...
@overload
def when(guard: Callable[[S], bool], /, *, to: str) -> Guarded[S, Any]: ...
def when(guard: Any, /, *, to: Any) -> Any:
    """Where the run goes next if `guard(state)` says so: a guarded edge.

    The guard is sync and pure, and sees the state that the node returned. One that raises fails the node.
    """
    place = place_of(caller())
    target = target_name(to, f"{place}: @when")
    asked: object = guard
    if not callable(asked):
        raise TypeError(f"{place}: @when asks a function of the state first, and {guard!r} is none: @when(needs_work, to='{target}')")
    return Guarded[Any, Any](EdgeSpec(target=target, guard=guard, place=place))


# What is done when the node pauses


@overload
def boundary(fn: Wired[F, T], /) -> Wired[F, T]: ...
@overload
def boundary(*, timeout: timedelta | float | None = ...) -> Modifier: ...
@overload
def boundary(fn: F, /) -> Wired[F, Never]: ...
def boundary(fn: Any = None, /, *, timeout: timedelta | float | None = None) -> Any:
    """The thread pauses after this node until a person answers: approves, or rejects (`@on_reject`).

    The edge is chosen at the pause, from the state that the node returned; what the answer overrides comes after it.
    `timeout`, a timedelta or seconds, counts from the pause; then the thread goes to `@on_timeout`, or is ended.
    """
    place = place_of(caller())
    mark = BoundaryMark(timeout=seconds_or_none(timeout, f"{place}: the timeout= of @boundary"), place=place)
    return Modifier(mark) if fn is None else _marked(fn, mark)


@overload
def on_reject(to: L | Node[Any, Any, L, Any], /) -> Route[L]: ...
@overload
def on_reject(to: str, /) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def on_reject(to: Any, /) -> Any:
    """Where a rejection at this node's boundary goes; without it a rejection goes on as an approval does."""
    return Route[Any](_route("on_reject", to, caller()))


@overload
def on_timeout(to: L | Node[Any, Any, L, Any], /) -> Route[L]: ...
@overload
def on_timeout(to: str, /) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def on_timeout(to: Any, /) -> Any:
    """Where the thread goes when the timeout of this node's boundary, or of this wait, is over; without it the thread is ended."""
    return Route[Any](_route("on_timeout", to, caller()))


def target_name(to: object, where: str) -> str:
    """The name of a node that was given as a name or as the node itself.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(to, str):
        return text_of(to, f"{where} leads to a node, whose name")
    if isinstance(to, Node):
        return to.spec.name
    if isinstance(to, Wired):
        raise TypeError(f"{where} leads to {to}: put @node on top of its decorators")
    if callable(to):
        raise TypeError(f"{where} leads to {name_of(to) or repr(to)}, which is no node: name the node, or put @node on that function")
    raise TypeError(f"{where} leads to a node or to the name of one, not to {to!r}")


def _route(word: Literal["on_reject", "on_timeout"], to: object, frame: FrameType) -> RouteMark:
    place = place_of(frame)
    return RouteMark(word=word, to=target_name(to, f"{place}: @{word}"), place=place)


def _marked(decorated: object, mark: EdgeSpec | Policy) -> Wired[Any, Any]:
    where = f"{mark.place}: @{_word(mark)}"
    if isinstance(decorated, Node):
        top = decorated.top
        raise TypeError(f"{where} stands above the @{top} of '{decorated.spec.name}': move it below @{top}")
    if not callable(decorated) and not isinstance(decorated, Wired):
        raise TypeError(f"{where} is a decorator, and {decorated!r} is no function")
    fn, marks = decorated.parts if isinstance(decorated, Wired) else (decorated, Marks())
    return Wired(fn, marks.with_edge(mark) if isinstance(mark, EdgeSpec) else marks.with_policy(mark, name_of(fn)))


def _word(mark: EdgeSpec | Policy) -> str:
    if isinstance(mark, EdgeSpec):
        return "edge" if mark.guard is None else "when"
    return mark.word
