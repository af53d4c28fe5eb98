"""A call with one argument that is none of its parameter's: what it must answer, and how that is judged."""

from __future__ import annotations

import inspect
import linecache
import math
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

import strata
from strata import StrataError

VALUES: Mapping[str, object] = {
    "None": None,
    "True": True,
    "5": 5,
    "-1": -1,
    "2**70": 2**70,
    "-2**70": -(2**70),
    "2**2000": 2**2000,
    "nan": math.nan,
    "text": "x",
    "half a surrogate pair": "\ud800",
    "[]": [],
    "{}": {},
    "an object": object(),
}
"""What a program gives by mistake, as no checker was run over it."""

Names = frozenset[str]

NOTHING: Names = frozenset()
TEXT: Names = frozenset({"text"})
WHOLE: Names = frozenset({"5", "-1", "2**70", "-2**70", "2**2000"})
SECONDS: Names = WHOLE
YES_OR_NO: Names = frozenset({"True"})
PAIRS: Names = frozenset({"{}"})
LISTED: Names = frozenset({"[]", "{}"})
ANYTHING: Names = frozenset(VALUES)
NONE: Names = frozenset({"None"})


class Parameter(msgspec.Struct, frozen=True):
    """A parameter: an argument that is right, which of `VALUES` are right too, and words of it that an error has one of."""

    right: Any
    takes: Names = NOTHING
    words: tuple[str, ...] = ()


async def answer(function: Callable[..., Any], then: Callable[[Any], Any], arguments: Mapping[str, object]) -> None:
    """Call it, by position where its signature says so, and do with the result what shows whether it was taken."""
    kinds = {name: parameter.kind for name, parameter in inspect.signature(function).parameters.items()}
    by_position: list[object] = []
    by_name: dict[str, object] = {}
    for name, value in arguments.items():
        match kinds.get(name):
            case inspect.Parameter.POSITIONAL_ONLY:
                by_position.append(value)
            case inspect.Parameter.VAR_POSITIONAL:
                by_position += value if isinstance(value, tuple) else (value,)
            case _:
                by_name[name] = value
    result = then(function(*by_position, **by_name))
    if isinstance(result, Awaitable):
        await result


def fault_of(error: Exception | None, name: str, parameter: Parameter, value_name: str) -> str | None:
    """What is wrong with the answer to `value_name` as `name`, if anything: `error`, or None where it was taken."""
    is_right = value_name in parameter.takes
    if error is None:
        return None if is_right else "was taken"
    return _fault_of(error, name, parameter, is_right=is_right)


def _fault_of(error: Exception, name: str, parameter: Parameter, *, is_right: bool) -> str | None:
    shown = f"{type(error).__name__}: {error!s:.200}"
    if not isinstance(error, StrataError) and not _is_raised_by_us(error):
        return f"ended in Python's own words: {shown}"
    words = (name, name.replace("_", " "), *parameter.words)
    if not is_right and not any(word in str(error) for word in words):
        return f"was refused without the parameter's name: {shown}"
    return None


def _is_raised_by_us(error: Exception) -> bool:
    """Whether one of our `raise` statements raised it, and no operation that could not take the value."""
    if not isinstance(error, (TypeError, ValueError)) or error.__traceback__ is None:
        return False
    last = _last(error.__traceback__)
    filename = last.tb_frame.f_code.co_filename
    is_ours = Path(filename).is_relative_to(Path(strata.__file__).parent)
    return is_ours and linecache.getline(filename, last.tb_lineno).lstrip().startswith("raise")


def _last(trace: TracebackType) -> TracebackType:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace
