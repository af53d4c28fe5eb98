"""What stands around the calls of a registry: policies, caches, timeouts, records."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from strata.errors import ToolCallFailed, ToolNotFound, ToolNotPermitted
from strata.tools.context import ToolContext

logger = logging.getLogger("strata")

Proceed: TypeAlias = Callable[["ToolCall"], Awaitable[str]]
"""Runs the rest of the chain, and the tool at its end. It may be called several times, or not at all."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A call on its way to the tool.

    Attributes:
        tool: the name that was asked for; no middleware can route a call to another tool.
        arguments: the raw text.
        context: as the tool will see it.
        manifest: the tool's entry (`name`, `description`, `parameters`); None where the registry has no such tool.
    """

    tool: str
    arguments: str
    context: ToolContext
    manifest: Mapping[str, Any] | None = None

    def replace(self, *, arguments: str | None = None, context: ToolContext | None = None) -> ToolCall:
        """This call with other arguments, or another context. Events, spans and the test of the token keep to the first one."""
        return ToolCall(
            tool=self.tool,
            arguments=self.arguments if arguments is None else arguments,
            context=self.context if context is None else context,
            manifest=self.manifest,
        )


class ToolMiddleware:
    """What a middleware may do; each method by itself does nothing. One object may serve several registries.

    class Tenants(ToolMiddleware):
        async def invoke(self, call: ToolCall, proceed: Proceed) -> str:
            if call.context.metadata.get("tenant") != "acme":
                raise ToolCallDenied(call.tool, "only acme may call tools")
            return await proceed(call)
    """

    async def invoke(self, call: ToolCall, proceed: Proceed, /) -> str:
        """The result of the call: that of the rest of the chain, `await proceed(call)`, or another.

        To refuse the call raise `ToolCallDenied`, to have it failed `ToolCallFailed`; any other error goes up as it is.
        """
        return await proceed(call)

    async def on_refused(self, call: ToolCall, refusal: ToolNotFound | ToolNotPermitted, /) -> None:
        """The registry has no such tool, or this subset leaves it out. What is raised here takes the place of the refusal."""


class Chain:
    """The middleware of one dispatch, outermost first, and the tool at its end.

    Attributes:
        has_run: the tool was called.
    """

    __slots__ = ("_execute", "_middleware", "_tool", "has_run")

    def __init__(self, middleware: Sequence[ToolMiddleware], tool: str, execute: Callable[[str, ToolContext], Awaitable[str]]) -> None:
        self._middleware = middleware
        self._tool = tool
        self._execute = execute
        self.has_run = False

    async def proceed(self, call: ToolCall, position: int = 0) -> str:
        """The result of what stands from that position on."""
        if position == len(self._middleware):
            self.has_run = True
            return await self._execute(call.arguments, call.context)
        middleware = self._middleware[position]
        answer = await middleware.invoke(self._same_tool(call), partial(self.proceed, position=position + 1))
        if isinstance(answer, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return answer
        raise ToolCallFailed(self._tool, f"{type(middleware).__name__}.invoke gave {answer!r:.80}, not the text of a result")

    def _same_tool(self, call: ToolCall) -> ToolCall:
        return call if call.tool == self._tool else msgspec.structs.replace(call, tool=self._tool)


async def told_of_refusal(middleware: Sequence[ToolMiddleware], call: ToolCall, refusal: ToolNotFound | ToolNotPermitted) -> Exception:
    """What a refused call raises, once every middleware has been told: the first error of a hook, with the refusal as its cause, or the refusal."""
    faults: list[Exception] = []
    for one in middleware:
        try:
            await one.on_refused(call, refusal)
        except Exception as error:
            faults.append(error)
    if not faults:
        return refusal
    for hidden in faults[1:]:
        logger.warning("a middleware failed on the refusal of tool '%s', behind another: %s", call.tool, hidden, exc_info=hidden)
    faults[0].__cause__ = refusal
    return faults[0]
