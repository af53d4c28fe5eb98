"""Changes of what a state holds, which a handler makes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_CHANGING = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
        *("update", "setdefault", "popitem", "add", "discard"),
        *("difference_update", "intersection_update", "symmetric_difference_update"),
    }
)
"""Methods of lists, dicts and sets. One counts only where nobody takes its result: a type of one's own may give a new value."""


class Change(NamedTuple):
    """`path` as it is written, `field` of the state, and where."""

    path: str
    field: str
    at: ast.stmt


def changes_in_place(own: Iterable[ast.AST], state: str) -> Iterator[Change]:
    """Calls of changing methods on fields of the state, and items of fields that are set or taken away.

    `own` are the nodes of the function's body.
    """
    found: list[Change] = []
    for node in own:
        if isinstance(node, ast.Name) and node.id == state and not isinstance(node.ctx, ast.Load):
            return  # the name stands for something else by then, as for a copy
        if isinstance(node, ast.stmt):
            found += [Change(ast.unparse(changed), field, node) for changed in _changed(node) if (field := _field(changed, state)) is not None]
    yield from sorted(found, key=lambda change: change.at.lineno)


def _changed(statement: ast.stmt) -> Iterator[ast.expr]:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method))) if method in _CHANGING:
            yield owner
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            yield from (target.value for target in targets if isinstance(target, ast.Subscript))
        case ast.AugAssign(target=ast.Subscript(value=owner)):
            yield owner
        case _:
            return


def _field(expression: ast.expr, state: str) -> str | None:
    """The field of the state that the expression is, or lies in; only attributes and items lead there."""
    while isinstance(expression, ast.Attribute | ast.Subscript):
        if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name) and expression.value.id == state:
            return expression.attr
        expression = expression.value
    return None
