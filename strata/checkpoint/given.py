"""What callers give, held to its type: a checker says it beforehand, and a program that none was run over is told here.

`what` opens each text: it names the option, and whose it is. Every run comes through here: concrete classes are asked for
first, since an abstract one takes 0.3 us to answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from strata.errors import OptionRefused
from strata.graph.arguments import is_one_of, is_whole, listed
from strata.graph.texts import is_utf8
from strata.graph.times import seconds_of

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


def whole_number(value: object, what: str) -> int:
    """Raises OptionRefused for anything else, a bool included."""
    if not is_whole(value):
        raise OptionRefused(f"{what} is a whole number, not {_shown(value)}")
    return value


def number(value: object, what: str, of: str) -> float:
    """Raises OptionRefused for anything else, a bool included."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise OptionRefused(f"{what} is a number of {of}, not {_shown(value)}")
    return value


def yes_or_no(value: object, what: str) -> bool:
    """Raises OptionRefused for anything but a bool: every text is true, "no" and "false" too."""
    if not isinstance(value, bool):
        raise OptionRefused(f"{what} is True or False, not {_shown(value)}")
    return value


def text(value: object, what: str) -> str:
    """Raises OptionRefused for what no store could keep as text."""
    if not isinstance(value, str):
        raise OptionRefused(f"{what} is text, not {_shown(value)}")
    if not is_utf8(value):
        raise OptionRefused(
            f"{what} {value!r} has half a surrogate pair, which cannot be stored",
            hint="where it came from a command line or a file name, it was not UTF-8 there",
        )
    return value


def pairs(value: Mapping[K, V], what: str, of: str = "text to text") -> dict[K, V]:
    """A copy. What its keys and values are is only said.

    Raises:
        OptionRefused: it is no mapping.
    """
    if not isinstance(value, (dict, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionRefused(f"{what} is a dict of {of}, not {_shown(value)}")
    return dict(value)


def several(value: Iterable[T], what: str) -> Iterable[T]:
    """Raises OptionRefused for what cannot be iterated over, and for a text: its letters are never meant."""
    if isinstance(value, str) or not isinstance(value, (tuple, list, Iterable)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise OptionRefused(f"{what} is a list, not {_shown(value)}: write [...] around it")
    return value


def seconds(value: object, what: str) -> float:
    """A duration in seconds.

    Raises:
        OptionRefused: it is no timedelta and no finite number.
    """
    try:
        return seconds_of(cast("float", value))
    except (TypeError, ValueError) as error:
        raise OptionRefused(f"{what} cannot be used: {error}") from None


def moment(value: object, what: str) -> datetime:
    """A time in UTC.

    Raises:
        OptionRefused: it is no datetime, has no time zone, or is none of the years 1 to 9999 in UTC.
    """
    if not isinstance(value, datetime):
        raise OptionRefused(f"{what} is a datetime with a time zone, as in datetime.now(UTC) - timedelta(days=30), and not {_shown(value)}")
    if value.tzinfo is None:
        raise OptionRefused(f"{what} {value!r} has no time zone: use datetime.now(UTC), or give it one with replace(tzinfo=...)")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise OptionRefused(f"{what} {value!r} is before the year 1 or after 9999 in UTC") from None


def one_of(value: object, words: Sequence[str], what: str) -> None:
    """Raises OptionRefused for what is none of the words."""
    if not is_one_of(value, words):
        raise OptionRefused(f"{what} is {listed(words)}, not {_shown(value)}")


def instance(value: object, kind: type[Any] | tuple[type[Any], ...], what: str) -> None:
    """Raises OptionRefused for what is no instance of `kind`."""
    if not isinstance(value, kind):
        raise OptionRefused(f"{what}, not {_shown(value)}")


def subclass(value: object, kind: type[Any], what: str) -> None:
    """Raises OptionRefused for what is neither `kind` nor a class below it."""
    if not isinstance(value, type) or not issubclass(value, kind):
        raise OptionRefused(f"{what}, not {_shown(value)}")


def answering(value: object, calls: Collection[str], what: str) -> None:
    """Raises OptionRefused for a class in place of its instance, and for what has not all of the `calls`."""
    if isinstance(value, type) or not all(callable(getattr(value, call, None)) for call in calls):
        raise OptionRefused(f"{what}, which {_shown(value)} does not")


def _shown(value: object) -> str:
    return f"{value!r:.80}"
