"""The facts of a decorated function, which its name keeps where its type has lost them.

Where two nodes come together, as in `for step in (draft, review)`, mypy makes one type of two that differ in nothing but facts, and
takes the facts off it in place: so off one of the functions, for all that is checked later. What is checked later depends on what a
cache holds. So a node has its facts in a second place, on the type of its function, and where the node is named they are taken from there.
"""

from __future__ import annotations

from mypy.nodes import Decorator, Expression, RefExpr
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import CallableType, Instance, Type, get_proper_type

from strata_mypy import names
from strata_mypy.carried import carried, carrying
from strata_mypy.facts import Declared

FUNCTION = 1
"""Which parameter of a node's type is that of its function."""


def keeping(node: Instance, declared: Declared, context: FunctionContext | MethodContext) -> Instance:
    """The node's type with these facts in both places."""
    laden, function = carrying(node, declared, context), get_proper_type(node.args[FUNCTION])
    if not isinstance(function, CallableType):
        return laden
    kept = function.copy_modified(fallback=carrying(function.fallback, declared, context))  # pyright: ignore[reportUnknownMemberType]
    arguments = [*node.args[:FUNCTION], kept, *node.args[FUNCTION + 1 :]]
    return laden.copy_modified(args=arguments)  # pyright: ignore[reportUnknownMemberType]


def declared_by(expression: Expression, type_: Type | None) -> Declared | None:
    """The facts of a node that an expression of this type gives."""
    named = expression.node if isinstance(expression, RefExpr) else None
    return declared_of(named) if isinstance(named, Decorator) else carried(type_, Declared)


def declared_of(function: Decorator) -> Declared | None:
    """The facts of a decorated function."""
    node = get_proper_type(function.var.type)
    found = carried(node, Declared)
    if found is not None or not isinstance(node, Instance) or not node.type.has_base(names.NODE):
        return found
    inner = get_proper_type(node.args[FUNCTION])
    kept = carried(inner.fallback, Declared) if isinstance(inner, CallableType) else None
    is_its_own = kept is not None and kept.origin.rpartition(".")[2] == function.func.name
    return kept if is_its_own else None
