"""What a tool is told of the call that it answers (strata-tools.md 8, 14)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from strata import (
    Cancelled,
    Completed,
    Context,
    Failed,
    Runner,
    State,
    StateGraph,
    Token,
    ToolCallDenied,
    ToolCancelled,
    ToolExecutionFailure,
    ToolRegistry,
    TransientError,
    branch,
    strata_tool,
)
from strata.testing import context
from strata.tools import Cancellation, ToolContext, ToolMiddleware
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.tools.calls import Diary, asking, pairs, seeing

UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Weather:
    """A service."""


class Rain(Weather):
    """A kind of it."""


async def test_tx1_a_tool_is_told_of_the_node_that_calls_it() -> None:
    seen: list[ToolContext] = []
    tools, weather = ToolRegistry([seeing(seen)]), Weather()

    async def investigate(ctx: Context) -> str:
        return await tools.dispatch("look", "{}", ToolContext.of(ctx, caller_id="k8s-investigator"))

    await Runner(asking(investigate), services=[weather]).run("thread-1", Trail(), run_id="run-1", metadata={"tenant": "acme"})
    [told] = seen
    assert pairs(told) == {
        "thread_id": "thread-1",
        "run_id": "run-1",
        "node_path": "Ask",
        "attempt": 1,
        "metadata": {"tenant": "acme"},
        "caller_id": "k8s-investigator",
        "call_id": told.call_id,
    }
    assert told.service(Weather) is weather
    assert UUID7.fullmatch(told.call_id or "")


class Inner(State):
    trail: str = ""


async def test_tx2_paths_and_attempts_are_those_of_the_node_at_every_depth() -> None:
    seen: list[ToolContext] = []
    tools = ToolRegistry([seeing(seen)])

    async def acme(state: Inner, ctx: Context) -> Inner:
        await tools.dispatch("look", "{}", ctx)
        return state

    async def charge(state: Trail, ctx: Context) -> Trail:
        await tools.dispatch("look", "{}", ctx)
        if ctx.attempt == 1:
            raise TransientError("busy")
        return state

    child = StateGraph(Inner).add_parallel_group("Gather", [branch("Acme", acme)], lambda state, results: state).compile(id="child")
    graph = StateGraph(Trail).add_subgraph("Work", child, enter=lambda state: Inner(), leave=lambda state, inner: state)
    graph = graph.add_node("Charge", charge).set_recovery_policy("Charge", retries=1).add_edge("Work", "Charge")
    assert isinstance(await Runner(graph.compile(id="outer")).run("outer-thread", Trail()), Completed)
    assert [(told.thread_id, told.node_path, told.attempt) for told in seen] == [
        ("outer-thread", "Work/Gather/Acme", 1),
        ("outer-thread", "Charge", 1),
        ("outer-thread", "Charge", 2),
    ]


async def test_tx3_each_call_has_an_id_of_its_own_unless_it_is_given() -> None:
    seen: list[ToolContext] = []
    tools = ToolRegistry([seeing(seen)])
    for given in (None, None, "", "call_42"):
        await tools.dispatch("look", "{}", ToolContext(call_id=given))
    *fresh, kept = [told.call_id or "" for told in seen]
    assert kept == "call_42"
    assert len(set(fresh)) == 3
    assert all(UUID7.fullmatch(one) for one in fresh)


async def test_tx4_a_call_whose_token_has_fired_is_not_made() -> None:
    seen: list[ToolContext] = []
    diary, cancellation = Diary(), Cancellation()
    cancellation.fire()
    for middleware in ([], [diary]):
        with pytest.raises(ToolCancelled, match="tool 'look' was cancelled"):
            await ToolRegistry([seeing(seen)], middleware).dispatch("look", "{}", ToolContext(cancellation=cancellation))
    assert (seen, diary.lines) == ([], [])


@strata_tool
async def patient(ctx: ToolContext, then: str = "fail") -> str:
    """Waits for its token."""
    await ctx.wait_cancelled()
    if then == "fail":
        raise ValueError("told to stop")
    if then == "cancelled":
        ctx.raise_if_cancelled()
    return "done all the same"


@pytest.mark.parametrize("then", ["fail", "cancelled"])
async def test_tx5_an_error_of_a_call_whose_token_has_fired_is_its_cancellation(then: str) -> None:
    cancellation = Cancellation()
    call = asyncio.create_task(ToolRegistry([patient]).dispatch("patient", f'{{"then":"{then}"}}', ToolContext(cancellation=cancellation)))
    await asyncio.sleep(0)
    cancellation.fire()
    with pytest.raises(ToolCancelled):
        await call


async def test_a_result_that_comes_after_the_token_has_fired_counts() -> None:
    cancellation = Cancellation()
    call = asyncio.create_task(ToolRegistry([patient]).dispatch("patient", '{"then":"return"}', ToolContext(cancellation=cancellation)))
    await asyncio.sleep(0)
    await asyncio.to_thread(cancellation.fire)
    assert await call == "done all the same"
    await cancellation.wait()


async def test_a_tool_that_says_it_was_cancelled_which_nobody_cancelled_has_failed() -> None:
    @strata_tool
    async def confused() -> str:
        """Awaits what somebody else cancels."""
        lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        lost.cancel()
        return await lost

    for middleware in ([], [Diary()]):
        with pytest.raises(ToolExecutionFailure) as raised:
            await ToolRegistry([confused], middleware).dispatch("confused", "{}")
        assert raised.value.message == "CancelledError, and nobody cancelled the call"


async def test_a_task_that_has_outlived_being_cancelled_calls_tools_as_any_other() -> None:
    @strata_tool
    async def confused() -> str:
        """Says that it was cancelled."""
        raise asyncio.CancelledError

    async def outlives(middleware: Sequence[ToolMiddleware]) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()
        await ToolRegistry([confused], middleware).dispatch("confused", "{}")

    for middleware in ([], [Diary()]):
        caller = asyncio.create_task(outlives(middleware))
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(ToolExecutionFailure):
            await caller


async def test_tx6_the_token_of_a_nodes_call_fires_with_its_run_which_ends_at_that_node() -> None:
    seen: list[ToolContext] = []
    states: list[bool] = []

    @strata_tool
    async def wait(ctx: ToolContext) -> str:
        """Waits."""
        seen.append(ctx)
        states.append(ctx.cancelled)
        runner.cancel("t")
        try:
            await ctx.wait_cancelled()
        finally:
            states.append(ctx.cancelled)
        return "never"

    tools = ToolRegistry([wait])
    runner = Runner(asking(lambda ctx: tools.dispatch("wait", "{}", ctx)))
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.reason, states) == ("Ask", "requested", [False, True])


async def test_tx8_a_hand_built_node_context_is_taken_as_it_is() -> None:
    seen: list[ToolContext] = []
    by_hand = context("Assess", thread_id="t-9", path="Work/Assess", attempt=3, run_id="")
    await ToolRegistry([seeing(seen)]).dispatch("look", "{}", by_hand)
    [told] = seen
    assert (told.thread_id, told.run_id, told.node_path, told.attempt, told.node) == ("t-9", None, "Work/Assess", 3, by_hand)


def test_tx9_a_default_context_says_nothing() -> None:
    nothing = ToolContext()
    assert pairs(nothing) == {**dict.fromkeys(pairs(nothing)), "metadata": {}}
    assert (nothing.service(Weather), nothing.cancelled, nothing.node) == (None, False, None)


def test_a_context_is_replaced_and_never_changed() -> None:
    first = ToolContext(metadata={"a": "1"})
    second = first.replace(caller_id="agent", metadata={**first.metadata, "b": "2"})
    assert (first.caller_id, first.metadata) == (None, {"a": "1"})
    assert (second.caller_id, second.metadata) == ("agent", {"a": "1", "b": "2"})
    with pytest.raises(AttributeError):
        first.caller_id = "agent"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_services_of_the_call_go_before_those_of_the_run() -> None:
    of_run, rain, other = Weather(), Rain(), Rain()
    told = ToolContext.of(context(services=[of_run]))
    assert told.service(Weather) is of_run
    assert told.with_service(rain).service(Weather) is rain
    assert told.with_service(rain).with_service(other).service(Rain) is other
    assert told.service(int) is None


@strata_tool(inline=True)
def by_node(ctx: Context, text: str = "") -> str:
    """Takes the node's own context."""
    return f"{ctx.path} {text}"


