"""What decorators and `compile` refuse when the module is imported, so that this one cannot be."""

from __future__ import annotations

from strata import Context, State, StateGraph, boundary, edge, node, on_failure, on_reject, on_timeout, parallel, retry, strata_tool, timer, wait_for_event, when


class Order(State):
    total: int = 0


class Letter(State):
    text: str = ""


def legal(order: Order) -> Order:
    return order


@node
def done(order: Order) -> Order:
    return order


# Functions


@node  # E: node 'greedy': nothing fills its parameter 'more': a node takes the state, and a parameter annotated Context [strata-wrong-function]
@edge("done")
def greedy(order: Order, ctx: Context, more: int) -> Order:
    return order


@node  # E: node 'forgets' gives back nothing, and a state is asked of it: return one on every way through the function [strata-nothing-returned]
@edge("done")
def forgets(order: Order) -> None:
    order.replace(total=1)


@node  # E: node 'confused' takes Order and gives back Letter [strata-wrong-function]
@edge("done")
async def confused(order: Order) -> Letter:
    return Letter()


@node  # E: node 'doubtful' takes Order and gives back Order | None [strata-wrong-function]
@edge("done")
def doubtful(order: Order) -> Order | None:
    return order


@node(inline=True)  # E: node 'in_place': inline=True is for sync functions, and this one is async [strata-wrong-function]
@edge("done")
async def in_place(order: Order) -> Order:
    return order


StateGraph(Order).start(in_place).nodes(done)
StateGraph(Order).start(greedy).nodes(done)
StateGraph(Order).start(forgets).nodes(done)
StateGraph(Order).start(confused).nodes(done)
StateGraph(Order).start(doubtful).nodes(done)


# Marks


@node
@on_reject("done")  # E: node 'asked_nobody' has @on_reject and no @boundary: put @boundary above @on_reject [strata-misplaced-decorator]
@on_timeout("done")  # E: node 'asked_nobody' has @on_timeout and no @boundary: put @boundary(timeout=...) above @on_timeout [strata-misplaced-decorator]
@edge("done")
def asked_nobody(order: Order) -> Order:
    return order


@node
@boundary  # E: @boundary stands twice on 'asked_twice': remove one [strata-misplaced-decorator]
@edge("done")
@boundary
def asked_twice(order: Order) -> Order:
    return order


@wait_for_event("paid")
@retry(3)  # E: wait 'tried_again' has @retry, and a wait does nothing that could fail: remove @retry, or put it on the node behind [strata-misplaced-decorator]
@on_reject("done")  # E: wait 'tried_again' has @on_reject, and no person answers a wait: remove @on_reject [strata-misplaced-decorator]
@edge("done")
def tried_again(order: Order) -> Order:
    return order


@timer(60)
@on_failure("done")  # E: timer 'late' has @on_failure, and a timer does nothing that could fail [strata-misplaced-decorator]
@on_timeout("done")  # E: timer 'late' has @on_timeout, and a timer only has its time: say with @edge where it leads [strata-misplaced-decorator]
@edge("done")
def late(order: Order) -> Order:
    return order


@node("doubled")  # E: node 'doubled' has two top decorators: remove one @node [strata-misplaced-decorator]
@node
@edge("done")
def doubled(order: Order) -> Order:
    return order


StateGraph(Order).start(asked_nobody).nodes(done)
StateGraph(Order).start(asked_twice).nodes(done)
StateGraph(Order).start(tried_again).nodes(done)
StateGraph(Order).start(late).nodes(done)
StateGraph(Order).start(doubled).nodes(done)


# Options of compile


StateGraph(Order).start(done).compile(version="1")  # E: graph_version needs a graph_id [strata-version-without-id]
StateGraph(Order).start(done).compile(migrate=lambda old: old)  # E: a migration needs a graph_id [strata-migration-without-id]
StateGraph(Order).start(done).compile(id="")  # E: graph_id must not be blank [strata-blank-graph-id]
StateGraph(Order).start(done).compile(id="orders", version=" ")  # E: graph_version must not be blank [strata-blank-graph-version]
StateGraph(Order).start(done).compile(max_node_hops=0)  # E: max_node_hops must be at least 1 [strata-hop-limit]
StateGraph(Order).start(done).compile(max_node_hops=2**32)


# What mypy finds by itself is said once


@parallel(legal)  # E: Argument 1 to "__call__" of "MergeDecorator" has incompatible type "Callable[[Order], Order]" [arg-type]
def lone(order: Order) -> Order:
    return order


async def is_slow(order: Order) -> bool:
    return True


@node
@when(is_slow, to="done")  # E: incompatible type "Callable[[Order], Coroutine[Any, Any, bool]]"; expected "Callable[[Order], bool]" [arg-type]
def guarded(order: Order) -> Order:
    return order


@strata_tool
def untyped(order: str, cents) -> str:  # E: Function is missing a type annotation for one or more parameters [no-untyped-def]
    """Refund it."""
    return order


StateGraph(Order).nodes(done)  # E: Argument 1 to "nodes" of "StateGraph" has incompatible type [arg-type]
StateGraph(Order).start(done).start(done)  # E: Argument 1 to "start" of "Wiring" has incompatible type [arg-type]
StateGraph(Letter).start(done)  # E: has incompatible type "Node[Order, [arg-type]
