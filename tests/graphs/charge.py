"""The charge: a payment that fails, by itself or until a switch is on. The graphs that the recorded charges were written by."""

from __future__ import annotations

from collections.abc import Callable

from strata import Context, FatalError, StateGraph, TransientError
from strata.graph.nodes import NodeFunction
from tests.graphs.orders import Order, receive, ship, step


class Switch:
    """The service that the gateway asks whether it is on."""

    def __init__(self, *, is_on: bool) -> None:
        self.is_on = is_on


def busy(attempt: int) -> Exception:
    return TransientError(f"gateway busy (attempt {attempt})")


def declined(attempt: int) -> Exception:
    return FatalError("card declined")


def limited(attempt: int) -> Exception:
    return TransientError("rate limited", retry_after=0.04)


def charge_after(failures: int, error: Callable[[int], Exception]) -> StateGraph[Order]:
    """The charge fails so often, then succeeds; tests say with `set_recovery_policy("charge", ...)` what is done about it."""

    async def charge(order: Order, ctx: Context) -> Order:
        if ctx.attempt <= failures:
            raise error(ctx.attempt)
        return step(order, "charge", order.status).replace(tries=ctx.attempt, paid=True)

    return _around(charge)


def with_manual(graph: StateGraph[Order]) -> StateGraph[Order]:
    """The same with `manual`, which writes down what it was told and goes on to `ship`."""
    return graph.add_node("manual", manual).add_edge("manual", "ship")


async def manual(order: Order, ctx: Context) -> Order:
    failure = ctx.last_failure
    assert failure is not None
    told = f"after {failure.attempts} attempts, timed_out {str(failure.timed_out).lower()}: {failure.message}"
    return order.replace(status="manual", log=[*order.log, f"manual: {failure.node} at {failure.node_path} {told}"])


def charge_fails(error: Callable[[int], Exception]) -> StateGraph[Order]:
    """receive -> charge -> ship, where the charge never succeeds."""

    async def charge(order: Order, ctx: Context) -> Order:
        raise error(ctx.attempt)

    return _around(charge)


def charge_with_switch() -> StateGraph[Order]:
    """The gateway is busy until its switch is on."""

    async def charge(order: Order, ctx: Context) -> Order:
        switch = ctx.service(Switch)
        if switch is None or not switch.is_on:
            raise busy(ctx.attempt)
        return step(order, "charge", order.status).replace(tries=ctx.attempt, paid=True)

    return _around(charge)


def _around(charge: NodeFunction[Order]) -> StateGraph[Order]:
    return (
        StateGraph(Order)
        .add_node("receive", receive)
        .add_node("charge", charge)
        .add_node("ship", ship)
        .add_edge("receive", "charge")
        .add_edge("charge", "ship")
    )