@strata_tool(inline=True)
def by_node_if_any(text: str = "", *, ctx: Context | None = None) -> str:
    """Takes the node's own context, if a node calls it."""
    return "nobody" if ctx is None else ctx.path


async def test_tool_02_a_tool_may_take_the_context_of_the_node_which_no_schema_shows() -> None:
    tools = ToolRegistry([by_node, by_node_if_any])
    assert [list(entry["parameters"]["properties"]) for entry in tools.manifest()] == [["text"], ["text"]]
    outcome = await Runner(asking(lambda ctx: tools.dispatch("by_node", '{"text":"here"}', ctx))).run("t", Trail())
    assert outcome.state.trail == "Ask here"
    assert await tools.dispatch("by_node_if_any", "{}", context("Assess")) == "Assess"
    assert await tools.dispatch("by_node_if_any", "{}") == "nobody"


async def test_a_tool_that_takes_the_nodes_context_is_refused_where_no_node_calls_it() -> None:
    told = "tool 'by_node' was denied: it takes the context of the node that calls it, and no node makes this call"
    for outside in (None, ToolContext(thread_id="t")):
        with pytest.raises(ToolCallDenied, match=told):
            await ToolRegistry([by_node]).dispatch("by_node", "{}", outside)


async def test_an_argument_with_the_name_of_the_context_is_not_injected() -> None:
    seen: list[Any] = []

    @strata_tool(inline=True)
    def look(context: ToolContext, *, text: str = "") -> str:
        """Looks."""
        seen.append(context)
        return text

    forged: Mapping[str, Any] = {"caller_id": "root"}
    assert await ToolRegistry([look]).dispatch("look", f'{{"context":{forged},"text":"t"}}'.replace("'", '"')) == "t"
    assert isinstance(seen[0], ToolContext)
    assert seen[0].caller_id is None


