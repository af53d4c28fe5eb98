"""The hooks of `@strata_tool`: what it would refuse of the function when the module is imported, told at the parameter.

Only of a function that stands right below the decorator, whose own text is at hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR, ARG_STAR2, Argument, Context, Decorator, ExpressionStmt, FuncDef, StrExpr
from mypy.options import Options
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import CallableType, Instance, ProperType, Type, UnionType, get_proper_type

from strata.rules import codes
from strata.rules.tools import ParameterKind, ToolFacts, ToolFault, ToolParameterFacts, tool_faults
from strata_mypy import names
from strata_mypy.arguments import Arguments, text_of
from strata_mypy.carried import carried, carrying
from strata_mypy.codes import error_code, mypy_name
from strata_mypy.facts import ToolTop
from strata_mypy.settled import is_applied_as_written
from strata_mypy.storing import unstorable_part
from strata_mypy.trials import outside_of_trials


def strata_tool(context: FunctionContext) -> Type:
    """`@strata_tool("name", ...)`, which makes a decorator, and `@strata_tool`, which is applied at once."""
    result = get_proper_type(context.default_return_type)
    if not isinstance(result, Instance) or result.type.fullname != names.TOOL_DECORATOR:
        _tell_faults(ToolTop(), context)
        return context.default_return_type
    arguments = Arguments(context)
    has_name = arguments.expression_at(0) is not None
    name = text_of(arguments.type_at(0)) if has_name else None
    if has_name and name is None:
        return result
    return carrying(result, ToolTop(name=name, has_description=arguments.may_be_given("description")), context)


def applied(context: MethodContext) -> Type:
    """`@strata_tool(...)` meets its function."""
    top = carried(context.type, ToolTop) if is_applied_as_written(context) else None
    if top is not None:
        _tell_faults(top, context)
    return context.default_return_type


def _tell_faults(top: ToolTop, context: FunctionContext | MethodContext) -> None:
    decorated, api = context.context, context.api
    if not isinstance(decorated, Decorator) or not isinstance(api, TypeChecker) or not _stands_right_below(decorated, context):
        return
    function, type_ = decorated.func, get_proper_type(context.arg_types[0][0])
    if not isinstance(type_, CallableType) or len(type_.arg_types) != len(function.arguments):
        return
    name = function.name if top.name is None else top.name
    for fault in tool_faults(ToolFacts(tuple(_parameters(function, type_)), top.has_description or _has_docstring(function))):
        if not _is_told_by_mypy(fault, function, api.options):
            where: Context = decorated.original_decorators[-1] if fault.parameter is None else function.arguments[fault.parameter]
            with outside_of_trials(api):
                api.fail(f"tool '{name}': {fault.text}", where, code=error_code(mypy_name(codes.TOOL_INVALID)))


def _stands_right_below(decorated: Decorator, context: FunctionContext | MethodContext) -> bool:
    """Whether no other decorator is between; what is given to one bears its line and column."""
    given, stack = Arguments(context).expression_at(0), decorated.original_decorators
    return given is not None and bool(stack) and (given.line, given.column) == (stack[-1].line, stack[-1].column)


def _parameters(function: FuncDef, type_: CallableType) -> Iterator[ToolParameterFacts]:
    without_names = [argument.pos_only and not _is_private(argument) for argument in function.arguments]
    for position, (argument, takes) in enumerate(zip(function.arguments, type_.arg_types, strict=True)):
        name, is_annotated = argument.variable.name, argument.type_annotation is not None
        yield ToolParameterFacts(
            name,
            _kind_of(argument, is_positional=argument.pos_only and any(without_names[position:])),
            is_annotated,
            is_context=is_annotated and _is_context(get_proper_type(takes)),  # mypy itself knows a type of `self`
            unreadable=_unreadable(name, takes) if is_annotated else (),
        )


def _unreadable(name: str, type_: Type) -> tuple[tuple[str, str], ...]:
    """Only what the annotation itself says, as with the fields of states."""
    fault = unstorable_part(type_)
    return () if fault is None else ((name + fault[0], fault[1]),)


def _is_private(argument: Argument) -> bool:
    """Of `__a` mypy thinks that it is positional only, and Python does not."""
    return argument.variable.name.startswith("__")


def _kind_of(argument: Argument, *, is_positional: bool) -> ParameterKind:
    if argument.kind == ARG_STAR:
        return "any positional"
    if argument.kind == ARG_STAR2:
        return "any named"
    return "positional only" if is_positional else "named"


def _is_context(type_: ProperType) -> bool:
    if isinstance(type_, UnionType):
        return any(_is_context(get_proper_type(item)) for item in type_.items)
    return isinstance(type_, Instance) and any(map(type_.type.has_base, (names.CONTEXT, names.TOOL_CONTEXT)))


def _has_docstring(function: FuncDef) -> bool:
    """Whether any text stands there, or the body is not at hand."""
    first = next(iter(function.body.body), None)
    if first is None:
        return True
    return isinstance(first, ExpressionStmt) and isinstance(first.expr, StrExpr) and bool(first.expr.value.strip())


def _is_told_by_mypy(fault: ToolFault, function: FuncDef, options: Options) -> bool:
    """A missing annotation, where the configuration asks for all of them."""
    asks = options.disallow_untyped_defs or (options.disallow_incomplete_defs and function.type is not None)
    return fault.is_missing_annotation and asks
