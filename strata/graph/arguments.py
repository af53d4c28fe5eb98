"""What decorators, the builder and `compile()` are given, held to its type; `what` opens each text: it names the parameter, and whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeGuard, TypeVar

from strata.graph.times import seconds_of

W = TypeVar("W", bound=str)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number, which no bool is."""
    return isinstance(value, int) and not isinstance(value, bool)


def true_or_false(value: object, what: str) -> bool:
    """Raises TypeError for anything but a bool: every text is true, "no" and "false" too."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} is True or False, not {value!r}")
    return value


def one_of(value: W, words: Sequence[W], what: str) -> W:
    """Raises ValueError for what is none of the words."""
    if not is_one_of(value, words):
        raise ValueError(f"{what} is {listed(words)}, not {value!r}")
    return value


def is_one_of(value: object, words: Sequence[str]) -> bool:
    """Whether it is one of the words, of whatever type it is; an array has no answer to `==`."""
    return isinstance(value, str) and value in words


def listed(words: Sequence[str]) -> str:
    *others, last = [f'"{word}"' for word in words]
    return f"{', '.join(others)} or {last}" if others else last


def seconds(duration: timedelta | float, what: str) -> float:
    """A duration in seconds.

    Raises:
        TypeError: it is neither a timedelta nor a number.
        ValueError: it is not finite.
    """
    try:
        return seconds_of(duration)
    except TypeError as error:
        raise TypeError(f"{what} cannot be used: {error}") from None
    except ValueError as error:
        raise ValueError(f"{what} cannot be used: {error}") from None


def seconds_or_none(duration: timedelta | float | None, what: str) -> float | None:
    """The same of an option that may be left out."""
    return None if duration is None else seconds(duration, what)


def called(fn: Any, what: str) -> Any:
    """Raises TypeError for what cannot be called."""
    if not callable(fn):
        raise TypeError(f"{what} is a function, not {fn!r}")
    return fn