@strata_tool
async def says(ctx: Context) -> str:
    """Sends words to the reader."""
    await ctx.token("from a task ")
    return "said"


@strata_tool
def says_too(ctx: ToolContext) -> str:
    """Sends words to the reader, from a thread."""
    assert ctx.node is not None
    ctx.node.token_sync("from a thread")
    return "said"


async def test_str_01_what_a_tool_sends_reaches_the_reader_of_the_run() -> None:
    tools = ToolRegistry([says, says_too])

    async def ask(ctx: Context) -> str:
        return f"{await tools.dispatch('says', '{}', ctx)} {await tools.dispatch('says_too', '{}', ctx)}"

    async with Runner(asking(ask)).stream("t", Trail()) as events:
        tokens = [event.text async for event in events if isinstance(event, Token)]
    assert tokens == ["from a task ", "from a thread"]


async def test_a_call_in_another_loop_than_the_runs_is_refused() -> None:
    tools = ToolRegistry([seeing([])])

    def ask(state: Trail, ctx: Context) -> Trail:
        asyncio.run(tools.dispatch("look", "{}", ctx))
        return state

    outcome = await Runner(StateGraph(Trail).add_node("Ask", ask).compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("RuntimeError: node 'Ask' calls a tool in another event loop than its run's")


async def test_the_ids_of_a_nodes_calls_are_the_clocks() -> None:
    seen: list[ToolContext] = []
    tools = ToolRegistry([seeing(seen)])
    await Runner(asking(lambda ctx: tools.dispatch("look", "{}", ctx)), clock=HandClock()).run("t", Trail())
    assert seen[0].call_id == "run-2"
