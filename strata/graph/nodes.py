"""What decorators give: a function with marks, and the node that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import Signature
from typing import Any, Generic, LiteralString, TypeAlias, TypeVar

from strata.graph.context import Context
from strata.graph.functions import name_of
from strata.graph.marks import Marks
from strata.graph.parameters import signature_of
from strata.graph.spec import NodeSpec, top_of
from strata.graph.state import State

S = TypeVar("S", bound=State)
F_co = TypeVar("F_co", bound=Callable[..., Any], covariant=True)
N_co = TypeVar("N_co", bound=LiteralString, covariant=True)
T_co = TypeVar("T_co", bound=LiteralString, covariant=True)

NodeFunction: TypeAlias = (
    Callable[[S], S] | Callable[[S], Coroutine[Any, Any, S]] | Callable[[S, Context], S] | Callable[[S, Context], Coroutine[Any, Any, S]]
)
"""What a node of a graph over `S` may be: sync or async, of the state, or of the state and the context."""


class Node(Generic[S, F_co, N_co, T_co]):
    """A function as a node of graphs over `S`: its name, its ways out, its policies. Made by a top decorator; immutable.

    Calling it calls the function plainly, which is how a unit test calls it. It may be in several graphs.
    The type parameters are the state, the function's own type, the name and the targets, both as literals
    where they are written as such: `compile()` compares them, so a checker finds a target that is no node.
    """

    def __init__(self, spec: NodeSpec, fn: F_co) -> None:
        self.__wrapped__ = fn
        self.__name__ = name_of(fn) or spec.name
        self.__qualname__ = getattr(fn, "__qualname__", self.__name__)
        self.__module__ = getattr(fn, "__module__", __name__)
        self.__doc__ = fn.__doc__
        self._spec = spec

    @property
    def __call__(self) -> F_co:
        return self.__wrapped__

    @property
    def __signature__(self) -> Signature:
        return signature_of(self.__wrapped__)

    @property
    def name(self) -> N_co:
        """What graphs, checkpoints and targets call it."""
        return self._spec.name  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    @property
    def spec(self) -> NodeSpec:
        """What a graph takes over of it."""
        return self._spec

    @property
    def top(self) -> str:
        """The decorator that made it: `node`, `parallel`, ..."""
        return top_of(self._spec.body)

    def __repr__(self) -> str:
        return f"<node '{self._spec.name}' of {self._spec.place or self.__module__}>"


class Composite(Node[S, F_co, N_co, T_co]):
    """A node whose decorator knows all of its function: a group's or map's merge, what a subgraph or a wait does with its result."""


AnyNode: TypeAlias = Node[S, NodeFunction[S], Any, Any] | Composite[S, Any, Any, Any]
"""A node over `S` whose name and targets are not known as literals: what a function that makes nodes gives back."""


class Wired(Generic[F_co, T_co]):
    """A function with marks (`@edge`, `@when`, `@boundary`, ...) that no top decorator has made a node of yet."""

    def __init__(self, fn: F_co, marks: Marks) -> None:
        self._fn = fn
        self._marks = marks

    @property
    def fn(self) -> F_co:
        return self._fn

    @property
    def parts(self) -> tuple[Callable[..., Any], Marks]:
        """The function and its marks."""
        return self._fn, self._marks

    def __repr__(self) -> str:
        return f"<'{name_of(self._fn)}' with marks, and no @node above them>"
