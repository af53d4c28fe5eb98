"""What `ctx.once` keeps of a result, and what it gives back."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from strata.errors import ResultRefused


def encode(node: str, key: str, fn: Callable[..., Any], result: object) -> bytes:
    """The result as JSON, if the same comes back.

    Raises:
        ResultRefused: it does not: it is no JSON, or of a type that nobody can tell from `fn`.
    """
    try:
        record = msgspec.json.encode(result)
    except Exception as error:
        raise ResultRefused(node, key, f"it is no JSON: {error}") from error
    back = decode(node, key, fn, record)
    if type(back) is not type(result) or back != result:
        raise ResultRefused(node, key, f"{result!r:.80} would come back as {back!r:.80}")
    return record


def decode(node: str, key: str, fn: Callable[..., Any], record: bytes) -> Any:
    """The result again, of the type that `fn` says it returns.

    Raises:
        ResultRefused: what was kept is not of that type.
    """
    try:
        return msgspec.json.decode(record, type=_returned_by(fn))
    except Exception as error:
        raise ResultRefused(node, key, f"what was kept is not what it returns now: {error}") from error


def _returned_by(fn: Callable[..., Any]) -> Any:
    """The type that the function's annotation names; any JSON where there is none."""
    while isinstance(fn, partial):
        fn = fn.func
    try:
        hints = get_type_hints(inspect.unwrap(fn) if inspect.isroutine(fn) else type(fn).__call__)
    except Exception:  # a name may be for checkers only
        return Any
    returned = hints.get("return", Any)
    origin = get_origin(returned)
    return get_args(returned)[-1] if inspect.isclass(origin) and issubclass(origin, Awaitable) else returned
