"""Whether the type of an expression says what its value is.

A variable keeps the facts of one of its values, and one that a loop adds to would get more with each of mypy's passes over the
loop, without end. So nothing is taken from what is bound again, nor from attributes and items.
"""

from __future__ import annotations

from typing import Final

from mypy.checker import TypeChecker
from mypy.nodes import CallExpr, Context, Decorator, Expression, FloatExpr, IntExpr, MemberExpr, MypyFile, NameExpr, RefExpr, StrExpr, TempNode, Var
from mypy.plugin import FunctionContext, MethodContext

from strata_mypy.statements import assigned_in, bound_otherwise_in, statements_in

MOST_FACTS: Final = 5000
"""Nodes of a graph, or marks of a node; beyond, something grows that we did not see."""


def is_settled(expression: Context, tree: MypyFile) -> bool:
    """A call, a literal, a function, a name that another module gives, or a variable that this file binds once."""
    if isinstance(expression, CallExpr | StrExpr | IntExpr | FloatExpr | TempNode):  # the last is what a decorator is applied to
        return True
    if not isinstance(expression, RefExpr) or expression.node is None:
        return False
    variable = expression.node
    if not isinstance(variable, Var):
        return True
    if "." in variable.fullname and variable.fullname.rpartition(".")[0] != tree.fullname:
        return isinstance(expression, NameExpr) or not variable.info  # `steps.draft`, and no attribute of an object
    return isinstance(expression, NameExpr) and _is_bound_once(variable, tree)


def is_applied_as_written(context: MethodContext) -> bool:
    """Whether the decorator that is applied here is surely the one that its type tells of.

    mypy does not say which of a stack it is at, so that one doubtful decorator makes the others so.
    """
    applied = context.context
    if not isinstance(context.api, TypeChecker):
        return False
    if isinstance(applied, Decorator):
        return all(is_settled(decorator, context.api.tree) for decorator in applied.original_decorators)
    return isinstance(applied, CallExpr) and is_settled(applied.callee, context.api.tree)


def receiver_of(call: Context) -> Expression | None:
    """What a method is called on."""
    return call.callee.expr if isinstance(call, CallExpr) and isinstance(call.callee, MemberExpr) else None


def tree_of(context: FunctionContext | MethodContext) -> MypyFile | None:
    """The file that is checked."""
    return context.api.tree if isinstance(context.api, TypeChecker) else None


def _is_bound_once(variable: Var, tree: MypyFile) -> bool:
    """By an assignment to nothing but the variable. Looked up anew each time: a daemon makes other variables of a file that it sees again."""
    assigned = 0
    for statement in statements_in(tree.defs):
        assigned += sum(name.node is variable for name in assigned_in(statement))
        if assigned > 1 or any(name.node is variable for name in bound_otherwise_in(statement)):
            return False
    return assigned == 1
