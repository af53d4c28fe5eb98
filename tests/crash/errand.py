"""A plain graph whose runs are killed: a loop, sync and async nodes, a failure that somebody mends, a boundary with both ways out."""

from __future__ import annotations

import asyncio
from typing import Any

from strata import Context, FatalError, Outcome, Runner, State, StateGraph, Thread, boundary, edge, node, on_reject, when
from tests.crash.diary import begun
from tests.crash.plot import Job, Plot, numbered

ROUNDS = 3


class Errand(State):
    """`trail` holds the idempotency key of every node that has committed."""

    trail: list[str] = []  # noqa: RUF012 (msgspec copies it)
    rounds: int = 0
    is_mended: bool = False


def done(errand: Errand, ctx: Context) -> Errand:
    return errand.replace(trail=[*errand.trail, begun(ctx)])


@node
@edge("work")
async def begin(errand: Errand, ctx: Context) -> Errand:
    return done(errand, ctx)


@node
@edge("rest")
def work(errand: Errand, ctx: Context) -> Errand:
    """On a worker thread."""
    return done(errand, ctx).replace(rounds=errand.rounds + 1)


def is_long(errand: Errand) -> bool:
    return errand.rounds < ROUNDS


@node
@when(is_long, to=work)
@edge("mend")
async def rest(errand: Errand, ctx: Context) -> Errand:
    rested = done(errand, ctx)
    await asyncio.sleep(0.001)
    return rested


@node
@edge("check")
async def mend(errand: Errand, ctx: Context) -> Errand:
    after = done(errand, ctx)
    if not errand.is_mended:
        raise FatalError("broken")
    return after


@node(inline=True)
@boundary
@edge("deliver")
@on_reject("turn_back")
def check(errand: Errand, ctx: Context) -> Errand:
    return done(errand, ctx)


@node
async def deliver(errand: Errand, ctx: Context) -> Errand:
    return done(errand, ctx)


@node
async def turn_back(errand: Errand, ctx: Context) -> Errand:
    return done(errand, ctx)


TO_THE_CHECK = ("begin", *("work", "rest") * ROUNDS, "mend", "check")
TRAILS = {
    "approve": numbered(*TO_THE_CHECK, "deliver"),
    "reject": numbered(*TO_THE_CHECK, "turn_back"),
    "end": numbered(*TO_THE_CHECK),
}


def errands(*, durable: bool) -> Plot:
    graph = StateGraph(Errand).start(begin).nodes(work, rest, mend, check, deliver, turn_back).compile(id="errands", version="1", durable=durable)

    async def answer(runner: Runner[Any], job: Job, _: Thread[Any]) -> Outcome[Any]:
        if job.way == "end":
            return await runner.end(job.thread_id, by="ops")
        return await runner.resume(job.thread_id, graph.approve("ann") if job.way == "approve" else graph.reject("ann"))

    return Plot(
        name="errand" if durable else "errand in memory",
        graph=graph,
        start=lambda job: Errand(),
        trails=TRAILS if durable else {"end": TRAILS["end"]},
        answer=answer,
        mended=graph.amend().override(is_mended=True),
        begins_twice=frozenset({"mend#8"}),
        untold=frozenset({"mend#8"}),  # it is resumed after it has failed, not recovered
    )
