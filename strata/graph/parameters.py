"""Which parameter of a handler takes the context."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, isclass, signature
from types import UnionType
from typing import Annotated, Any, ForwardRef, NamedTuple, Union, get_args, get_origin

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
    read = _Annotations(layers, names)
    contexts = [parameter for parameter in parameters if parameter.kind not in VARIADIC and read.is_context(parameter.annotation)]
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
    read = _Annotations(layers, names)
    for parameter in signature_of(fn).parameters.values():
        if parameter.kind not in POSITIONAL:
            return None
        if not read.is_context(parameter.annotation):
            return read.as_class(parameter.annotation)
    return None


def _refuse_unfilled(others: list[Parameter], state: list[Parameter], read: _Annotations, where: str) -> None:
    for parameter in others:
        if parameter.kind in VARIADIC or parameter.default is not Parameter.empty:
            continue
        if state and state[0].name == "self":
            raise TypeError(f"{where}: it is a method: make a node of the bound one, node('name')(instance.method)")
        raise TypeError(f"{where}: nothing fills its parameter '{parameter.name}'{_advice(parameter, read)}")


def _advice(parameter: Parameter, read: _Annotations) -> str:
    if parameter.annotation is Parameter.empty:
        return f": annotate it `{parameter.name}: Context` if it is the context, or give it a default"
    if (unknown := read.unresolved(parameter.annotation)) is not None:
        return f": its annotation cannot be resolved ({unknown}); is it the Context, give it that name"
    return ": a node takes the state, and a parameter annotated Context; bind other values with functools.partial"


class _Annotations:
    """Reads annotations that may be text, in the namespaces that the function was written in."""

    def __init__(self, layers: tuple[Any, ...], names: Mapping[str, Any]) -> None:
        self._globals: dict[str, Any] = {}
        self._locals: dict[str, Any] = dict(names)
        for layer in layers:
            self._globals = getattr(layer, "__globals__", self._globals)
            self._locals.update(_closure(layer))

    def is_context(self, annotation: Any) -> bool:
        text = _text(annotation)
        if text is None:
            return _means_context(annotation)
        try:
            return _means_context(self._evaluate(text))
        except Exception:
            # `Context` may be imported for checkers only: then its name is all there is to go by.
            return _names_context(text)

    def as_class(self, annotation: Any) -> type[Any] | None:
        text = _text(annotation)
        try:
            found = annotation if text is None else self._evaluate(text)
        except Exception:
            return None  # a name for checkers only, or of a scope that is gone: nothing can be said
        return found if isclass(found) else None

    def unresolved(self, annotation: Any) -> str | None:
        """Why the annotation cannot be read, or None if it can."""
        text = _text(annotation)
        try:
            if text is not None:
                self._evaluate(text)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _evaluate(self, text: str) -> Any:
        value = eval(text, self._globals, self._locals)
        return self._evaluate(value) if isinstance(value, str) else value  # quoted, and postponed on top


def _closure(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    found: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # assigned further down in the enclosing function
            continue
    return found


def _text(annotation: Any) -> str | None:
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else None


def _means_context(annotation: Any) -> bool:
    if isclass(annotation):
        return issubclass(annotation, Context)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _means_context(get_args(annotation)[0])
    if origin is Union or origin is UnionType:
        return any(_means_context(part) for part in get_args(annotation))
    return isinstance(annotation, ForwardRef) and _names_context(annotation.__forward_arg__)


def _names_context(text: str) -> bool:
    words = "".join(character if character.isidentifier() or character.isdigit() else " " for character in text).split()
    return "Context" in words
