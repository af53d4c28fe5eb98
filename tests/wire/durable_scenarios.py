"""The recorded recoveries, leases and admissions."""

from __future__ import annotations

from collections.abc import Mapping

from strata.ports import CheckpointStore
from tests.graphs.orders import orders_with_routes
from tests.graphs.stopped_orders import Theft, dying_orders, robbed_orders
from tests.wire.differences import refused, without
from tests.wire.policies import every
from tests.wire.scenario import Differs, Scenario

REAL_TIME = "how long it took differs from run to run"


async def held_by_another(store: CheckpointStore) -> None:
    if await store.get_lease("order-1") is None:
        await store.try_acquire_lease("order-1", "worker-b", 60)


async def let_go(store: CheckpointStore) -> None:
    if (lease := await store.get_lease("order-1")) is not None:
        await store.release_lease(lease)


DURABLE: Mapping[str, Scenario] = {
    "lease": Scenario(
        graph=every(orders_with_routes()),
        before={2: held_by_another, 3: let_go},
        differs={1: Differs(row="a token counts the leases before, and a replay may begin here", keeps_store=True, result=without("token"))},
    ),
    "lease_lost": Scenario(graph=every(robbed_orders()), services_on=lambda store: [Theft(store)]),
    "recovery": Scenario(
        graph=every(dying_orders(), id="orders", version="1"),
        differs={
            4: Differs(
                row="reference.md section 1: the name of the option is each engine's own",
                result=refused("recover_stale needs stale_after= when its runs have no lease: nothing else says which threads are dead"),
            ),
        },
        tells_recovery=True,
    ),
    "recovery_end": Scenario(graph=every(dying_orders(), id="orders", version="1")),
    "scheduler": Scenario(
        graph=every(orders_with_routes()),
        differs={number: Differs(row=REAL_TIME, result=without("waited_s")) for number in (1, 2, 3)},
    ),
}
