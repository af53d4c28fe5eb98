"""Spans of runs of our own: what a handler opens lies below its attempt or branch, wherever the handler runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from strata import Cancelled, Context, Failed, FatalError, Runner, Scheduler, StateGraph, ThreadNotFound, Token, branch
from strata.stores.memory import MemoryStore
from strata.telemetry import OpenTelemetryInstrument
from strata.testing import EventRecorder
from tests.graphs.trails import Trail
from tests.observing.observed import play
from tests.observing.test_recorded_runs import ALL_MADE
from tests.telemetry.replaying import lines
from tests.telemetry.test_recorded_runs import Collected, shape_of_ours, shape_of_recorded
from tests.wire.scenarios import PLAYED


class Traced:
    def __init__(self) -> None:
        self._exporter, tracers = InMemorySpanExporter(), TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.instrument = OpenTelemetryInstrument(tracers)
        self._tracer = tracers.get_tracer("the user's")

    def opens(self, name: str) -> Callable[[Trail], Trail]:
        def work(state: Trail) -> Trail:
            self._tracer.start_span(name).end()
            return state

        return work

    def opens_async(self, name: str) -> Callable[[Trail], Coroutine[Any, Any, Trail]]:
        async def work(state: Trail) -> Trail:
            return self.opens(name)(state)

        return work

    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def span(self, name: str) -> ReadableSpan:
        [found] = [span for span in self.spans() if span.name == name]
        return found

    def parents(self) -> dict[str, str | None]:
        names = {span.context.span_id: span.name for span in self.spans() if span.context}
        return {span.name: names[span.parent.span_id] if span.parent else None for span in self.spans()}


def first(state: Trail, results: list[Trail]) -> Trail:
    return results[0]


def same(state: Trail, inside: Trail) -> Trail:
    return inside


async def test_sp1_sp2_obs_01_what_a_handler_opens_lies_below_it_on_threads_and_in_tasks_too() -> None:
    traced = Traced()
    child = StateGraph(Trail).add_node("Step", traced.opens("in a child")).compile()
    one = StateGraph(Trail).add_node("Step", traced.opens("in an item")).compile()
    graph = (
        StateGraph(Trail)
        .add_node("Thread", traced.opens("on a thread"))
        .add_node("Inline", traced.opens("inline"), inline=True)
        .add_node("Async", traced.opens_async("async"))
        .add_parallel_group("Gather", [branch("a", traced.opens("in a")), branch("b", traced.opens_async("in b"))], first)
        .add_map("Fan", one, items=lambda _: ["x"], key=lambda item: item, enter=lambda state, _: state, merge=first)
        .add_subgraph("Work", child, enter=lambda state: state, leave=same)
    )
    for source, target in (("Thread", "Inline"), ("Inline", "Async"), ("Async", "Gather"), ("Gather", "Fan"), ("Fan", "Work")):
        graph.add_edge(source, target)
    await Runner(graph.compile(), MemoryStore(), instrument=traced.instrument).run("t", Trail())
    parents = traced.parents()
    assert {name: parents[name] for name in parents if name in OPENED} == OPENED
    assert [name for name, parent in parents.items() if parent is None] == ["strata.run"]


OPENED = {
    "on a thread": "Thread #1",
    "inline": "Inline #1",
    "async": "Async #1",
    "in a": "Gather/a",
    "in b": "Gather/b",
    "in an item": "Fan/x/Step #1",
    "in a child": "Work/Step #1",
}


async def test_sp3_a_fatal_failure_is_the_runs_and_its_nodes_and_the_record_is_noted_on_the_run() -> None:
    traced = Traced()

    def declines(state: Trail) -> Trail:
        raise FatalError("card declined")

    graph = StateGraph(Trail).add_node("Charge", declines).compile(durable=False)
    assert isinstance(await Runner(graph, MemoryStore(), instrument=traced.instrument).run("t", Trail()), Failed)
    run, node = traced.span("strata.run"), traced.span("Charge")
    assert (run.status.status_code, run.status.description) == (StatusCode.ERROR, "card declined")
    assert dict(run.attributes or {})["strata.outcome"] == "failed"
    assert (node.status.status_code, dict(node.attributes or {})["error.type"]) == (StatusCode.ERROR, "fatal")
    assert [event.name for event in run.events] == ["run started", "checkpoint saved", "run completed"]


async def test_sp3_a_cancelled_run_has_no_status_and_neither_have_its_node_and_attempt() -> None:
    traced, entered = Traced(), asyncio.Event()

    async def hangs(state: Trail) -> Trail:
        entered.set()
        await asyncio.Event().wait()
        return state

    runner = Runner(StateGraph(Trail).add_node("Slow", hangs).compile(), MemoryStore(), instrument=traced.instrument)
    running = asyncio.create_task(runner.run("t", Trail()))
    await entered.wait()
    runner.cancel("t")
    assert isinstance(await running, Cancelled)
    assert {span.name: span.status.is_unset for span in traced.spans()} == {"strata.run": True, "Slow": True, "Slow #1": True}
    attributes = dict(traced.span("strata.run").attributes or {})
    assert (attributes["strata.outcome"], attributes["strata.cancel_reason"]) == ("cancelled", "requested")


async def test_sp5_sp10_a_scheduled_run_of_a_named_graph_says_so() -> None:
    traced = Traced()
    graph = StateGraph(Trail).add_node("A", traced.opens("a")).compile(id="named", version="3")
    await Runner(graph, scheduler=Scheduler(1), instrument=traced.instrument).run("t", Trail(), priority=2)
    [attributes] = [dict(span.attributes or {}) for span in traced.spans() if span.name == "strata.run"]
    assert (attributes["strata.graph.id"], attributes["strata.graph.version"], attributes["strata.run.priority"]) == ("named", "3", 2)
    assert isinstance(attributes["strata.scheduler.wait_ms"], float)


async def test_obs_02_a_reader_who_leaves_early_ends_every_span_once_and_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    traced = Traced()

    async def endless(state: Trail, ctx: Context) -> Trail:
        while True:
            await ctx.token("word")

    outer = trace.get_current_span()
    graph = StateGraph(Trail).add_node("Talk", endless).compile()
    async with Runner(graph, MemoryStore(), instrument=traced.instrument).stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert trace.get_current_span() is outer
    assert Counter(span.name for span in traced.spans()) == {"strata.run": 1, "Talk": 1, "Talk #1": 1}
    assert [record.getMessage() for record in caplog.records] == []


async def test_ev28_the_resume_of_an_unknown_thread_starts_nowhere_and_fails() -> None:
    recorder = EventRecorder()
    graph = StateGraph(Trail).add_node("A", Traced().opens("a")).compile()
    with pytest.raises(ThreadNotFound):
        await Runner(graph, MemoryStore(), observers=[recorder]).resume("t", graph.approve("ana"))
    assert [type(event).__name__ for event in recorder.events] == ["RunStarted", "RunCompleted"]
    assert getattr(recorder.events[0], "node", None) == ""
    assert getattr(recorder.events[1], "outcome", None) == "failed"


ANSWERED_OTHERWISE = ("lease", "recovery", "scheduler")
"""Every call is made, and what differs is in no span."""


@pytest.mark.parametrize("name", ANSWERED_OTHERWISE)
async def test_sp9_sp10_the_spans_of_a_scenario_with_an_answer_of_ours_are_as_recorded(name: str) -> None:
    assert name not in ALL_MADE
    collected = Collected()
    await play(name, PLAYED[name], instrument=collected.instrument)
    assert Counter(shape_of_ours(collected.spans())) == Counter(shape_of_recorded(lines("spans", name)))
