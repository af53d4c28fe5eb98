"""The function of a tool as a dispatch calls it: awaited, in place, or on a worker thread."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import Parameter
from typing import Any, Literal, TypeAlias

from strata.errors import ToolCallDenied
from strata.graph.parameters import POSITIONAL
from strata.graph.parameters import signature_of as written_signature
from strata.tools.context import ToolContext
from strata.tools.pieces import gathered, gathered_async
from strata.tools.signature import ToolSignature

Manner: TypeAlias = Literal["async", "inline", "thread"]


class ToolFunction:
    """How to call `fn` with the arguments of a call, and with its context where it asks for one; `takes_node`: with the node's own.

    Attributes:
        plain: the function itself, where it is async and takes the arguments and nothing else, in their order.
    """

    __slots__ = ("_context", "_fn", "_manner", "_names", "_takes_node", "_tool", "_yields", "plain")

    def __init__(self, fn: Callable[..., Any], signature: ToolSignature, *, takes_node: bool, inline: bool) -> None:
        self._tool = signature.name
        self._fn = fn
        self._yields = signature.yields
        self._names = tuple(parameter.name for parameter in signature.parameters)
        self._context = None if signature.context is None else written_signature(fn).parameters[signature.context]
        self._takes_node = takes_node
        self._manner: Manner = "async" if signature.is_async else "inline" if inline else "thread"
        is_plain = inspect.iscoroutinefunction(fn) and self._context is None and _takes_in_order(fn, self._names)
        self.plain: Callable[..., Awaitable[Any]] | None = fn if is_plain else None

    async def call(self, values: tuple[Any, ...], context: ToolContext | None) -> Any:
        """What the function gives, or raises; `values` are the arguments in the order of the parameters."""
        keywords = self._keywords(values, context)
        if self._yields:
            return await self._gathered(keywords, context or ToolContext())
        result = await self._called(partial(self._fn, **keywords), context)
        return await result if inspect.isawaitable(result) else result

    async def _gathered(self, keywords: dict[str, Any], context: ToolContext) -> Any:
        """All that a generator yields; the reader of the run is told of each piece as it comes."""
        if self._manner == "async":
            return await gathered_async(self._fn(**keywords), self._tool, context)
        return await self._called(lambda: gathered(self._fn(**keywords), self._tool, context), context)

    async def _called(self, call: Callable[[], Any], context: ToolContext | None) -> Any:
        match self._manner:
            case "async" | "inline":
                return call()
            case "thread":
                from strata.tools.sites import site_of  # loads the engine: see approval.py

                site = site_of(context)
                return await (_on_spare_thread(call) if site is None else site.threads.call(site.node, call))

    def _keywords(self, values: tuple[Any, ...], context: ToolContext | None) -> dict[str, Any]:
        keywords: dict[str, Any] = dict(zip(self._names, values, strict=True))
        if self._context is not None:
            self._give_context(self._context, context or ToolContext(), keywords)
        return keywords

    def _give_context(self, parameter: Parameter, context: ToolContext, keywords: dict[str, Any]) -> None:
        if not self._takes_node:
            keywords[parameter.name] = context
        elif context.node is not None:
            keywords[parameter.name] = context.node
        elif parameter.default is Parameter.empty:
            raise ToolCallDenied(self._tool, "it takes the context of the node that calls it, and no node makes this call")


async def _on_spare_thread(call: Callable[[], Any]) -> Any:
    """Outside of runs there are no worker threads of ours: the loop's own do it."""
    import asyncio

    def bounded() -> Any:
        try:
            return call()
        except StopIteration as error:  # which no future takes
            raise RuntimeError("the tool raised StopIteration") from error

    return await asyncio.to_thread(bounded)


def _takes_in_order(fn: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Whether its arguments can be given by position."""
    parameters = written_signature(fn).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind in POSITIONAL) == names
