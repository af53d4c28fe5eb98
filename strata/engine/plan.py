"""A compiled graph as the walk wants it: slotted values, every choice made that does not depend on a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from strata.graph.compiled import CompiledGraph
from strata.graph.spec import NodeSpec

if TYPE_CHECKING:
    from strata.graph.codec import StateCodec

Manner = Literal["async", "inline", "thread"]


class EdgePlan:
    """A way out; without a guard it always matches."""

    __slots__ = ("guard", "target")

    def __init__(self, guard: Callable[[Any], bool] | None, target: NodePlan) -> None:
        self.guard, self.target = guard, target


class NodePlan:
    """A node: how to call it, and where it leads."""

    __slots__ = ("call", "edges", "is_bare", "is_boundary", "manner", "name", "reject_route", "takes_context", "timeout")

    def __init__(self, spec: NodeSpec, *, in_place: bool) -> None:
        self.name = spec.name
        self.call = spec.handler.call
        self.takes_context = spec.handler.takes_context
        self.timeout = spec.timeout
        # In place nothing could end a call that takes too long, so a node with a timeout is called on a thread all the same.
        is_inline = spec.handler.inline or (in_place and self.timeout is None)
        self.manner: Manner = "async" if spec.handler.is_async else "inline" if is_inline else "thread"
        self.is_boundary = spec.boundary is not None
        self.reject_route = spec.boundary.on_reject if spec.boundary is not None else None
        self.edges: tuple[EdgePlan, ...] = ()
        self.is_bare = self.manner != "thread" and not self.takes_context and self.timeout is None


class GraphPlan:
    """A level's graph. `hop_limit` is the compiled one, or None."""

    __slots__ = ("codec", "entry", "graph", "hop_limit", "nodes")

    def __init__(self, graph: CompiledGraph[Any], *, in_place: bool) -> None:
        self.graph = graph
        self.codec: StateCodec[Any] = graph.codec
        self.hop_limit = graph.max_node_hops
        self.nodes = {name: NodePlan(spec, in_place=in_place) for name, spec in graph.specs.items()}
        for name, spec in graph.specs.items():
            self.nodes[name].edges = tuple(EdgePlan(edge.guard, self.nodes[edge.target]) for edge in spec.edges)
        self.entry = self.nodes[graph.entry]
