"""A value as JSON, and as it reads back from it, if nothing of it is lost on the way."""

from __future__ import annotations

from math import isfinite
from typing import Any, cast

import msgspec


def plain_json(value: object) -> Any:
    """The value as plain JSON.

    Raises:
        TypeError: it is no JSON; the text says why. NaN and the infinities are none, and would be null if nobody looked.
    """
    try:
        return msgspec.json.decode(json_of(value))
    except msgspec.DecodeError as error:
        raise TypeError(str(error)) from error


def json_of(value: object) -> bytes:
    """The text of the value.

    Raises:
        TypeError: as above.
    """
    try:
        text = msgspec.json.encode(value)
    except Exception as error:  # of any kind: properties of the user's own objects are called
        raise TypeError(str(error)) from error
    if b"null" in text and (lost := _not_finite(msgspec.to_builtins(value), "$")) is not None:
        raise TypeError(lost)
    return text


def _not_finite(value: object, path: str) -> str | None:
    """The first number in the value that is none of JSON's, and its path as msgspec writes one (`$.lines[0]`)."""
    if isinstance(value, float):
        return None if isfinite(value) else f"JSON has no {value!r}, which is at {path}"
    lost = (_not_finite(part, f"{path}{step}") for step, part in _parts(value))
    return next((one for one in lost if one is not None), None)


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(f".{key}", part) for key, part in cast("dict[object, object]", value).items()]
    if isinstance(value, list | tuple):
        return [(f"[{index}]", part) for index, part in enumerate(cast("list[object]", value))]
    return []
