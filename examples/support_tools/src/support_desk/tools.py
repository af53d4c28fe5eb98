"""The tools of the desk: what its model may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from strata.tools import ToolContext, strata_tool
from support_desk.shop import Order, Shop, Status

LARGE = 1000
"""Cents: a colleague is asked before more than that is paid back."""


@strata_tool("orders.find")
async def find_orders(customer: str, ctx: ToolContext, status: Status | None = None) -> list[Order]:
    """Find the orders of a customer.

    Args:
        customer: the name that the customer writes under.
        status: only those; all of them by default.
    """
    return [order for order in shop_of(ctx).orders_of(customer) if status in {None, order.status}]


def is_large(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments["cents"] > LARGE)


@strata_tool("orders.refund", approve=is_large, forbid_unknown_fields=True)
async def refund(
    order_id: str,
    cents: Annotated[int, "How much goes back", Meta(ge=1, le=100_000)],
    ctx: ToolContext,
    note: str | None = None,
) -> Order:
    """Pay an order back, all of it or a part.

    Args:
        order_id: as `orders.find` gives it.
        note: what the customer reads on the statement.
    """
    return shop_of(ctx).pay_back(order_id, cents)


@strata_tool("tickets.escalate")
async def escalate(reason: str) -> str:
    """Hand the ticket to a colleague who calls back."""
    return f"a colleague calls back about {reason}"


def shop_of(ctx: ToolContext) -> Shop:
    shop = ctx.service(Shop)
    if shop is None:
        raise LookupError("the tools need a Shop: Runner(..., services=[Shop()])")
    return shop
