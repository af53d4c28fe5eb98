"""The hooks of the top decorators, `@node`, `@parallel`, ...: what each says, and the node that it makes of a function."""

from __future__ import annotations

from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR, Decorator
from mypy.plugin import CheckerPluginInterface, FunctionContext, MethodContext
from mypy.types import Instance, Type, UninhabitedType, get_proper_type

from strata.rules.facts import JoinFacts, JoinPolicy
from strata_mypy import names
from strata_mypy.arguments import Arguments, count, function_name, seconds, text_of, truth_of
from strata_mypy.carried import carried, carrying
from strata_mypy.facts import Chosen, Compiled, Declared, NamedBranch, Top
from strata_mypy.handlers import handler_faults
from strata_mypy.kept import declared_by, keeping
from strata_mypy.marks import marks_under
from strata_mypy.misplaced import misplaced_marks, second_top
from strata_mypy.settled import is_applied_as_written

SOME_EVENT = "an event"
"""What stands for a type of event that only the run knows."""

# What is said at the top


def node(context: FunctionContext) -> Type:
    """`@node("name", ...)`, which makes a decorator, and `@node`, which is applied at once."""
    result = get_proper_type(context.default_return_type)
    if not isinstance(result, Instance) or result.type.fullname != names.NODE_DECORATOR:
        return _declared(context, Top(word="node"))
    arguments = Arguments(context)
    has_name = bool(context.callee_arg_names) and context.callee_arg_names[0] is None
    name = text_of(arguments.type_at(0)) if has_name else None
    if has_name and name is None:
        return result
    top = Top(
        word="node",
        name=name,
        timeout=arguments.seconds_of("timeout") if arguments.is_given("timeout") else None,
        metadata=arguments.keys_of("metadata"),
        inline=truth_of(arguments.type_of("inline")) is True,
    )
    return carrying(result, top, context)


def parallel(context: FunctionContext) -> Type:
    if not context.arg_kinds or ARG_STAR in context.arg_kinds[0]:
        return context.default_return_type
    parts = zip(context.args[0], context.arg_types[0], strict=True)
    branches = tuple(
        named.name if (named := carried(type_, NamedBranch)) is not None else function_name(expression) or f"branch {number}"
        for number, (expression, type_) in enumerate(parts, start=1)
    )
    arguments = Arguments(context)
    top = Top(
        word="parallel",
        branches=branches,
        join=_join(arguments),
        max_concurrency=arguments.count_of("max_concurrency"),
        part_timeout=arguments.seconds_of("branch_timeout"),
        timeout=arguments.seconds_of("timeout"),
        metadata=arguments.keys_of("metadata"),
    )
    return _named(context, top)


def subgraph(context: FunctionContext) -> Type:
    arguments = Arguments(context)
    top = Top(
        word="subgraph",
        child=carried(arguments.type_at(0), Compiled),
        timeout=arguments.seconds_of("timeout"),
        metadata=arguments.keys_of("metadata"),
    )
    return _named(context, top)


def map_each(context: FunctionContext) -> Type:
    arguments = Arguments(context)
    top = Top(
        word="map_each",
        child=carried(arguments.type_at(0), Compiled),
        join=_join(arguments),
        max_concurrency=arguments.count_of("max_concurrency"),
        max_items=arguments.count_of("max_items"),
        part_timeout=arguments.seconds_of("item_timeout"),
        timeout=arguments.seconds_of("timeout"),
        metadata=arguments.keys_of("metadata"),
    )
    return _named(context, top)


def wait_for_event(context: FunctionContext) -> Type:
    arguments = Arguments(context)
    event_type = text_of(arguments.type_at(0))
    top = Top(
        word="wait_for_event",
        event_type=SOME_EVENT if event_type is None else event_type,
        timeout=arguments.seconds_of("timeout"),
        metadata=arguments.keys_of("metadata"),
    )
    return _named(context, top)


def timer(context: FunctionContext) -> Type:
    arguments = Arguments(context)
    return _named(context, Top(word="timer", delay=_delay(arguments), metadata=arguments.keys_of("metadata")))


# What they are made of


def branch(context: FunctionContext) -> Type:
    result, name = get_proper_type(context.default_return_type), text_of(Arguments(context).type_at(0))
    return carrying(result, NamedBranch(name=name), context) if isinstance(result, Instance) and name is not None else result


def all_of(context: FunctionContext) -> Type:
    return _chosen(context, "all")


def first_success(context: FunctionContext) -> Type:
    return _chosen(context, "first_success")


def first_matching(context: FunctionContext) -> Type:
    return _chosen(context, "first_matching")


def quorum(context: FunctionContext) -> Type:
    number = count(Arguments(context).expression_at(0))
    return context.default_return_type if number is None else _chosen(context, "quorum", number)


# The function


def applied(context: MethodContext) -> Type:
    """A top decorator meets its function, or the marks on it."""
    top = carried(context.type, Top) if is_applied_as_written(context) else None
    return context.default_return_type if top is None else _declared(context, top)


def _declared(context: FunctionContext | MethodContext, top: Top) -> Type:
    made = get_proper_type(context.default_return_type)
    if not isinstance(made, Instance) or not made.type.has_base(names.NODE) or not _has_state(made):
        return context.default_return_type
    arguments = Arguments(context)
    below = declared_by(arguments.expression_at(0), arguments.type_at(0))
    marks = marks_under(arguments.type_at(0)) if below is None else below.marks
    function = _function(context, arguments)
    if marks is None or (function is None and top.name is None):
        return context.default_return_type
    name = top.name if top.name is not None else function or ""
    faults = handler_faults(name, made, context.api, inline=top.inline) if top.word == "node" else ()
    declared = Declared(
        name=name,
        origin=f"{_module(context.api)}.{function}",
        top=top,
        marks=marks,
        faults=(*faults, *second_top(name, top.word, None if below is None else below.top.word), *misplaced_marks(name, top.word, marks)),
    )
    return keeping(made, declared, context)


def _has_state(made: Instance) -> bool:
    """Whether this is the alternative that fits: mypy asks for all of an overloaded decorator."""
    return not isinstance(get_proper_type(made.args[0]), UninhabitedType)


def _function(context: FunctionContext | MethodContext, arguments: Arguments) -> str | None:
    return context.context.func.name if isinstance(context.context, Decorator) else function_name(arguments.expression_at(0))


def _module(api: CheckerPluginInterface) -> str:
    return api.tree.fullname if isinstance(api, TypeChecker) else ""


def _named(context: FunctionContext, top: Top) -> Type:
    """The decorator with what it says, unless the name is computed: then nothing is known of the node."""
    result, arguments = get_proper_type(context.default_return_type), Arguments(context)
    name = text_of(arguments.type_of("name"))
    if not isinstance(result, Instance) or (arguments.may_be_given("name") and name is None):
        return context.default_return_type
    return carrying(result, top.named(name), context)


def _delay(arguments: Arguments) -> float | None:
    """None where the state says when."""
    return None if arguments.may_be_given("until") else seconds(arguments.expression_at(0))


def _join(arguments: Arguments) -> JoinFacts | None:
    """All of the parts where nothing is said; None where it is not known what."""
    if not arguments.may_be_given("join"):
        return JoinFacts(policy="all")
    chosen = carried(arguments.type_of("join"), Chosen)
    return None if chosen is None else chosen.join


def _chosen(context: FunctionContext, policy: JoinPolicy, count: int | None = None) -> Type:
    result = get_proper_type(context.default_return_type)
    if not isinstance(result, Instance):
        return context.default_return_type
    return carrying(result, Chosen(join=JoinFacts(policy=policy, count=count)), context)
