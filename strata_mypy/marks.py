"""The hooks of what stands under a top decorator: `@edge`, `@when`, `@boundary`, `@retry` and the routes."""

from __future__ import annotations

from mypy.nodes import Expression, LambdaExpr
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import AnyType, Instance, Type, UnionType, get_proper_type

from strata_mypy import names
from strata_mypy.arguments import Arguments, backoff_of, function_name, text_of
from strata_mypy.carried import carried, carrying
from strata_mypy.facts import Mark, Marks, MarkWord
from strata_mypy.kept import declared_by
from strata_mypy.settled import is_applied_as_written

MOST_MARKS = 200
"""Beyond, a loop adds to the marks of a function, and mypy's passes over it would have no end."""


def edge(context: FunctionContext) -> Type:
    return _route("edge", context)


def on_failure(context: FunctionContext) -> Type:
    return _route("on_failure", context)


def on_reject(context: FunctionContext) -> Type:
    return _route("on_reject", context)


def on_timeout(context: FunctionContext) -> Type:
    return _route("on_timeout", context)


def when(context: FunctionContext) -> Type:
    arguments = Arguments(context)
    target = target_of(arguments.expression_of("to"), arguments.type_of("to"))
    if target is None:
        return context.default_return_type
    return _laden(context, Mark(word="when", target=target, guard=_guard_name(arguments.expression_at(0))))


def boundary(context: FunctionContext) -> Type:
    """`@boundary(timeout=...)`, which makes a mark, and `@boundary`, which is applied at once."""
    result = get_proper_type(context.default_return_type)
    if not isinstance(result, Instance):
        return context.default_return_type
    if result.type.fullname == names.MODIFIER:
        return _laden(context, Mark(word="boundary", timeout=Arguments(context).seconds_of("timeout")))
    return _wired(context, Mark(word="boundary"))


def retry(context: FunctionContext) -> Type:
    return _laden(context, Mark(word="retry", backoff=backoff_of(Arguments(context).expression_of("backoff"))))


def applied(context: MethodContext) -> Type:
    """A mark meets its function, or the marks below it."""
    mark = carried(context.type, Mark) if is_applied_as_written(context) else None
    return context.default_return_type if mark is None else _wired(context, mark)


def marks_under(decorated: Type | None) -> tuple[Mark, ...] | None:
    """The marks of what a decorator is applied to; None if they are not known."""
    proper = get_proper_type(decorated)
    if proper is None or isinstance(proper, AnyType | UnionType):
        return None
    if isinstance(proper, Instance) and proper.type.fullname == names.WIRED:
        known = carried(proper, Marks)
        return None if known is None else known.marks
    return ()


def target_of(expression: Expression | None, type_: Type | None) -> str | None:
    """The name of a node that is given as a name or as the node itself."""
    node = declared_by(expression, type_)
    return text_of(type_) if node is None else node.name


def _route(word: MarkWord, context: FunctionContext) -> Type:
    arguments = Arguments(context)
    target = target_of(arguments.expression_at(0), arguments.type_at(0))
    return context.default_return_type if target is None else _laden(context, Mark(word=word, target=target))


def _laden(context: FunctionContext, mark: Mark) -> Type:
    result = get_proper_type(context.default_return_type)
    return carrying(result, mark, context) if isinstance(result, Instance) else context.default_return_type


def _wired(context: FunctionContext | MethodContext, mark: Mark) -> Type:
    result = get_proper_type(context.default_return_type)
    below = marks_under(Arguments(context).type_at(0))
    if not isinstance(result, Instance) or result.type.fullname != names.WIRED or below is None or len(below) > MOST_MARKS:
        return context.default_return_type
    return carrying(result, Marks(marks=(mark, *below)), context)


def _guard_name(guard: Expression | None) -> str | None:
    return "lambda" if isinstance(guard, LambdaExpr) else function_name(guard)
