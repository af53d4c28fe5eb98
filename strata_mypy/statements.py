"""The statements of a file at any depth, and the variables that each binds.

mypy's own visitors are compiled, and none of them can be derived from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.nodes import (
    AssertStmt,
    AssignmentExpr,
    AssignmentStmt,
    Block,
    CallExpr,
    ClassDef,
    ComparisonExpr,
    Decorator,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    ListExpr,
    MatchStmt,
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    TryStmt,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
    WithStmt,
)
from mypy.patterns import AsPattern, ClassPattern, MappingPattern, OrPattern, Pattern, SequencePattern, StarredPattern


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """These and all inside them."""
    for statement in own_statements_in(statements):
        yield statement
        yield from statements_in(body_of_scope(statement))


def own_statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """These and all inside them, without the bodies of functions and classes."""
    for statement in statements:
        yield statement
        for block in _blocks_of(statement):
            yield from own_statements_in(block.body)


def body_of_scope(statement: Statement) -> Iterable[Statement]:
    """What a function or a class has inside: names of their own."""
    match statement:
        case FuncDef(body=body) | ClassDef(defs=body) | Decorator(func=FuncDef(body=body)):
            return body.body
        case _:
            return ()


def assigned_in(statement: Statement) -> Iterator[NameExpr]:
    """The variables that get the whole value of an assignment."""
    if isinstance(statement, AssignmentStmt):
        yield from (target for target in statement.lvalues if isinstance(target, NameExpr))


def bound_otherwise_in(statement: Statement) -> Iterator[NameExpr]:
    """Those that get a part of a value, or another with each pass of a loop, or only where something holds."""
    match statement:
        case AssignmentStmt(lvalues=targets):
            for target in targets:
                if not isinstance(target, NameExpr):
                    yield from _names_in(target)
        case OperatorAssignmentStmt(lvalue=target) | ForStmt(index=target):
            yield from _names_in(target)
        case WithStmt(target=given):
            for bound in given:
                yield from _names_in(bound)
        case TryStmt(vars=names):
            yield from (name for name in names if name is not None)
        case MatchStmt(patterns=patterns):
            for pattern in patterns:
                yield from _names_in_pattern(pattern)
        case _:
            pass
    for expression in _expressions_of(statement):
        yield from _bound_inside(expression)


def _blocks_of(statement: Statement) -> list[Block]:
    match statement:
        case WithStmt(body=body):
            return [body]
        case IfStmt(body=bodies, else_body=other):
            return [*bodies, *_given(other)]
        case ForStmt(body=body, else_body=other) | WhileStmt(body=body, else_body=other):
            return [body, *_given(other)]
        case TryStmt(body=body, handlers=handlers, else_body=other, finally_body=last):
            return [body, *handlers, *_given(other), *_given(last)]
        case MatchStmt(bodies=bodies):
            return bodies
        case _:
            return []


def _given(block: Block | None) -> list[Block]:
    return [] if block is None else [block]


def _names_in(target: Expression | None) -> Iterator[NameExpr]:
    match target:
        case NameExpr():
            yield target
        case StarExpr(expr=inner):
            yield from _names_in(inner)
        case TupleExpr(items=items) | ListExpr(items=items):
            for item in items:
                yield from _names_in(item)
        case _:
            return


def _names_in_pattern(pattern: Pattern | None) -> Iterator[NameExpr]:
    match pattern:
        case AsPattern(pattern=inner, name=name):
            yield from () if name is None else (name,)
            yield from _names_in_pattern(inner)
        case StarredPattern(capture=name) if name is not None:
            yield name
        case OrPattern(patterns=patterns) | SequencePattern(patterns=patterns):
            for one in patterns:
                yield from _names_in_pattern(one)
        case MappingPattern(values=patterns, rest=name):
            yield from () if name is None else (name,)
            for one in patterns:
                yield from _names_in_pattern(one)
        case ClassPattern(positionals=patterns, keyword_values=others):
            for one in (*patterns, *others):
                yield from _names_in_pattern(one)
        case _:
            return


def _expressions_of(statement: Statement) -> Iterable[Expression | None]:
    match statement:
        case IfStmt(expr=expressions):
            return expressions
        case WhileStmt(expr=expression) | AssertStmt(expr=expression) | ExpressionStmt(expr=expression) | ReturnStmt(expr=expression):
            return [expression]
        case AssignmentStmt(rvalue=value):
            return [value]
        case _:
            return []


def _bound_inside(expression: Expression | None) -> Iterator[NameExpr]:
    """By `:=`, where it is mostly written: in conditions and in what is given to calls."""
    match expression:
        case AssignmentExpr(target=name, value=value):
            yield name
            yield from _bound_inside(value)
        case OpExpr(left=left, right=right):
            yield from _bound_inside(left)
            yield from _bound_inside(right)
        case UnaryExpr(expr=inner):
            yield from _bound_inside(inner)
        case ComparisonExpr(operands=parts) | CallExpr(args=parts) | TupleExpr(items=parts):
            for part in parts:
                yield from _bound_inside(part)
        case _:
            return
