"""What observers, spans and metrics are told of a call (strata-tools.md 11, 14; strata-observability.md 2 to 4)."""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from strata import Completed, Context, Runner, StateGraph, ToolCallDenied, ToolCallFailed, ToolError, ToolRegistry, branch, strata_tool
from strata.ports.events import NodeCompleted, NodeStarted, RunEvent, ToolCallCompleted, ToolCallStarted
from strata.telemetry import OpenTelemetryInstrument
from strata.testing import EventRecorder, context
from strata.tools import Proceed, ToolCall, ToolContext
from tests.clocks import HandClock
from tests.graphs.trails import Trail
from tests.observing.observed import comparable
from tests.telemetry.replaying import WIRE, event_of, lines
from tests.telemetry.test_recorded_runs import shape_of_ours, shape_of_recorded
from tests.tools.calls import Order, asking, echo, refund
from tests.tools.test_dispatch_middleware import Cache, Does, counting

Work = Callable[[Context], Awaitable[object]]


class Told:
    """What became of a node that calls tools: its outcome, the events, the spans and the metrics."""

    def __init__(self) -> None:
        self.events = EventRecorder()
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = tracers.get_tracer("user")
        self.instrument = OpenTelemetryInstrument(tracers, MeterProvider([self._reader]))
        self.clock = HandClock()

    async def of(self, work: Work, **options: Any) -> Told:
        runner = Runner(asking(work), observers=[self.events], instrument=self.instrument, clock=self.clock)
        assert isinstance(await runner.run("t", Trail(), run_id="r", **options), Completed)
        return self

    def calls(self) -> list[str]:
        return self.events.lines(ToolCallStarted, ToolCallCompleted)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def span(self, name: str) -> ReadableSpan:
        [found] = [span for span in self.spans if span.name == name]
        return found

    def parent(self, name: str) -> str | None:
        above = self.span(name).parent
        names = {span.context.span_id: span.name for span in self.spans if span.context is not None}
        return None if above is None else names[above.span_id]

    def metric(self, name: str) -> dict[tuple[str | None, str], float]:
        """By tool and result: the sum, of a histogram the count."""
        data = self._reader.get_metrics_data()
        assert data is not None
        found = {}
        for metric in (metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics):
            for point in metric.data.data_points if metric.name == name else ():
                labels = dict(point.attributes or {})
                found[labels.get("gen_ai.tool.name"), labels["strata.tool.result"]] = getattr(point, "count", None) or getattr(point, "value", None)
        return found  # type: ignore[return-value]


@pytest.fixture
def told() -> Told:
    return Told()


async def caught(call: Awaitable[str]) -> str:
    """The text of a call, or of its error."""
    try:
        return await call
    except ToolError as error:
        return str(error)


async def test_te1_ev15_calls_lie_between_the_events_of_their_node(told: Told) -> None:
    tools = ToolRegistry([echo("events.lookup"), echo("events.hidden")]).subset(["events.lookup"])

    async def investigate(ctx: Context) -> None:
        given = ToolContext.of(ctx, caller_id="investigator", call_id="c1")
        await tools.dispatch("events.lookup", "{}", given)
        await caught(tools.dispatch("events.hidden", "{}", ctx))

    await told.of(investigate)
    assert told.events.lines(NodeStarted, NodeCompleted, ToolCallStarted, ToolCallCompleted) == [
        "NodeStarted Ask#1",
        "ToolCallStarted Ask#1 events.lookup",
        "ToolCallCompleted Ask#1 events.lookup succeeded",
        "ToolCallStarted Ask#1 events.hidden",
        "ToolCallCompleted Ask#1 events.hidden refused \"tool 'events.hidden' is not permitted here\"",
        "NodeCompleted Ask#1 committed",
    ]
    [started, completed, *_] = [event for event in told.events.events if isinstance(event, ToolCallStarted | ToolCallCompleted)]
    assert isinstance(started, ToolCallStarted)
    assert (started.thread_id, started.run_id, started.call_id, started.caller_id) == ("t", "r", "c1", "investigator")
    assert (completed.call_id, completed.sequence) == ("c1", started.sequence + 1)


