"""`@strata_tool`: a function that a model may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from inspect import Signature
from typing import Any, Generic, ParamSpec, TypeVar, overload

import msgspec

from strata.errors import ToolInvalid, ToolUnresolved
from strata.graph.functions import name_of
from strata.graph.parameters import signature_of as written_signature
from strata.graph.places import caller
from strata.graph.times import seconds_of
from strata.tools.approval import Approve
from strata.tools.arguments import ArgumentReader
from strata.tools.body import ToolBody
from strata.tools.context import ToolContext
from strata.tools.reading import signature_of
from strata.tools.schema import manifest_entry
from strata.tools.signature import ToolSignature

P = ParamSpec("P")
R = TypeVar("R")


@overload
def strata_tool(fn: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def strata_tool(
    name: str | None = None,
    /,
    *,
    description: str | None = None,
    approve: Approve = False,
    timeout: timedelta | float | None = None,
    forbid_unknown_fields: bool = False,
    inline: bool = False,
) -> ToolDecorator: ...
def strata_tool(
    target: Any = None,
    /,
    *,
    description: str | None = None,
    approve: Approve = False,
    timeout: timedelta | float | None = None,
    forbid_unknown_fields: bool = False,
    inline: bool = False,
) -> Any:
    """Make a tool of a function, sync or async. Its parameters are the arguments that a model gives, its docstring says what they are.

        @strata_tool
        async def refund(order_id: str, amount: int, note: str | None = None) -> str:
            \"\"\"Refund part of an order.

            Args:
                order_id: as it stands on the invoice.
                amount: in cents.
            \"\"\"

    A parameter annotated `ToolContext` is given the context of the call, one annotated `Context` that of the node that calls;
    no model sees them. What the function returns is told to the model: text as it is, anything else as JSON. What a generator
    yields is one result, pieces of text one text; a reader of the run gets each piece as a `Diagnostic` when it comes.

    Args:
        target: the tool's name (`k8s.pods`); without one (`@strata_tool` or `@strata_tool()`) the function's own.
        description: what a model is told; by default what the docstring says.
        approve: ask a person before each call, or before those of whose arguments a function says so:
            `approve=lambda arguments: arguments["amount"] > 100`. The node that makes the call asks in its middle, and goes on
            with the answer. A call that was made is not made again when the node runs again.
        timeout: limit of each call of the function, a timedelta or seconds; none by default.
        forbid_unknown_fields: refuse arguments that are no parameters. By default they are ignored.
        inline: run a sync function on the event loop instead of a worker thread. For what is quick and never blocks;
            it can have no timeout, and an async function, which runs on the loop anyway, is refused.

    Raises:
        ToolInvalid: it cannot be a tool; the text says where it is declared, and what to do.
    """
    options = ToolOptions(
        name=target if isinstance(target, str) else None,
        description=description,
        approve=approve,
        timeout=None if timeout is None else seconds_of(timeout),
        forbid_unknown_fields=forbid_unknown_fields,
        inline=inline,
    )
    if target is None or isinstance(target, str):
        return ToolDecorator(options)
    return Tool(target, options, names=caller().f_locals)


class ToolOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `strata_tool` was given."""

    name: str | None
    description: str | None
    approve: Approve
    timeout: float | None
    forbid_unknown_fields: bool
    inline: bool


class ToolDecorator:
    """`@strata_tool(...)` on its way to the function."""

    def __init__(self, options: ToolOptions) -> None:
        self._options = options

    def __call__(self, fn: Callable[P, R], /) -> Tool[P, R]:
        return Tool(fn, self._options, names=caller().f_locals)

    def __repr__(self) -> str:
        return "<@strata_tool(...) with no function under it>"


class Tool(Generic[P, R]):
    """A function as a tool. Made by `strata_tool`; immutable.

    Calling it calls the function plainly, which is how a unit test calls it: nothing is read, asked or told.
    """

    def __init__(self, fn: Callable[P, R], options: ToolOptions, *, names: Mapping[str, Any]) -> None:
        """`names` are those that annotations may use beside the function's globals.

        Raises:
            ToolInvalid: it cannot be a tool. Annotations that name what is not there yet are read again at the first use.
        """
        if isinstance(fn, Tool):
            raise ToolInvalid(f"{fn!r} is a tool already: to have it under another name too, make one of its __wrapped__")
        self.__wrapped__ = fn
        self.__name__ = name_of(fn) or options.name or "tool"
        self.__qualname__ = getattr(fn, "__qualname__", self.__name__)
        self.__module__ = getattr(fn, "__module__", __name__)
        self.__doc__ = fn.__doc__
        self._options = options
        self._names: Mapping[str, Any] = {}
        self._made: ToolBody | None = None
        try:
            self._made = self._make(names)
        except ToolUnresolved:
            self._names = dict(names)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.__wrapped__(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        return written_signature(self.__wrapped__)

    @property
    def name(self) -> str:
        """What a model calls it by."""
        return self.signature.name

    @property
    def signature(self) -> ToolSignature:
        """What a model is told of it, before it is JSON."""
        return self.body.signature

    @property
    def arguments(self) -> ArgumentReader:
        """Reads what a model sent."""
        return self.body.arguments

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """Its name, its description, and the JSON Schema of its arguments."""
        return manifest_entry(self.signature)

    async def execute(self, arguments: str, context: ToolContext | None = None) -> str:
        """What a model is told of a call with these arguments, which are JSON.

        It is called without a registry: no middleware, no event, no span, no call id of its own.

        Raises:
            ToolArgumentParseFailure: these are no arguments of it. The function was not called.
            ToolCallDenied: a person rejected the call, or the function raised it for this tool.
            ToolCallFailed: the function's time was over, its result is no JSON, or it raised this for this tool.
            ToolExecutionFailure: the function raised anything else; that is the cause.
            Pause: a person has to approve the call first.
        """
        return await self.body.execute(arguments, context)

    @property
    def body(self) -> ToolBody:
        """What it does with a call.

        Raises:
            ToolUnresolved: an annotation still names what is not found.
            ToolInvalid: it cannot be a tool.
        """
        if self._made is None:
            self._made = self._make(self._names)
        return self._made

    def _make(self, names: Mapping[str, Any]) -> ToolBody:
        given = self._options
        signature = signature_of(
            self.__wrapped__,
            name=given.name,
            description=given.description,
            forbid_unknown_fields=given.forbid_unknown_fields,
            names=names,
        )
        return ToolBody(self.__wrapped__, signature, names=names, approve=given.approve, timeout=given.timeout, inline=given.inline)

    def __repr__(self) -> str:
        return f"<tool '{self.__name__}' of {self.__module__}>"
