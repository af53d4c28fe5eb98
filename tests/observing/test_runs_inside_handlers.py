"""A run that a handler makes: a run of its own, whatever run it was made in; only its spans lie below the handler's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from strata import Cancelled, Completed, Context, Failed, Interrupted, Outcome, RunInterrupted, Runner, StateGraph, branch
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder
from tests.clocks import settle
from tests.graphs.trails import Trail, line
from tests.logs import log
from tests.observing.test_own_spans import Traced

Call = Callable[[], Awaitable[Outcome[Trail]]]


def calls(call: Call, outcomes: list[Outcome[Trail]]) -> StateGraph[Trail]:
    """One node, which makes the call and takes the state over."""

    async def make(state: Trail) -> Trail:
        outcomes.append(await call())
        return outcomes[-1].unwrap()

    return StateGraph(Trail).add_node("Call", make)


async def test_con_05_each_of_the_two_has_its_records_its_events_and_its_metadata() -> None:
    store, outer, inner, outcomes = MemoryStore(), EventRecorder(), EventRecorder(), list[Outcome[Trail]]()
    seen: list[dict[str, str]] = []

    async def looks(state: Trail, ctx: Context) -> Trail:
        seen.append(dict(ctx.metadata))
        return state.replace(trail=ctx.path)

    runner = Runner(StateGraph(Trail).add_node("Look", looks).compile(), store, observers=[inner])
    graph = calls(lambda: runner.run("inner", Trail(), metadata={"of": "inner"}), outcomes).compile()
    outcome = await Runner(graph, store, observers=[outer]).run("outer", Trail(), metadata={"of": "outer"})
    assert outcome.unwrap().trail == "Look"
    assert seen == [{"of": "inner"}]
    assert await log(store, "inner") == ["running:->Look", "completed:Look>-"]
    assert await log(store, "outer") == ["running:->Call", "completed:Call>-"]
    assert {event.thread_id for event in inner.events} == {"inner"}
    assert {event.thread_id for event in outer.events} == {"outer"}
    assert {outcome.run_id} == {event.run_id for event in outer.events} != {event.run_id for event in inner.events}


async def test_con_05_runs_that_branches_make_at_once_do_not_see_each_other() -> None:
    store = MemoryStore()

    async def looks(state: Trail, ctx: Context) -> Trail:
        await asyncio.sleep(0)
        return state.replace(trail=f"{ctx.thread_id} {ctx.path}")

    runner = Runner(StateGraph(Trail).add_node("Look", looks).compile(), store)

    async def makes(state: Trail, ctx: Context) -> Trail:
        return (await runner.run(ctx.node, Trail())).unwrap()

    def merge(state: Trail, results: list[Trail]) -> Trail:
        return state.replace(trail=", ".join(result.trail for result in results))

    graph = StateGraph(Trail).add_parallel_group("Group", [branch("b", makes), branch("c", makes)], merge).compile()
    assert (await Runner(graph, store).run("t", Trail())).unwrap().trail == "b Look, c Look"


async def test_con_05_a_question_inside_is_no_question_of_the_run_around_it() -> None:
    outcomes = list[Outcome[Trail]]()

    async def asks(state: Trail, ctx: Context) -> Trail:
        ctx.interrupt("Send it?")
        return state

    runner = Runner(StateGraph(Trail).add_node("Ask", asks).compile(), MemoryStore())
    outcome = await Runner(calls(lambda: runner.run("inner", Trail()), outcomes).compile(), MemoryStore()).run("outer", Trail())
    assert isinstance(outcomes[0], Interrupted)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, RunInterrupted)
    assert outcome.message == "thread 'inner' waits at [Ask] for an answer"


@pytest.mark.parametrize("stopped", ["outer", "inner"])
async def test_con_05_who_is_cancelled_is_cancelled_and_the_run_inside_is_abandoned(stopped: str) -> None:
    store, outcomes = MemoryStore(), list[Outcome[Trail]]()

    async def hangs(state: Trail) -> Trail:
        await asyncio.Event().wait()
        return state

    runners = {"inner": Runner(StateGraph(Trail).add_node("Hang", hangs).compile(), store)}
    runners["outer"] = Runner(calls(lambda: runners["inner"].run("inner", Trail()), outcomes).compile(), store)
    running = asyncio.create_task(runners["outer"].run("outer", Trail()))
    await settle()
    runners[stopped].cancel(stopped)
    outcome = await running
    assert isinstance(outcome, Cancelled if stopped == "outer" else Failed)
    assert await log(store, "inner") == ["running:->Hang", *(["cancelled:Hang>Hang"] if stopped == "inner" else [])]


async def test_obs_01_the_run_inside_lies_below_the_attempt_that_made_it() -> None:
    traced, outcomes = Traced(), list[Outcome[Trail]]()
    runner = Runner(line("Inner").compile(id="inner"), MemoryStore(), instrument=traced.instrument)
    graph = calls(lambda: runner.run("inner", Trail()), outcomes).compile(id="outer")
    assert isinstance(await Runner(graph, MemoryStore(), instrument=traced.instrument).run("outer", Trail()), Completed)
    spans = traced.spans()
    named = {dict(span.attributes or {}).get("strata.graph.id"): span for span in spans if span.name == "strata.run"}
    [attempt] = [span for span in spans if span.name == "Call #1"]
    assert named["outer"].parent is None
    inner = named["inner"].parent
    assert inner is not None
    assert attempt.context is not None
    assert inner.span_id == attempt.context.span_id
