"""When a parallel group or a map is done, and what its merge is told of the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Literal, Never, TypeVar, overload

import msgspec

from strata.graph.arguments import is_whole
from strata.graph.texts import text_of

A_co = TypeVar("A_co", covariant=True)
X = TypeVar("X")

JoinPolicy = Literal["all", "first_success", "first_matching", "quorum"]
Partial = Literal["fail_group", "keep_succeeded"]
BranchStatus = Literal["succeeded", "failed", "timed_out", "cancelled"]


class Join(Generic[A_co]):
    """When enough parts have succeeded; made by `all_of`, `first_success`, `first_matching`, `quorum`."""

    __slots__ = ("count", "description", "policy", "predicate")

    policy: JoinPolicy
    count: int | None
    predicate: Callable[[Any], bool] | None
    description: str | None

    def __init__(
        self,
        policy: JoinPolicy,
        *,
        count: int | None = None,
        predicate: Callable[[Any], bool] | None = None,
        description: str | None = None,
    ) -> None:
        self.policy, self.count, self.predicate, self.description = policy, count, predicate, description


def all_of() -> Join[Never]:
    """Every part must succeed."""
    return Join("all")


def first_success() -> Join[Never]:
    """The first that succeeds decides, the rest are cancelled."""
    return Join("first_success")


def first_matching(predicate: Callable[[X], bool], /, *, description: str | None = None) -> Join[X]:
    """The first whose state passes `predicate` decides. The description is exported with the definition."""
    if not callable(predicate):
        raise TypeError(f"first_matching asks a function of a part's state, not {predicate!r}")
    if description is not None:
        text_of(description, "the description of first_matching")
    return Join("first_matching", predicate=predicate, description=description)


def quorum(n: int, /) -> Join[Never]:
    """The first `n` that succeed decide."""
    if not is_whole(n):
        raise TypeError(f"a quorum is a whole number, not {n!r}")
    return Join("quorum", count=n)


class BranchOutcome(msgspec.Struct, Generic[A_co], frozen=True, kw_only=True):
    """What became of a branch or item; `state` only if it succeeded, `error` (its text) only if it failed or timed out."""

    name: str
    status: BranchStatus
    state: A_co | None = None
    error: str | None = None


class Outcomes(Sequence[BranchOutcome[A_co]], Generic[A_co]):
    """Of all parts, in declaration order.

    `join_met` is false where not enough succeeded and `partial="keep_succeeded"` merges all the same; `deciding` are
    the names that met the join, in the order in which they did.
    """

    __slots__ = ("_outcomes", "deciding", "join_met")

    def __init__(self, outcomes: Sequence[BranchOutcome[A_co]], *, join_met: bool, deciding: Sequence[str]) -> None:
        self._outcomes = tuple(outcomes)
        self.join_met = join_met
        self.deciding = tuple(deciding)

    @property
    def succeeded(self) -> list[A_co]:
        """The states of the parts that succeeded, in declaration order."""
        return [outcome.state for outcome in self._outcomes if outcome.status == "succeeded" and outcome.state is not None]

    @overload
    def __getitem__(self, index: int) -> BranchOutcome[A_co]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[BranchOutcome[A_co], ...]: ...
    def __getitem__(self, index: int | slice) -> BranchOutcome[A_co] | tuple[BranchOutcome[A_co], ...]:
        return self._outcomes[index]

    def __len__(self) -> int:
        return len(self._outcomes)

    def __iter__(self) -> Iterator[BranchOutcome[A_co]]:
        return iter(self._outcomes)

    def __repr__(self) -> str:
        return f"Outcomes({list(self._outcomes)!r}, join_met={self.join_met}, deciding={list(self.deciding)!r})"
