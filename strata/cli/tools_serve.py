"""`strata tools serve`: tools for the clients of the Model Context Protocol."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypeGuard

from cyclopts import Parameter

from strata.cli.faults import CannotDo
from strata.cli.modules import module_named, what_it_is
from strata.cli.parameters import HttpAddress
from strata.cli.serving import end_of, serve
from strata.tools import Tool, ToolRegistry


def tools_serve(
    tools: Annotated[str, Parameter(help="A module, for all the tools in it, or module:name, for a registry or one tool.")],
    /,
    *,
    name: Annotated[str, Parameter(help="What clients show of the server.")] = "tools",
    http: HttpAddress = None,
) -> int:
    """Serve tools over the Model Context Protocol: over stdin and stdout; with --http, at http://HOST:PORT/mcp.

    They are called outside of any run: a tool that needs a person's approval is denied.
    """
    asyncio.run(_serve(_tools_named(tools), name=name, http=http))
    return 0


async def _serve(registry: ToolRegistry, *, name: str, http: str | None) -> None:
    from strata.hosting.mcp.tools import ServedTools

    end_of(await serve(ServedTools(registry), name=name, version="", http=http))


def _tools_named(reference: str) -> ToolRegistry:
    """Raises CannotDo: there is no such module, or no tool in it, or importing it raised."""
    module_name, _, attribute = reference.partition(":")
    module = module_named(module_name)
    if not attribute:
        tools = [value for value in vars(module).values() if _is_tool(value)]
        if not tools:
            raise CannotDo(f"the module '{module.__name__}' holds no tool", hint="a tool is a function under @strata_tool")
        return ToolRegistry(tools)
    if not hasattr(module, attribute):
        raise CannotDo(f"the module '{module.__name__}' has no '{attribute}'")
    found: object = getattr(module, attribute)
    if isinstance(found, ToolRegistry):
        return found
    if _is_tool(found):
        return ToolRegistry([found])
    raise CannotDo(f"'{attribute}' of the module '{module.__name__}' is {what_it_is(found)}, and neither a registry nor a tool")


def _is_tool(value: object) -> TypeGuard[Tool[..., Any]]:
    return isinstance(value, Tool)
