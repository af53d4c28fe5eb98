"""Keys that stand twice in an object of a JSON text: decoders keep the last in silence, the other engines refuse them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import msgspec

Objects = Mapping[type[msgspec.Struct], Mapping[str, type[msgspec.Struct]]]


def doubled_key(text: str, of: type[msgspec.Struct], inside: Objects) -> str | None:
    """A key of `of`, or of an object inside it, that stands twice in one object; None if there is none.

    `inside` says which keys of a struct hold which structs, alone or in an array. Keys that no struct knows, and the keys of
    mappings, may stand as often as they like. The text must have been decoded as `of` before.
    """
    waiting = [(_pairs(text), of)]
    while waiting:
        value, struct = waiting.pop()
        if isinstance(value, list):
            waiting.extend((item, struct) for item in cast(list[object], value))
        elif isinstance(value, tuple):
            pairs = cast(tuple[tuple[str, object], ...], value)
            known = [key for key, _ in pairs if key in struct.__struct_encode_fields__]
            if len(set(known)) < len(known):
                return next(key for key in known if known.count(key) > 1)
            below = inside.get(struct, {})
            waiting.extend((inner, below[key]) for key, inner in pairs if key in below)
    return None


def _pairs(text: str) -> object:
    """The JSON with every object as a tuple of its pairs; numbers do not matter here, and may be as long as they like."""
    decoded: object = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    return decoded
