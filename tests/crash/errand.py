"""The graph whose runs are killed: a loop, sync and async nodes, a failure that somebody mends, a boundary with both ways out."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from strata import CompiledGraph, Context, FatalError, State, StateGraph, boundary, edge, node, on_reject, when

ROUNDS = 3


class Errand(State):
    """`trail` holds the idempotency key of every node that has committed."""

    trail: list[str] = []  # noqa: RUF012 (msgspec copies it)
    rounds: int = 0
    is_mended: bool = False


class Diary:
    """A file beside the database, which nodes append to when they begin. A line is written whole, or not at all."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def write(self, *words: str) -> None:
        os.write(self._file, " ".join(words).encode() + b"\n")


def done(errand: Errand, ctx: Context) -> Errand:
    """Say that the node has begun, and return the state with it in the trail."""
    diary = ctx.service(Diary)
    assert diary is not None
    diary.write("began", ctx.idempotency_key, "again" if ctx.is_recovery else "first")
    return errand.replace(trail=[*errand.trail, ctx.idempotency_key])


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


def errands(*, durable: bool) -> CompiledGraph[Errand]:
    return StateGraph(Errand).start(begin).nodes(work, rest, mend, check, deliver, turn_back).compile(id="errands", version="1", durable=durable)


DELIVERED = ("begin", *("work", "rest") * ROUNDS, "mend", "check", "deliver")
TURNED_BACK = (*DELIVERED[:-1], "turn_back")
ENDED = DELIVERED[:-1]