async def test_te2_ev15_a_context_built_by_hand_records_no_event_inside_a_node_either(told: Told) -> None:
    tools = ToolRegistry([echo()])

    async def investigate(ctx: Context) -> None:
        await tools.dispatch("echo", "{}", ToolContext(thread_id=ctx.thread_id, run_id=ctx.run_id, node_path=ctx.path))
        await tools.dispatch("echo", "{}", context("Ask"))

    assert (await told.of(investigate)).calls() == []


async def test_te3_sp6_the_parent_of_a_call_is_what_is_current_else_the_attempt(told: Told) -> None:
    tools = ToolRegistry([echo("in.attempt"), echo("in.span"), echo("in.lost.task")])

    async def call(name: str, ctx: Context) -> None:
        await tools.dispatch(name, "{}", ctx)

    async def investigate(ctx: Context) -> None:
        await call("in.attempt", ctx)
        with told.tracer.start_as_current_span("mine"):
            await call("in.span", ctx)
        await asyncio.create_task(call("in.lost.task", ctx), context=contextvars.Context())

    await told.of(investigate)
    assert told.parent("execute_tool in.attempt") == "Ask #1"
    assert told.parent("execute_tool in.span") == "mine"
    assert told.parent("execute_tool in.lost.task") == "Ask #1"


async def test_te3_a_task_of_a_branch_that_lost_the_current_span_lies_below_the_branch(told: Told) -> None:
    tools = ToolRegistry([echo()])

    async def acme(state: Trail, ctx: Context) -> Trail:
        await asyncio.create_task(tools.dispatch("echo", "{}", ctx), context=contextvars.Context())
        return state

    graph = StateGraph(Trail).add_parallel_group("Gather", [branch("Acme", acme)], lambda state, results: state).compile()
    assert isinstance(await Runner(graph, instrument=told.instrument, observers=[told.events]).run("t", Trail()), Completed)
    assert told.parent("execute_tool echo") == "Gather/Acme"
    assert told.calls() == ["ToolCallStarted Gather/Acme#1 echo", "ToolCallCompleted Gather/Acme#1 echo succeeded"]


async def test_te4_sp7_a_refused_call_is_an_error_of_its_kind(told: Told) -> None:
    tools = ToolRegistry([echo(), echo("hidden")]).subset(["echo"])

    async def investigate(ctx: Context) -> None:
        for name in ("ghost", "hidden"):
            await caught(tools.dispatch(name, "{}", ctx))

    await told.of(investigate)
    for name, kind, text in (("ghost", "not_found", "tool 'ghost' not found"), ("hidden", "not_permitted", "tool 'hidden' is not permitted here")):
        span = told.span(f"execute_tool {name}")
        attributes = dict(span.attributes or {})
        assert (attributes["strata.tool.result"], attributes["error.type"]) == ("refused", kind)
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, text)


async def test_te5_a_call_outside_any_run_lies_below_what_is_current_and_no_event_is_recorded(told: Told) -> None:
    tools = ToolRegistry([echo()], instrument=told.instrument)
    with told.tracer.start_as_current_span("request"):
        await tools.dispatch("echo", "{}")
    await tools.dispatch("echo", "{}")
    first, second = (span for span in told.spans if span.name == "execute_tool echo")
    assert first.parent == told.span("request").context
    assert second.parent is None
    assert set(first.attributes or {}) == {"gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id", "strata.tool.result"}
    assert told.metric("strata.tool.requests") == {("echo", "succeeded"): 2}


async def test_te6_sp6_a_successful_call_has_no_status_and_the_attributes_of_the_sheet(told: Told) -> None:
    @strata_tool("telemetry.lookup")
    async def lookup() -> str:
        """Opens a span of its own."""
        told.tracer.start_span("inside").end()
        return "found"

    await told.of(lambda ctx: ToolRegistry([lookup]).dispatch("telemetry.lookup", "{}", ToolContext.of(ctx, caller_id="agent", call_id="c1")))
    span = told.span("execute_tool telemetry.lookup")
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "telemetry.lookup",
        "gen_ai.tool.call.id": "c1",
        "strata.thread_id": "t",
        "strata.run_id": "r",
        "strata.node.path": "Ask",
        "strata.attempt": 1,
        "strata.tool.caller": "agent",
        "strata.tool.result": "succeeded",
    }
    assert told.parent("inside") == "execute_tool telemetry.lookup"


