"""Every kind of node as users write them: clean in every checker, with the types that they count on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from typing_extensions import assert_type

from strata import (
    AnyNode,
    Backoff,
    CompiledGraph,
    Context,
    Event,
    Outcomes,
    State,
    StateGraph,
    all_of,
    boundary,
    branch,
    edge,
    first_matching,
    first_success,
    map_each,
    node,
    on_failure,
    on_reject,
    on_timeout,
    parallel,
    quorum,
    retry,
    subgraph,
    timer,
    wait_for_event,
    when,
)


class Order(State):
    total: int
    approved: bool = False
    notes: list[str] = []


class Check(State):
    item: str
    ok: bool = False


class Payment(msgspec.Struct):
    amount: int


@node
def check(c: Check) -> Check:
    return c.replace(ok=True)


checks = StateGraph(Check).start(check).compile(id="checks")

# Failing


@node
@retry(3, on=(TimeoutError,), backoff=Backoff(initial=0.1, maximum=timedelta(seconds=5), jitter="equal"))
@on_failure("escalate")
@edge("reviews")
async def intake(o: Order, ctx: Context) -> Order:
    await ctx.token("hi")
    return o


def is_busy(error: Exception) -> bool:
    return "busy" in str(error)


@node("careful")
@retry(2, on=is_busy)
@on_failure(intake, on=(ValueError, KeyError))
def careful(o: Order) -> Order:
    return o


# Groups


async def legal(o: Order) -> Order:
    return o.replace(notes=["legal"])


def finance(o: Order, ctx: Context) -> Order:
    return o


class Desk:
    def look(self, o: Order) -> Order:
        return o

    async def ask(self, o: Order, ctx: Context) -> Order:
        return o


@parallel(legal, finance, join=quorum(1))
@retry(1)
@edge("check_items")
def reviews(o: Order, results: list[Order]) -> Order:
    return o.replace(notes=[n for r in results for n in r.notes])


def is_approved(o: Order) -> bool:
    return o.approved


@parallel(
    branch("legal", legal, metadata={"team": "law"}),
    branch("finance", finance, inline=True),
    Desk().look,
    Desk().ask,
    name="race",
    join=first_matching(is_approved, description="approved"),
    partial="keep_succeeded",
    max_concurrency=2,
    branch_timeout=timedelta(seconds=3),
    cancel_siblings=False,
    timeout=60,
    metadata={"team": "all"},
    keep_progress=False,
)
def race(o: Order, outcomes: Outcomes[Order]) -> Order:
    assert_type(outcomes.succeeded, list[Order])
    assert_type(outcomes[0].state, Order | None)
    return o if outcomes.join_met else o.replace(notes=list(outcomes.deciding))


@parallel(legal, finance, join=first_success())
def first(o: Order, results: Sequence[Order]) -> Order:
    return results[0]


@parallel(legal, join=all_of(), name="all")
def every(order: Order, parts: list[Order], /) -> Order:
    return order


assert_type(reviews(Order(total=1), []), Order)

# Maps


def items(o: Order) -> list[str]:
    return o.notes


def item_key(i: str) -> str:
    return i


def to_check(o: Order, i: str) -> Check:
    return Check(item=i)


@map_each(checks, items=items, key=item_key, enter=to_check, join=quorum(2), max_items=3, item_timeout=4)
@edge("one")
def check_items(o: Order, results: Outcomes[Check]) -> Order:
    return o.replace(approved=all(c.ok for c in results.succeeded))


@map_each(checks, items=items, key=str, enter=to_check, name="list", partial="keep_succeeded", max_concurrency=None)
@boundary
@on_reject("one")
def check_list(o: Order, results: list[Check]) -> Order:
    return o.replace(approved=all(c.ok for c in results))


# Graphs inside


def into(o: Order) -> Check:
    return Check(item="x")


@subgraph(checks, enter=into)
@edge("await_payment")
def one(o: Order, c: Check) -> Order:
    return o.replace(approved=c.ok)


@subgraph(checks, enter=into, name="again", timeout=30, metadata={"team": "checks"})
@boundary(timeout=timedelta(hours=1))
@on_timeout("one")
def again(o: Order, c: Check) -> Order:
    return o


# Waits


@wait_for_event("payment", timeout=timedelta(days=2))
@on_timeout("escalate")
@edge("cool_off")
def await_payment(o: Order, p: Payment) -> Order:
    return o.replace(total=o.total - p.amount)


@wait_for_event("ping", name="ping")
@edge("cool_off")
def ping(o: Order) -> Order:
    return o


def when_due(o: Order) -> datetime:
    return datetime.now(UTC)


@timer(60, name="cool_off")
@edge("until")
def cool_off(o: Order) -> Order:
    return o


@timer(until=when_due, name="until", metadata={"why": "the till opens"})
@edge("approve")
def until(o: Order) -> Order:
    return o


assert_type(await_payment.event(Payment(amount=3)), Event)
assert_type(ping.event(), Event)
assert_type(ping.event(None), Event)
Event("payment", payload=Payment(amount=3), overrides={"total": 3})


@node
@boundary(timeout=timedelta(days=1))
@on_reject("escalate")
@on_timeout("escalate")
@when(is_approved, to="ship")
@edge("ship")
def approve(o: Order) -> Order:
    return o


@node
def ship(o: Order) -> Order:
    return o


@node
def escalate(o: Order) -> Order:
    return o


graph = (
    StateGraph(Order)
    .start(intake)
    .nodes(careful, reviews, race, first, every, check_items, check_list, one, again)
    .nodes(await_payment, ping, cool_off, until, approve, ship, escalate)
    .compile(id="orders")
)
assert_type(graph, CompiledGraph[Order])

StateGraph(Order).start(reviews).nodes(check_items, one, await_payment, escalate, cool_off, until, approve, ship).compile()
StateGraph(Order).start(await_payment).nodes(escalate, cool_off, until, approve, ship).compile()

# Targets may be nodes of any kind


@node("turns")
@when(is_approved, to=reviews)
@edge(one)
def turns(o: Order) -> Order:
    return o


@node("waits")
@on_failure(await_payment)
@edge(cool_off)
def waits(o: Order) -> Order:
    return o


# Names that are computed


def reviewer(name: str, others: Sequence[Callable[[Order], Order]]) -> AnyNode[Order]:
    @parallel(*others, name=name)
    @edge(name + "_payment")
    def merged(o: Order, results: list[Order]) -> Order:
        return results[-1]

    return merged


def payer(name: str) -> AnyNode[Order]:
    @wait_for_event("payment." + name, name=name + "_payment")
    @edge(name + "_timer")
    def paid(o: Order, p: Payment) -> Order:
        return o

    return paid


def pauser(name: str) -> AnyNode[Order]:
    @timer(3, name=name + "_timer")
    @edge("list")
    def paused(o: Order) -> Order:
        return o

    return paused


StateGraph(Order).start(reviewer("a", [Desk().look])).nodes(payer("a"), pauser("a"), check_list, one).compile()

# From data

from_data = (
    StateGraph(Order)
    .add_node("intake", intake)
    .add_parallel_group("reviews", [legal, branch("finance", finance)], reviews.__wrapped__, join=quorum(1), max_concurrency=2)
    .add_parallel_group("last", [legal, finance], lambda order, results: order)
    .add_subgraph("one", checks, enter=into, leave=one.__wrapped__, timeout=timedelta(minutes=1))
    .add_map("items", checks, items=items, key=item_key, enter=to_check, merge=check_list.__wrapped__, max_items=5)
    .add_map("outcomes", checks, items=items, key=item_key, enter=to_check, merge=check_items.__wrapped__, join=first_success())
    .add_wait_for_event("payment", "payment.received", fold=await_payment.__wrapped__, timeout=3, on_timeout="ship")
    .add_wait_for_event("ping", "ping", on_timeout=ship, timeout=timedelta(hours=1))
    .add_wait_for_event("paid", "paid", fold=lambda order, payment: order, payload=Payment)
    .add_timer("cool_off", 60)
    .add_timer("until", until=when_due, fold=ship.__wrapped__)
    .set_recovery_policy("intake", retries=3, backoff=Backoff(initial=1, maximum=8), on=ConnectionError, fallback="ship")
    .add_interrupt_boundary("reviews", on_reject="ship", timeout=60, on_timeout=ship)
    .set_branch_metadata("reviews", "legal", {"team": "law"})
)
assert_type(from_data.compile(), CompiledGraph[Order])
