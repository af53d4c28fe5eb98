"""Boundaries, routes, retries and fallbacks without what they need."""

from __future__ import annotations

from datetime import timedelta

from strata import (
    Backoff,
    Problem,
    State,
    StateGraph,
    boundary,
    edge,
    node,
    on_failure,
    on_reject,
    on_timeout,
    retry,
    timer,
    wait_for_event,
    when,
)

problems: list[Problem] = []
"""What the graphs below say of themselves when they run."""


class Order(State):
    total: int = 0
    paid: int = 0


class Payment(State):
    amount: int


def is_large(order: Order) -> bool:
    return order.total > 100


@node
def done(order: Order) -> Order:
    return order


# Boundaries


@node
@boundary  # E: interrupt boundary 'hurried' has a timeout route but no timeout [strata-route-without-timeout]
@on_timeout("done")
@edge("done")
def hurried(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(hurried).nodes(done).validate())


@node
@boundary(timeout=0)  # E: interrupt boundary 'at_once' has a timeout of zero; it must be greater than zero [strata-timeout-not-positive]
@edge("done")
def at_once(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(at_once).nodes(done).validate())


@node
@boundary(timeout=timedelta(microseconds=5))  # E: below a millisecond [strata-timeout-below-millisecond]
@on_reject("nowhere")  # E: Edge 'refused' -> 'nowhere' points at 'nowhere' [strata-dangling-edge]
@when(is_large, to=done)  # E: edge 'refused' -> 'done' is guarded and leaves the boundary 'refused' [strata-guard-behind-boundary]
@edge("done")
def refused(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(refused).nodes(done).validate())


@node  # E: the thread pauses at 'stuck', which has no edges: an approval can never go on; the thread can only be ended [strata-no-way-out]
@boundary
def stuck(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(stuck).validate())


# Waits


@wait_for_event("payment")  # E: wait 'await_payment' has a timeout route but no timeout [strata-route-without-timeout]
@on_timeout("done")
@when(is_large, to="done")  # E: is guarded and leaves the wait 'await_payment' [strata-guard-behind-wait]
@edge("done")
def await_payment(order: Order, payment: Payment) -> Order:
    return order.replace(paid=payment.amount)


problems.extend(StateGraph(Order).start(await_payment).nodes(done).validate())


@wait_for_event(" ", timeout=-2.5)  # E: has a timeout of -2.5 s; it must be greater than zero [strata-timeout-not-positive] # E: whose type is blank [strata-blank-event-type]
@boundary  # E: 'await_nothing' is a wait node and can't also be an interrupt boundary [strata-wait-is-boundary]
@edge("done")
def await_nothing(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(await_nothing).nodes(done).validate())


@timer(0, name="tick")  # E: timer 'tick' has a delay of zero; it must be greater than zero [strata-delay-not-positive]
@edge("done")
def ticks(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(ticks).nodes(done).validate())


# Failures


@node(timeout=-1, inline=True, metadata={"": "x", "strata.x": "y"})  # E: timeout for 'fails' must be greater [strata-timeout-not-positive] # E: runs inline and can't be timed out [strata-timeout-on-inline] # E: has an empty key [strata-metadata-empty-key] # E: is reserved [strata-metadata-reserved-key]
@retry(3, backoff=Backoff(initial=10, maximum=timedelta(seconds=1)))  # E: has a backoff whose max (1000 ms) is below its initial delay (10000 ms) [strata-backoff-below-initial]
@on_failure("nobody")  # E: recovery policy for 'fails' falls back to 'nobody', which does not exist [strata-dangling-edge]
@edge("done")
def fails(order: Order) -> Order:
    return order


problems.extend(StateGraph(Order).start(fails).nodes(done).validate())
