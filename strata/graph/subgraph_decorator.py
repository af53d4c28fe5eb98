"""`@subgraph`: a compiled graph as a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Generic, LiteralString, Never, TypeVar, Unpack, overload

from strata.graph.bodies import subgraph_body
from strata.graph.compiled import CompiledGraph
from strata.graph.decorators import Top, TopDecorator, TopOptions, as_node
from strata.graph.nodes import Composite, Wired
from strata.graph.places import caller
from strata.graph.spec import SubgraphBody
from strata.graph.state import State

S = TypeVar("S", bound=State)
C = TypeVar("C", bound=State)
N = TypeVar("N", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)


class FoldDecorator(TopDecorator, Generic[S, C, N]):
    """`@subgraph(...)` on its way to the function that takes the child's last state."""

    @overload
    def __call__(self, fn: Wired[Callable[[S, C], S], T], /) -> Composite[S, Callable[[S, C], S], N, T]: ...
    @overload
    def __call__(self, fn: Callable[[S, C], S], /) -> Composite[S, Callable[[S, C], S], N, Never]: ...
    def __call__(self, fn: Any, /) -> Any:
        return as_node(fn, self._top, caller())


@overload
def subgraph(child: CompiledGraph[C], /, *, enter: Callable[[S], C], name: N, **options: Unpack[TopOptions]) -> FoldDecorator[S, C, N]: ...
@overload
def subgraph(child: CompiledGraph[C], /, *, enter: Callable[[S], C], name: str, **options: Unpack[TopOptions]) -> FoldDecorator[S, C, Any]: ...
@overload
def subgraph(child: CompiledGraph[C], /, *, enter: Callable[[S], C], **options: Unpack[TopOptions]) -> FoldDecorator[S, C, LiteralString]: ...
def subgraph(
    child: CompiledGraph[Any],
    /,
    *,
    enter: Callable[[Any], Any],
    name: str | None = None,
    timeout: timedelta | float | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Any:
    """Make a node of a compiled graph: `(state, the child's last state)` to state is the decorated function.

    The child is a level of its own: it may pause, and its thread is answered there. Its own hop limit counts its nodes;
    the outermost graph's `durable` rules all levels (strata-execution.md 11).

    Args:
        child: the compiled graph.
        enter: the child's first state, from the state.
        name: the node's; by default the function's own.
        timeout: limit of each attempt of the whole child.
        metadata: exported with the definition.

    Raises:
        TypeError: the child is no compiled graph, a function is none, or decorators are stacked the wrong way round.
    """

    def body(fn: Any, where: str, names: Mapping[str, Any]) -> SubgraphBody:
        return subgraph_body(child, enter=enter, leave=fn, where=where, names=names)

    return FoldDecorator[Any, Any, Any](Top(body=body, word="subgraph", made=Composite, name=name, timeout=timeout, metadata=metadata))
