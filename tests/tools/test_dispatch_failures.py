"""A tool that raises, hangs, is cancelled or writes half: what the model is told, what the node sees, what is recorded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Any

import msgspec
import pytest

from strata import (
    Cancelled,
    Completed,
    Context,
    Diagnostic,
    Failed,
    FatalError,
    Runner,
    StateGraph,
    ToolCallDenied,
    ToolCallFailed,
    ToolCancelled,
    ToolError,
    ToolExecutionFailure,
    ToolInvalid,
    ToolNotFound,
    ToolRegistry,
    TransientError,
    strata_tool,
)
from strata.ports.events import NodeCompleted, RetryScheduled, ToolCallCompleted, ToolCallStarted
from strata.testing import EventRecorder
from strata.tools import ToolContext
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.tools.calls import asking, until


def raising(error: BaseException) -> Any:
    @strata_tool("raises")
    async def raises() -> str:
        """Raises."""
        raise error

    return raises


@strata_tool
async def hangs(ctx: ToolContext) -> str:
    """Never ends by itself."""
    await ctx.wait_cancelled()
    return "never"


async def of_tool(tool: Any, arguments: str = "{}", context: ToolContext | None = None) -> str:
    tools = ToolRegistry([tool])
    return await tools.dispatch(tools.names[0], arguments, context)


# What it raises


async def test_what_a_function_raises_is_the_cause_of_the_failure() -> None:
    error = LookupError("no order o-1")
    with pytest.raises(ToolExecutionFailure) as raised:
        await of_tool(raising(error))
    assert (str(raised.value), raised.value.message) == ("tool 'raises' failed", "LookupError: no order o-1")
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("error", [ToolCallDenied("raises", "not you"), ToolCallFailed("raises", "no such order")])
async def test_a_function_may_deny_or_fail_its_own_call_in_its_own_words(error: ToolError) -> None:
    with pytest.raises(type(error)) as raised:
        await of_tool(raising(error))
    assert raised.value is error


@pytest.mark.parametrize("error", [ToolNotFound("inner"), ToolCallDenied("inner", "not you"), ToolCancelled("raises")])
async def test_what_another_tool_came_to_inside_a_function_is_a_failure_of_this_one(error: ToolError) -> None:
    with pytest.raises(ToolExecutionFailure) as raised:
        await of_tool(raising(error))
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_what_is_no_exception_goes_up_and_is_recorded_as_a_failure_of_its_kind(kind: type[BaseException]) -> None:
    recorder = EventRecorder()
    tools = ToolRegistry([raising(kind())])
    met: list[BaseException] = []

    async def call(ctx: Context) -> None:
        try:
            await tools.dispatch("raises", "{}", ctx)
        except BaseException as error:
            met.append(error)

    await Runner(asking(call), observers=[recorder]).run("t", Trail())
    assert [type(error) for error in met] == [kind]
    ended = "cancelled" if kind is GeneratorExit else f"failed \"tool 'raises' failed: {kind.__name__}\""
    assert recorder.lines(ToolCallCompleted) == [f"ToolCallCompleted Ask#1 raises {ended}"]


@pytest.mark.parametrize("inline", [True, False])
async def test_a_sync_tool_fails_as_an_async_one_does(inline: bool) -> None:
    @strata_tool(inline=inline)
    def stops() -> str:
        """Raises what a generator would."""
        raise StopIteration

    for context in (None, ToolContext()):
        with pytest.raises(ToolExecutionFailure):
            await of_tool(stops, context=context)
    outcome = await Runner(asking(lambda ctx: ToolRegistry([stops]).dispatch("stops", "{}", ctx))).run("t", Trail())
    assert isinstance(outcome, Failed)


# What the node sees


def retrying(tool: Any, **policy: Any) -> StateGraph[Trail]:
    tools = ToolRegistry([tool])

    async def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=await tools.dispatch("raises", "{}", ctx))

    return StateGraph(Trail).add_node("Ask", ask).set_recovery_policy("Ask", **policy)


@pytest.mark.parametrize(
    ("error", "attempts", "kind"),
    [
        (ConnectionError("down"), 3, "transient"),
        (TransientError("busy"), 3, "transient"),
        (FatalError("never"), 1, "fatal"),
        (ValueError("wrong"), 1, "fatal"),
    ],
)
async def test_a_node_is_tried_again_as_what_its_tool_failed_of_says(error: Exception, attempts: int, kind: str) -> None:
    outcome = await Runner(retrying(raising(error), retries=2).compile(), clock=HandClock()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.attempts, outcome.kind, outcome.message) == (attempts, kind, "tool 'raises' failed")
    assert isinstance(outcome.error, ToolExecutionFailure)
    assert outcome.error.__cause__ is error


async def test_the_policy_of_a_node_may_name_the_failure_itself() -> None:
    graph = retrying(raising(ValueError("wrong")), retries=1, on=ToolExecutionFailure)
    outcome = await Runner(graph.compile(), clock=HandClock()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.attempts, outcome.kind) == (2, "transient")


async def test_the_hint_of_what_a_tool_failed_of_is_the_nodes() -> None:
    outcome = await Runner(retrying(raising(TransientError("busy", retry_after=7.0)), retries=0).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.retry_after == 7.0


# How long it takes


async def test_a_run_that_is_cancelled_ends_at_the_node_whose_tool_hangs_which_is_recorded_before_it() -> None:
    recorder, tools = EventRecorder(), ToolRegistry([hangs])
    runner = Runner(asking(lambda ctx: tools.dispatch("hangs", "{}", ctx)), observers=[recorder])
    running = asyncio.create_task(runner.run("t", Trail()))
    await until(recorder, ToolCallStarted)
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert outcome.node == "Ask"
    assert recorder.lines(ToolCallCompleted, NodeCompleted) == ["ToolCallCompleted Ask#1 hangs cancelled", "NodeCompleted Ask#1 cancelled"]


async def test_a_node_whose_time_is_over_gives_up_its_call_before_it_fails() -> None:
    recorder, tools, clock = EventRecorder(), ToolRegistry([hangs]), HandClock()

    async def ask(state: Trail, ctx: Context) -> Trail:
        return state.replace(trail=await tools.dispatch("hangs", "{}", ctx))

    graph = StateGraph(Trail).add_node("Ask", ask, timeout=5).compile()
    running = asyncio.create_task(Runner(graph, observers=[recorder], clock=clock).run("t", Trail()))
    await until(recorder, ToolCallStarted)
    await clock.pass_time(5)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert outcome.message == "node 'Ask' timed out after 5000 ms"
    assert recorder.lines(ToolCallCompleted, NodeCompleted) == [
        "ToolCallCompleted Ask#1 hangs cancelled",
        "NodeCompleted Ask#1 failed \"node 'Ask' timed out after 5000 ms\"",
    ]


async def test_a_task_that_is_cancelled_gives_its_call_up() -> None:
    call = asyncio.create_task(of_tool(hangs))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def limited(then: str) -> Any:
    @strata_tool("limited", timeout=timedelta(milliseconds=100))
    async def slow(ctx: ToolContext) -> str:
        """Takes its time."""
        try:
            await ctx.wait_cancelled()
        except asyncio.CancelledError:
            if then == "fail":
                raise ValueError("cleaning up failed") from None
            if then == "return":
                return "late"
            raise
        return "never"

    return slow


@pytest.mark.parametrize("then", ["stop", "fail"])
async def test_a_tool_whose_time_is_over_has_failed(then: str) -> None:
    clock, recorder, tools = HandClock(), EventRecorder(), ToolRegistry([limited(then)])
    running = asyncio.create_task(
        Runner(asking(lambda ctx: tools.dispatch("limited", "{}", ctx)), clock=clock, observers=[recorder]).run("t", Trail())
    )
    await until(recorder, ToolCallStarted)
    await clock.pass_time(0.099)
    assert not running.done()
    await clock.pass_time(0.001)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ToolCallFailed)
    assert outcome.message == "tool 'limited' failed: timed out after 100 ms"
    assert recorder.lines(ToolCallCompleted) == ["ToolCallCompleted Ask#1 limited failed \"tool 'limited' failed: timed out after 100 ms\""]


async def test_a_tools_timeout_is_transient_for_the_node_that_is_tried_again() -> None:
    clock, recorder, tools = HandClock(), EventRecorder(), ToolRegistry([limited("stop")])

    async def ask(state: Trail, ctx: Context) -> Trail:
        return state if ctx.attempt == 2 else state.replace(trail=await tools.dispatch("limited", "{}", ctx))

    graph = StateGraph(Trail).add_node("Ask", ask).set_recovery_policy("Ask", retries=1).compile()
    running = asyncio.create_task(Runner(graph, clock=clock, observers=[recorder]).run("t", Trail()))
    await until(recorder, ToolCallStarted)
    await clock.pass_time(0.1)
    assert isinstance(await running, Completed)
    assert len(recorder.lines(RetryScheduled)) == 1


async def test_a_result_that_comes_though_the_time_is_over_counts() -> None:
    clock, recorder, tools = HandClock(), EventRecorder(), ToolRegistry([limited("return")])
    running = asyncio.create_task(
        Runner(asking(lambda ctx: tools.dispatch("limited", "{}", ctx)), clock=clock, observers=[recorder]).run("t", Trail())
    )
    await until(recorder, ToolCallStarted)
    await clock.pass_time(0.1)
    assert (await running).state.trail == "late"


async def test_a_timeout_of_its_own_that_a_function_raises_is_its_failure() -> None:
    @strata_tool(timeout=5)
    async def reads() -> str:
        """Reads a socket."""
        raise TimeoutError("the socket")

    with pytest.raises(ToolExecutionFailure):
        await of_tool(reads)


async def test_a_sync_tool_that_hangs_is_given_up_on_and_what_it_gives_late_is_dropped() -> None:
    started, over = threading.Event(), threading.Event()

    @strata_tool(timeout=60)
    def blocks(ctx: ToolContext) -> str:
        """Blocks its thread."""
        started.set()
        over.wait()
        noticed.append(ctx.cancelled)
        return "late"

    noticed: list[bool] = []
    clock, tools = HandClock(), ToolRegistry([blocks])
    running = asyncio.create_task(Runner(asking(lambda ctx: tools.dispatch("blocks", "{}", ctx)), clock=clock).run("t", Trail()))
    await settle()
    await asyncio.to_thread(started.wait)
    await clock.pass_time(60)
    await clock.pass_time(1.9)
    assert not running.done()  # its clean-up is waited for, as that of a node is
    await clock.pass_time(0.1)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert outcome.message == "tool 'blocks' failed: timed out after 60000 ms"
    over.set()


async def test_a_tool_that_writes_half_and_is_cancelled_is_told_so_and_its_node_is_not_committed() -> None:
    written: list[int] = []

    @strata_tool
    async def writes(ctx: ToolContext) -> str:
        """Writes three rows."""
        for row in range(3):
            written.append(row)
            if row == 1:
                await ctx.wait_cancelled()
        return "three rows"

    recorder, tools = EventRecorder(), ToolRegistry([writes])
    runner = Runner(asking(lambda ctx: tools.dispatch("writes", "{}", ctx)), observers=[recorder])
    running = asyncio.create_task(runner.run("t", Trail()))
    await until(recorder, ToolCallStarted)
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (written, outcome.state.trail) == ([0, 1], "")
    assert recorder.lines(ToolCallCompleted) == ["ToolCallCompleted Ask#1 writes cancelled"]


# What it gives


class Colour(StrEnum):
    RED = "red"


class Row(msgspec.Struct):
    n: int


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain text", "plain text"),
        ("", ""),
        ("ünïcode\x00", "ünïcode\x00"),
        (Colour.RED, "red"),
        (None, "null"),
        (True, "true"),
        (5, "5"),
        (["a", "b"], '["a","b"]'),
        ({"a": Row(1)}, '{"a":{"n":1}}'),
        (b"raw", '"cmF3"'),
    ],
)
async def test_a_model_is_given_text_as_it_is_and_anything_else_as_json(result: object, text: str) -> None:
    @strata_tool(inline=True)
    def gives() -> object:
        """Gives something."""
        return result

    assert await of_tool(gives) == text


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (object(), "it returned an object, which is no JSON: "),
        ([Row(1), {1: threading.Lock()}], "it returned a list, which is no JSON: "),
        ("half \ud800", "it returned text with half a surrogate pair, which UTF-8 cannot encode"),
        (["half \ud800"], "it returned a list, which is no JSON: "),
        (float("nan"), "it returned a float, which is no JSON: JSON has no nan, which is at $"),
        ({"rates": [1.0, float("inf")]}, "it returned a dict, which is no JSON: JSON has no inf, which is at $.rates[1]"),
    ],
)
async def test_ser_13_a_result_that_is_no_text_for_a_model_has_failed_the_call(result: object, told: str) -> None:
    @strata_tool(inline=True)
    def gives() -> object:
        """Gives something."""
        return result

    with pytest.raises(ToolCallFailed) as raised:
        await of_tool(gives)
    assert str(raised.value).startswith(f"tool 'gives' failed: {told}")


async def test_a_result_that_holds_itself_has_failed_the_call() -> None:
    rows: list[object] = []
    rows.append(rows)

    @strata_tool(inline=True)
    def gives() -> object:
        """Gives something."""
        return rows

    with pytest.raises(ToolCallFailed, match="it returned a list, which is no JSON"):
        await of_tool(gives)


async def test_tool_05_a_generator_gives_all_that_it_yields() -> None:
    @strata_tool
    async def words(count: int) -> AsyncIterator[str]:
        """Gives words."""
        for number in range(count):
            await asyncio.sleep(0)
            yield f"{number} "

    @strata_tool(inline=True)
    def numbers() -> Iterator[int]:
        """Gives numbers."""
        yield from range(3)

    assert await of_tool(words, '{"count":3}') == "0 1 2 "
    assert await of_tool(words, '{"count":0}') == "[]"
    assert await of_tool(numbers) == "[0,1,2]"


@pytest.mark.parametrize("is_async", [True, False])
async def test_tool_05_what_a_generator_yields_reaches_the_reader_of_the_run_as_it_comes(is_async: bool) -> None:
    @strata_tool("counts")
    async def counts_async() -> AsyncIterator[int]:
        """Counts."""
        for number in range(2):
            yield number

    @strata_tool("counts")
    def counts() -> Iterator[int]:
        """Counts."""
        yield from range(2)

    tools = ToolRegistry([counts_async if is_async else counts])
    async with Runner(asking(lambda ctx: tools.dispatch("counts", "{}", ToolContext.of(ctx, call_id="c1")))).stream("t", Trail()) as events:
        told = [(event.message, event.details) async for event in events if isinstance(event, Diagnostic)]
    assert told == [("tool 'counts' goes on", {"call_id": "c1", "piece": piece}) for piece in range(2)]


# What is refused when it is declared


def test_options_that_do_not_go_together_are_refused_where_they_are_declared() -> None:
    def sync() -> str:
        """Does something."""
        return ""

    async def in_turn() -> str:
        """Does something."""
        return ""

    for declare, told in (
        (lambda: strata_tool(inline=True)(in_turn), "inline=True is for sync functions"),
        (lambda: strata_tool(inline=True, timeout=1)(sync), "nothing can stop it while it runs on the loop"),
        (lambda: strata_tool(timeout=0)(in_turn), "timeout=0 leaves it no time"),
        (lambda: strata_tool(timeout=-1)(in_turn), "timeout=-1 leaves it no time"),
        (lambda: strata_tool(approve="always")(in_turn), "approve= is True, False or a function of the arguments, not 'always'"),  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    ):
        with pytest.raises(ToolInvalid, match=told) as raised:
            declare()
        assert raised.value.place.startswith(__file__)
