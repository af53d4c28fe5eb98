"""What a decorated function comes to: the values that decorators and the data builder both end in, and the engine starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from strata.rules.facts import Place

if TYPE_CHECKING:
    from strata.graph.compiled import CompiledGraph
    from strata.graph.joins import Join, Partial
    from strata.graph.recovery import RecoverySpec


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """The user's function and how to call it.

    `call` takes the state, and the context after it where `takes_context`; a function that wants its context elsewhere
    is adapted when it is decorated, so that the engine has two shapes only.
    """

    fn: Callable[..., Any]
    call: Callable[..., Any]
    takes_context: bool
    is_async: bool
    inline: bool = False


class BranchSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One branch of a group."""

    name: str
    handler: Handler
    metadata: Mapping[str, str] | None = None
    place: Place | None = None


class Fanout(msgspec.Struct, frozen=True, kw_only=True):
    """How a group or a map runs its parts, and what its merge `(state, results)` takes: their states, or their `Outcomes`."""

    merge: Callable[[Any, Any], Any]
    takes_outcomes: bool
    join: Join[Any]
    partial: Partial = "fail_group"
    max_concurrency: int | None = None
    part_timeout: float | None = None
    cancel_siblings: bool = True
    keep_progress: bool = True


class GroupBody(msgspec.Struct, frozen=True, kw_only=True):
    """`@parallel`: every branch gets the entry state, the merge makes one of what they give."""

    branches: tuple[BranchSpec, ...]
    fanout: Fanout


class SubgraphBody(msgspec.Struct, frozen=True, kw_only=True):
    """`@subgraph`: `enter(state)` is the child's first state, `leave(state, child's last state)` the node's result."""

    child: CompiledGraph[Any]
    enter: Callable[[Any], Any]
    leave: Callable[[Any, Any], Any]


class MapBody(msgspec.Struct, frozen=True, kw_only=True):
    """`@map_each`: the child graph once an item."""

    child: CompiledGraph[Any]
    items: Callable[[Any], Any]
    key: Callable[[Any], str]
    enter: Callable[[Any, Any], Any]
    fanout: Fanout
    max_items: int | None = None


class EventWaitBody(msgspec.Struct, frozen=True, kw_only=True):
    """`@wait_for_event`: `fold(state)` or `fold(state, payload)` runs when the event comes; None leaves the state as it is.

    `payload` is the payload's type; before `compile()` it may be the annotation that names it (`Payload`).
    """

    event_type: str
    fold: Callable[..., Any] | None = None
    takes_payload: bool = False
    payload: Any = None
    timeout: float | None = None
    on_timeout: str | None = None
    on_timeout_place: Place | None = None


class TimerBody(msgspec.Struct, frozen=True, kw_only=True):
    """`@timer`: due `delay` seconds after the node, or at the time that `until(state)` gives."""

    delay: float | None = None
    until: Callable[[Any], Any] | None = None
    fold: Callable[[Any], Any] | None = None


Body: TypeAlias = Handler | GroupBody | SubgraphBody | MapBody | EventWaitBody | TimerBody
"""What a node does; a plain node's body is its handler."""

_TOPS: Mapping[type[Any], str] = {
    Handler: "node",
    GroupBody: "parallel",
    SubgraphBody: "subgraph",
    MapBody: "map_each",
    EventWaitBody: "wait_for_event",
    TimerBody: "timer",
}
_KINDS = {"node": "node", "parallel": "parallel group", "subgraph": "subgraph", "map_each": "map", "wait_for_event": "wait", "timer": "timer"}


def top_of(body: Body) -> str:
    """The decorator that makes such a node."""
    return _TOPS[type(body)]


def kind_of(top: str) -> str:
    """What errors call the nodes that a decorator makes."""
    return _KINDS[top]


class EdgeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A way out of a node; without a guard it always matches."""

    target: str
    guard: Callable[[Any], bool] | None = None
    place: Place | None = None


class BoundarySpec(msgspec.Struct, frozen=True, kw_only=True):
    """The thread pauses after the node; a rejection goes to `on_reject`, or on as an approval does; a timeout to `on_timeout`, or ends it."""

    on_reject: str | None = None
    timeout: float | None = None
    on_timeout: str | None = None
    place: Place | None = None
    on_reject_place: Place | None = None
    on_timeout_place: Place | None = None


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A node as a graph holds it. Durations are seconds."""

    name: str
    body: Body
    edges: tuple[EdgeSpec, ...] = ()
    boundary: BoundarySpec | None = None
    recovery: RecoverySpec | None = None
    timeout: float | None = None
    metadata: Mapping[str, str] | None = None
    place: Place | None = None
