"""What each checker shows of the types that users meet; tests/test_typing.py says how to read the comments."""

from __future__ import annotations

import msgspec
from typing_extensions import reveal_type

from strata import (
    Cancelled,
    Committed,
    Completed,
    Context,
    Failed,
    HopLimitExceeded,
    Interrupted,
    NodeStarted,
    Outcomes,
    Runner,
    State,
    StateGraph,
    Token,
    boundary,
    edge,
    map_each,
    node,
    parallel,
    subgraph,
    timer,
    wait_for_event,
    when,
)


class Order(State):
    total: int
    approved: bool = False


class Check(State):
    item: str
    ok: bool = False


class Payment(msgspec.Struct):
    amount: int


# Fields


def of_fields(order: Order) -> None:
    reveal_type(order.total)  # int
    reveal_type(order.replace(approved=True))  # Order


# Marks and nodes


def is_large(order: Order) -> bool:
    reveal_type(order)  # Order
    return order.total > 100


@edge("approve")
def wired(order: Order) -> Order:
    return order


@node("price")
@when(is_large, to="approve")
@edge("ship")
def price(order: Order) -> Order:
    return order


@node
@boundary
@edge("ship")
def approve(order: Order, ctx: Context) -> Order:
    return order


@node("ship")
def ship(order: Order) -> Order:
    return order


@node("check")
def check(one: Check) -> Check:
    return one


reveal_type(edge("ship"))  # Route[Literal['ship']]; mypy: str
reveal_type(edge(price))  # Route[Literal['price']]; mypy: str
reveal_type(when(is_large, to="ship"))  # Guarded[Order, Literal['ship']]; mypy: str
reveal_type(wired)  # Wired[(order: Order) -> Order, Literal['approve']]; mypy: str
reveal_type(price)  # Node[Order, (Order) -> Order, Literal['price'], Literal['approve', 'ship']]; mypy: str
reveal_type(approve)  # Node[Order, (Order, ctx: Context) -> Order, LiteralString, Literal['ship']]; mypy: str
reveal_type(ship)  # Node[Order, (Order) -> Order, Literal['ship'], Never]; mypy: str
reveal_type(price.name)  # Literal['price']; mypy: str
reveal_type(price(Order(total=1)))  # Order

checks = StateGraph(Check).start(check).compile(id="checks")


def legal(order: Order) -> Order:
    return order


@parallel(legal, name="reviews")
@edge("each")
def reviews(order: Order, outcomes: Outcomes[Order]) -> Order:
    reveal_type(outcomes.succeeded)  # list[Order]
    reveal_type(outcomes[0])  # BranchOutcome[Order]
    return order


def items(order: Order) -> list[int]:
    return []


def enter(order: Order, item: int) -> Check:
    return Check(item=str(item))


@map_each(checks, items=items, key=str, enter=enter, name="each")
@edge("inside")
def each(order: Order, results: list[Check]) -> Order:
    return order


def into(order: Order) -> Check:
    return Check(item="")


@subgraph(checks, enter=into, name="inside")
@edge("await_payment")
def inside(order: Order, checked: Check) -> Order:
    return order


@wait_for_event("paid", name="await_payment")
@edge("cool_down")
def await_payment(order: Order, payment: Payment) -> Order:
    return order


@timer(60, name="cool_down")
@edge("price")
def cool_down(order: Order) -> Order:
    return order


reveal_type(reviews)  # Composite[Order, (Order, Outcomes[Order]) -> Order, Literal['reviews'], Literal['each']]; mypy: str
reveal_type(each)  # Composite[Order, (Order, list[Check]) -> Order, Literal['each'], Literal['inside']]; mypy: str
reveal_type(inside)  # Composite[Order, (Order, Check) -> Order, Literal['inside'], Literal['await_payment']]; mypy: str
reveal_type(await_payment)  # Wait[Order, (Order, Payment) -> Order, Literal['await_payment'], Literal['cool_down'], Payment]; mypy: str
reveal_type(await_payment.event(Payment(amount=3)))  # Event
reveal_type(cool_down)  # Composite[Order, (Order) -> Order, Literal['cool_down'], Literal['price']]; mypy: str

