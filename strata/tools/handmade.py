"""A tool that is no declared function: anything that has a name, a manifest entry, and can be executed."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from strata.errors import ToolCallFailed, ToolInvalid
from strata.graph.texts import is_text
from strata.tools.context import ToolContext


class HandmadeTool(Protocol):
    """What a registry needs of a tool. One that looks at no context may leave the second parameter of `execute` out."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Its `name`, its `description`, and the JSON Schema of its `parameters`."""
        ...

    def execute(self, arguments: str, context: ToolContext, /) -> Awaitable[str]:
        """The text for the model. What it raises goes up as it is."""
        ...


class PlainTool(Protocol):
    """A `HandmadeTool` whose calls look at no context."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    def execute(self, arguments: str, /) -> Awaitable[str]: ...


Execute: TypeAlias = Callable[[str, ToolContext | None], Awaitable[str]]


def executor_of(tool: HandmadeTool | PlainTool) -> Execute:
    """How a registry calls it.

    Raises:
        ToolInvalid: it lacks what a tool has.
    """
    name, execute = _text(getattr(tool, "name", None), tool), _function(getattr(tool, "execute", None), tool)
    takes_context = _takes_two(execute)

    async def call(arguments: str, context: ToolContext | None) -> str:
        answer = await (execute(arguments, context or ToolContext()) if takes_context else execute(arguments))
        if isinstance(answer, str):
            return answer
        raise ToolCallFailed(name, f"its execute gave {answer!r:.80}, not the text of a result")

    return call


def _text(name: object, tool: object) -> str:
    if isinstance(name, str) and is_text(name):
        return name
    raise ToolInvalid(f"{tool!r:.80} is no tool: make one of a function with @strata_tool, or give it name, manifest and execute(arguments, context)")


def _function(execute: object, tool: object) -> Callable[..., Any]:
    if callable(execute):
        return execute
    raise ToolInvalid(f"tool {tool!r:.80} has no execute(arguments, context)")


def _takes_two(execute: Callable[..., Any]) -> bool:
    try:
        inspect.signature(execute).bind("", None)
    except TypeError:
        return False
    return True
