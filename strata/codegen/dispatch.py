"""The text of a module in which the calls of all tools are values of one tagged union."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from strata.codegen.call_classes import class_names, class_text, text_literal
from strata.codegen.homes import Home, Homes
from strata.codegen.interpreter import Interpreter
from strata.codegen.qualifying import Imports, Qualifier
from strata.codegen.reading import SourceTool
from strata.codegen.results import result_annotation

MARK: Final = "# Made by `strata tools generate` from the sources of the tools; what is changed here by hand is lost."

_HEAD: Final = '''\
{mark}
# ruff: noqa
# pyright: reportPrivateUsage=false
"""The calls of {count} as values: decoded from what a model sent, told apart by `match`, and made through a registry."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, assert_never, overload

import msgspec
from strata import Context
from strata.tools import Tool, ToolContext, ToolRegistry, TypedCalls

{imports}'''

_NAMES: Final = '''\
ToolName: TypeAlias = Literal[
{tags}
]
AnyCall: TypeAlias = (
    {union}
)

TOOLS: Final[tuple[Tool[..., Any], ...]] = (
{functions}
)
"""For a registry: `ToolRegistry(TOOLS)`."""

_calls: Final = TypedCalls[AnyCall]({{
{pairs}
}})'''

_READING: Final = '''\
def decode(raw: str | bytes) -> AnyCall:
    """A call as the Model Context Protocol has it: `{"name": ..., "arguments": {...}}`.

    Raises:
        ToolNotFound: there is no such tool.
        ToolArgumentParseFailure: these are no arguments of it; the text is for the model.
    """
    return _calls.decode(raw)


def read(name: str, arguments: str) -> AnyCall:
    """A call as providers tell it: the name, the tool's own or the provider's, and the arguments as JSON. Raises what `decode` does."""
    return _calls.read(name, arguments)


def encode(tool: AnyCall) -> tuple[str, str]:
    """The name of the tool, and the arguments as JSON."""
    return _calls.encode(tool)'''

_CALL: Final = '''\
{overloads}async def call(tool: AnyCall, registry: ToolRegistry, context: ToolContext | Context | None = None) -> {returns}:
    """Make the call through a registry: with its middleware and events, and with the approval that the tool needs.

    It gives what the tool's function is annotated to return where the text that a model is told says that again, else the text.

    Raises:
        ToolError: the call was refused or has failed; `ToolRegistry.dispatch` says how.
        Pause: a person has to approve the call first, who is asked now.
    """
    match tool:
{cases}
        case _:
            assert_never(tool)'''

_NAMES_TAKEN: Final = frozenset(
    {
        *("Any", "Final", "Literal", "TypeAlias", "Context", "Tool", "ToolContext", "ToolRegistry", "TypedCalls"),
        *("AnyCall", "ToolName", "TOOLS"),
    }
)
"""What the module imports and binds itself."""


def dispatch_module(tools: Sequence[SourceTool], interpreter: Interpreter) -> str:
    """The module. It type-checks under `mypy --strict` and strict pyright where the sources do."""
    homes, imports = interpreter.homes, Imports({parameter.name for tool in tools for parameter in tool.signature.parameters})
    names = class_names((tool.signature.name for tool in tools), _NAMES_TAKEN)
    classes = [class_text(name, tool, _qualifier(tool, homes, imports)) for name, tool in zip(names, tools, strict=True)]
    plain = Qualifier(homes, imports)
    functions = [plain.name_of(Home(tool.module.name, tool.node.name.value)) for tool in tools]
    returns = [_returns(tool, interpreter, plain) for tool in tools]
    listed = _NAMES.format(
        tags=_lines(text_literal(tool.signature.name) for tool in tools),
        union="\n    | ".join(names),
        functions=_lines(functions),
        pairs=_lines(f"{name}: {function}" for name, function in zip(names, functions, strict=True)),
    )
    overloads = [_overload(name, result or "str") for name, result in zip(names, returns, strict=True)] if len(tools) > 1 else []
    call = _CALL.format(
        overloads="".join(overloads),
        returns="Any" if overloads else returns[0] or "str",
        cases="\n".join(_case(name, result) for name, result in zip(names, returns, strict=True)),
    )
    head = _HEAD.format(mark=MARK, count="one tool" if len(tools) == 1 else f"{len(tools)} tools", imports="\n".join(imports.lines()))
    return "\n\n\n".join([head, *classes, listed, _READING, call]) + "\n"


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"    {item}," for item in items)


def _qualifier(tool: SourceTool, homes: Homes, imports: Imports) -> Qualifier:
    """In a class the names of its fields hide those of Python."""
    return Qualifier(homes, imports, hidden=frozenset(parameter.name for parameter in tool.signature.parameters))


def _returns(tool: SourceTool, interpreter: Interpreter, qualifier: Qualifier) -> str | None:
    """The type that its result is read back as; None for the text that a model is told."""
    annotation = result_annotation(tool, interpreter)
    return None if annotation is None else qualifier.annotation(annotation, tool.module)


def _overload(name: str, returns: str) -> str:
    return f"@overload\nasync def call(tool: {name}, registry: ToolRegistry, context: ToolContext | Context | None = None) -> {returns}: ...\n"


def _case(name: str, returns: str | None) -> str:
    made = "_calls.text(tool, registry, context)" if returns is None else f"_calls.result(tool, registry, context, {returns})"
    return f"        case {name}():\n            return await {made}"
