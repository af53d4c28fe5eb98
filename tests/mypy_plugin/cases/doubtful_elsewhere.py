"""Variables of another module that have two values, or that a function there binds again."""

from __future__ import annotations

from doubtful import Order, chosen, made, mark, one, pausing, two, work

from strata import StateGraph, node, subgraph


@node
@mark
def by_mark(order: Order) -> Order:
    return order


@node
@chosen
def by_match(order: Order) -> Order:
    return order


@node
@made
def by_made(order: Order) -> Order:
    return order


@subgraph(pausing, enter=work)
def inside(order: Order, inner: Order) -> Order:
    return order


StateGraph(Order).start(by_mark).nodes(two).validate()
StateGraph(Order).start(by_match).nodes(two).validate()
StateGraph(Order).start(by_made).nodes(two).validate()
StateGraph(Order).start(inside).compile()
StateGraph(Order).start(inside).compile(durable=False)


# And a graph of this one, to show that it is looked at


@node  # E: Node 'lonely' is isolated and unreachable from the entry point 'by_itself'. [strata-orphan] # E: from the entry point 'one'. [strata-orphan]
def lonely(order: Order) -> Order:
    return order


@node
def by_itself(order: Order) -> Order:
    return order


StateGraph(Order).start(by_itself).nodes(lonely).validate()

# What a loop goes over is itself still known, here and where it was made

for step in (by_itself, lonely, one, two):
    assert step.name
StateGraph(Order).start(one).nodes(two).validate()  # E: Node 'two' is isolated and unreachable from the entry point 'one'. (declared in "doubtful.two") [strata-orphan]
StateGraph(Order).start(one).nodes(lonely).validate()
