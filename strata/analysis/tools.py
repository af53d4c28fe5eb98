"""What `@strata_tool` refuses of a function, as far as its source shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from strata.analysis.annotations import parsed, value_of, with_bases
from strata.analysis.arguments import Arguments
from strata.analysis.findings import Findings
from strata.analysis.places import place_of
from strata.analysis.scopes import Scope
from strata.analysis.storing import faults_of_annotation
from strata.analysis.values import UNKNOWN, Constant, Function, Named, Value, is_given, text
from strata.rules import codes
from strata.rules.facts import SourcePlace
from strata.rules.tools import ParameterKind, ToolFacts, ToolParameterFacts, tool_faults

CONTEXTS = frozenset({"strata.ToolContext", "strata.Context"})
UNIONS = frozenset({"typing.Optional", "typing.Union"})
ANNOTATED = frozenset({"typing.Annotated", "typing_extensions.Annotated"})


class ToolTop(Value, frozen=True, eq=False, kw_only=True):
    """`@strata_tool(...)` on its way to the function; `name` is None for the function's own."""

    name: str | None = None
    has_description: bool = False


def strata_tool(arguments: Arguments, findings: Findings) -> Value:
    """`@strata_tool` is given the function itself, `@strata_tool("name")` and `@strata_tool()` give a decorator."""
    target = arguments.at(0)
    if isinstance(target, Function):
        top = ToolTop(has_description=is_given(arguments.get("description")))
        return tool_of(target, top, arguments.place, findings)
    if target is not None and not isinstance(target, Constant):
        return UNKNOWN  # a name that is computed, or a function that is not known
    return ToolTop(name=text(target), has_description=is_given(arguments.get("description")))


def tool_of(decorated: Value, top: ToolTop, place: SourcePlace, findings: Findings) -> Value:
    """Tell what is wrong with the function, if it is known; a tool itself is nothing that graphs know."""
    if not isinstance(decorated, Function):
        return UNKNOWN
    name = decorated.name if top.name is None else top.name
    if name is not None:
        written = list(_parameters(decorated.definition.args))
        facts = tuple(_facts_of(one, kind, decorated.scope) for one, kind in written)
        has_description = top.has_description or _may_have_docstring(decorated, place)
        for fault in tool_faults(ToolFacts(facts, has_description)):
            where = None if fault.parameter is None else written[fault.parameter][0]
            is_here = decorated.place.file == place.file
            at = place if where is None or not is_here else place_of(place.file, where)
            findings.error(codes.TOOL_INVALID, f"tool '{name}': {fault.text}", at)
    return UNKNOWN


def _parameters(written: ast.arguments) -> Iterator[tuple[ast.arg, ParameterKind]]:
    """In the order of the text."""
    for one in written.posonlyargs:
        yield one, "positional only"
    for one in written.args:
        yield one, "named"
    if written.vararg is not None:
        yield written.vararg, "any positional"
    for one in written.kwonlyargs:
        yield one, "named"
    if written.kwarg is not None:
        yield written.kwarg, "any named"


def _facts_of(parameter: ast.arg, kind: ParameterKind, scope: Scope) -> ToolParameterFacts:
    annotation = parameter.annotation
    faults = () if annotation is None else faults_of_annotation(annotation, scope, parameter.arg)
    return ToolParameterFacts(
        parameter.arg,
        kind,
        is_annotated=annotation is not None,
        is_context=_means_context(annotation, scope),
        unreadable=tuple((fault.path, fault.reason) for fault in faults),
    )


def _means_context(annotation: ast.expr | None, scope: Scope) -> bool:
    """Whether it surely does: a context, one of several types, perhaps `Annotated`."""
    match annotation:
        case ast.Constant(value=str() as quoted):
            return _means_context(parsed(quoted), scope)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _means_context(left, scope) or _means_context(right, scope)
        case ast.Subscript(value=owner, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            meant = value_of(owner, scope)
            path = meant.path if isinstance(meant, Named) else ""
            return any(_means_context(part, scope) for part in (parts if path in UNIONS else parts[:1] if path in ANNOTATED else ()))
        case _:
            return any(isinstance(one, Named) and one.path in CONTEXTS for one in with_bases(value_of(annotation, scope)))


def _may_have_docstring(function: Function, place: SourcePlace) -> bool:
    """Not where surely none stands below the decorator: `f.__doc__ = ...` may come before a call; one of nothing but sections is left to the run."""
    definition = function.definition
    if isinstance(definition, ast.Lambda) or place not in [place_of(function.place.file, one) for one in definition.decorator_list]:
        return True
    return bool((ast.get_docstring(definition, clean=False) or "").strip())
