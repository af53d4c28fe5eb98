"""receive -> pay -> ship, where paying takes until somebody stops it: by a cancellation, a deadline, or the death of its process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from strata import Context, StateGraph
from strata.graph.nodes import NodeFunction
from strata.ports import CheckpointStore
from tests.graphs.orders import Order, receive, ship, step


class Stop:
    """The service that `pay` fires when it begins to wait."""

    def __init__(self, fire: Callable[[], object]) -> None:
        self.fire = fire


class Death:
    """The service that keeps `pay` from ever returning, and knows when it has begun."""

    def __init__(self) -> None:
        self.is_near = asyncio.Event()


class Theft:
    """The service that gives the lease of a thread to somebody else."""

    def __init__(self, store: CheckpointStore) -> None:
        self.store = store

    async def commit(self, thread_id: str) -> None:
        lease = await self.store.get_lease(thread_id)
        assert lease is not None
        await self.store.release_lease(lease)
        await self.store.try_acquire_lease(thread_id, "worker-b", 60)


async def pay_waits(order: Order, ctx: Context) -> Order:
    """Waits while the amount is above 10."""
    if order.amount > 10:
        if (stop := ctx.service(Stop)) is not None:
            stop.fire()
        await asyncio.Event().wait()
    return order.replace(paid=True)


async def pay_dies(order: Order, ctx: Context) -> Order:
    """Never returns while there is a `Death`; then says what it was told of the recovery."""
    if (death := ctx.service(Death)) is not None:
        death.is_near.set()
        await asyncio.Event().wait()
    said = f"pay recovery={str(ctx.is_recovery).lower()} key={ctx.idempotency_key}"
    return step(order, said, order.status).replace(paid=True)


async def pay_is_robbed(order: Order, ctx: Context) -> Order:
    """Loses its thread to another worker while it pays."""
    theft = ctx.service(Theft)
    assert theft is not None
    await theft.commit(ctx.thread_id)
    return order.replace(paid=True)


async def slow(order: Order) -> Order:
    """Takes longer than anybody waits."""
    await asyncio.sleep(60)
    return order


def waiting_orders() -> StateGraph[Order]:
    return _line(pay_waits).add_node("ship", ship).add_edge("pay", "ship")


def waiting_last() -> StateGraph[Order]:
    """The wait is in the last node."""
    return _line(pay_waits)


def dying_orders() -> StateGraph[Order]:
    return _line(pay_dies).add_node("ship", ship).add_edge("pay", "ship")


def robbed_orders() -> StateGraph[Order]:
    return _line(pay_is_robbed).add_node("ship", ship).add_edge("pay", "ship")


def slow_orders() -> StateGraph[Order]:
    """receive -> slow, which may take 30 ms."""
    return StateGraph(Order).add_node("receive", receive).add_node("slow", slow, timeout=0.030).add_edge("receive", "slow")


def _line(pay: NodeFunction[Order]) -> StateGraph[Order]:
    return StateGraph(Order).add_node("receive", receive).add_node("pay", pay).add_edge("receive", "pay")
