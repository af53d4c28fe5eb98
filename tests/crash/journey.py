"""A graph of every other kind whose runs are killed: a group, a map, a retry, a graph inside that pauses twice, an event with a timeout, a timer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from strata import (
    Context,
    Outcome,
    Runner,
    State,
    StateGraph,
    Thread,
    TransientError,
    boundary,
    edge,
    map_each,
    node,
    on_reject,
    on_timeout,
    parallel,
    retry,
    subgraph,
    timer,
    wait_for_event,
)
from tests.crash.diary import begun, give_once
from tests.crash.plot import Job, Plot, Trail

HOUR = timedelta(hours=1)


class Trip(State):
    """`trail` holds the idempotency key of every node that has committed; `name` is the thread's id."""

    name: str
    trail: list[str] = []  # noqa: RUF012 (msgspec copies it)


def done(trip: Trip, ctx: Context) -> Trip:
    return trip.replace(trail=[*trip.trail, begun(ctx)])


def met(trip: Trip, step: str) -> Trip:
    """A wait has no context: it says here what it would say."""
    return trip.replace(trail=[*trip.trail, f"{trip.name}/{step}"])


def together(trip: Trip, parts: list[Trip]) -> Trip:
    return trip.replace(trail=[*trip.trail, *(key for part in parts for key in part.trail[len(trip.trail) :])])


# For each item of the map


@node
@edge("press")
async def shear(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@node
def press(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


# Inside, where the thread pauses twice


@node
@edge("ask")
async def ponder(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@node
@boundary
@on_reject("shrug")
@edge("thank")
async def ask(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@node
@edge("echo")
async def thank(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@node
@edge("echo")
def shrug(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@wait_for_event("echo.heard")
@edge("leave")
def echo(trip: Trip, word: str) -> Trip:
    assert word == "hello"
    return met(trip, "inside/echo#5.4")


@node
async def leave(trip: Trip, ctx: Context) -> Trip:
    after = done(trip, ctx)
    await give_once(ctx)
    return after


# Around it


def left(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


async def right(trip: Trip, ctx: Context) -> Trip:
    after = done(trip, ctx)
    await asyncio.sleep(0.001)
    return after


@parallel(left, right)
@edge("cut")
def read(trip: Trip, results: list[Trip]) -> Trip:
    return together(trip, results)


def pieces(_: Trip) -> list[str]:
    return ["a", "b", "c"]


def same(trip: Trip, _: str) -> Trip:
    return trip


@map_each(StateGraph(Trip).start(shear).nodes(press).compile(), items=pieces, key=str, enter=same, max_concurrency=2)
@edge("stutter")
def cut(trip: Trip, results: list[Trip]) -> Trip:
    return together(trip, results)


@node
@retry(1)
@edge("settle")
async def stutter(trip: Trip, ctx: Context) -> Trip:
    after = done(trip, ctx)
    await give_once(ctx)
    if ctx.attempt == 1:
        raise TransientError("once more")
    return after


@node(inline=True)
@edge("inside")
def settle(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


def alone(trip: Trip) -> Trip:
    return trip.replace(trail=[])


inner = StateGraph(Trip).start(ponder).nodes(ask, thank, shrug, echo, leave).compile(id="inside", version="1")


@subgraph(inner, enter=alone)
@edge("word")
def inside(trip: Trip, child: Trip) -> Trip:
    return trip.replace(trail=[*trip.trail, *child.trail])


@wait_for_event("word.said", timeout=HOUR)
@on_timeout("miss")
@edge("nap")
def word(trip: Trip) -> Trip:
    return met(trip, "word#6")


@timer(HOUR)
@edge("arrive")
def nap(trip: Trip) -> Trip:
    return met(trip, "nap#7")


@node
async def arrive(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


@node
def miss(trip: Trip, ctx: Context) -> Trip:
    return done(trip, ctx)


TO_THE_QUESTION: Trail = (
    ("read/left#1", "read/right#1"),
    tuple(f"cut/{piece}/{step}" for piece in "abc" for step in ("shear#2.1", "press#2.2")),
    ("stutter#3",),
    ("settle#4",),
    ("inside/ponder#5.1",),
    ("inside/ask#5.2",),
)
BACK: Trail = (("inside/echo#5.4",), ("inside/leave#5.5",))
ON: Trail = (("word#6",), ("nap#7",), ("arrive#8",))
TRAILS = {
    "approve": (*TO_THE_QUESTION, ("inside/thank#5.3",), *BACK, *ON),
    "reject": (*TO_THE_QUESTION, ("inside/shrug#5.3",), *BACK, *ON),
    "late": (*TO_THE_QUESTION, ("inside/thank#5.3",), *BACK, ("miss#7",)),
    "end": TO_THE_QUESTION,
}


def journeys() -> Plot:
    return Plot(
        name="journey",
        graph=StateGraph(Trip).start(read).nodes(cut, stutter, settle, inside, word, nap, arrive, miss).compile(id="journeys", version="1"),
        start=lambda job: Trip(name=job.thread_id),
        trails=TRAILS,
        answer=answer,
        mended=inner.amend(),
        waits=frozenset({"word", "nap"}),
        begins_twice=frozenset({"stutter#3"}),
    )


async def answer(runner: Runner[Any], job: Job, thread: Thread[Any]) -> Outcome[Any]:
    match thread.waiting_at[-1], job.way:
        case "ask", "end":
            return await runner.end(job.thread_id, by="ops")
        case "ask", "reject":
            return await runner.resume(job.thread_id, inner.reject("ann"))
        case "ask", _:
            return await runner.resume(job.thread_id, inner.approve("ann"))
        case "echo", _:
            return await runner.signal(job.thread_id, echo.event("hello"))
        case "word", way if way != "late":
            return await runner.signal(job.thread_id, word.event())
        case _:
            report = await runner.wake_due(now=datetime.now(UTC) + 2 * HOUR, metadata={"job": job.thread_id})
            assert [woken.thread_id for woken in report.woken] == [job.thread_id], report
            return report.woken[0].outcome
