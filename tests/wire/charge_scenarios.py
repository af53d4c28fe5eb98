"""The recorded retries, fallbacks and timeouts."""

from __future__ import annotations

from collections.abc import Mapping

from strata import Backoff, StateGraph
from tests.graphs.charge import Switch, busy, charge_after, charge_fails, charge_with_switch, declined, limited, with_manual
from tests.graphs.orders import Order
from tests.graphs.stopped_orders import slow_orders
from tests.wire.policies import bounds, every
from tests.wire.scenario import Scenario


def switch() -> StateGraph[Order]:
    return charge_with_switch().set_recovery_policy("charge", retries=2)


CHARGES: Mapping[str, Scenario] = {
    "charge_backoff": Scenario(
        graph=bounds(
            charge_fails(busy).set_recovery_policy("charge", retries=4, backoff=Backoff(initial=0.010, maximum=0.030, jitter="none")),
        )
    ),
    "charge_exhausted": Scenario(graph=bounds(switch()), services={2: [Switch(is_on=True)]}),
    "charge_exhausted_every": Scenario(graph=every(switch(), id="charge", version="2"), services={1: [Switch(is_on=True)]}),
    "charge_fallback": Scenario(
        graph=every(with_manual(charge_after(9, busy)).set_recovery_policy("charge", retries=1, fallback="manual")),
        graphs={1: every(with_manual(charge_after(9, declined)).set_recovery_policy("charge", retries=5, fallback="manual"))},
    ),
    "charge_fatal": Scenario(graph=bounds(charge_fails(declined).set_recovery_policy("charge", retries=3))),
    "charge_no_policy": Scenario(graph=bounds(charge_fails(busy))),
    "charge_retry_after": Scenario(
        graph=bounds(
            charge_fails(limited).set_recovery_policy("charge", retries=1, backoff=Backoff(initial=0.001, maximum=0.020, jitter="none")),
        )
    ),
    "charge_retry_success": Scenario(graph=every(charge_after(2, busy).set_recovery_policy("charge", retries=3))),
    "decision_kept_by_failure": Scenario(graph=every(switch().add_interrupt_boundary("receive")), services={2: [Switch(is_on=True)]}),
    "metadata_failed_then_ok": Scenario(graph=bounds(switch().add_interrupt_boundary("charge"), max_node_hops=9), services={1: [Switch(is_on=True)]}),
    "node_timeout": Scenario(graph=bounds(slow_orders()), graphs={1: bounds(slow_orders().set_recovery_policy("slow", retries=1))}),
}
