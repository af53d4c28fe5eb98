"""The decorators: `@node` says what a function is, the marks under it say where the run goes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from types import FrameType
from typing import Any, Concatenate, Generic, Literal, LiteralString, Never, ParamSpec, TypeVar, overload

import msgspec

from strata.graph.functions import handler_of, name_of
from strata.graph.nodes import Marks, Node, Wired
from strata.graph.places import caller, place_of
from strata.graph.spec import EdgeSpec, NodeSpec
from strata.graph.state import State
from strata.graph.times import seconds_of
from strata.rules.facts import Place

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=State)
F = TypeVar("F", bound=Callable[..., Any])
L = TypeVar("L", bound=LiteralString)
N = TypeVar("N", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)

# The top decorator


class NodeDecorator(Generic[N]):
    """`@node(...)` on its way to the function."""

    def __init__(self, settings: NodeSettings) -> None:
        self._settings = settings

    @overload
    def __call__(self, fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Node[S, Callable[Concatenate[S, P], R], N, T]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, P], R], /) -> Node[S, Callable[Concatenate[S, P], R], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _as_node(fn, self._settings, caller())


@overload
def node(fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Node[S, Callable[Concatenate[S, P], R], LiteralString, T]: ...
@overload
def node(
    name: N, /, *, timeout: timedelta | float | None = ..., metadata: Mapping[str, str] | None = ..., inline: bool = ...
) -> NodeDecorator[N]: ...
@overload
def node(  # type: ignore[overload-cannot-match]
    name: str, /, *, timeout: timedelta | float | None = ..., metadata: Mapping[str, str] | None = ..., inline: bool = ...
) -> NodeDecorator[Any]: ...
@overload
def node(
    *, timeout: timedelta | float | None = ..., metadata: Mapping[str, str] | None = ..., inline: bool = ...
) -> NodeDecorator[LiteralString]: ...
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
    if target is None or isinstance(target, str):
        return NodeDecorator[Any](NodeSettings(name=target, timeout=timeout, metadata=metadata, inline=inline))
    return _as_node(target, NodeSettings(name=None, timeout=timeout, metadata=metadata, inline=inline), caller())


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of `@node`, as they were written."""

    name: str | None
    timeout: timedelta | float | None
    metadata: Mapping[str, str] | None
    inline: bool


def _as_node(decorated: Callable[..., Any], settings: NodeSettings, frame: FrameType) -> Node[Any, Any, Any, Any]:
    place = place_of(frame)
    if isinstance(decorated, Node):
        raise TypeError(f"{place}: {decorated} has two top decorators: remove one @node")
    if isinstance(decorated, Wired):
        fn, marks = decorated.parts
    else:
        fn, marks = decorated, Marks()
    name = _name(fn, settings.name, place)
    if marks.on_reject is not None and marks.boundary is None:
        raise TypeError(f"{marks.on_reject_place}: node '{name}' has @on_reject and no @boundary: put @boundary above @on_reject")
    spec = NodeSpec(
        name=name,
        body=handler_of(fn, where=f"{place}: node '{name}'", inline=settings.inline, names=frame.f_locals),
        edges=marks.edges,
        boundary=marks.as_boundary(),
        timeout=None if settings.timeout is None else seconds_of(settings.timeout),
        metadata=None if settings.metadata is None else dict(settings.metadata),
        place=place,
    )
    return Node(spec, fn)


def _name(fn: Any, given: str | None, place: Place) -> str:
    if given is not None:
        return given
    if (own := name_of(fn)) is None:
        raise TypeError(f"{place}: {fn!r} has no name of its own: give the node one, @node('name')")
    return own


# The marks


class Route(Generic[L]):
    """A mark that leads to `L`, on its way to the function."""

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[F, T], /) -> Wired[F, T | L]: ...
    @overload
    def __call__(self, fn: F, /) -> Wired[F, L]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


class Guarded(Generic[S, L]):
    """`@when(...)` on its way to the function, which must be of the guard's state."""

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[Callable[Concatenate[S, P], R], T], /) -> Wired[Callable[Concatenate[S, P], R], T | L]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[S, P], R], /) -> Wired[Callable[Concatenate[S, P], R], L]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


