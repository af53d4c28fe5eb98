"""What is done about a node that failed: how often it is tried again, how long is waited, and where it goes when that is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from strata.errors import TransientError
from strata.rules.facts import Place

Jitter: TypeAlias = Literal["full", "equal", "none"]
ErrorMatch: TypeAlias = type[BaseException] | tuple[type[BaseException], ...] | Callable[[Exception], bool]

TRANSIENT: tuple[type[Exception], ...] = (TransientError, ConnectionError, TimeoutError)
"""What `@retry` tries again unless it is told otherwise."""


class Backoff(msgspec.Struct, frozen=True, kw_only=True):
    """Before retry n (from 1) the ceiling is `min(initial * 2^(n-1), maximum)` seconds (strata-execution.md 5).

    `jitter`: "full" waits a random part of the ceiling, "equal" half of it and a random part of the other half, "none" all of it.
    A constant delay has `initial == maximum`.
    """

    initial: float
    maximum: float
    jitter: Jitter = "full"

    def delay(self, retry: int, random: float) -> float:
        """Seconds to wait before `retry`; `random` is a number in [0, 1)."""
        ceiling = min(self.initial * 2.0 ** min(retry - 1, 1000), self.maximum) if self.initial else 0.0
        match self.jitter:
            case "full":
                return ceiling * random
            case "equal":
                return ceiling / 2 + ceiling / 2 * random
            case "none":
                return ceiling


class RecoverySpec(msgspec.Struct, frozen=True, kw_only=True):
    """`retries` after the first attempt for errors that `is_transient` matches; then `fallback`, if `takes` matches."""

    retries: int = 0
    backoff: Backoff | None = None
    is_transient: Callable[[Exception], bool] | None = None
    fallback: str | None = None
    takes: Callable[[Exception], bool] | None = None
    place: Place | None = None
    fallback_place: Place | None = None


def matcher(on: ErrorMatch) -> Callable[[Exception], bool]:
    """A class, a tuple of classes or a predicate, as a predicate."""
    if isinstance(on, (type, tuple)):
        return lambda error: isinstance(error, on)
    return on
