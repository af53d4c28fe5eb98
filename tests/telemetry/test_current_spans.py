"""What is current where: in handlers, on threads, in tasks; what a span says of its run (strata-observability.md 3)."""

from __future__ import annotations

import asyncio

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from strata.engine.watch import Watch
from strata.graph.identity import Identity
from strata.ports.events import RunStarted
from strata.telemetry import OpenTelemetryInstrument
from strata.testing import TestClock


class Traced:
    """A watch whose spans are kept, and a tracer for the user's own."""

    def __init__(self, *, run_id: str = "r") -> None:
        self._kept = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracer = provider.get_tracer("user")
        self.watch = Watch(thread_id="t", run_id=run_id, clock=TestClock(), deliver=None, instrument=OpenTelemetryInstrument(provider))

    def span(self, name: str) -> ReadableSpan:
        [found] = [span for span in self._kept.get_finished_spans() if span.name == name]
        return found

    def parent(self, name: str) -> str | None:
        above = self.span(name).parent
        names = {span.context.span_id: span.name for span in self._kept.get_finished_spans() if span.context is not None}
        return None if above is None else names[above.span_id]


@pytest.fixture
def traced() -> Traced:
    return Traced()


async def test_sp1_a_handlers_own_span_lies_below_its_attempt_on_threads_too(traced: Traced) -> None:
    with traced.watch.run("run"), traced.watch.node("Work") as node, node.attempt(1):
        with traced.tracer.start_as_current_span("inline"):
            pass
        await asyncio.to_thread(lambda: traced.tracer.start_span("threaded").end())
        node.completed("committed")
    assert [traced.parent(name) for name in ("inline", "threaded", "Work #1", "Work", "strata.run")] == [
        "Work #1",
        "Work #1",
        "Work",
        "strata.run",
        None,
    ]


async def test_sp1_branches_in_tasks_of_their_own_lie_below_the_groups_attempt(traced: Traced) -> None:
    async def part(name: str) -> None:
        with traced.watch.branch(f"Gather/{name}", 1) as branch:
            await asyncio.sleep(0)
            traced.tracer.start_span(f"in {name}").end()
            traced.watch.emit(branch.completed("succeeded"))

    with traced.watch.run("run"), traced.watch.node("Gather") as node, node.attempt(1):
        await asyncio.gather(part("Acme"), part("Bolt"))
        node.completed("committed")
    for name in ("Acme", "Bolt"):
        assert traced.parent(f"Gather/{name}") == "Gather #1"
        assert traced.parent(f"in {name}") == f"Gather/{name}"


async def test_sp2_the_attempts_span_is_the_current_one(traced: Traced) -> None:
    with traced.watch.run("run"), traced.watch.node("Inline") as node:
        with node.attempt(1):
            current = trace.get_current_span()
        node.completed("committed")
    assert current.get_span_context() == traced.span("Inline #1").context


async def test_the_run_lies_below_what_is_current_at_the_call(traced: Traced) -> None:
    with traced.tracer.start_as_current_span("request"), traced.watch.run("run"):
        pass
    assert traced.parent("strata.run") == "request"


@pytest.mark.parametrize(
    ("identity", "known"),
    [
        (None, {}),
        (Identity("orders", "2"), {"strata.graph.id": "orders", "strata.graph.version": "2"}),
        (Identity("orders"), {"strata.graph.id": "orders"}),
    ],
)
async def test_sp5_a_graphs_identity_is_on_the_run(traced: Traced, identity: Identity | None, known: dict[str, str]) -> None:
    with traced.watch.run("run"):
        traced.watch.emit(RunStarted(mode="run", node="A", graph=identity))
        traced.watch.completed("completed")
    attributes = dict(traced.span("strata.run").attributes or {})
    assert {key: value for key, value in attributes.items() if key.startswith("strata.graph.")} == known


async def test_sp10_a_scheduled_run_has_its_priority_and_how_long_it_waited(traced: Traced) -> None:
    with traced.watch.run("run", priority=2):
        traced.watch.emit(RunStarted(mode="run", node="A", queued_for=3.0))
        traced.watch.completed("completed")
    attributes = dict(traced.span("strata.run").attributes or {})
    assert (attributes["strata.run.priority"], attributes["strata.scheduler.wait_ms"]) == (2, 3000.0)


async def test_a_wake_that_ends_the_thread_is_an_end(traced: Traced) -> None:
    with traced.watch.run("resume"):
        traced.watch.emit(RunStarted(mode="end", node="approve"))
        traced.watch.timed_out()
        traced.watch.completed("cancelled", cancel_reason="ended")
    assert dict(traced.span("strata.end").attributes or {})["strata.run.mode"] == "end"
