"""The builder: a graph from decorated functions, or from data, and its one way into `compile()`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from inspect import isclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, LiteralString, Never, Self, TypeVar, get_args, get_origin

from strata.graph.arguments import called, seconds, seconds_or_none
from strata.graph.decorators import TopDecorator
from strata.graph.draft import Draft, Edge, TimeoutRoute, draft_of, metadata_of_branches, specs_of
from strata.graph.functions import handler_of
from strata.graph.marking import target_name
from strata.graph.nodes import AnyNode, Composite, Node, NodeFunction, Wired
from strata.graph.other_states import refuse_other_state
from strata.graph.places import caller, place_of
from strata.graph.spec import Body, BoundarySpec, EdgeSpec, EventWaitBody, Handler, NodeSpec, TimerBody
from strata.graph.state import State
from strata.graph.text_pairs import text_pairs
from strata.graph.texts import text_of
from strata.rules.facts import GraphFacts, Place

if TYPE_CHECKING:
    # What only a finished graph needs is loaded by the method that needs it: half of what an import would cost.
    from strata.graph.bodies import Branch
    from strata.graph.compiled import Check, CompiledGraph, Migration
    from strata.graph.definition import Definition
    from strata.graph.fanout_decorators import BranchFunction
    from strata.graph.joins import Join, Outcomes, Partial
    from strata.graph.recovery import Backoff, ErrorMatch, RecoverySpec
    from strata.graph.state_schemas import StateSchemas
    from strata.rules.problem import Problem

S = TypeVar("S", bound=State)
C = TypeVar("C", bound=State)
I = TypeVar("I")  # noqa: E741 (an item)
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

    def state_schemas(self) -> StateSchemas:
        """The JSON Schemas of the states, level by level; whether there is a migration is said to `compile()`."""
        from strata.graph.state_schemas import schemas_of

        draft = self._draft()
        return schemas_of(draft.state, specs_of(draft).values(), migrates=None)

    @property
    def facts(self) -> GraphFacts:
        """What the rules look at, places in the source and names of guards included."""
        from strata.graph.draft_facts import graph_facts

        return graph_facts(self._draft())

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
        self._timeout_routes: dict[str, TimeoutRoute] = {}
        self._recoveries: dict[str, RecoverySpec] = {}
        self._timeouts: dict[str, float] = {}
        self._metadata: dict[str, Mapping[str, str]] = {}
        self._branch_metadata: dict[str, dict[str, Mapping[str, str]]] = {}

    # Decorated

    def start(self, node: Node[S, NodeFunction[S], N, T] | Composite[S, Any, N, T], /, *others: Never) -> Wiring[S, N, T]:
        """The node that every run starts at; there is one, and `others` are here to say so.

        Raises:
            TypeError: it is no node, one of another state, there are several, or this builder has been given data already.
        """
        if others:
            raise TypeError("start() takes one node, where every run starts: list the others with .nodes(...)")
        if self._has_data():
            raise TypeError("start() is for a graph of decorated nodes, and this builder was given data: build the graph in one form")
        return Wiring(self._state, self._place, (_spec(node, "start", self._state, caller()),))

    def nodes(self, *_: Never) -> Self:
        """Refused: the start comes first."""
        if self._has_data():
            raise TypeError("nodes() is for a graph of decorated nodes, and this builder was given data: add the others with .add_node(name, node)")
        name = self._state.__name__
        raise TypeError(f"nodes() was called before start(): say where runs start first, StateGraph({name}).start(first).nodes(...)")

    # From data

    def add_node(
        self,
        name: str,
        fn: NodeFunction[S] | Node[S, NodeFunction[S], Any, Any],
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
        handler = handler_of(_function(fn, name), where=f"node '{name}'", inline=inline, names=caller().f_locals)
        return self._add(name, handler, timeout=timeout, metadata=metadata)

    # The engines have a method for each; here every node may fail, stream, and be async.
    add_fallible_node = add_streaming_node = add_async_node = add_node

    def add_parallel_group(
        self,
        name: str,
        branches: Sequence[Branch[S] | BranchFunction[S]],
        merge: Callable[[S, list[S]], S] | Callable[[S, Outcomes[S]], S],
        /,
        *,
        join: Join[S] | None = None,
        partial: Partial = "fail_group",
        max_concurrency: int | None = None,
        branch_timeout: timedelta | float | None = None,
        cancel_siblings: bool = True,
        timeout: timedelta | float | None = None,
        metadata: Mapping[str, str] | None = None,
        keep_progress: bool = True,
    ) -> Self:
        """Add several branches that run at once, and the merge of what they give; the parameters are those of `parallel`."""
        from strata.graph.bodies import FanoutSettings, group_body

        settings = FanoutSettings(
            join=join,
            partial=partial,
            max_concurrency=max_concurrency,
            part_timeout=branch_timeout,
            cancel_siblings=cancel_siblings,
            keep_progress=keep_progress,
        )
        body = group_body(branches, merge, settings, where=f"parallel group '{name}'", names=caller().f_locals)
        self._add(name, body, timeout=timeout, metadata=metadata)
        for branch, pairs in metadata_of_branches(body).items():
            self.set_branch_metadata(name, branch, pairs)
        return self

    def add_subgraph(
        self,
        name: str,
        child: CompiledGraph[C],
        /,
        *,
        enter: Callable[[S], C],
        leave: Callable[[S, C], S],
        timeout: timedelta | float | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Self:
        """Add a compiled graph; the parameters are those of `subgraph`, and `leave` is the function that it decorates."""
        from strata.graph.bodies import subgraph_body

        body = subgraph_body(child, enter=enter, leave=leave, where=f"subgraph '{name}'", names=caller().f_locals)
        return self._add(name, body, timeout=timeout, metadata=metadata)

    def add_map(
        self,
        name: str,
        child: CompiledGraph[C],
        /,
        *,
        items: Callable[[S], Sequence[I]],
        key: Callable[[I], str],
        enter: Callable[[S, I], C],
        merge: Callable[[S, list[C]], S] | Callable[[S, Outcomes[C]], S],
        join: Join[C] | None = None,
        partial: Partial = "fail_group",
        max_concurrency: int | None = 8,
        max_items: int | None = None,
        item_timeout: timedelta | float | None = None,
        cancel_siblings: bool = True,
        timeout: timedelta | float | None = None,
        metadata: Mapping[str, str] | None = None,
        keep_progress: bool = True,
    ) -> Self:
        """Add a compiled graph that runs once an item; the parameters are those of `map_each`."""
        from strata.graph.bodies import FanoutSettings, map_body

        settings = FanoutSettings(
            join=join,
            partial=partial,
            max_concurrency=max_concurrency,
            part_timeout=item_timeout,
            cancel_siblings=cancel_siblings,
            keep_progress=keep_progress,
        )
        body = map_body(
            child,
            items=items,
            key=key,
            enter=enter,
            merge=merge,
            max_items=max_items,
            settings=settings,
            where=f"map '{name}'",
            names=caller().f_locals,
        )
        return self._add(name, body, timeout=timeout, metadata=metadata)

    def add_wait_for_event(
        self,
        name: str,
        event_type: str,
        /,
        *,
        fold: Callable[[S, Any], S] | Callable[[S], S] | None = None,
        payload: Any = None,
        timeout: timedelta | float | None = None,
        on_timeout: str | AnyNode[S] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Self:
        """Add a wait for an event of that type.

        `fold` runs when it comes; without one the state stays as it is. `payload` is the type of what it is given, where
        its second parameter is not annotated. `on_timeout` is where the timeout leads; without it the thread is ended.
        """
        from strata.graph.bodies import event_wait_body

        body = event_wait_body(event_type, fold, payload=payload, timeout=timeout, where=f"wait '{name}'", names=caller().f_locals)
        self._add(name, body, metadata=metadata)
        return self._set_timeout_route(name, on_timeout, "add_wait_for_event")

    def add_timer(
        self,
        name: str,
        delay: timedelta | float | None = None,
        /,
        *,
        until: Callable[[S], datetime] | None = None,
        fold: Callable[[S], S] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Self:
        """Add a wait of a fixed delay, or until the time that a function of the state gives; `fold` runs when it fires."""
        from strata.graph.bodies import timer_body

        body = timer_body(delay, until=until, fold=fold, where=f"timer '{name}'", names=caller().f_locals)
        return self._add(name, body, metadata=metadata)

    def add_edge(self, start: str | AnyNode[S], to: str | AnyNode[S], /) -> Self:
        """A plain edge: it always matches. Edges of a node are tried in the order they were added."""
        return self._add_edge(start, EdgeSpec(target=target_name(to, "add_edge")))

    def add_conditional_edge(self, start: str | AnyNode[S], to: str | AnyNode[S], guard: Callable[[S], bool], /) -> Self:
        """A guarded edge: it matches where `guard(state)` says so."""
        target = target_name(to, "add_conditional_edge")
        return self._add_edge(start, EdgeSpec(target=target, guard=called(guard, f"add_conditional_edge(): the guard of the edge to '{target}'")))

    def set_entry_point(self, name: str, /) -> Self:
        """Where a run starts; the last call wins, and may come before the node."""
        self._entry = text_of(name, "set_entry_point(): the name of a node")
        return self

    def add_interrupt_boundary(
        self,
        name: str,
        /,
        *,
        on_reject: str | AnyNode[S] | None = None,
        timeout: timedelta | float | None = None,
        on_timeout: str | AnyNode[S] | None = None,
    ) -> Self:
        """The thread pauses after this node, at most `timeout`; each call replaces all of the boundary's settings."""
        text_of(name, "add_interrupt_boundary(): the name of a node")
        route = None if on_reject is None else target_name(on_reject, "add_interrupt_boundary")
        self._boundaries[name] = BoundarySpec(on_reject=route, timeout=seconds_or_none(timeout, f"add_interrupt_boundary('{name}'): timeout="))
        return self._set_timeout_route(name, on_timeout, "add_interrupt_boundary")

    def set_recovery_policy(
        self,
        name: str,
        /,
        *,
        retries: int = 0,
        backoff: Backoff | None = None,
        on: ErrorMatch | None = None,
        fallback: str | AnyNode[S] | None = None,
    ) -> Self:
        """What is done when the node fails, as `retry` and `on_failure` say it; each call replaces all of it.

        Every node but a wait may fail. `on` are the errors that are tried again, by default those of `retry`; the fallback
        takes every error.
        """
        from strata.graph.recovery import TRANSIENT, RecoverySpec, checked_backoff, checked_retries, matcher

        text_of(name, "set_recovery_policy(): the name of a node")
        where = f"set_recovery_policy('{name}')"
        if on is None and retries:
            on = TRANSIENT
        self._recoveries[name] = RecoverySpec(
            retries=checked_retries(retries, where),
            backoff=checked_backoff(backoff, where),
            is_transient=None if on is None else matcher(on, where),
            fallback=None if fallback is None else target_name(fallback, where),
        )
        return self

    def set_timeout(self, name: str, timeout: timedelta | float, /) -> Self:
        """Limit of each attempt of the node, a timedelta or seconds."""
        text_of(name, "set_timeout(): the name of a node")
        self._timeouts[name] = seconds(timeout, f"the timeout of node '{name}'")
        return self

    def set_node_metadata(self, name: str, metadata: Mapping[str, str], /) -> Self:
        """What the definition says of the node; replaces all of it."""
        self._metadata[text_of(name, "set_node_metadata(): the name of a node")] = text_pairs(metadata, f"node '{name}'")
        return self

    def set_branch_metadata(self, name: str, branch: str, metadata: Mapping[str, str], /) -> Self:
        """What the definition says of a branch of a parallel group; replaces all of it, and may come before the branch."""
        group = text_of(name, "set_branch_metadata(): the name of a group")
        part = text_of(branch, "set_branch_metadata(): the name of a branch")
        self._branch_metadata.setdefault(group, {})[part] = text_pairs(metadata, f"branch '{branch}'")
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

    def _add(self, name: str, body: Body, *, timeout: timedelta | float | None = None, metadata: Mapping[str, str] | None = None) -> Self:
        text_of(name, "the name of a node")
        earlier = self._nodes.get(name)
        if isinstance(body, EventWaitBody | TimerBody) or (earlier is not None and isinstance(earlier.body, EventWaitBody | TimerBody)):
            self._timeout_routes.pop(name, None)  # a wait takes its timeout's route along, and replaces a boundary's (strata-graph.md 1.3)
        self._nodes[name] = NodeSpec(name=name, body=body)
        if self._entry is None:
            self._entry = name
        if timeout is not None:
            self.set_timeout(name, timeout)
        if metadata is not None:
            self.set_node_metadata(name, metadata)
        return self

    def _set_timeout_route(self, name: str, to: str | AnyNode[S] | None, where: str) -> Self:
        self._timeout_routes.pop(name, None)
        if to is not None:
            self._timeout_routes[name] = TimeoutRoute(target_name(to, where))
        return self

    def _has_data(self) -> bool:
        settings = (self._boundaries, self._recoveries, self._timeouts, self._metadata, self._branch_metadata)
        return self._entry is not None or bool(self._edges) or any(settings)

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
            timeout_routes=dict(self._timeout_routes),
            recoveries=dict(self._recoveries),
            timeouts=dict(self._timeouts),
            metadata=dict(self._metadata),
            branch_metadata={name: dict(branches) for name, branches in self._branch_metadata.items()},
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

    def nodes(self, *nodes: Node[S, NodeFunction[S], N2, T2] | Composite[S, Any, N2, T2]) -> Wiring[S, N | N2, T_co | T2]:
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
    if isinstance(origin := get_origin(state), type) and issubclass(origin, State):
        raise TypeError(f"StateGraph asks a class, and {state!r} is an alias of one: derive a class from it, class Named({_short(state)}): ...")
    if not isclass(state) or not issubclass(state, State):
        raise TypeError(f"StateGraph asks a class derived from State, not {state!r}")


