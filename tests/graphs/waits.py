"""Orders that wait: for a payment, for a time. The graphs that the recorded events and timers were written by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from strata import StateGraph
from tests.graphs.orders import Order, expire, receive, ship


def event(timeout: float | None = None, *, route: bool = False) -> StateGraph[Order]:
    """receive -> await_payment -> ship; its timeout leads to `expire`, if there is a route."""
    graph = (
        StateGraph(Order)
        .add_node("receive", receive)
        .add_wait_for_event("await_payment", "payment.received", timeout=timeout, on_timeout="expire" if route else None)
        .add_node("ship", ship)
        .add_edge("receive", "await_payment")
        .add_edge("await_payment", "ship")
    )
    return graph.add_node("expire", expire) if route else graph


def timer(seconds: float) -> StateGraph[Order]:
    """receive -> cool_off -> ship."""
    return _around(StateGraph(Order).add_node("receive", receive).add_timer("cool_off", seconds))


def due(order: Order) -> datetime:
    """At Unix second `amount`, and 250 ms."""
    return datetime.fromtimestamp(order.amount, UTC) + timedelta(milliseconds=250)


def timer_until() -> StateGraph[Order]:
    """receive -> cool_off, until the order says so -> ship."""
    return _around(StateGraph(Order).add_node("receive", receive).add_timer("cool_off", until=due))


def _around(graph: StateGraph[Order]) -> StateGraph[Order]:
    return graph.add_node("ship", ship).add_edge("receive", "cool_off").add_edge("cool_off", "ship")
