"""What stands under a top decorator, as values; with the places for errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from strata.graph.spec import BoundarySpec, EdgeSpec
from strata.rules.facts import Place

if TYPE_CHECKING:
    from strata.graph.recovery import Backoff, RecoverySpec


class RouteMark(msgspec.Struct, frozen=True, kw_only=True):
    """`@on_reject` or `@on_timeout`."""

    word: Literal["on_reject", "on_timeout"]
    to: str
    place: Place


class BoundaryMark(msgspec.Struct, frozen=True, kw_only=True):
    """`@boundary`."""

    timeout: float | None
    place: Place

    @property
    def word(self) -> str:
        return "boundary"


class RetryMark(msgspec.Struct, frozen=True, kw_only=True):
    """`@retry`."""

    retries: int
    backoff: Backoff | None
    is_transient: Callable[[Exception], bool]
    place: Place

    @property
    def word(self) -> str:
        return "retry"


class FallbackMark(msgspec.Struct, frozen=True, kw_only=True):
    """`@on_failure`."""

    to: str
    takes: Callable[[Exception], bool] | None
    place: Place

    @property
    def word(self) -> str:
        return "on_failure"


Policy: TypeAlias = RouteMark | BoundaryMark | RetryMark | FallbackMark
"""A mark that stands once on a node."""


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """All marks of a function; the edges from top to bottom."""

    edges: tuple[EdgeSpec, ...] = ()
    boundary: BoundaryMark | None = None
    on_reject: RouteMark | None = None
    on_timeout: RouteMark | None = None
    retry: RetryMark | None = None
    on_failure: FallbackMark | None = None

    def with_edge(self, edge: EdgeSpec) -> Marks:
        """These marks with one more edge on top of them."""
        return msgspec.structs.replace(self, edges=(edge, *self.edges))

    def with_policy(self, mark: Policy, name: str | None) -> Marks:
        """These marks with one more on top of them; `name` is the function's, for the error.

        Raises:
            TypeError: it stands there already.
        """
        earlier: Policy | None = getattr(self, mark.word)
        if earlier is not None:
            raise TypeError(f"{mark.place}: @{mark.word} stands twice on '{name}' (also at {earlier.place}): remove one")
        return msgspec.structs.replace(self, **{mark.word: mark})

    def as_boundary(self) -> BoundarySpec | None:
        if self.boundary is None:
            return None
        return BoundarySpec(
            on_reject=None if self.on_reject is None else self.on_reject.to,
            timeout=self.boundary.timeout,
            on_timeout=None if self.on_timeout is None else self.on_timeout.to,
            place=self.boundary.place,
            on_reject_place=None if self.on_reject is None else self.on_reject.place,
            on_timeout_place=None if self.on_timeout is None else self.on_timeout.place,
        )

    def as_recovery(self) -> RecoverySpec | None:
        retry, fallback = self.retry, self.on_failure
        if retry is None and fallback is None:
            return None
        from strata.graph.recovery import RecoverySpec  # loaded by the mark already: a graph without such marks does not pay for it

        return RecoverySpec(
            retries=0 if retry is None else retry.retries,
            backoff=None if retry is None else retry.backoff,
            is_transient=None if retry is None else retry.is_transient,
            fallback=None if fallback is None else fallback.to,
            takes=None if fallback is None else fallback.takes,
            place=None if retry is None else retry.place,
            fallback_place=None if fallback is None else fallback.place,
        )
