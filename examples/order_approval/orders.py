"""A shop's orders: priced, approved by a person, paid and shipped; a rejected one is called off."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from strata import Context, FatalError, State, StateGraph, boundary, edge, node, on_reject

PRICES = {"desk": Decimal("189.50"), "lamp": Decimal("24.90")}


class Line(msgspec.Struct, frozen=True):
    item: str
    quantity: int


class Order(State):
    customer: str
    lines: tuple[Line, ...]
    total: Decimal = Decimal(0)
    approved_by: str | None = None
    receipt: str | None = None
    status: str = "new"


@node
@edge("approve")
def price(order: Order) -> Order:
    unknown = [line.item for line in order.lines if line.item not in PRICES]
    if unknown:
        raise FatalError(f"no price is known for {', '.join(unknown)}")
    return order.replace(total=sum((PRICES[line.item] * line.quantity for line in order.lines), Decimal(0)))


@node
@boundary  # the thread pauses after this node: for seconds or for weeks, and no process needs to wait
@on_reject("call_off")
@edge("pay")
def approve(order: Order) -> Order:
    return order.replace(status="awaiting approval")


@node(timeout=30)
@edge("ship")
async def pay(order: Order, ctx: Context) -> Order:
    # A payment service that is given this key charges once, however often this node runs again.
    receipt = f"receipt {ctx.idempotency_key} over {order.total}"
    return order.replace(receipt=receipt, approved_by=ctx.decision.reviewer if ctx.decision is not None else None)


@node
def ship(order: Order) -> Order:
    return order.replace(status="shipped")


@node
def call_off(order: Order) -> Order:
    return order.replace(status="called off")


orders = StateGraph(Order).start(price).nodes(approve, pay, ship, call_off).compile(id="orders", version="1")
