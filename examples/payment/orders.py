"""An order waits for its payment, at most a week, and then a day for second thoughts, before it is shipped."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from strata import FatalError, State, StateGraph, edge, node, on_timeout, timer, wait_for_event


class Payment(msgspec.Struct, frozen=True):
    cents: int
    account: str


class Order(State):
    item: str
    cents: int
    paid_from: str | None = None
    status: str = "new"


@node
@edge("await_payment")
def invoice(order: Order) -> Order:
    return order.replace(status="invoiced")


# The thread pauses when it comes here. The function is called when the event arrives, before anything is written: if it
# raises, the event is refused and the thread still waits.
@wait_for_event("payment.received", timeout=timedelta(days=7))
@on_timeout("call_off")
@edge("second_thoughts")
def await_payment(order: Order, payment: Payment) -> Order:
    if payment.cents != order.cents:
        raise FatalError(f"{order.cents} cents are due, not {payment.cents}")
    return order.replace(paid_from=payment.account, status="paid")


@timer(timedelta(days=1))
@edge("ship")
def second_thoughts(order: Order) -> Order:
    return order.replace(status="settled")


@node
def ship(order: Order) -> Order:
    return order.replace(status="shipped")


@node
def call_off(order: Order) -> Order:
    return order.replace(status="called off")


orders = StateGraph(Order).start(invoice).nodes(await_payment, second_thoughts, ship, call_off).compile(id="paid-orders", version="1")