# Graphs

started = StateGraph(Order).start(reviews)
reveal_type(StateGraph(Order))  # StateGraph[Order]
reveal_type(started)  # Wiring[Order, Literal['reviews'], Literal['each']]; mypy: str
orders = started.nodes(each, inside, await_payment, cool_down, price, approve, ship).compile(id="orders")
reveal_type(orders)  # CompiledGraph[Order]
reveal_type(orders.approve("ann"))  # Signal[Order]
reveal_type(orders.approve("ann").override(approved=True))  # Signal[Order]
reveal_type(orders.approve("ann").at(signal=checks.reject("bob")))  # Signal[Order]
reveal_type(orders.definition())  # Definition
reveal_type(orders.warnings)  # tuple[Problem, ...]


# Running


async def runs(runner: Runner[Order], ctx: Context) -> None:
    reveal_type(Runner(orders))  # Runner[Order]
    outcome = await runner.run("order-1", Order(total=1))
    reveal_type(outcome)  # Cancelled[Order] | Completed[Order] | Failed[Order] | Interrupted[Order]
    reveal_type(outcome.unwrap())  # Order
    match outcome:
        case Completed(order):
            reveal_type(order)  # Order; ty: Order | Unknown
        case Interrupted(order, waiting_at=path, wait=wait):
            reveal_type(order)  # Order; ty: Order | Unknown
            reveal_type(path)  # tuple[str, ...]
            reveal_type(wait)  # None | WaitingFor
        case HopLimitExceeded(node=name, limit=limit):
            reveal_type(name)  # str
            reveal_type(limit)  # int
        case Failed(node=name, error=error):
            reveal_type(error)  # BaseException | None
        case Cancelled(reason=reason):
            reveal_type(reason)  # Literal['deadline', 'ended', 'lease_lost', 'requested', 'superseded']
    reveal_type(await runner.resume("order-1", orders.approve("ann")))  # Cancelled[Order] | Completed[Order] | Failed[Order] | Interrupted[Order]
    arrived = await_payment.event(Payment(amount=3))
    reveal_type(await runner.signal("order-1", arrived))  # Cancelled[Order] | Completed[Order] | Failed[Order] | Interrupted[Order]
    reveal_type(await runner.end("order-1"))  # Cancelled[Order]
    thread = await runner.thread("order-1")
    reveal_type(thread)  # Thread[Order]
    reveal_type(thread.state)  # Order
    reveal_type(thread.raw_state)  # bytes
    reveal_type(thread.waiting_at)  # tuple[str, ...]
    reveal_type(thread.questions)  # tuple[Question, ...]
    async for record in runner.log("order-1"):
        reveal_type(record)  # Record[Order]
    async with runner.stream("order-2", Order(total=2)) as events:
        reveal_type(events)  # RunStream[Order]
        async for event in events:
            reveal_type(event)  # StreamEvent
            match event:
                case Token(text=text):
                    reveal_type(text)  # str
                case NodeStarted(path=started_at):
                    reveal_type(started_at)  # str
                case Committed():
                    reveal_type(event)  # Committed
                case _:
                    pass
        reveal_type(events.outcome)  # Cancelled[Order] | Completed[Order] | Failed[Order] | Interrupted[Order]


# In handlers


async def asks(ctx: Context) -> None:
    reveal_type(ctx.interrupt("go on?"))  # Decision
    reveal_type(ctx.interrupt("which?", returns=list[str]))  # list[str]
    reveal_type(ctx.interrupt("which?", returns=str | None))  # None | str
    reveal_type(await ctx.once("paid", paid_later))  # Payment
    reveal_type(await ctx.once("paid", paid))  # Payment
    reveal_type(ctx.once_sync("paid", paid))  # Payment
    reveal_type(ctx.service(Payment))  # None | Payment


def paid() -> Payment:
    return Payment(amount=3)


async def paid_later() -> Payment:
    return Payment(amount=3)