async def test_a_sync_tool_on_its_thread_lies_inside_the_calls_span_too(told: Told) -> None:
    @strata_tool
    def lookup() -> str:
        """Opens a span of its own."""
        told.tracer.start_span("inside").end()
        return "found"

    await told.of(lambda ctx: ToolRegistry([lookup]).dispatch("lookup", "{}", ctx))
    assert told.parent("inside") == "execute_tool lookup"


async def test_tm2_what_a_cache_answers_is_marked_on_its_span_only(told: Told) -> None:
    tools = ToolRegistry([counting([])], [Cache()])

    async def ask_twice(ctx: Context) -> None:
        for _ in range(2):
            await tools.dispatch("count", "{}", ctx)

    await told.of(ask_twice)
    assert [line for line in told.calls() if "Completed" in line] == ["ToolCallCompleted Ask#1 count succeeded"] * 2
    marks = [(span.attributes or {}).get("strata.tool.short_circuited") for span in told.spans if span.name == "execute_tool count"]
    assert marks == [None, True]


async def deny(call: ToolCall, proceed: Proceed) -> str:
    raise ToolCallDenied(call.tool, "tenant acme may not echo")


async def fail(call: ToolCall, proceed: Proceed) -> str:
    raise ToolCallFailed(call.tool, "the policy backend is down")


@pytest.mark.parametrize(
    ("does", "result", "kind", "text"),
    [
        (deny, "refused", "denied", "tool 'mw.echo' was denied: tenant acme may not echo"),
        (fail, "failed", "failed", "tool 'mw.echo' failed: the policy backend is down"),
    ],
)
async def test_tm3_tm4_a_middleware_that_denies_or_fails_is_told_of(told: Told, does: Any, result: str, kind: str, text: str) -> None:
    tools = ToolRegistry([echo("mw.echo")], [Does(does)])
    await told.of(lambda ctx: caught(tools.dispatch("mw.echo", "{}", ctx)))
    assert told.calls()[-1] == f'ToolCallCompleted Ask#1 mw.echo {result} "{text}"'
    span = told.span("execute_tool mw.echo")
    assert ((span.attributes or {})["error.type"], span.status.status_code, span.status.description) == (kind, StatusCode.ERROR, text)
    assert "strata.tool.short_circuited" not in (span.attributes or {})


async def test_tm12_what_a_middleware_does_is_inside_the_call_and_its_duration(told: Told) -> None:
    async def linger(call: ToolCall, proceed: Proceed) -> str:
        with told.tracer.start_as_current_span("linger"):
            assert call.context.node is not None
            await asyncio.gather(call.context.node.sleep(0.05), told.clock.pass_time(0.05))
            return await proceed(call)

    tools = ToolRegistry([echo()], [Does(linger)])
    await told.of(lambda ctx: tools.dispatch("echo", "{}", ctx))
    assert told.parent("linger") == "execute_tool echo"
    [completed] = [event for event in told.events.events if isinstance(event, ToolCallCompleted)]
    assert completed.duration == pytest.approx(0.05)


async def test_events_and_spans_keep_to_the_context_that_was_given(told: Told) -> None:
    async def rename(call: ToolCall, proceed: Proceed) -> str:
        return await proceed(call.replace(context=call.context.replace(caller_id="gateway", call_id="other")))

    tools = ToolRegistry([echo()], [Does(rename)])
    await told.of(lambda ctx: tools.dispatch("echo", "{}", ToolContext.of(ctx, call_id="c1")))
    assert [event.call_id for event in told.events.events if isinstance(event, ToolCallStarted | ToolCallCompleted)] == ["c1", "c1"]
    assert (told.span("execute_tool echo").attributes or {})["gen_ai.tool.call.id"] == "c1"


