"""Which parameter of a handler takes the context."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, isclass, signature
from types import UnionType
from typing import Annotated, Any, ForwardRef, NamedTuple, Union, get_args, get_origin

from strata.graph.annotations import Annotations, has_word, text_of
from strata.graph.context import Context

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class ContextParameter(NamedTuple):
    """The parameter and its position among the positional ones (beyond them, if it is passed by keyword)."""

    parameter: Parameter
    position: int


def parameters_of(fn: Callable[..., Any], where: str) -> tuple[Parameter, ...]:
    """The parameters that a caller of `fn` sees, annotations as they are written.

    Raises:
        TypeError: Python cannot tell them, as of some functions written in C.
    """
    try:
        return tuple(signature_of(fn).parameters.values())
    except ValueError as error:
        raise TypeError(f"{where}: its parameters cannot be read ({error}): put a function of your own around it") from error


def signature_of(fn: Callable[..., Any]) -> Signature:
    """`inspect.signature`, without evaluating annotations where Python would (3.14): a name may exist for checkers only."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return signature(fn, annotation_format=Format.FORWARDREF)
    return signature(fn)


def context_of(
    parameters: tuple[Parameter, ...],
    layers: tuple[Any, ...],
    *,
    where: str,
    names: Mapping[str, Any],
) -> ContextParameter | None:
    """The parameter annotated `Context`, wherever it stands.

    Raises:
        TypeError: no parameter takes the state, two take the context, or one is left that nothing fills.
    """
    read = Annotations(layers, names)
    contexts = [parameter for parameter in parameters if parameter.kind not in VARIADIC and is_context(parameter.annotation, read)]
    if len(contexts) > 1:
        raise TypeError(f"{where}: '{contexts[0].name}' and '{contexts[1].name}' are both annotated Context: one is enough")
    others = [parameter for parameter in parameters if parameter not in contexts]
    positional = [parameter for parameter in others if parameter.kind in POSITIONAL]
    if not positional and not any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in others):
        raise TypeError(f"{where}: it takes no state: a node is a function of the state, or of the state and a parameter annotated Context")
    _refuse_unfilled([parameter for parameter in others if parameter not in positional[:1]], positional[:1], read, where)
    if not contexts:
        return None
    seen = [parameter for parameter in parameters if parameter.kind in POSITIONAL]
    return ContextParameter(contexts[0], seen.index(contexts[0]) if contexts[0] in seen else len(seen))


def annotated_class(fn: Callable[..., Any], layers: tuple[Any, ...], names: Mapping[str, Any]) -> type[Any] | None:
    """The class that annotates the first parameter of `fn` that is no context; None if it cannot be told, or is no plain class."""
    read = Annotations(layers, names)
    for parameter in signature_of(fn).parameters.values():
        if parameter.kind not in POSITIONAL:
            return None
        if not is_context(parameter.annotation, read):
            return read.as_class(parameter.annotation)
    return None


def _refuse_unfilled(others: list[Parameter], state: list[Parameter], read: Annotations, where: str) -> None:
    for parameter in others:
        if parameter.kind in VARIADIC or parameter.default is not Parameter.empty:
            continue
        if state and state[0].name == "self":
            raise TypeError(f"{where}: it is a method: make a node of the bound one, node('name')(instance.method)")
        raise TypeError(f"{where}: nothing fills its parameter '{parameter.name}'{_advice(parameter, read)}")


def _advice(parameter: Parameter, read: Annotations) -> str:
    if parameter.annotation is Parameter.empty:
        return f": annotate it `{parameter.name}: Context` if it is the context, or give it a default"
    if (unknown := read.unresolved(parameter.annotation)) is not None:
        return f": its annotation cannot be resolved ({unknown}); is it the Context, give it that name"
    return ": a node takes the state, and a parameter annotated Context; bind other values with functools.partial"


def is_context(annotation: Any, read: Annotations, kinds: tuple[type[Any], ...] = (Context,)) -> bool:
    """Whether a parameter of that annotation takes the context, which is of one of these classes."""
    try:
        return _means_context(read.read(annotation), kinds)
    except Exception:
        # The class may be imported for checkers only: then its name is all there is to go by.
        return _names_context(text_of(annotation), kinds)


def _means_context(annotation: Any, kinds: tuple[type[Any], ...]) -> bool:
    if isclass(annotation):
        return issubclass(annotation, kinds)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _means_context(get_args(annotation)[0], kinds)
    if origin is Union or origin is UnionType:
        return any(_means_context(part, kinds) for part in get_args(annotation))
    return isinstance(annotation, ForwardRef) and _names_context(annotation.__forward_arg__, kinds)


def _names_context(text: str | None, kinds: tuple[type[Any], ...]) -> bool:
    return any(has_word(text or "", kind.__name__) for kind in kinds)
