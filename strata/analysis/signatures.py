"""The parameters of a function, as they are written."""

from __future__ import annotations

import ast
import re

import msgspec

from strata.analysis.annotations import is_well_known, value_of, with_bases
from strata.analysis.values import Class, Function, Named


class Parameter(msgspec.Struct, frozen=True, eq=False):
    """A parameter that is no `*args` and no `**kwargs`."""

    name: str
    annotation: ast.expr | None
    is_positional: bool
    has_default: bool


def parameters_of(function: Function) -> list[Parameter]:
    """The parameters in the order of the text."""
    given = function.definition.args
    positional = [*given.posonlyargs, *given.args]
    without = len(positional) - len(given.defaults)
    return [
        *(Parameter(one.arg, one.annotation, True, at >= without) for at, one in enumerate(positional)),
        *(Parameter(one.arg, one.annotation, False, default is not None) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)),
    ]


def takes_any_position(function: Function) -> bool:
    """Whether there is a `*args`."""
    return function.definition.args.vararg is not None


def state_parameter(function: Function) -> Parameter | None:
    """The first positional parameter that is not the context."""
    return next((one for one in parameters_of(function) if one.is_positional and not is_context(one, function)), None)


def is_context(parameter: Parameter, function: Function) -> bool:
    """Whether the engine gives it the `Context`: by its annotation."""
    if parameter.annotation is None:
        return False
    value = value_of(parameter.annotation, function.scope)
    if isinstance(value, Named | Class):
        return any(isinstance(base, Named) and base.path == "strata.Context" for base in with_bases(value))
    return re.search(r"\bContext\b", _text(parameter.annotation)) is not None


def may_be_context(parameter: Parameter, function: Function) -> bool:
    """Whether that cannot be told, since the annotation is not known."""
    if parameter.annotation is None:
        return False
    return not all(isinstance(value, Class) or is_well_known(value) for value in with_bases(value_of(parameter.annotation, function.scope)))


def _text(annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation)
