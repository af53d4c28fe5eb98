"""What is done about a node that failed: how often it is tried again, how long is waited, and where it goes when that is over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from inspect import isclass
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec

from strata.errors import TransientError
from strata.graph.arguments import is_whole, one_of, seconds
from strata.graph.functions import is_async_function, name_of, yes_or_no
from strata.rules.facts import Place

Jitter: TypeAlias = Literal["full", "equal", "none"]
ErrorMatch: TypeAlias = type[BaseException] | tuple[type[BaseException], ...] | Callable[[Exception], bool]

TRANSIENT: tuple[type[Exception], ...] = (TransientError, ConnectionError, TimeoutError)
"""What `@retry` tries again unless it is told otherwise."""


class Backoff:
    """How long a retry waits. Immutable.

    Before retry n (from 1) the ceiling is `min(initial * 2^(n-1), maximum)` seconds (strata-execution.md 5).
    `jitter`: "full" waits a random part of the ceiling, "equal" half of it and a random part of the other half, "none" all of it.
    A constant delay has `initial == maximum`. Durations are given as timedeltas or seconds, and kept as seconds.

    Raises:
        ValueError: a duration is negative or not finite, or the jitter is none of the three.
        TypeError: a duration is neither a timedelta nor a number.
    """

    __slots__ = ("initial", "jitter", "maximum")

    initial: float
    maximum: float
    jitter: Jitter

    def __init__(self, *, initial: timedelta | float, maximum: timedelta | float, jitter: Jitter = "full") -> None:
        object.__setattr__(self, "initial", _delay("initial", initial))
        object.__setattr__(self, "maximum", _delay("maximum", maximum))
        object.__setattr__(self, "jitter", one_of(jitter, get_args(Jitter), "jitter="))

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

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Backoff cannot change: make another one with {name}={value!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backoff) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"Backoff(initial={self.initial!r}, maximum={self.maximum!r}, jitter={self.jitter!r})"

    @property
    def _parts(self) -> tuple[float, float, Jitter]:
        return self.initial, self.maximum, self.jitter


class RecoverySpec(msgspec.Struct, frozen=True, kw_only=True):
    """`retries` after the first attempt for errors that `is_transient` matches; then `fallback`, if `takes` matches.

    Without `is_transient` no error is, without `takes` every one is taken.
    """

    retries: int = 0
    backoff: Backoff | None = None
    is_transient: Callable[[Exception], bool] | None = None
    fallback: str | None = None
    takes: Callable[[Exception], bool] | None = None
    place: Place | None = None
    fallback_place: Place | None = None


def matcher(on: ErrorMatch, where: str) -> Callable[[Exception], bool]:
    """A class, a tuple of classes or a predicate, as a predicate.

    Raises:
        TypeError: it is neither, or it would have to be awaited. The predicate raises it where it answers with no bool.
    """
    if isclass(on) or isinstance(on, tuple):
        kinds = cast("tuple[Any, ...]", on if isinstance(on, tuple) else (on,))
        if wrong := [kind for kind in kinds if not (isclass(kind) and issubclass(kind, BaseException))]:
            raise TypeError(f"{where} on= is a class of errors, a tuple of them or a predicate, and {wrong[0]!r} is no class of errors")
        return lambda error: isinstance(error, kinds)
    if not callable(on):
        raise TypeError(f"{where} on= is a class of errors, a tuple of them or a predicate, not {on!r}")
    if is_async_function(on):
        raise TypeError(f"{where} on= is asked and not awaited, and {name_of(on) or on!r} is async: make it a plain function")
    return lambda error: yes_or_no(on(error), f"{where} on=")


def checked_retries(retries: object, where: str) -> int:
    """The number of retries.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is negative.
    """
    if not is_whole(retries):
        raise TypeError(f"{where} asks how often the node is tried again, as in @retry(3), and {retries!r} is no number")
    if retries < 0:
        raise ValueError(f"{where} tries a node again 0 times or more, not {retries}")
    return retries


def checked_backoff(backoff: object, where: str) -> Backoff | None:
    """The backoff.

    Raises:
        TypeError: it is none.
    """
    if backoff is None or isinstance(backoff, Backoff):
        return backoff
    raise TypeError(f"{where} backoff= is a Backoff(initial=..., maximum=...), not {backoff!r}")


def _delay(name: str, duration: timedelta | float) -> float:
    delay = seconds(duration, f"the {name}= of a backoff")
    if delay < 0:
        raise ValueError(f"{name}= is a delay, and {duration!r} is negative")
    return delay
