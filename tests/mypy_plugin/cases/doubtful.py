"""What may be one thing or another when it runs: nothing is known of it, and nothing is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from strata import AnyNode, State, StateGraph, StoredLevel, boundary, edge, node, on_timeout, parallel, subgraph, when

F = TypeVar("F", bound=Callable[..., Any])


class Order(State):
    total: int = 0


def is_large(order: Order) -> bool:
    return order.total > 100


def work(order: Order) -> Order:
    return order


@node
def one(order: Order) -> Order:
    return order


@node
def two(order: Order) -> Order:
    return order


def some() -> bool:
    return True


# Marks that a loop adds, one to the other

marked: Any = work
for name in ("one", "two"):
    marked = when(is_large, to=name)(marked)
StateGraph(Order).start(node("grown")(marked)).nodes(one, two).validate()


def grown(names: list[str]) -> AnyNode[Order]:
    fn: Any = edge("one")(work)
    for name in names:
        fn = when(is_large, to=name)(fn)
    return node("grown")(fn)


StateGraph(Order).start(grown(["two"])).nodes(one, two).validate()

# Nodes that a loop makes

for target in (one, two):

    @node("each")
    @edge(target)
    def each(order: Order) -> Order:
        return order

    StateGraph(Order).start(each).nodes(target).validate()

for first, second in ((one, two), (two, one)):

    @node("pair")
    @edge(first)
    def pair(order: Order) -> Order:
        return order

    StateGraph(Order).start(pair).nodes(first).validate()

# Variables with two values

mark = edge("one")
if some():
    mark = edge("two")


@node
@mark
def by_mark(order: Order) -> Order:
    return order


StateGraph(Order).start(by_mark).nodes(two).validate()

if (other := edge("one")) and some() and (other := edge("two")):
    pass


@node
@other
def by_other(order: Order) -> Order:
    return order


StateGraph(Order).start(by_other).nodes(two).validate()

match some():
    case True:
        chosen = edge("one")
    case False:
        chosen = edge("two")


@node
@chosen
def by_match(order: Order) -> Order:
    return order


StateGraph(Order).start(by_match).nodes(two).validate()

goal = one
if some():
    goal = two


@node
@edge(goal)
def by_goal(order: Order) -> Order:
    return order


StateGraph(Order).start(by_goal).nodes(two).validate()


@node
@edge(one if some() else two)
def by_condition(order: Order) -> Order:
    return order


StateGraph(Order).start(by_condition).nodes(two).validate()

STEP = "one"
if some():
    STEP = "two"


@node
@edge(STEP)
def by_name(order: Order) -> Order:
    return order


StateGraph(Order).start(by_name).nodes(two).validate()

marks = [edge("one"), edge("two")]
by_key = {"a": edge("one")}
by_key["a"] = edge("two")


@node
@marks[1]
def by_index(order: Order) -> Order:
    return order


@node
@by_key["a"]
def by_entry(order: Order) -> Order:
    return order


StateGraph(Order).start(by_index).nodes(two).validate()
StateGraph(Order).start(by_entry).nodes(two).validate()


# Settings that may be None, or either


def settings(
    timeout: float | None, version: str | None, name: str | None, durable: bool, migrate: Callable[[StoredLevel], StoredLevel | None] | None
) -> None:
    @node("quick", inline=True, timeout=timeout)
    @edge("one")
    def quick(order: Order) -> Order:
        return order

    @node("asks")
    @boundary(timeout=timeout)
    @on_timeout("two")
    @edge("one")
    def asks(order: Order) -> Order:
        return order

    child = StateGraph(Order).start(one).compile(durable=durable)

    @subgraph(child, enter=work, name="inside")
    def inside(order: Order, inner: Order) -> Order:
        return order

    StateGraph(Order).start(quick).nodes(one).compile(version=version, migrate=migrate)
    StateGraph(Order).start(asks).nodes(one, two).compile(id=version, version="1")
    StateGraph(Order).start(inside).compile()
    StateGraph(Order).start(inside).compile(durable=False)
    StateGraph(Order).start(one).compile(id=name, version=name, migrate=migrate)


def of_two(name: Literal["one", "two"]) -> None:
    @node("either")
    @edge(name)
    def either(order: Order) -> Order:
        return order

    StateGraph(Order).start(either).nodes(one if name == "one" else two).validate()


# A decorator of one's own between ours keeps what is known of those below it


def audited(fn: F) -> F:
    return fn


@node  # E: Edge 'seen' -> 'nobody' points at 'nobody', which is not a node in the graph. [strata-dangling-edge]
@edge("nobody")
@audited
def seen(order: Order) -> Order:
    return order


StateGraph(Order).start(seen).validate()


def branch_of(order: Order) -> Order:
    return order


both = parallel(branch_of, name="both")
StateGraph(Order).start(both(lambda order, results: order)).validate()


# What another module may import: doubtful_elsewhere.py

if some():
    pausing = StateGraph(Order).start(one).compile()
else:
    pausing = StateGraph(Order).start(two).compile(durable=False)


def make() -> None:
    global made
    made = edge("two")


made = edge("one")
