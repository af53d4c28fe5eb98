"""Why a function is no tool that a model can call: one set of words for the run, source text and mypy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

ParameterKind: TypeAlias = Literal["positional only", "named", "any positional", "any named"]


class ToolParameterFacts(NamedTuple):
    """A parameter; `named` are all that an argument can name, keyword-only or not."""

    name: str
    kind: ParameterKind
    is_annotated: bool
    is_context: bool
    unreadable: tuple[tuple[str, str], ...] = ()
    """Paths of the parts of its type that do not come back from JSON, `lines[]`, and why not."""


class ToolFacts(NamedTuple):
    """A function on its way to be a tool. `has_description`: a docstring, or a description that was given."""

    parameters: tuple[ToolParameterFacts, ...]
    has_description: bool


class ToolFault(NamedTuple):
    """`text` goes on behind `tool 'name': `; `parameter` is the position of the one that it is about, None for the whole function."""

    text: str
    parameter: int | None = None
    is_missing_annotation: bool = False


NO_DESCRIPTION: Final = "it has no description for the model: write a docstring, or give description="


def tool_faults(facts: ToolFacts) -> Iterator[ToolFault]:
    """All that is wrong, in the order of the checks: the first is what the declaration raises."""
    is_method = _is_method(facts.parameters)
    if is_method:
        yield ToolFault("it is a method: make a tool of the bound one, strata_tool(instance.method)", 0)
    yield from _unnamed_arguments(facts.parameters)
    contexts = [position for position, parameter in enumerate(facts.parameters) if parameter.is_context]
    if len(contexts) > 1:
        first, second = (facts.parameters[position].name for position in contexts[:2])
        yield ToolFault(f"its parameters '{first}' and '{second}' are both annotated as the context: one is enough", contexts[1])
    if not facts.has_description:
        yield ToolFault(NO_DESCRIPTION)
    for position, parameter in enumerate(facts.parameters):
        if not parameter.is_annotated and not _is_variadic(parameter) and not (is_method and position == 0):
            text = (
                f"its parameter '{parameter.name}' has no annotation, so a model cannot be told what to give: "
                f"annotate it, with Any if it may be anything"
            )
            yield ToolFault(text, position, is_missing_annotation=True)
    for position, parameter in enumerate(facts.parameters):
        if parameter.kind == "named" and not parameter.is_context:
            yield from (ToolFault(unreadable_argument(path, reason), position) for path, reason in parameter.unreadable)


def unreadable_argument(path: str, reason: str) -> str:
    return f"its argument '{path}': {reason}"


def _is_method(parameters: tuple[ToolParameterFacts, ...]) -> bool:
    return bool(parameters) and parameters[0].name in {"self", "cls"} and not parameters[0].is_annotated


def _unnamed_arguments(parameters: tuple[ToolParameterFacts, ...]) -> Iterator[ToolFault]:
    """A model names its arguments, all of which its schema lists."""
    is_wrapper = {parameter.kind for parameter in parameters} >= {"any positional", "any named"}
    advice = "; if a decorator put it there, let it use functools.wraps" if is_wrapper else ""
    for position, (name, kind, *_) in enumerate(parameters):
        match kind:
            case "any positional":
                text = f"its parameter '*{name}' has no place among named arguments: take a list, as in `{name}: list[str]`{advice}"
                yield ToolFault(text, position)
            case "any named":
                text = (
                    f"its parameter '**{name}' names no arguments that a model could be told of: "
                    f"name each, or take a dict, as in `{name}: dict[str, str]`{advice}"
                )
                yield ToolFault(text, position)
            case "positional only":
                yield ToolFault(f"its parameter '{name}' is positional only, and a model names its arguments: remove the '/'", position)
            case "named":
                pass


def _is_variadic(parameter: ToolParameterFacts) -> bool:
    return parameter.kind in {"any positional", "any named"}
