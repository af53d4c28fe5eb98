# Made by `strata tools generate` from the sources of the tools; what is changed here by hand is lost.
# ruff: noqa
# pyright: reportPrivateUsage=false
"""The calls of 3 tools as values: decoded from what a model sent, told apart by `match`, and made through a registry."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, assert_never, overload

import msgspec
from strata import Context
from strata.tools import Tool, ToolContext, ToolRegistry, TypedCalls

import msgspec as _msgspec
import support_desk.shop as _support_desk_shop
import support_desk.tools as _support_desk_tools
import typing as _typing


class OrdersFind(msgspec.Struct, frozen=True, kw_only=True, tag_field="$tool", tag="orders.find"):
    """Find the orders of a customer."""

    customer: str
    status: _support_desk_shop.Status | None = None


class OrdersRefund(msgspec.Struct, frozen=True, kw_only=True, tag_field="$tool", tag="orders.refund"):
    """Pay an order back, all of it or a part."""

    order_id: str
    cents: _typing.Annotated[int, "How much goes back", _msgspec.Meta(ge=1, le=100_000)]
    note: str | None = None


class TicketsEscalate(msgspec.Struct, frozen=True, kw_only=True, tag_field="$tool", tag="tickets.escalate"):
    """Hand the ticket to a colleague who calls back."""

    reason: str


ToolName: TypeAlias = Literal[
    "orders.find",
    "orders.refund",
    "tickets.escalate",
]
AnyCall: TypeAlias = (
    OrdersFind
    | OrdersRefund
    | TicketsEscalate
)

TOOLS: Final[tuple[Tool[..., Any], ...]] = (
    _support_desk_tools.find_orders,
    _support_desk_tools.refund,
    _support_desk_tools.escalate,
)
"""For a registry: `ToolRegistry(TOOLS)`."""

_calls: Final = TypedCalls[AnyCall]({
    OrdersFind: _support_desk_tools.find_orders,
    OrdersRefund: _support_desk_tools.refund,
    TicketsEscalate: _support_desk_tools.escalate,
})


def decode(raw: str | bytes) -> AnyCall:
    """A call as the Model Context Protocol has it: `{"name": ..., "arguments": {...}}`.

    Raises:
        ToolNotFound: there is no such tool.
        ToolArgumentParseFailure: these are no arguments of it; the text is for the model.
    """
    return _calls.decode(raw)


def read(name: str, arguments: str) -> AnyCall:
    """A call as providers tell it: the name, the tool's own or the provider's, and the arguments as JSON. Raises what `decode` does."""
    return _calls.read(name, arguments)


def encode(tool: AnyCall) -> tuple[str, str]:
    """The name of the tool, and the arguments as JSON."""
    return _calls.encode(tool)


@overload
async def call(tool: OrdersFind, registry: ToolRegistry, context: ToolContext | Context | None = None) -> list[_support_desk_shop.Order]: ...
@overload
async def call(tool: OrdersRefund, registry: ToolRegistry, context: ToolContext | Context | None = None) -> _support_desk_shop.Order: ...
@overload
async def call(tool: TicketsEscalate, registry: ToolRegistry, context: ToolContext | Context | None = None) -> str: ...
async def call(tool: AnyCall, registry: ToolRegistry, context: ToolContext | Context | None = None) -> Any:
    """Make the call through a registry: with its middleware and events, and with the approval that the tool needs.

    It gives what the tool's function is annotated to return where the text that a model is told says that again, else the text.

    Raises:
        ToolError: the call was refused or has failed; `ToolRegistry.dispatch` says how.
        Pause: a person has to approve the call first, who is asked now.
    """
    match tool:
        case OrdersFind():
            return await _calls.result(tool, registry, context, list[_support_desk_shop.Order])
        case OrdersRefund():
            return await _calls.result(tool, registry, context, _support_desk_shop.Order)
        case TicketsEscalate():
            return await _calls.text(tool, registry, context)
        case _:
            assert_never(tool)