class Modifier:
    """A mark that leads nowhere, on its way to the function."""

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    @overload
    def __call__(self, fn: Wired[F, T], /) -> Wired[F, T]: ...
    @overload
    def __call__(self, fn: F, /) -> Wired[F, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return _marked(fn, self._mark)


@overload
def edge(to: L | Node[Any, Any, L, Any], /) -> Route[L]: ...
@overload
def edge(to: str, /) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def edge(to: Any, /) -> Any:
    """Where the run goes next, always: a plain edge. Under `@when` edges it is the else.

    `to` is a node's name, or a node that stands above. Edges are tried from top to bottom, and the first that
    matches is taken (strata-graph.md 6.2).
    """
    return Route[Any](_leading("edge", to, caller()))


@overload
def when(guard: Callable[[S], bool], /, *, to: L | Node[Any, Any, L, Any]) -> Guarded[S, L]: ...
@overload
def when(guard: Callable[[S], bool], /, *, to: str) -> Guarded[S, Any]: ...
def when(guard: Any, /, *, to: Any) -> Any:
    """Where the run goes next if `guard(state)` says so: a guarded edge.

    The guard is sync and pure, and sees the state that the node returned. One that raises fails the node.
    """
    mark = _leading("when", to, caller())
    if not callable(guard):
        raise TypeError(f"{mark} asks a function of the state first, and {guard!r} is none: @when(needs_work, to='{mark.to}')")
    return Guarded[Any, Any](msgspec.structs.replace(mark, guard=guard))


@overload
def boundary(fn: Wired[F, T], /) -> Wired[F, T]: ...
@overload
def boundary() -> Modifier: ...
@overload
def boundary(fn: F, /) -> Wired[F, Never]: ...
def boundary(fn: Any = None, /) -> Any:
    """The thread pauses after this node until a person answers: approves, or rejects (`@on_reject`).

    The edge is chosen at the pause, from the state that the node returned; what the answer overrides comes after it.
    """
    mark = Mark(kind="boundary", place=place_of(caller()))
    return Modifier(mark) if fn is None else _marked(fn, mark)


@overload
def on_reject(to: L | Node[Any, Any, L, Any], /) -> Route[L]: ...
@overload
def on_reject(to: str, /) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def on_reject(to: Any, /) -> Any:
    """Where a rejection at this node's boundary goes; without it a rejection goes on as an approval does."""
    return Route[Any](_leading("on_reject", to, caller()))


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One mark as it was written; `to` is the name that it leads to."""

    kind: Literal["edge", "when", "boundary", "on_reject"]
    place: Place
    to: str = ""
    guard: Callable[[Any], bool] | None = None

    def __str__(self) -> str:
        return f"{self.place}: @{self.kind}"


def _leading(kind: Literal["edge", "when", "on_reject"], to: object, frame: FrameType) -> Mark:
    place = place_of(frame)
    return Mark(kind=kind, place=place, to=target_name(to, f"{place}: @{kind}"))


def target_name(to: object, where: str) -> str:
    """The name of a node that was given as a name or as the node itself.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(to, str):
        return to
    if isinstance(to, Node):
        return to.spec.name
    if isinstance(to, Wired):
        raise TypeError(f"{where} leads to {to}: put @node on top of its decorators")
    if callable(to):
        raise TypeError(f"{where} leads to {name_of(to) or repr(to)}, which is no node: name the node, or put @node on that function")
    raise TypeError(f"{where} leads to a node or to the name of one, not to {to!r}")


def _marked(decorated: object, mark: Mark) -> Wired[Any, Any]:
    if isinstance(decorated, Node):
        raise TypeError(f"{mark} stands above the @node of '{decorated.spec.name}': move it below @node")
    if not callable(decorated) and not isinstance(decorated, Wired):
        raise TypeError(f"{mark} is a decorator, and {decorated!r} is no function")
    fn, marks = decorated.parts if isinstance(decorated, Wired) else (decorated, Marks())
    return Wired(fn, _with_mark(marks, mark, name_of(fn)))


def _with_mark(below: Marks, mark: Mark, name: str | None) -> Marks:
    """The marks of a function with one more on top of them."""
    match mark.kind:
        case "boundary":
            if below.boundary is not None:
                raise TypeError(f"{mark} stands twice on '{name}' (also at {below.boundary}): remove one")
            return msgspec.structs.replace(below, boundary=mark.place)
        case "on_reject":
            if below.on_reject is not None:
                raise TypeError(f"{mark} stands twice on '{name}' (also at {below.on_reject_place}): remove one")
            return msgspec.structs.replace(below, on_reject=mark.to, on_reject_place=mark.place)
        case _:
            way = EdgeSpec(target=mark.to, guard=mark.guard, place=mark.place)
            return msgspec.structs.replace(below, edges=(way, *below.edges))