def _short(alias: object) -> str:
    arguments = ", ".join(getattr(argument, "__name__", repr(argument)) for argument in get_args(alias))
    return f"{getattr(get_origin(alias), '__name__', '')}[{arguments}]"


def _function(fn: Any, name: str) -> Any:
    """The function of a plain node, or what was given in place of a node."""
    if not isinstance(fn, Node):
        return fn
    if not isinstance(fn.spec.body, Handler):
        raise TypeError(f"node '{name}': add_node takes functions, and {fn} is made by @{fn.top}: {_ADDED_BY[fn.top]} adds it from data")
    return fn.spec.body.fn


_ADDED_BY = {
    "parallel": "add_parallel_group",
    "subgraph": "add_subgraph",
    "map_each": "add_map",
    "wait_for_event": "add_wait_for_event",
    "timer": "add_timer",
}


def _spec(node: object, method: str, state: type[State], frame: FrameType) -> NodeSpec:
    if isinstance(node, Node):
        refuse_other_state(node.spec, method, state, frame.f_locals)
        return node.spec
    if isinstance(node, Wired):
        raise TypeError(f"{method}() takes nodes, and {node} is none: put @node on top of its decorators")
    if isinstance(node, TopDecorator):
        raise TypeError(f"{method}() takes nodes, and {node} is none: decorate a function with it")
    if callable(node):
        raise TypeError(f"{method}() takes nodes, and {node!r} is none: put @node on it")
    raise TypeError(f"{method}() takes nodes, not {node!r}")
