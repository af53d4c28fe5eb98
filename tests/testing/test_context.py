"""A context made by hand, and a node's function called with it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from strata import Context, State, node
from strata.testing import TestClock, context


class Essay(State):
    title: str
    words: int = 0


class Printer:
    pass


class Laser(Printer):
    pass


@node
async def write(essay: Essay, ctx: Context) -> Essay:
    for word in ("Rivers", "flow"):
        await ctx.token(word)
    await ctx.diagnostic("written", words=2)
    await ctx.sleep(30)
    return essay.replace(words=2)


async def test_a_node_is_called_with_it_and_its_tokens_are_kept() -> None:
    ctx = context("write")
    assert await write(Essay(title="Rivers"), ctx) == Essay(title="Rivers", words=2)
    assert ctx.tokens == ["Rivers", "flow"]
    assert ctx.diagnostics == [("written", {"words": 2})]
    assert ctx.slept == [30]


def test_what_is_not_said_is_that_of_a_first_attempt() -> None:
    ctx = context("write")
    assert (ctx.node, ctx.path, ctx.attempt, ctx.hop, ctx.thread_id, ctx.run_id) == ("write", "write", 1, 1, "thread", "run-1")
    assert (ctx.decision, ctx.last_failure, ctx.deadline, ctx.graph, ctx.metadata) == (None, None, None, None, {})
    assert (ctx.is_recovery, ctx.recoveries, ctx.streaming, ctx.cancelled) == (False, 0, False, False)
    assert ctx.idempotency_key == "thread/write#1"


def test_ex9_a_context_made_by_hand_has_a_run_id_and_a_key_as_in_a_run() -> None:
    ctx = context("Draft", thread_id="t", attempt=2)
    assert (ctx.path, ctx.attempt, ctx.streaming, ctx.metadata, ctx.cancelled) == ("Draft", 2, False, {}, False)
    assert (ctx.run_id, ctx.idempotency_key) == ("run-1", "t/Draft#1")
    assert context("Draft", run_id="", idempotency_key="").idempotency_key == ""


def test_every_field_can_be_said() -> None:
    deadline = datetime(2030, 1, 1, tzinfo=UTC)
    ctx = context(
        "send",
        thread_id="order-1",
        path="Work/send",
        attempt=3,
        run_id="r",
        hop=7,
        metadata={"tenant": "acme"},
        is_recovery=True,
        recoveries=2,
        deadline=deadline,
        graph="orders",
        streaming=True,
    )
    assert (ctx.path, ctx.attempt, ctx.run_id, ctx.hop, ctx.metadata["tenant"]) == ("Work/send", 3, "r", 7, "acme")
    assert (ctx.is_recovery, ctx.recoveries, ctx.deadline, ctx.graph, ctx.streaming) == (True, 2, deadline, "orders", True)
    assert ctx.idempotency_key == "order-1/Work/send#7"


def test_services_are_found_by_their_type() -> None:
    laser = Laser()
    ctx = context(services=[laser])
    assert ctx.service(Laser) is laser
    assert ctx.service(Printer) is laser
    assert ctx.service(str) is None


def test_a_sync_handler_notices_that_it_is_stopped() -> None:
    ctx = context()
    ctx.raise_if_cancelled()
    ctx.cancel()
    assert ctx.cancelled
    with pytest.raises(asyncio.CancelledError):
        ctx.raise_if_cancelled()


async def test_a_sleep_takes_the_time_of_the_clock_that_is_given() -> None:
    clock = TestClock()
    sleeping = asyncio.create_task(context(clock=clock).sleep(60))
    await clock.advance(59)
    assert not sleeping.done()
    await clock.advance(1)
    assert sleeping.done()
