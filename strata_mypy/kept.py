"""The facts of a decorated function, which lie deep in its node's type, and are read where the function is named.

Facts on the node's type itself would not stay. Where two nodes come together, as in `for step in (draft, review)`, mypy makes one type
of two that differ in nothing but facts, and takes the facts off it in place, so off one of the functions: graphs of modules that
are checked later would know nothing of it, a warm cache would, and a daemon would find the module changed again and again.
So they lie on the type of the function's first parameter, the state, which a daemon compares as well.
"""

from __future__ import annotations

from mypy.nodes import ARG_STAR, ARG_STAR2, Decorator, Expression, RefExpr, TempNode
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import AnyType, CallableType, Instance, Type, TypeOfAny, get_proper_type

from strata_mypy import names
from strata_mypy.carried import carried, carrying
from strata_mypy.facts import Declared

FUNCTION = 1
"""Which parameter of a node's type is that of its function."""


def keeping(node: Instance, declared: Declared, context: FunctionContext | MethodContext) -> Instance:
    """The node's type with these facts: inside it for a decorated function, on it for what a call gives.

    What is wrong with the function is told once, by the graph that lists the node: for mypy it then is any function.
    """
    function = get_proper_type(node.args[FUNCTION])
    if declared.faults and isinstance(function, CallableType):
        function = _any_function(function, context)
        node = _with_function(node, function)
    if not isinstance(context.context, Decorator):
        return carrying(node, declared, context)
    laden = _laden(function, declared, context) if isinstance(function, CallableType) else None
    return carrying(node, declared, context) if laden is None else _with_function(node, laden)


def declared_by(expression: Expression | None, type_: Type | None) -> Declared | None:
    """The facts of the node that an expression of this type gives; a `TempNode` is what a decorator is applied to."""
    if isinstance(expression, TempNode):
        return _inside(type_) or carried(type_, Declared)
    named = expression.node if isinstance(expression, RefExpr) else None
    return declared_of(named) if isinstance(named, Decorator) else carried(type_, Declared)


def declared_of(function: Decorator) -> Declared | None:
    """The facts of a decorated function; those of another one lie inside where a decorator has made a node of a node."""
    kept = _inside(function.var.type) or carried(function.var.type, Declared)
    return kept if kept is not None and kept.origin.rpartition(".")[2] == function.func.name else None


def _inside(type_: Type | None) -> Declared | None:
    node = get_proper_type(type_)
    if not isinstance(node, Instance) or not node.type.has_base(names.NODE):
        return None
    function = get_proper_type(node.args[FUNCTION])
    places = (*function.arg_types[:1], function.ret_type) if isinstance(function, CallableType) else ()
    return next((facts for place in places if (facts := carried(place, Declared)) is not None), None)


def _laden(function: CallableType, declared: Declared, context: FunctionContext | MethodContext) -> CallableType | None:
    """Where the state is Any, what is given back has the facts; None where that is Any too."""
    first = get_proper_type(function.arg_types[0]) if function.arg_types else None
    result = get_proper_type(function.ret_type)
    if isinstance(first, Instance):
        taken = [carrying(first, declared, context), *function.arg_types[1:]]
        return function.copy_modified(arg_types=taken)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(result, Instance):
        return function.copy_modified(ret_type=carrying(result, declared, context))  # pyright: ignore[reportUnknownMemberType]
    return None


def _with_function(node: Instance, function: CallableType) -> Instance:
    arguments = [*node.args[:FUNCTION], function, *node.args[FUNCTION + 1 :]]
    return node.copy_modified(args=arguments)  # pyright: ignore[reportUnknownMemberType]


def _any_function(function: CallableType, context: FunctionContext | MethodContext) -> CallableType:
    """`(*object, **Any) -> Any`."""
    unknown = AnyType(TypeOfAny.from_error)
    return function.copy_modified(  # pyright: ignore[reportUnknownMemberType]
        arg_types=[context.api.named_generic_type("builtins.object", []), unknown],
        arg_kinds=[ARG_STAR, ARG_STAR2],
        arg_names=[None, None],
        ret_type=unknown,
    )
