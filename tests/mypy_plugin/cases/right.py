"""Right graphs of all kinds, also those of which the plugin knows nothing: it is silent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from strata import (
    AnyNode,
    Backoff,
    CompiledGraph,
    Context,
    Outcomes,
    State,
    StateGraph,
    all_of,
    boundary,
    branch,
    edge,
    first_matching,
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
    total: int = 0
    paid: int = 0
    due: datetime | None = None


class Check(State):
    item: int = 0
    passed: bool = False


class Payment(State):
    amount: int


def is_large(order: Order) -> bool:
    return order.total > 100


def has_passed(check: Check) -> bool:
    return check.passed


def has_failed(check: Check) -> bool:
    return not check.passed


@node
@edge("look_again")
def look(check: Check) -> Check:
    return check


@node("look_again", timeout=60)
@when(has_passed, to="end")
@when(has_failed, to=look)
@edge("end")
async def look_twice(check: Check, ctx: Context) -> Check:
    await ctx.token("looks")
    return check


@node(inline=True)
def end(check: Check) -> Check:
    return check


checks = StateGraph(Check).start(look).nodes(look_twice, end).compile(id="checks", version="2")


def legal(order: Order) -> Order:
    return order


async def credit(order: Order, ctx: Context) -> Order:
    return order


def into(order: Order) -> Check:
    return Check(item=order.total)


def numbers(order: Order) -> list[int]:
    return [order.total]


def enter(order: Order, number: int) -> Check:
    return Check(item=number)


def when_due(order: Order) -> datetime:
    assert order.due is not None
    return order.due


@parallel(legal, branch("credit", credit), join=quorum(2), timeout=timedelta(minutes=5))
@retry(2, backoff=Backoff(initial=timedelta(seconds=1), maximum=60))
@on_failure("sorry")
@edge("each")
def reviews(order: Order, outcomes: Outcomes[Order]) -> Order:
    return order


@map_each(checks, items=numbers, key=str, enter=enter, join=all_of(), item_timeout=3, metadata={"team": "checks"})
@edge("inside")
def each(order: Order, results: list[Check]) -> Order:
    return order


@subgraph(checks, enter=into)
@edge("sign_off")
def inside(order: Order, check: Check) -> Order:
    return order


@node
@boundary(timeout=timedelta(days=3))
@on_reject("sorry")
@on_timeout("sorry")
@edge("await_payment")
def sign_off(order: Order) -> Order:
    return order


@wait_for_event("payment.received", timeout=60)
@on_timeout("sorry")
@edge("cool_down")
def await_payment(order: Order, payment: Payment) -> Order:
    return order.replace(paid=payment.amount)


@timer(timedelta(hours=1))
@edge("until_due")
def cool_down(order: Order) -> Order:
    return order


@timer(until=when_due)
@edge("route")
def until_due(order: Order) -> Order:
    return order


to_end = edge("thanks")


@node
@when(is_large, to="reviews")
@to_end
def route(order: Order) -> Order:
    return order


@node
def thanks(order: Order) -> Order:
    return order


@node(timeout=3)
def sorry(order: Order) -> Order:
    return order


wiring = StateGraph(Order).start(reviews).nodes(each, inside)
orders = wiring.nodes(sign_off, await_payment, cool_down).nodes(until_due, route, thanks, sorry).compile(max_node_hops=50)


# Nothing is known of these


def made(name: str, target: str) -> AnyNode[Order]:
    @node(name)
    @edge(target)
    def step(order: Order) -> Order:
        return order

    return step


StateGraph(Order).start(made("first", "second")).nodes(made("second", "third")).validate()

some = (thanks, sorry)
StateGraph(Order).start(sign_off).nodes(*some).validate()


def around(child: CompiledGraph[Check], guard: Callable[[Order], bool]) -> CompiledGraph[Order]:
    @subgraph(child, enter=into)
    @when(guard, to="around_it")
    def around_it(order: Order, check: Check) -> Order:
        return order

    return StateGraph(Order).start(around_it).compile()


built = StateGraph(Order).add_node("a", legal).add_edge("a", "b").add_node("b", legal).compile()


def each_of(order: Order, results: list[Order]) -> Order:
    return order


picked = parallel(*[legal], join=first_matching(is_large), name="picked")(each_of)
by_hand = node("by_hand")(legal)
StateGraph(Order).start(picked).validate()
StateGraph(Order).start(by_hand).compile()
orders.approve("ann").override(total=3, due=None).at(signal=orders.amend("ann"))


# A variable that is assigned again says nothing, and a graph that grows in a loop lets mypy come to an end


def grown(more: list[AnyNode[Order]], both: bool) -> None:
    graph = StateGraph(Order).start(sign_off)
    for one in (await_payment, cool_down, until_due):
        graph = graph.nodes(one)
    for other in more:
        graph = graph.nodes(other)
    if both:
        graph = graph.nodes(route)
    graph.validate()


class Holder:
    def __init__(self) -> None:
        self.graph = StateGraph(Order).start(sign_off)

    def add(self) -> None:
        while len(self.graph.validate()) > 3:
            self.graph = self.graph.nodes(thanks)
