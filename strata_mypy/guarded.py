"""A fault of the plugin ends no run of mypy: it is told at the line that it came up at, and the check goes on without the plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from mypy.checker import TypeChecker
from mypy.nodes import Context
from mypy.plugin import CheckerPluginInterface, ClassDefContext, FunctionContext, MethodContext, MethodSigContext
from mypy.types import FunctionLike, Instance, Type, get_proper_type

from strata_mypy.carried import carried, carrying
from strata_mypy.codes import INTERNAL, error_code
from strata_mypy.facts import Broken
from strata_mypy.trials import outside_of_trials

C = TypeVar("C", FunctionContext, MethodContext)


def carrying_faults(hook: Callable[[C], Type]) -> Callable[[C], Type]:
    """A hook of a decorator. mypy only tries the alternatives of an overloaded one, and an error said there would be lost, so that
    a fault travels in the type to the graph that lists the node."""

    def safe(context: C) -> Type:
        try:
            result = hook(context)
            if result is not context.default_return_type:
                return result  # with facts, so none of those before it failed
            broken = next(_broken(context), None)
            return result if broken is None else _laden(context, broken)
        except Exception as error:
            return _laden(context, Broken(error=_told(error)))

    return safe


def telling_faults(hook: Callable[[MethodContext], Type]) -> Callable[[MethodContext], Type]:
    """A hook of a graph's method."""

    def safe(context: MethodContext) -> Type:
        try:
            result = hook(context)
            for broken in _broken(context):
                _tell(broken.error, context.context, context.api)
            return result
        except Exception as error:
            _tell(_told(error), context.context, context.api)
            return context.default_return_type

    return safe


def telling_faults_of_trials(hook: Callable[[FunctionContext], Type]) -> Callable[[FunctionContext], Type]:
    """A hook of an overloaded decorator whose facts lead to no graph."""

    def safe(context: FunctionContext) -> Type:
        try:
            return hook(context)
        except Exception as error:
            if isinstance(context.api, TypeChecker):
                with outside_of_trials(context.api):
                    _tell(_told(error), context.context, context.api)
            return context.default_return_type

    return safe


def telling_faults_of_signatures(hook: Callable[[MethodSigContext], FunctionLike]) -> Callable[[MethodSigContext], FunctionLike]:
    def safe(context: MethodSigContext) -> FunctionLike:
        try:
            return hook(context)
        except Exception as error:
            _tell(_told(error), context.context, context.api)
            return context.default_signature

    return safe


def telling_faults_of_classes(hook: Callable[[ClassDefContext], None]) -> Callable[[ClassDefContext], None]:
    def safe(context: ClassDefContext) -> None:
        try:
            hook(context)
        except Exception as error:
            context.api.fail(_text(_told(error)), context.cls, code=error_code(INTERNAL))

    return safe


def _broken(context: FunctionContext | MethodContext) -> Iterator[Broken]:
    receiver = [context.type] if isinstance(context, MethodContext) else []
    for type_ in (*receiver, *(type_ for types in context.arg_types for type_ in types)):
        if (found := carried(type_, Broken)) is not None:
            yield found


def _laden(context: FunctionContext | MethodContext, broken: Broken) -> Type:
    result = get_proper_type(context.default_return_type)
    return carrying(result, broken, context) if isinstance(result, Instance) else context.default_return_type


def _tell(told: str, where: Context, api: CheckerPluginInterface) -> None:
    api.fail(_text(told), where, code=error_code(INTERNAL))


def _text(told: str) -> str:
    return f"strata_mypy failed here, and the check goes on without it: {told}. Please report it"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
