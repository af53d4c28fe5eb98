"""The essay graph as a newcomer has it from the documentation."""

from __future__ import annotations

from strata import Context, State, StateGraph, boundary, edge, node, when


class Essay(State):
    min_score: int
    revision: int = 0
    score: int = 0
    published: bool = False


@node
@edge("review")
def draft(essay: Essay) -> Essay:
    return essay.replace(revision=essay.revision + 1)


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


async def score_of(essay: Essay) -> int:
    return 3 * essay.revision


@node("review")
@when(needs_work, to=draft)
@edge("sign_off")
async def review(essay: Essay, ctx: Context) -> Essay:
    return essay.replace(score=await score_of(essay))


@node
@boundary
@edge("publish")
def sign_off(essay: Essay) -> Essay:
    return essay


@node
def publish(essay: Essay) -> Essay:
    return essay.replace(published=True)


builder = StateGraph(Essay).start(draft).nodes(review, sign_off, publish)
essays = builder.compile(id="essays", version="1", max_node_hops=20)


class Order(State):
    amount: int = 0


@node
def receive(order: Order) -> Order:
    return order


orders = StateGraph(Order).start(receive).compile(id="orders", version="1")
