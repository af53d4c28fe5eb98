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
    name: object = getattr(tool, "name", None)
    execute: Callable[..., Awaitable[object]] | None = getattr(tool, "execute", None)
    if not is_text(name) or not callable(execute) or not hasattr(tool, "manifest"):
        raise ToolInvalid(f"{tool!r:.80} is no tool: make one with @strata_tool, or give it name, manifest and execute(arguments, context)")
    takes_context = _takes_two(execute)

    async def call(arguments: str, context: ToolContext | None) -> str:
        answer = await (execute(arguments, context or ToolContext()) if takes_context else execute(arguments))
        if isinstance(answer, str):
            return answer
        raise ToolCallFailed(tool.name, f"its execute gave {answer!r:.80}, not the text of a result")

    return call


def _takes_two(execute: Callable[..., Any]) -> bool:
    try:
        inspect.signature(execute).bind("", None)
    except TypeError:
        return False
    return True
