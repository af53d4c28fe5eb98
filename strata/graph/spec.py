"""What a decorated function comes to: the values that decorators and the data builder both end in, and the engine starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from strata.rules.facts import Place


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


class EdgeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A way out of a node; without a guard it always matches."""

    target: str
    guard: Callable[[Any], bool] | None = None
    place: Place | None = None


class BoundarySpec(msgspec.Struct, frozen=True, kw_only=True):
    """The thread pauses after the node; a rejection goes to `on_reject`, or on as an approval does."""

    on_reject: str | None = None
    place: Place | None = None
    on_reject_place: Place | None = None


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A node as a graph holds it. Durations are seconds."""

    name: str
    handler: Handler
    edges: tuple[EdgeSpec, ...] = ()
    boundary: BoundarySpec | None = None
    timeout: float | None = None
    metadata: Mapping[str, str] | None = None
    place: Place | None = None
