"""The order: received, priced, approved by a person, paid, shipped. The graphs that the recorded orders were written by."""

from __future__ import annotations

from strata import Context, State, StateGraph, boundary, edge, node


class Order(State):
    order_id: str
    amount: int
    status: str = "new"
    approved_by: str | None = None
    paid: bool = False
    tries: int = 0
    log: list[str] = []  # noqa: RUF012 (msgspec copies it)


def step(order: Order, name: str, status: str) -> Order:
    return order.replace(status=status, log=[*order.log, name])


@node("receive")
@edge("price")
def receive(order: Order) -> Order:
    return step(order, "receive", "received")


@node("price")
@edge("approve")
def price(order: Order) -> Order:
    return step(order, "price", "priced")


@node("approve")
@boundary
@edge("pay")
def approve(order: Order) -> Order:
    return step(order, "approve", "awaiting_approval")


@node("pay")
@edge("ship")
async def pay(order: Order, ctx: Context) -> Order:
    approved_by = order.approved_by if ctx.decision is None else ctx.decision.reviewer
    return step(order, "pay", "paid").replace(paid=True, approved_by=approved_by)


@node("ship")
def ship(order: Order) -> Order:
    return step(order, "ship", "shipped")


def refuse(order: Order) -> Order:
    return step(order, "refuse", "refused")


orders = StateGraph(Order).start(receive).nodes(price, approve, pay, ship)
"""Not compiled: tests compile it with the options that they are about."""


def order_nodes() -> StateGraph[Order]:
    """The same nodes without the boundary, from data."""
    return (
        StateGraph(Order)
        .add_node("receive", receive)
        .add_node("price", price)
        .add_node("approve", approve)
        .add_node("pay", pay)
        .add_node("ship", ship)
        .add_edge("receive", "price")
        .add_edge("price", "approve")
        .add_edge("approve", "pay")
        .add_edge("pay", "ship")
    )


def orders_that_refuse() -> StateGraph[Order]:
    """A rejection goes to `refuse`."""
    return order_nodes().add_node("refuse", refuse).add_interrupt_boundary("approve", on_reject="refuse")


def expire(order: Order) -> Order:
    return step(order, "expire", "expired")


def orders_with_routes(*, reject: bool = False, timeout: float | None = None, route: bool = False) -> StateGraph[Order]:
    """A rejection goes to `refuse`, the boundary's timeout to `expire`, each if there is such a route."""
    graph = order_nodes()
    if reject:
        graph.add_node("refuse", refuse)
    if route:
        graph.add_node("expire", expire)
    return graph.add_interrupt_boundary("approve", on_reject="refuse" if reject else None, timeout=timeout, on_timeout="expire" if route else None)
