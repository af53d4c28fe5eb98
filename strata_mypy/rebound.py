"""Values that are given to variables which are bound more than once.

mypy gives such a variable the type of its first value, and another module that imports it sees nothing else. So none of its values
gets facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.nodes import AssignmentStmt, Context, Expression, GlobalDecl, MypyFile, NonlocalDecl, Statement
from mypy.plugin import FunctionContext, MethodContext

from strata_mypy.settled import tree_of
from strata_mypy.statements import assigned_in, body_of_scope, bound_otherwise_in, own_statements_in, statements_in


def is_for_rebound(context: FunctionContext | MethodContext) -> bool:
    """Whether the call is the value of such a variable."""
    tree = tree_of(context)
    return tree is not None and _latest.has(context.context, tree)


class _Latest:
    """The values of the file that is being checked: each of its calls asks, and a daemon that reads a file again makes new statements."""

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._values: dict[int, Expression] = {}

    def has(self, value: Context, tree: MypyFile) -> bool:
        if tree.defs is not self._statements:
            self._statements, self._values = tree.defs, {id(value): value for value in values_of_rebound(tree.defs)}
        return id(value) in self._values


_latest = _Latest()


def values_of_rebound(statements: list[Statement]) -> Iterator[Expression]:
    """At any depth; a name that a function takes from around it may be bound by any call."""
    elsewhere = {name for statement in statements_in(statements) if isinstance(statement, GlobalDecl | NonlocalDecl) for name in statement.names}
    yield from _in_scope(statements, elsewhere)


def _in_scope(statements: Iterable[Statement], elsewhere: set[str]) -> Iterator[Expression]:
    own = list(own_statements_in(statements))
    values: dict[str, list[Expression | None]] = {name: [None] for name in elsewhere}
    for statement in own:
        if isinstance(statement, AssignmentStmt):
            for name in assigned_in(statement):
                values.setdefault(name.name, []).append(statement.rvalue)
        for name in bound_otherwise_in(statement):
            values.setdefault(name.name, []).append(None)
    for found in values.values():
        yield from (value for value in found if value is not None and len(found) > 1)
    for statement in own:
        yield from _in_scope(body_of_scope(statement), elsewhere)
