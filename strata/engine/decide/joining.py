"""When a group or map is decided, and what it comes to: pure, fed with one settled part after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from strata.engine.decide.failure import Failure
from strata.errors import PredicateFailed
from strata.graph.functions import yes_or_no
from strata.graph.joins import BranchOutcome, BranchStatus, Join, Outcomes
from strata.graph.spec import Fanout

Verdict = Literal["open", "met", "unmeetable"]


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a branch or item came to; `state` if it succeeded, `failure` if it failed or timed out."""

    status: BranchStatus
    state: Any = None
    failure: Failure | None = None


class Words(msgspec.Struct, frozen=True):
    """What texts call the parts."""

    one: str
    many: str


BRANCHES = Words("branch", "branches")
ITEMS = Words("item", "items")


class Tally:
    """Counts what has settled of `names` against what `join` needs (strata-execution.md 9)."""

    def __init__(self, join: Join[Any], names: Sequence[str]) -> None:
        self._join = join
        self._names = names
        self._open = len(names)
        self._counted = 0
        self.needed = _needed(join, len(names))
        self.deciding: list[str] = []
        self.results: list[PartResult | None] = [None] * len(names)

    @property
    def verdict(self) -> Verdict:
        if self._counted >= self.needed:
            return "met"
        return "open" if self._counted + self._open >= self.needed else "unmeetable"

    def settle(self, index: int, result: PartResult) -> Verdict:
        """Take a part's result; once met, a late success decides nothing any more.

        Raises:
            PredicateFailed: the join's predicate raised.
        """
        self.results[index] = result
        self._open -= 1
        if result.status == "succeeded" and self._counted < self.needed and self._passes(result.state):
            self._counted += 1
            self.deciding.append(self._names[index])
        return self.verdict

    def outcomes(self) -> Outcomes[Any]:
        """All parts in declaration order; what never started was cancelled."""
        return Outcomes(
            [_outcome(name, result) for name, result in zip(self._names, self.results, strict=True)],
            join_met=self.verdict == "met",
            deciding=self.deciding if self.verdict == "met" else (),
        )

    def _passes(self, state: Any) -> bool:
        if self._join.predicate is None:
            return True
        try:
            return yes_or_no(self._join.predicate(state), "the predicate")
        except Exception as error:
            raise PredicateFailed(error) from error


def merges(tally: Tally, fanout: Fanout) -> bool:
    """Whether the merge is called: the join was met, or what succeeded is kept."""
    if tally.verdict == "met":
        return True
    return fanout.partial == "keep_succeeded" and any(result is not None and result.status == "succeeded" for result in tally.results)


def merge_argument(tally: Tally, fanout: Fanout) -> Any:
    """What the merge gets beside the state: all outcomes, or the states that decided (else all that there are), in declaration order."""
    outcomes = tally.outcomes()
    if fanout.takes_outcomes:
        return outcomes
    if not outcomes.join_met:
        return outcomes.succeeded
    deciding = set(outcomes.deciding)
    return [outcome.state for outcome in outcomes if outcome.name in deciding]


def failure_of(tally: Tally, join: Join[Any], names: Sequence[str], words: Words) -> tuple[str, Literal["transient", "fatal"], float | None]:
    """The text, the kind and the retry hint of a group that failed (strata-execution.md 9)."""
    failures = [
        (name, result.failure) for name, result in zip(names, tally.results, strict=True) if result is not None and result.failure is not None
    ]
    parts = [*_head(tally, join, words), *(f"{words.one} '{name}': {failure.message}" for name, failure in failures)]
    fatal = sum(failure.kind == "fatal" for _, failure in failures)
    kind: Literal["transient", "fatal"] = "fatal" if len(names) - fatal < tally.needed else "transient"
    hints = [failure.retry_after for _, failure in failures if failure.retry_after is not None]
    return "; ".join(parts) or f"no {words.many} to run", kind, max(hints) if hints and kind == "transient" else None


def errors_of(tally: Tally) -> list[BaseException]:
    """What the parts failed with, in the order of declaration."""
    return [result.failure.error for result in tally.results if result is not None and result.failure is not None]


def _needed(join: Join[Any], parts: int) -> int:
    match join.policy:
        case "all":
            return parts
        case "quorum":
            return join.count or 0
        case "first_success" | "first_matching":
            return 1


def _outcome(name: str, result: PartResult | None) -> BranchOutcome[Any]:
    if result is None:
        return BranchOutcome(name=name, status="cancelled")
    error = None if result.failure is None else result.failure.message
    return BranchOutcome(name=name, status=result.status, state=result.state, error=error)


def _head(tally: Tally, join: Join[Any], words: Words) -> list[str]:
    succeeded = sum(result is not None and result.status == "succeeded" for result in tally.results)
    if join.policy == "quorum":
        return [f"quorum of {tally.needed} not reached: {succeeded} of {len(tally.results)} {words.many} succeeded"]
    if join.policy == "first_matching":
        return [f"no {words.one} matched the join ({succeeded} succeeded)"]
    return []