async def test_mt3_a_name_that_a_model_made_up_is_no_label(told: Told) -> None:
    tools = ToolRegistry([echo(), echo("hidden")]).subset(["echo"])

    async def investigate(ctx: Context) -> None:
        for name in ("echo", "hidden", "made-up"):
            await caught(tools.dispatch(name, "{}", ctx))

    await told.of(investigate)
    expected = {("echo", "succeeded"): 1, ("hidden", "refused"): 1, (None, "refused"): 1}
    assert told.metric("strata.tool.requests") == expected
    assert told.metric("strata.tool.duration") == expected


async def test_the_runs_instrument_goes_before_the_registrys(told: Told) -> None:
    own = Told()
    tools = ToolRegistry([echo()], instrument=own.instrument)
    await told.of(lambda ctx: tools.dispatch("echo", "{}", ctx))
    assert (told.parent("execute_tool echo"), own.spans) == ("Ask #1", [])
    runner = Runner(asking(lambda ctx: tools.dispatch("echo", "{}", ctx)), observers=[told.events])
    await runner.run("u", Trail())
    assert own.parent("execute_tool echo") is None


async def test_arguments_and_results_are_told_to_nobody(told: Told) -> None:
    secret = "4711-0815"
    tools = ToolRegistry([echo()])
    await told.of(lambda ctx: tools.dispatch("echo", json.dumps({"text": secret}), ctx))
    shown = [repr(event) for event in told.events.events if isinstance(event, ToolCallStarted | ToolCallCompleted)]
    assert secret not in "".join([*shown, *(span.to_json() for span in told.spans)])


# What the Rust engine recorded of one node that calls tools and models; the model's part comes with model calls.

SCENARIO = "tool_and_model_calls"


async def calls_tools(ctx: Context) -> None:
    """The scenario's node, as far as tools go."""
    tools = ToolRegistry([refund])
    for name, arguments, order in (
        ("refund", '{"order_id":"o-1","amount":5}', Order()),
        ("refund", '{"amount":5}', Order()),
        ("refund", '{"order_id":"o-1","amount":0}', Order(refused=ValueError("nothing to refund"))),
        ("ghost", "{}", Order()),
    ):
        given = ToolContext.of(ctx, caller_id="agent-7", call_id="call-1").with_service(order)
        await caught(tools.dispatch(name, arguments, given))


def of_tools(name: str) -> bool:
    return not name.startswith("Model")


async def record(told: Told) -> Told:
    async def ask(state: Trail, ctx: Context) -> Trail:
        await calls_tools(ctx)
        return state

    runner = Runner(StateGraph(Trail).add_node("ask", ask).compile(), observers=[told.events], instrument=told.instrument)
    await runner.run("order-1", Trail())
    return told


async def test_ev15_the_events_are_as_recorded(told: Told) -> None:
    recorded: list[RunEvent] = [event_of(line) for line in lines("events", SCENARIO)]
    ours = comparable((await record(told)).events.events)
    assert ours == comparable([event for event in recorded if of_tools(type(event).__name__)])


async def test_sp6_sp7_the_spans_are_as_recorded(told: Told) -> None:
    recorded = [line for line in lines("spans", SCENARIO) if line.get("name") != "strata.model"]
    ours = Counter(shape_of_ours((await record(told)).spans))
    assert ours == Counter(shape_of_recorded(recorded))


async def test_mt3_the_metrics_are_as_recorded(told: Told) -> None:
    recorded = json.loads((WIRE / "metrics" / f"{SCENARIO}.json").read_text())
    await record(told)
    for name in ("strata.tool.requests", "strata.tool.duration"):
        expected = {
            (line["labels"].get("gen_ai.tool.name"), line["labels"]["strata.tool.result"]): line["value"]
            if line["kind"] == "counter"
            else line["value"]["count"]
            for line in recorded
            if line["name"] == name
        }
        assert told.metric(name) == expected


async def test_the_current_span_is_back_when_a_call_has_ended(told: Told) -> None:
    spans: list[Any] = []

    async def investigate(ctx: Context) -> None:
        spans.append(trace.get_current_span())
        await caught(ToolRegistry([echo()]).dispatch("ghost", "{}", ctx))
        spans.append(trace.get_current_span())

    await told.of(investigate)
    assert spans[0] is spans[1]
