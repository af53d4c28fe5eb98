"""The builder: a graph from decorated functions, or from data, and its one way into `compile()`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import timedelta
from inspect import isclass
from types import FrameType
from typing import TYPE_CHECKING, Generic, LiteralString, Never, Self, TypeVar

from strata.graph.decorators import target_name
from strata.graph.draft import Draft, Edge, draft_of, facts_of, guard_name
from strata.graph.functions import handler_of, other_state_of
from strata.graph.nodes import AnyNode, Node, NodeFunction, Wired
from strata.graph.places import caller, place_of
from strata.graph.spec import BoundarySpec, EdgeSpec, NodeSpec
from strata.graph.state import State
from strata.graph.times import seconds_of
from strata.rules.facts import GraphFacts, Place

if TYPE_CHECKING:
    # What only a finished graph needs is loaded by the method that needs it: half of what an import would cost.
    from strata.graph.compiled import Check, CompiledGraph, Migration
    from strata.graph.definition import Definition
    from strata.rules.problem import Problem

S = TypeVar("S", bound=State)
N = TypeVar("N", bound=LiteralString)
N2 = TypeVar("N2", bound=LiteralString)
T = TypeVar("T", bound=LiteralString)
T2 = TypeVar("T2", bound=LiteralString)
T_co = TypeVar("T_co", bound=LiteralString, covariant=True)


class Drawn(ABC):
    """What can be asked of a graph before it is compiled, sound or not."""

    def validate(self) -> tuple[Problem, ...]:
        """All that `compile()` without options would find: errors, then warnings."""
        from strata.graph.compiling import problems_of

        return problems_of(self._draft())

    def definition(self) -> Definition:
        """The exported graph; without an identity, which is given to `compile()`."""
        from strata.graph.export import definition_of

        return definition_of(self._draft())

    @property
    def facts(self) -> GraphFacts:
        """What the rules look at, places in the source and names of guards included."""
        return facts_of(self._draft()).graph

    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart, with the names of its guards."""
        from strata.graph.drawing import mermaid

        return mermaid(self.definition(), self.facts)

    @abstractmethod
    def _draft(self) -> Draft: ...


class StateGraph(Drawn, Generic[S]):
    """A graph that walks one node at a time: whole state in, whole state out.

    Decorated: `StateGraph(Essay).start(draft).nodes(review, publish).compile(...)`. From data, on the same class:
    `StateGraph(Essay).add_node("draft", draft).add_edge("draft", "review")...compile(...)`. One graph is built in one
    form: `start` on a builder that holds data is a TypeError.

    No method of the data form checks the graph, settings may come before the node that they name, and adding a name
    again replaces its function and keeps its place, edges and settings (strata-graph.md 1.1 to 1.3): `compile()`
    finds all that is wrong. Only what is no value of the parameter's type is a TypeError at once.
    """

    def __init__(self, state: type[S], /) -> None:
        _refuse_state(state)
        self._state = state
        self._place = place_of(caller())
        self._entry: str | None = None
        self._nodes: dict[str, NodeSpec] = {}
        self._edges: list[Edge] = []
        self._boundaries: dict[str, BoundarySpec] = {}
        self._timeouts: dict[str, float] = {}
        self._metadata: dict[str, Mapping[str, str]] = {}

    # Decorated

    def start(self, node: Node[S, NodeFunction[S], N, T], /, *others: Never) -> Wiring[S, N, T]:
        """The node that every run starts at; there is one, and `others` are here to say so.

        Raises:
            TypeError: it is no node, one of another state, there are several, or this builder has been given data already.
        """
        if others:
            raise TypeError("start() takes one node, where every run starts: list the others with .nodes(...)")
        if self._entry is not None or self._edges or self._boundaries or self._timeouts or self._metadata:
            raise TypeError("start() is for a graph of decorated nodes, and this builder was given data: build the graph in one form")
        return Wiring(self._state, self._place, (_spec(node, "start", self._state, caller()),))

    # From data

    def add_node(
        self,
        name: str,
        fn: NodeFunction[S] | AnyNode[S],
        /,
        *,
        timeout: timedelta | float | None = None,
        metadata: Mapping[str, str] | None = None,
        inline: bool = False,
    ) -> Self:
        """Add a node, or replace the function of the one of that name. The first node added is the entry unless one is set.

        A decorated node may be given for its function; its marks stay behind, edges are said by `add_edge` here.

        Raises:
            TypeError: `fn` is no function of the state (and a `Context`).
        """
        handler = handler_of(fn.spec.handler.fn if isinstance(fn, Node) else fn, where=f"node '{name}'", inline=inline, names=caller().f_locals)
        self._nodes[name] = NodeSpec(name=name, handler=handler)
        if self._entry is None:
            self._entry = name
        if timeout is not None:
            self.set_timeout(name, timeout)
        if metadata is not None:
            self.set_node_metadata(name, metadata)
        return self

    # The engines have a method for each; here every node may fail, stream, and be async.
    add_fallible_node = add_streaming_node = add_async_node = add_node

    def add_edge(self, start: str | AnyNode[S], to: str | AnyNode[S], /) -> Self:
        """A plain edge: it always matches. Edges of a node are tried in the order they were added."""
        return self._add_edge(start, EdgeSpec(target=target_name(to, "add_edge")))

    def add_conditional_edge(self, start: str | AnyNode[S], to: str | AnyNode[S], guard: Callable[[S], bool], /) -> Self:
        """A guarded edge: it matches where `guard(state)` says so."""
        return self._add_edge(start, EdgeSpec(target=target_name(to, "add_conditional_edge"), guard=guard))

    def set_entry_point(self, name: str, /) -> Self:
        """Where a run starts; the last call wins, and may come before the node."""
        self._entry = name
        return self

    def add_interrupt_boundary(self, name: str, /, *, on_reject: str | AnyNode[S] | None = None) -> Self:
        """The thread pauses after this node; each call replaces all of the boundary's settings."""
        route = None if on_reject is None else target_name(on_reject, "add_interrupt_boundary")
        self._boundaries[name] = BoundarySpec(on_reject=route)
        return self

    def set_timeout(self, name: str, timeout: timedelta | float, /) -> Self:
        """Limit of each attempt of the node, a timedelta or seconds."""
        self._timeouts[name] = seconds_of(timeout)
        return self

    def set_node_metadata(self, name: str, metadata: Mapping[str, str], /) -> Self:
        """What the definition says of the node; replaces all of it."""
        self._metadata[name] = dict(metadata)
        return self

    def compile(
        self,
        *,
        id: str | None = None,
        version: str | None = None,
        max_node_hops: int | None = None,
        durable: bool = True,
        migrate: Migration | None = None,
        check: Check = "full",
    ) -> CompiledGraph[S]:
        """As `Wiring.compile`."""
        from strata.graph.compiling import CompileOptions, compile_draft

        options = CompileOptions(id=id, version=version, max_node_hops=max_node_hops, durable=durable, migrate=migrate, check=check)
        return compile_draft(self._state, self._draft(), options)

    def _add_edge(self, start: str | AnyNode[S], way: EdgeSpec) -> Self:
        self._edges.append(Edge(target_name(start, "an edge"), way))
        return self

    def _draft(self) -> Draft:
        return Draft(
            state=self._state,
            state_place=self._place,
            entry=self._entry or "",
            nodes=dict(self._nodes),
            edges=tuple(self._edges),
            boundaries=dict(self._boundaries),
            timeouts=dict(self._timeouts),
            metadata=dict(self._metadata),
        )


