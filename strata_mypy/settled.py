"""Whether the type of an expression says what its value is.

A variable keeps the facts of its first value, and one that a loop adds to would get more with each of mypy's passes over the
loop, without end. So nothing is taken from what is assigned again, nor from attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mypy.nodes import (
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    Context,
    Decorator,
    Expression,
    ForStmt,
    FuncDef,
    IfStmt,
    MemberExpr,
    MypyFile,
    NameExpr,
    RefExpr,
    Statement,
    TryStmt,
    Var,
    WhileStmt,
    WithStmt,
)

MOST_FACTS: Final = 5000
"""Nodes of a graph, or marks of a node; beyond, something grows that we did not see."""


def is_settled(expression: Context, tree: MypyFile) -> bool:
    """A call, a decorated function, a name that another module gives, or a variable that this file assigns once."""
    if isinstance(expression, CallExpr):
        return True
    if not isinstance(expression, RefExpr) or expression.node is None:
        return False
    variable = expression.node
    if not isinstance(variable, Var):
        return isinstance(variable, Decorator)
    if "." in variable.fullname and variable.fullname.rpartition(".")[0] != tree.fullname:
        return isinstance(expression, NameExpr) or not variable.info  # `steps.draft`, and no attribute of an object
    return isinstance(expression, NameExpr) and len(list(_assigned_to(variable, tree))) == 1


def receiver_of(call: Context) -> Expression | None:
    """What a method is called on."""
    return call.callee.expr if isinstance(call, CallExpr) and isinstance(call.callee, MemberExpr) else None


def _assigned_to(variable: Var, tree: MypyFile) -> Iterator[Expression]:
    for statement in statements_in(tree.defs):
        targets = statement.lvalues if isinstance(statement, AssignmentStmt) else [statement.index] if isinstance(statement, ForStmt) else []
        for target in targets:
            if isinstance(target, NameExpr) and target.node is variable:
                yield target


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """These and all inside them."""
    for statement in statements:
        yield statement
        for block in _blocks_of(statement):
            yield from statements_in(block.body)


def _blocks_of(statement: Statement) -> list[Block]:
    match statement:
        case FuncDef(body=body) | ClassDef(defs=body) | WithStmt(body=body):
            return [body]
        case Decorator(func=function):
            return [function.body]
        case IfStmt(body=bodies, else_body=other):
            return [*bodies, *_given(other)]
        case ForStmt(body=body, else_body=other) | WhileStmt(body=body, else_body=other):
            return [body, *_given(other)]
        case TryStmt(body=body, handlers=handlers, else_body=other, finally_body=last):
            return [body, *handlers, *_given(other), *_given(last)]
        case _:
            return []


def _given(block: Block | None) -> list[Block]:
    return [] if block is None else [block]
