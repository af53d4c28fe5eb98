"""What a declared tool does with a call: read its arguments, ask if need be, call the function, put its result into text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, NoReturn, TypeAlias

from strata.errors import NodeError, ToolCallDenied, ToolCallFailed, ToolExecutionFailure, ToolInvalid
from strata.graph.annotations import Annotations
from strata.graph.context import Context
from strata.graph.functions import layers_of
from strata.graph.parameters import is_context, signature_of
from strata.tools.approval import Approve, approved, needs_approval
from strata.tools.arguments import ArgumentReader
from strata.tools.context import ToolContext
from strata.tools.functions import ToolFunction
from strata.tools.results import text_of
from strata.tools.settling import may_change, settled, told
from strata.tools.signature import ToolSignature

Execute: TypeAlias = Callable[[str, ToolContext | None], Coroutine[Any, Any, str]]


class ToolBody:
    """Of a tool whose annotations could be read.

    Attributes:
        signature: what a model is told of it, before it is JSON.
        arguments: reads what a model sent.
        execute: see `Tool.execute`.
        wants_context: it needs to know which call it is.
    """

    __slots__ = ("_approve", "_function", "_name", "_settles", "_timeout", "arguments", "execute", "signature", "wants_context")

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
        self._settles = approve is not False and may_change(signature)
        self._timeout = timeout
        plain = self._function.plain if approve is False and timeout is None else None
        self.execute: Execute = self._execute if plain is None else _at_once(self, plain)

    async def _execute(self, arguments: str, context: ToolContext | None) -> str:
        values = self.arguments.values(arguments)
        if self._settles:
            values = await settled(self._name, arguments, values, self.arguments, context)
        if not self._needs_approval(values):
            return await self._run(values, context)
        return await approved(self._name, told(self._name, self.arguments, values), context, lambda: self._run(values, context))

    async def _run(self, values: tuple[Any, ...], context: ToolContext | None) -> str:
        try:
            work = self._function.call(values, context)
            return text_of(self._name, await (work if self._timeout is None else self._within(self._timeout, work, context)))
        except Exception as error:
            _raise_failure(self._name, error)

    def _within(self, timeout: float, work: Awaitable[Any], context: ToolContext | None) -> Awaitable[Any]:
        from strata.graph.clock import SYSTEM
        from strata.tools.sites import site_of
        from strata.tools.timeouts import within

        site = site_of(context)
        return within(self._name, timeout, SYSTEM if site is None else site.clock, work)

    def _needs_approval(self, values: tuple[Any, ...]) -> bool:
        try:
            return needs_approval(self._name, self._approve, dict(zip(self.arguments.type.__struct_fields__, values, strict=True)))
        except Exception as error:
            raise ToolExecutionFailure(self._name, f"its approve= failed: {_words_of(error)}") from error


def _at_once(body: ToolBody, plain: Callable[..., Awaitable[Any]]) -> Execute:
    """`execute` of a plain function, whose calls nobody approves and nothing limits: most tools, and two thirds of the time."""
    name, values_of = body.signature.name, body.arguments.values

    async def execute(arguments: str, context: ToolContext | None) -> str:
        values = values_of(arguments)
        try:
            result = await plain(*values)
            return result if type(result) is str and result.isascii() else text_of(name, result)
        except Exception as error:
            _raise_failure(name, error)

    return execute


def _raise_failure(tool: str, error: Exception) -> NoReturn:
    """What a call comes to whose function raised, or whose result is no text."""
    if isinstance(error, NodeError):  # a fault that the engine finds in the node itself, which no model should hear of
        raise error
    if isinstance(error, ToolCallDenied | ToolCallFailed) and error.tool == tool:
        raise error
    raise ToolExecutionFailure(tool, _words_of(error)) from error


def _words_of(error: Exception) -> str:
    from strata.engine.decide.failure import stored_text  # loads the engine: see approval.py

    return stored_text(error)


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
