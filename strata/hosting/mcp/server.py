"""A server of the Model Context Protocol, and HTTP for it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import mcp_types as protocol
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from strata.hosting.mcp.offers import Listed, Offers, Progress, Reply
from strata.tools import canonical_json

logger = logging.getLogger("strata")

GRACE: Final = 2
"""Seconds; for ever by default, as long as a client stays connected."""

Request = ServerRequestContext[dict[str, Any], Any]


def server_of(offers: Offers, *, name: str, version: str = "") -> Server[dict[str, Any]]:
    """A server of what is offered. `name` and `version` are what clients show of it."""

    async def list_tools(_request: Request, _page: protocol.PaginatedRequestParams | None) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[_tool(listed) for listed in offers.listed()])

    async def call_tool(request: Request, call: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        async def progress(done: int, where: str) -> None:
            await request.session.report_progress(float(done), None, where)

        return _result(await _reply(offers, call, progress))

    return Server(name, version=version, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_http(server: Server[Any], *, host: str, port: int) -> None:
    """Serve any number of clients at `http://host:port/mcp` until the process is told to stop (SIGINT, SIGTERM).

    Calls that run have two seconds to end then, and are cancelled.

    There is no authentication: bind to a loopback address, or stand a proxy that has it before it.
    """
    import uvicorn

    app = server.streamable_http_app(host=host)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=GRACE)
    await uvicorn.Server(config).serve()


async def _reply(offers: Offers, call: protocol.CallToolRequestParams, progress: Progress) -> Reply:
    """What the call came to. Whatever user code raises ends its own call alone: other clients are served by the same process."""
    try:
        arguments = canonical_json(call.arguments or {})  # it holds no NaN, which else would be null in silence
    except TypeError:
        return Reply(f"invalid arguments for tool '{call.name}': the arguments aren't valid JSON", is_error=True)
    try:
        return await offers.call(call.name, arguments, progress)
    except asyncio.CancelledError:
        raise
    except BaseException:
        logger.exception("the call of tool '%s' failed", call.name)
        return Reply(f"tool '{call.name}' failed", is_error=True)


def _tool(listed: Listed) -> protocol.Tool:
    return protocol.Tool(name=listed.name, description=listed.description, input_schema=dict(listed.parameters))


def _result(reply: Reply) -> protocol.CallToolResult:
    content: list[protocol.ContentBlock] = [protocol.TextContent(type="text", text=reply.text)]
    structured = None if reply.structured is None else dict(reply.structured)
    return protocol.CallToolResult(content=content, structured_content=structured, is_error=reply.is_error)
