"""The marks for a node that fails: `@retry` and `@on_failure`."""

from __future__ import annotations

from typing import Any, LiteralString, TypeVar, overload

from strata.graph.marking import Modifier, Route, target_name
from strata.graph.marks import FallbackMark, RetryMark
from strata.graph.nodes import Node
from strata.graph.places import caller, place_of
from strata.graph.recovery import TRANSIENT, Backoff, ErrorMatch, checked_backoff, checked_retries, matcher

L = TypeVar("L", bound=LiteralString)


def retry(retries: int, /, *, backoff: Backoff | None = None, on: ErrorMatch = TRANSIENT) -> Modifier:
    """Try the node again after an error that may pass (strata-execution.md 5).

    Args:
        retries: how often, after the first attempt.
        backoff: how long is waited before each; by default a retry starts at once. An error's own `retry_after` replaces
            the delay, up to the backoff's maximum.
        on: what may pass: a class of errors, a tuple of them, or a predicate. `TransientError` and timeouts always may,
            `FatalError` never.
    """
    place = place_of(caller())
    where = f"{place}: @retry"
    mark = RetryMark(
        retries=checked_retries(retries, where),
        backoff=checked_backoff(backoff, where),
        is_transient=matcher(on, where),
        place=place,
    )
    return Modifier(mark)


@overload
def on_failure(to: L | Node[Any, Any, L, Any], /, *, on: ErrorMatch = ...) -> Route[L]: ...
@overload
def on_failure(to: str, /, *, on: ErrorMatch = ...) -> Route[Any]: ...  # type: ignore[overload-cannot-match]
def on_failure(to: Any, /, *, on: ErrorMatch = Exception) -> Any:
    """Where the run goes when the node has failed and no retry is left, with the state from before it.

    `on` are the errors that are taken: a class, a tuple of classes or a predicate; by default every one. The node that
    it leads to finds what failed in `ctx.last_failure`.
    """
    place = place_of(caller())
    where = f"{place}: @on_failure"
    takes = None if on is Exception else matcher(on, where)
    return Route[Any](FallbackMark(to=target_name(to, where), takes=takes, place=place))
