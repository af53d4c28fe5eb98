"""The recorded events, timers and timeouts of boundaries."""

from __future__ import annotations

from collections.abc import Mapping

from tests.graphs.books import books_over_orders
from tests.graphs.orders import orders_with_routes
from tests.graphs.waits import event, timer, timer_until
from tests.wire.policies import bounds, every
from tests.wire.scenario import Scenario

EVENT = bounds(event(3600, route=True))

WAITS: Mapping[str, Scenario] = {
    "event_wait": Scenario(graph=every(event())),
    "event_wait_in_subgraph": Scenario(graph=bounds(books_over_orders(EVENT)), inside=(EVENT,)),
    "event_wait_timeout_end": Scenario(graph=bounds(event(90))),
    "event_wait_timeout_route": Scenario(graph=bounds(event(90, route=True))),
    "order_boundary_timeout_end": Scenario(graph=bounds(orders_with_routes(timeout=60))),
    "order_boundary_timeout_route": Scenario(graph=bounds(orders_with_routes(reject=True, timeout=3600, route=True), id="orders")),
    "order_due_resume": Scenario(graph=bounds(orders_with_routes(timeout=60, route=True))),
    "timer": Scenario(graph=every(timer(300))),
    "timer_until": Scenario(graph=bounds(timer_until())),
}
