"""A compiled graph as the walk wants it: slotted values, every choice made that does not depend on a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, assert_never

from strata.graph.codec import StateCodec
from strata.graph.compiled import CompiledGraph
from strata.graph.recovery import RecoverySpec
from strata.graph.spec import Body, EventWaitBody, Fanout, GroupBody, Handler, MapBody, NodeSpec, SubgraphBody, TimerBody

Manner = Literal["async", "inline", "thread"]


class EdgePlan:
    """A way out; without a guard it always matches."""

    __slots__ = ("guard", "target")

    def __init__(self, guard: Callable[[Any], bool] | None, target: NodePlan) -> None:
        self.guard, self.target = guard, target


class HandlerPlan:
    """A function of the user, and how it is called."""

    __slots__ = ("call", "manner", "takes_context")

    def __init__(self, handler: Handler, *, in_place: bool) -> None:
        self.call = handler.call
        self.takes_context = handler.takes_context
        self.manner: Manner = "async" if handler.is_async else "inline" if handler.inline or in_place else "thread"


class GroupPlan:
    __slots__ = ("branches", "fanout")

    def __init__(self, body: GroupBody, *, in_place: bool) -> None:
        in_place = in_place and body.fanout.part_timeout is None
        self.branches = tuple((branch.name, HandlerPlan(branch.handler, in_place=in_place)) for branch in body.branches)
        self.fanout: Fanout = body.fanout


class SubgraphPlan:
    __slots__ = ("child", "enter", "leave")

    def __init__(self, body: SubgraphBody, *, in_place: bool) -> None:
        self.child = GraphPlan(body.child, in_place=in_place)
        self.enter = body.enter
        self.leave = body.leave


class MapPlan:
    __slots__ = ("body", "child")

    def __init__(self, body: MapBody, *, in_place: bool) -> None:
        self.child = GraphPlan(body.child, in_place=in_place)
        self.body = body


Work = HandlerPlan | GroupPlan | SubgraphPlan | MapPlan | EventWaitBody | TimerBody


class NodePlan:
    """A node: what it does, and where it leads.

    Attributes:
        bare, inline: the handler's own call, async or in place, where nothing has to be done around it: no context, timeout, retry, thread.
        keeps_entry: the state that it starts with is needed again, unchanged: by the next attempt, the fallback, the other branches.
        pauses: the level comes to rest after it.
        retries: it is tried again.
    """

    __slots__ = (
        "bare",
        "boundary_timeout",
        "edges",
        "fallback",
        "inline",
        "is_boundary",
        "keeps_entry",
        "name",
        "pauses",
        "recovery",
        "reject_route",
        "retries",
        "timeout",
        "timeout_route",
        "work",
    )

    def __init__(self, spec: NodeSpec, *, in_place: bool) -> None:
        self.name = spec.name
        # what runs in place cannot be left when its time is over
        self.work: Work = _work(spec.body, in_place=in_place and spec.timeout is None)
        self.timeout = spec.timeout
        self.recovery: RecoverySpec | None = spec.recovery
        self.retries = spec.recovery is not None and spec.recovery.retries > 0
        self.keeps_entry = spec.recovery is not None or isinstance(self.work, GroupPlan | MapPlan)
        self.fallback: NodePlan | None = None
        self.edges: tuple[EdgePlan, ...] = ()
        mark, wait = spec.boundary, spec.body if isinstance(spec.body, EventWaitBody) else None
        self.is_boundary = mark is not None
        self.pauses = mark is not None or isinstance(spec.body, EventWaitBody | TimerBody)
        self.reject_route = mark.on_reject if mark is not None else None
        self.boundary_timeout = mark.timeout if mark is not None else None
        self.timeout_route = mark.on_timeout if mark is not None else wait.on_timeout if wait is not None else None
        handler = self.work if isinstance(self.work, HandlerPlan) else None
        is_bare = handler is not None and not handler.takes_context and spec.timeout is None and spec.recovery is None
        self.bare: Callable[..., Any] | None = handler.call if handler is not None and is_bare and handler.manner == "async" else None
        self.inline: Callable[..., Any] | None = handler.call if handler is not None and is_bare and handler.manner == "inline" else None

    @property
    def child(self) -> GraphPlan | None:
        """The graph inside a subgraph node."""
        return self.work.child if isinstance(self.work, SubgraphPlan) else None


class GraphPlan:
    """A level's graph. `hop_limit` is the compiled one, or None; `may_end_nowhere`: it has a node of which no edge need match."""

    __slots__ = ("codec", "entry", "graph", "hop_limit", "identity", "may_end_nowhere", "nodes")

    def __init__(self, graph: CompiledGraph[Any], *, in_place: bool) -> None:
        self.graph = graph
        self.codec: StateCodec[Any] = graph.codec
        self.hop_limit = graph.max_node_hops
        self.identity = graph.identity
        self.nodes: Mapping[str, NodePlan] = {name: NodePlan(spec, in_place=in_place) for name, spec in graph.specs.items()}
        for name, spec in graph.specs.items():
            node = self.nodes[name]
            node.edges = tuple(EdgePlan(edge.guard, self.nodes[edge.target]) for edge in spec.edges)
            if spec.recovery is not None and spec.recovery.fallback is not None:
                node.fallback = self.nodes[spec.recovery.fallback]
        self.entry = self.nodes[graph.entry]
        self.may_end_nowhere = any(node.edges and all(edge.guard is not None for edge in node.edges) for node in self.nodes.values())


def _work(body: Body, *, in_place: bool) -> Work:
    match body:
        case Handler():
            return HandlerPlan(body, in_place=in_place)
        case GroupBody():
            return GroupPlan(body, in_place=in_place)
        case SubgraphBody():
            return SubgraphPlan(body, in_place=in_place)
        case MapBody():
            return MapPlan(body, in_place=in_place)
        case EventWaitBody() | TimerBody():
            return body
        case _:
            assert_never(body)
