"""A server of the Model Context Protocol, over the process's own pipes or over HTTP."""

from __future__ import annotations

from typing import Any

import mcp_types as protocol
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from strata.hosting.mcp.offers import Listed, Offers, Reply

Request = ServerRequestContext[dict[str, Any], Any]


def server_of(offers: Offers, *, name: str, version: str = "") -> Server[dict[str, Any]]:
    """A server of what is offered. `name` and `version` are what clients show of it."""

    async def list_tools(_request: Request, _page: protocol.PaginatedRequestParams | None) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[_tool(listed) for listed in offers.listed()])

    async def call_tool(request: Request, call: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        async def progress(done: int, where: str) -> None:
            await request.session.report_progress(float(done), None, where)

        return _result(await offers.call(call.name, msgspec.json.encode(call.arguments or {}), progress))

    return Server(name, version=version, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_pipes(server: Server[Any]) -> None:
    """Serve the one client at stdin and stdout until it closes them. What code prints meanwhile goes to stderr."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


async def serve_http(server: Server[Any], *, host: str, port: int) -> None:
    """Serve any number of clients at `http://host:port/mcp` until the process is told to stop (SIGINT, SIGTERM).

    There is no authentication: bind to a loopback address, or stand a proxy that has it before it.
    """
    import uvicorn

    config = uvicorn.Config(server.streamable_http_app(host=host), host=host, port=port, log_level="warning")
    await uvicorn.Server(config).serve()


def _tool(listed: Listed) -> protocol.Tool:
    return protocol.Tool(name=listed.name, description=listed.description, input_schema=dict(listed.parameters))


def _result(reply: Reply) -> protocol.CallToolResult:
    content: list[protocol.ContentBlock] = [protocol.TextContent(type="text", text=reply.text)]
    structured = None if reply.structured is None else dict(reply.structured)
    return protocol.CallToolResult(content=content, structured_content=structured, is_error=reply.is_error)
