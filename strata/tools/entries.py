"""A tool as a registry has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from strata.tools.context import ToolContext
from strata.tools.declaration import Tool
from strata.tools.handmade import HandmadeTool, PlainTool, executor_of

AnyTool: TypeAlias = Tool[..., Any] | HandmadeTool | PlainTool
"""A declared function, or anything that has a name, a manifest entry and `execute`."""


class Entry(NamedTuple):
    """How to call it, and what is told of it.

    Attributes:
        execute: with the raw arguments; the context is one with a call id wherever `wants_context` says so.
        manifest: gives its manifest entry.
    """

    name: str
    execute: Callable[[str, ToolContext | None], Awaitable[str]]
    wants_context: bool
    manifest: Callable[[], Mapping[str, Any]]


def entry_of(tool: AnyTool) -> Entry:
    """Raises ToolInvalid: it is no tool, or cannot be one."""
    if isinstance(tool, Tool):
        return Entry(tool.name, tool.body.execute, tool.body.wants_context, lambda: tool.manifest)
    execute = executor_of(tool)  # first: it finds out whether there is a name
    return Entry(tool.name, execute, True, lambda: tool.manifest)
