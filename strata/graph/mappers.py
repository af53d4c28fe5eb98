"""The small functions beside a node's own: merges, folds, mappers, keys, predicates. They are sync, pure and without context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, isasyncgenfunction, isclass, isgeneratorfunction
from typing import Any

import msgspec

from strata.graph.annotations import Annotations, text_of
from strata.graph.functions import is_async_function, layers_of
from strata.graph.joins import BranchOutcome, Outcomes
from strata.graph.parameters import POSITIONAL, is_context, signature_of


class Payload(msgspec.Struct, frozen=True):
    """The type of an event's payload; `unread` where it could not be read yet, as its name may be defined further down."""

    annotation: Any
    unread: Annotations | None = None

    def meant(self) -> Any:
        """The type.

        Raises:
            Exception: of any kind, where the annotation cannot be read.
        """
        return self.annotation if self.unread is None else self.unread.read(self.annotation)

    def __str__(self) -> str:
        return text_of(self.annotation) or str(getattr(self.annotation, "__name__", self.annotation))


def pure(fn: Any, *takes: str, where: str, names: Mapping[str, Any]) -> Callable[..., Any]:
    """`fn`, if it can be called with what it `takes`, and gives its result at once.

    Raises:
        TypeError: it is no function, it is async or a generator, it asks for a context, or takes other parameters.
    """
    if not callable(fn):
        raise TypeError(f"{where} is a function of {_listed(takes)}, not {fn!r}")
    if is_async_function(fn):
        raise TypeError(
            f"{where} is async: it is asked between two steps, so it is sync and pure; await in a node, and keep what it found in the state"
        )
    if any(isgeneratorfunction(layer) or isasyncgenfunction(layer) for layer in layers_of(fn)):
        raise TypeError(f"{where} is a generator: it gives its result at once")
    parameters = _parameters(fn)
    if parameters is not None:
        _refuse_context(fn, parameters, where, names)
        _refuse_others(parameters, takes, where)
    return fn  # type: ignore[no-any-return]


def takes_outcomes(merge: Callable[..., Any], names: Mapping[str, Any]) -> bool:
    """Whether a merge wants the `Outcomes` of all parts, as its second parameter says, or the list of their states."""
    second = _second(merge)
    return second is not None and _reader(merge, names).mentions(second.annotation, (Outcomes, BranchOutcome))


def payload_of(fold: Callable[..., Any], names: Mapping[str, Any]) -> Payload | None:
    """The payload that a fold takes beside the state; None if it takes none. Without an annotation it is any JSON value."""
    second = _second(fold)
    if second is None:
        return None
    if second.annotation is Parameter.empty:
        return Payload(Any)
    reader = _reader(fold, names)
    try:
        return Payload(reader.read(second.annotation))
    except Exception:
        return Payload(second.annotation, reader)  # read again at compile


def _reader(fn: Any, names: Mapping[str, Any]) -> Annotations:
    return Annotations(tuple(layers_of(fn)), names)


def _second(fn: Callable[..., Any]) -> Parameter | None:
    positional = [parameter for parameter in _parameters(fn) or () if parameter.kind in POSITIONAL]
    return positional[1] if len(positional) > 1 else None


def _parameters(fn: Callable[..., Any]) -> tuple[Parameter, ...] | None:
    """None where Python cannot tell them, as of `str` and other functions written in C."""
    if isclass(fn):
        return None  # `key=str`: a call makes an instance
    try:
        return tuple(signature_of(fn).parameters.values())
    except (ValueError, TypeError):
        return None


def _refuse_context(fn: Any, parameters: tuple[Parameter, ...], where: str, names: Mapping[str, Any]) -> None:
    read = _reader(fn, names)
    for parameter in parameters:
        if parameter.annotation is not Parameter.empty and is_context(parameter.annotation, read):
            raise TypeError(f"{where} has no context: take '{parameter.name}' away, and look at the context in a node")


def _refuse_others(parameters: tuple[Parameter, ...], takes: tuple[str, ...], where: str) -> None:
    positional = [parameter for parameter in parameters if parameter.kind in POSITIONAL]
    needed = [parameter for parameter in positional if parameter.default is Parameter.empty]
    keywords = [parameter for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty]
    has_room = len(positional) >= len(takes) or any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
    if has_room and len(needed) <= len(takes) and not keywords:
        return
    shown = ", ".join(parameter.name for parameter in parameters)
    raise TypeError(f"{where} is a function of {_listed(takes)}, and this one is ({shown})")


def _listed(takes: tuple[str, ...]) -> str:
    return " and ".join(takes)
