"""Whether a function gives anything back, as far as its text shows."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from strata.analysis.values import Function


def gives_nothing(function: Function, own: Collection[ast.AST]) -> bool:
    """Whether it surely gives None: it says so, or no `return` in it has a value and its end can be reached.

    A stub, whose body is `...`, is no fault: someone has yet to write it. `own` are the function's own nodes.
    """
    definition = function.definition
    if isinstance(definition, ast.Lambda) or is_generator(own) or _is_stub(definition.body):
        return False
    if isinstance(definition.returns, ast.Constant) and definition.returns.value is None:
        return True
    returns = [node for node in own if isinstance(node, ast.Return)]
    if any(node.value is not None for node in returns):
        return False
    state = next((argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)), None)
    return bool(returns) or not _never_ends(definition.body, state)


def is_generator(own: Iterable[ast.AST]) -> bool:
    """Whether a function with these nodes yields."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own)


def _is_stub(body: list[ast.stmt]) -> bool:
    return all(isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) for statement in body) and any(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ... for statement in body
    )


def _never_ends(body: list[ast.stmt], state: str | None) -> bool:
    """Whether the end of the statements may well be out of reach, so that nothing is missing there."""
    match body[-1]:
        case ast.Raise() | ast.Assert() | ast.Match() | ast.Try() | ast.TryStar():
            return True
        case ast.While(test=ast.Constant(value=value)):
            return bool(value)
        case ast.If(body=then, orelse=otherwise):
            return bool(otherwise) and _never_ends(then, state) and _never_ends(otherwise, state)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _never_ends(inner, state)
        case ast.Expr(value=ast.Call(func=called)) | ast.Expr(value=ast.Await(value=ast.Call(func=called))):
            return _root(called) != state  # whatever it calls may raise; a method of the state only gives a new one
        case _:
            return False


def _root(expression: ast.expr) -> str | None:
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None
