"""Types that msgspec takes without a word, and that end the process when its garbage is collected (0.23 and all before)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, get_origin

from strata.graph.meanings import Meaning, has_fields, hints_of, meaning_of
from strata.rules.facts import StateFieldFault
from strata.rules.unstorable import TUPLE_BESIDE_LIMITS

_LIMITS: Final = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length")


def unheld_unions(annotation: Any, path: str) -> Iterator[StateFieldFault]:
    """The unions of a fixed tuple and a value that a `Meta` limits, at any depth; msgspec must not see the type before.

    It looks for the tuple's items where the limit stands, and takes that number for an object.
    """
    yield from _within(annotation, path, set())


def _within(annotation: Any, path: str, seen: set[Hashable]) -> Iterator[StateFieldFault]:
    meaning = meaning_of(annotation)
    members = [meaning_of(member) for member in _members(meaning)]
    if any(map(_is_fixed_tuple, members)) and any(map(_is_limited, members)):
        yield StateFieldFault(path=path, reason=TUPLE_BESIDE_LIMITS)
        return
    for argument in meaning.arguments or ():
        yield from _within(argument, path + _step(meaning), seen)
    for name, hint in _fields(meaning, seen).items():
        yield from _within(hint, f"{path}.{name}", seen)


def _members(meaning: Meaning) -> Iterator[Any]:
    """Of a union, those of unions inside it among them."""
    if not meaning.is_union:
        return
    for argument in meaning.arguments or ():
        inner = meaning_of(argument)
        yield from _members(inner) if inner.is_union else (argument,)


def _is_fixed_tuple(member: Meaning) -> bool:
    return member.kind is tuple and member.arguments is not None and ... not in member.arguments


def _is_limited(member: Meaning) -> bool:
    return any(getattr(limit, name) is not None for limit in member.limits for name in _LIMITS)


def _step(meaning: Meaning) -> str:
    if meaning.is_union or not isinstance(meaning.kind, type) or has_fields(meaning.kind):
        return ""
    return "{}" if issubclass(meaning.kind, Mapping) else "[]"


def _fields(meaning: Meaning, seen: set[Hashable]) -> Mapping[str, Any]:
    """Of a class that is met for the first time; none where its annotations cannot be read, of which others tell."""
    written = meaning.written
    if not has_fields(get_origin(written) or written) or written in seen:
        return {}
    seen.add(written)
    try:
        return hints_of(written)
    except Exception:
        return {}
