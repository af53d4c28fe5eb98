"""The graph of the demonstration: an order is priced, approved by a person, paid and shipped."""

from __future__ import annotations

from strata import Context, FatalError, State, StateGraph, boundary, edge, node, on_reject
from strata.cli.order_approval.outside import Bank, Journal


class Order(State):
    desks: int
    amount: int = 0
    status: str = "new"
    approved_by: str | None = None


@node("order")
@edge("price")
def take_order(order: Order, ctx: Context) -> Order:
    noted(ctx)
    return order.replace(status="ordered")


@node
@edge("approve")
def price(order: Order, ctx: Context) -> Order:
    noted(ctx)
    return order.replace(amount=90 * order.desks, status="priced")


@node
@boundary  # the thread pauses after this node until a person answers
@on_reject("refuse")
@edge("pay")
def approve(order: Order, ctx: Context) -> Order:
    noted(ctx)
    return order.replace(status="awaiting approval")


@node
@edge("ship")
async def pay(order: Order, ctx: Context) -> Order:
    noted(ctx)
    bank = ctx.service(Bank)
    if bank is None or ctx.decision is None:
        raise FatalError("pay needs a bank and an approval")
    await bank.charge(order.amount, key=ctx.idempotency_key)  # the same key if this node has to run again
    return order.replace(status="paid", approved_by=ctx.decision.reviewer)


@node
def ship(order: Order, ctx: Context) -> Order:
    noted(ctx)
    return order.replace(status="shipped")


@node
def refuse(order: Order, ctx: Context) -> Order:
    noted(ctx)
    return order.replace(status="refused")


def noted(ctx: Context) -> None:
    """Keeps the books of the demonstration: which node ran, and in which process."""
    journal = ctx.service(Journal)
    if journal is not None:
        journal.note(ctx.node, hop=ctx.hop)


orders = StateGraph(Order).start(take_order).nodes(price, approve, pay, ship, refuse).compile(id="demo-orders", version="1")
