"""Groups, graphs inside graphs, and maps that do not fit."""

from __future__ import annotations

from strata import (
    CompiledGraph,
    Outcomes,
    Problem,
    State,
    StateGraph,
    boundary,
    branch,
    edge,
    first_matching,
    first_success,
    map_each,
    node,
    parallel,
    quorum,
    subgraph,
    wait_for_event,
    when,
)

problems: list[Problem] = []
"""What the graphs below say of themselves when they run."""


class Order(State):
    total: int = 0


class Check(State):
    item: int = 0


def legal(order: Order) -> Order:
    return order


async def credit(order: Order) -> Order:
    return order


@node
def done(order: Order) -> Order:
    return order


def is_large(order: Order) -> bool:
    return order.total > 100


# Groups


@parallel(legal, credit, join=quorum(3))  # E: Parallel group 'too_many' has a quorum of 3, which isn't between 1 and its 2 branches. [strata-invalid-quorum]
@edge("done")
def too_many(order: Order, results: list[Order]) -> Order:
    return order


@parallel(legal, branch("legal", credit), max_concurrency=0, name="alike")  # E: parallel group 'alike' has more than one branch named 'legal' [strata-duplicate-branch] # E: parallel group 'alike' has a max_concurrency of 0 [strata-concurrency-not-positive]
@edge("too_many")
def merges(order: Order, outcomes: Outcomes[Order]) -> Order:
    return order


@parallel(branch("a/b", legal), credit, join=first_success(), branch_timeout=0)  # E: the name of branch 'a/b' of parallel group 'slashed' has a '/' [strata-slash-in-name] # E: parallel group 'slashed' has a branch timeout of zero [strata-timeout-not-positive]
@edge("alike")
def slashed(order: Order, results: list[Order]) -> Order:
    return order


problems.extend(StateGraph(Order).start(slashed).nodes(merges, too_many, done).validate())


@parallel(join=first_matching(is_large))  # E: parallel group 'nothing' has no branches [strata-empty-group]
def nothing(order: Order, results: list[Order]) -> Order:
    return order


problems.extend(StateGraph(Order).start(nothing).validate())


# Graphs inside


@node
@boundary
@edge("look_on")
def look(check: Check) -> Check:
    return check


@wait_for_event("seen")
@edge("end")
def look_on(check: Check) -> Check:
    return check


@node
def end(check: Check) -> Check:
    return check


checks = StateGraph(Check).start(look).nodes(look_on, end).compile(id="checks", durable=False)


def into(order: Order) -> Check:
    return Check()


def items(order: Order) -> list[int]:
    return [order.total]


def enter(order: Order, item: int) -> Check:
    return Check(item=item)


@map_each(checks, items=items, key=str, enter=enter, max_items=0, item_timeout=-1, join=quorum(0))  # E: map 'each' runs a graph with a wait at 'look_on'; a map item can't freeze [strata-wait-in-map] # E: map 'each' runs a graph with an interrupt boundary at 'look'; [strata-boundary-in-map] # E: map 'each' has a max_items of 0 [strata-max-items-not-positive] # E: map 'each' has an item timeout of -1 s [strata-timeout-not-positive] # E: Map 'each' has a quorum of 0 [strata-invalid-quorum] # E: the graph inside 'each' was compiled with durable=False [strata-child-durability]
@edge("inside")
def each(order: Order, results: list[Check]) -> Order:
    return order


@subgraph(checks, enter=into)  # E: the graph inside 'inside' was compiled with durable=False, and this one with durable=True [strata-child-durability]
@edge("nowhere")  # E: Edge 'inside' -> 'nowhere' points at 'nowhere' [strata-dangling-edge]
def inside(order: Order, check: Check) -> Order:
    return order


problems.extend(StateGraph(Order).start(each).nodes(inside).validate())


# A pause in a graph inside is a way out of a loop, and may be one in a graph of which nothing is known


def is_open(order: Order) -> bool:
    return True


@subgraph(checks, enter=into)  # E: compiled with durable=False [strata-child-durability]
@when(is_open, to="asked")
def asked(order: Order, check: Check) -> Order:
    return order


problems.extend(StateGraph(Order).start(asked).validate())


def of_unknown(child: CompiledGraph[Check]) -> None:
    @subgraph(child, enter=into)
    @when(is_open, to="asked")
    def asked(order: Order, check: Check) -> Order:
        return order

    problems.extend(StateGraph(Order).start(asked).validate())
