"""Names that stand twice in one JSON object: readers differ in which of the values counts, so that none should."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, cast

import msgspec

_top_names: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def name_given_twice(raw: str) -> str | None:
    """The first such name in a JSON object, with its path (`lines[0].sku`), or None.

    Raises:
        ValueError: it is no JSON object.
        RecursionError: it is nested too deep to be looked at.
    """
    if len(_top_names(raw)) == raw.count(":"):  # each colon stands behind a name of its own: 0.3 us where a look at all takes 5
        return None
    found: Any = json.loads(raw, object_pairs_hook=_look, parse_int=_ignore, parse_float=_ignore)
    return found.path if isinstance(found, _Twice) else None


class _Twice(NamedTuple):
    """Stands where the object stood."""

    path: str


def _look(pairs: list[tuple[str, Any]]) -> _Twice | None:
    seen: set[str] = set()
    for name, value in pairs:
        if name in seen:
            return _Twice(name)
        seen.add(name)
        if (inside := _first(value)) is not None:
            return _Twice(f"{name}{inside}")
    return None


def _first(value: object) -> str | None:
    """The path from a value to what stands twice inside it."""
    if isinstance(value, _Twice):
        return f".{value.path}"
    if isinstance(value, list):
        inside: Iterable[str | None] = (_in_item(index, item) for index, item in enumerate(cast("list[object]", value)))
        return next((path for path in inside if path is not None), None)
    return None


def _in_item(index: int, item: object) -> str | None:
    inside = _first(item)
    return None if inside is None else f"[{index}]{inside}"


def _ignore(number: str) -> None:
    """Python takes long over an integer of a million digits."""
