"""The hooks of a graph's methods: `start` and `nodes` list what they are given, `compile` and `validate` ask the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from mypy.checker import TypeChecker
from mypy.nodes import ARG_STAR, Expression
from mypy.plugin import MethodContext
from mypy.types import Instance, Type, get_proper_type

from strata.rules.facts import DraftFacts, EdgeFacts, GraphFacts, NodeFacts
from strata_mypy.arguments import Arguments, text_of, truth_of
from strata_mypy.carried import carried, carrying
from strata_mypy.drafts import draft_of
from strata_mypy.facts import Compiled, Declared, Listed
from strata_mypy.kept import declared_by
from strata_mypy.reporting import tell_faults, tell_problems
from strata_mypy.settled import MOST_FACTS, is_settled, receiver_of, tree_of

P = TypeVar("P", NodeFacts, EdgeFacts)

SOME_TEXT = "given"
"""What stands for an id or a version that only the run knows."""


def start(context: MethodContext) -> Type:
    return _listing(context, ())


def nodes(context: MethodContext) -> Type:
    before = _listed(context)
    return _listing(context, None if before is None else before.nodes)


def validate(context: MethodContext) -> Type:
    listed = _listed(context)
    if listed is not None and isinstance(context.api, TypeChecker):
        tell_problems(draft_of(listed.nodes), listed.nodes, context.context, context.api)
    return context.default_return_type


def compile_(context: MethodContext) -> Type:
    listed, result = _listed(context), get_proper_type(context.default_return_type)
    if listed is None or not isinstance(context.api, TypeChecker) or not isinstance(result, Instance):
        return context.default_return_type
    arguments = Arguments(context)
    draft = _with_options(draft_of(listed.nodes), arguments)
    tell_problems(draft, listed.nodes, context.context, context.api)
    return carrying(result, Compiled(graph=_without_places(draft.graph), durable=_durability(arguments)), context)


def _listing(context: MethodContext, before: tuple[Declared, ...] | None) -> Type:
    """The graph with what this call adds to it; nothing is known of one with a node of which nothing is."""
    result = get_proper_type(context.default_return_type)
    given = [_declared(type_, expression, context) for type_, expression in zip(context.arg_types[0], context.args[0], strict=True)]
    known = [declared for declared in given if declared is not None]
    if isinstance(context.api, TypeChecker):
        tell_faults(zip(given, context.args[0], strict=True), context.api)
    if before is None or len(known) != len(given) or ARG_STAR in context.arg_kinds[0] or not isinstance(result, Instance):
        return context.default_return_type
    return carrying(result, Listed(nodes=(*before, *known)), context) if len(before) < MOST_FACTS else context.default_return_type


def _listed(context: MethodContext) -> Listed | None:
    """The nodes of the graph that the method is called on."""
    receiver = receiver_of(context.context)
    tree = tree_of(context)
    is_known = tree is not None and receiver is not None and is_settled(receiver, tree)
    return carried(context.type, Listed) if is_known else None


def _declared(type_: Type, expression: Expression, context: MethodContext) -> Declared | None:
    """The node that is given, where its type says which one it is."""
    tree = tree_of(context)
    is_known = tree is not None and is_settled(expression, tree)
    return declared_by(expression, type_) if is_known else None


def _with_options(draft: DraftFacts, arguments: Arguments) -> DraftFacts:
    durable = _durability(arguments)
    return msgspec.structs.replace(
        draft,
        graph_id=_text(arguments, "id") if arguments.may_be_given("id") else None,
        graph_version=_text(arguments, "version") if arguments.is_given("version") else None,
        has_migration=arguments.is_given("migrate"),
        max_node_hops=arguments.count_of("max_node_hops"),
        durable=bool(durable),
        children=() if durable is None else draft.children,
    )


def _durability(arguments: Arguments) -> bool | None:
    """None where only the run knows it."""
    return True if arguments.expression_of("durable") is None else truth_of(arguments.type_of("durable"))


def _text(arguments: Arguments, name: str) -> str:
    text = text_of(arguments.type_of(name))
    return SOME_TEXT if text is None else text


def _without_places(graph: GraphFacts) -> GraphFacts:
    """What is said of this graph's nodes by a graph around it is said there."""
    return msgspec.structs.replace(graph, nodes=_bare(graph.nodes), edges=_bare(graph.edges))


def _bare(facts: Iterable[P]) -> tuple[P, ...]:
    return tuple(msgspec.structs.replace(fact, place=None) for fact in facts)
