"""What a declared tool does with a call: read its arguments, ask if need be, call the function, put its result into text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from strata.engine.decide.failure import stored_text
from strata.errors import NodeError, ToolCallDenied, ToolCallFailed, ToolExecutionFailure, ToolInvalid
from strata.graph.annotations import Annotations
from strata.graph.clock import SYSTEM
from strata.graph.context import Context
from strata.graph.functions import layers_of
from strata.graph.parameters import is_context, signature_of
from strata.tools.approval import Approve, approved, needs_approval
from strata.tools.arguments import ArgumentReader
from strata.tools.context import ToolContext
from strata.tools.functions import ToolFunction
from strata.tools.results import text_of
from strata.tools.signature import ToolSignature
from strata.tools.sites import site_of
from strata.tools.timeouts import within


class ToolBody:
    """Of a tool whose annotations could be read.

    Attributes:
        signature: what a model is told of it, before it is JSON.
        arguments: reads what a model sent.
        wants_context: it needs to know which call it is.
    """

    __slots__ = ("_approve", "_function", "_name", "_timeout", "arguments", "signature", "wants_context")

    def __init__(
        self,
        fn: Callable[..., Any],
        signature: ToolSignature,
        *,
        names: Mapping[str, Any],
        approve: Approve,
        timeout: float | None,
        inline: bool,
    ) -> None:
        """Raises ToolInvalid: the options do not fit the function, or its arguments cannot be read from JSON."""
        _refuse_options(signature, inline=inline, timeout=timeout)
        if not (isinstance(approve, bool) or callable(approve)):  # pyright: ignore[reportUnnecessaryComparison]
            raise _invalid(signature, f"approve= is True, False or a function of the arguments, not {approve!r}")
        self.signature = signature
        self.arguments = ArgumentReader(signature)
        self.wants_context = signature.context is not None or signature.yields or approve is not False
        self._name = signature.name
        self._function = ToolFunction(
            fn,
            signature,
            takes_node=signature.context is not None and _takes_node(fn, signature.context, names),
            inline=inline,
        )
        self._approve = approve
        self._timeout = timeout

    def execute(self, arguments: str, context: ToolContext | None) -> Awaitable[str]:
        """See `Tool.execute`. What can be refused is refused before there is anything to await."""
        read = self.arguments.read(arguments)
        if self._approve is not False and self._needs_approval(read):
            return approved(self._name, read, context, lambda: self._run(read, context))
        return self._run(read, context)

    async def _run(self, arguments: msgspec.Struct, context: ToolContext | None) -> str:
        try:
            work = self._function.call(arguments, context)
            result = await (work if self._timeout is None else self._within(self._timeout, work, context))
            return result if type(result) is str and result.isascii() else text_of(self._name, result)
        except NodeError:  # a fault that the engine finds in the node itself, which no model should hear of
            raise
        except Exception as error:
            if isinstance(error, ToolCallDenied | ToolCallFailed) and error.tool == self._name:
                raise
            raise ToolExecutionFailure(self._name, stored_text(error)) from error

    def _within(self, timeout: float, work: Awaitable[Any], context: ToolContext | None) -> Awaitable[Any]:
        site = site_of(context)
        return within(self._name, timeout, SYSTEM if site is None else site.clock, work)

    def _needs_approval(self, arguments: msgspec.Struct) -> bool:
        try:
            return needs_approval(self._name, self._approve, arguments)
        except Exception as error:
            raise ToolExecutionFailure(self._name, f"its approve= failed: {stored_text(error)}") from error


def _refuse_options(signature: ToolSignature, *, inline: bool, timeout: float | None) -> None:
    if timeout is not None and timeout <= 0:
        raise _invalid(signature, f"timeout={timeout:g} leaves it no time: give it more, or none for no limit")
    if not inline:
        return
    if signature.is_async:
        raise _invalid(signature, "inline=True is for sync functions, and this one is async: it runs on the loop already; remove inline=True")
    if timeout is not None:
        raise _invalid(signature, "it has a timeout, and nothing can stop it while it runs on the loop: remove inline=True or timeout=")


def _invalid(signature: ToolSignature, text: str) -> ToolInvalid:
    return ToolInvalid(f"tool '{signature.name}': {text}", place=signature.place)


def _takes_node(fn: Callable[..., Any], parameter: str, names: Mapping[str, Any]) -> bool:
    """Whether its context is that of the node."""
    annotation = signature_of(fn).parameters[parameter].annotation
    return is_context(annotation, Annotations(tuple(layers_of(fn)), names), (Context,))