class Wiring(Drawn, Generic[S, N, T_co]):
    """A graph of decorated nodes, from `StateGraph(S).start(node)` on. Immutable: `nodes` gives a new one.

    `N` are the names that it lists, `T_co` the targets of their edges; `compile` asks that each target is among the names.
    """

    def __init__(self, state: type[S], place: Place, listed: tuple[NodeSpec, ...]) -> None:
        self._state, self._place, self._listed = state, place, listed

    def start(self, *_: Never) -> Self:  # not Never, or checkers would skip what stands behind the mistake
        """Refused: the graph has a start already."""
        raise TypeError(f"the graph starts at '{self._listed[0].name}', and there is one start: list the other nodes with .nodes(...)")

    def nodes(self, *nodes: Node[S, NodeFunction[S], N2, T2]) -> Wiring[S, N | N2, T_co | T2]:
        """The other nodes, in the order that definitions and errors have.

        Raises:
            TypeError: one is no node (a function without `@node`), or a node or a guard of another state.
        """
        frame = caller()
        return Wiring(self._state, self._place, (*self._listed, *[_spec(node, "nodes", self._state, frame) for node in nodes]))

    def compile(
        self: Wiring[S, N, N],
        *,
        id: str | None = None,
        version: str | None = None,
        max_node_hops: int | None = None,
        durable: bool = True,
        migrate: Migration | None = None,
        check: Check = "full",
    ) -> CompiledGraph[S]:
        """The graph that a runner runs.

        Args:
            id: with `version` the graph's identity, written into its checkpoints; by default there is none.
            version: compared as text.
            max_node_hops: nodes that a run of this level may start, 1 to 2**32 - 1; by default without limit.
            durable: a record before the first node, after each node and at the end. False: only where a run stops.
            migrate: takes over a thread of another version of this graph: `fn(old: StoredLevel) -> StoredLevel | None`;
                only `state`, `suspended_node` and `next_node` may change (strata-graph.md 5).
            check: how closely a returned state is looked at: `"full"`, `"fields"` or `"type"`.

        Raises:
            GraphInvalid: with all errors at once, sorted. Warnings are issued once each as `GraphWarning`.
        """
        from strata.graph.compiling import CompileOptions, compile_draft

        options = CompileOptions(id=id, version=version, max_node_hops=max_node_hops, durable=durable, migrate=migrate, check=check)
        return compile_draft(self._state, self._draft(), options)

    def _draft(self) -> Draft:
        return draft_of(self._state, self._place, self._listed)


def _refuse_state(state: object) -> None:
    if not isclass(state) or not issubclass(state, State):
        raise TypeError(f"StateGraph asks a class derived from State, not {state!r}")


def _spec(node: object, method: str, state: type[State], frame: FrameType) -> NodeSpec:
    if isinstance(node, Node):
        _refuse_other_state(node.spec, method, state, frame)
        return node.spec
    if isinstance(node, Wired):
        raise TypeError(f"{method}() takes nodes, and {node} is none: put @node on top of its decorators")
    if callable(node):
        raise TypeError(f"{method}() takes nodes, and {node!r} is none: put @node on it")
    raise TypeError(f"{method}() takes nodes, not {node!r}")


def _refuse_other_state(spec: NodeSpec, method: str, state: type[State], frame: FrameType) -> None:
    """Found by checkers too; here for who runs none, as far as annotations can be read."""
    if (other := other_state_of(spec.handler.fn, state, frame.f_locals)) is not None:
        raise TypeError(f"{spec.place}: node '{spec.name}' is over {other.__name__}, and {method}() of a graph over {state.__name__} was given it")
    for way in spec.edges:
        if way.guard is not None and (other := other_state_of(way.guard, state, frame.f_locals)) is not None:
            text = f"node '{spec.name}' has a guard over {other.__name__}, '{guard_name(way.guard)}', and its graph is over {state.__name__}"
            raise TypeError(f"{way.place}: {text}: give @when a function of {state.__name__}")
