"""What the Rust engine's observers, spans and metrics saw of its scenarios, from our calls at the same points."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from strata.ports.events import EPOCH, RunEvent
from strata.telemetry import OpenTelemetryInstrument
from tests.clocks import HandClock
from tests.telemetry.replaying import WIRE, Playback, event_of, lines, runs

EVENTS = sorted(path.stem for path in (WIRE / "events").glob("*.jsonl"))
WITH_TOOLS = "tool_and_model_calls"
MEASURED = sorted({path.stem for path in (WIRE / "spans").glob("*.jsonl")} - {WITH_TOOLS})


class Collected:
    """An instrument whose spans and metrics stay in memory."""

    def __init__(self) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.instrument = OpenTelemetryInstrument(tracers, MeterProvider([self._reader]))

    def spans(self) -> list[ReadableSpan]:
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def metrics(self) -> dict[tuple[str, str], Any]:
        """By name and labels: the value, of a histogram the count."""
        data = self._reader.get_metrics_data()
        found: dict[tuple[str, str], Any] = {}
        if data is None:
            return found
        for metric in (metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics):
            for point in metric.data.data_points:
                value = point.count if isinstance(point, HistogramDataPoint) else getattr(point, "value", None)
                found[metric.name, json.dumps(dict(point.attributes or {}), sort_keys=True)] = value
        return found


@pytest.mark.parametrize("scenario", EVENTS)
def test_every_recorded_event_is_one_of_ours(scenario: str) -> None:
    recorded = lines("events", scenario)
    ours = [event_of(event) for event in recorded]
    assert [type(event).__name__ for event in ours] == ["".join(part.title() for part in event["event"].split("_")) for event in recorded]
    for event, line in zip(ours, recorded, strict=True):
        absent = {"event"} | {key for key in ("node_path", "attempt") if line.get(key) is None}
        assert set(event.__struct_fields__) == {name(key) for key in line.keys() - absent}


@pytest.mark.parametrize("scenario", sorted(set(EVENTS) - {WITH_TOOLS}))
def test_the_events_of_a_run_come_as_recorded(scenario: str) -> None:
    for recorded in runs(lines("events", scenario)):
        playback = Playback(recorded, clock=HandClock(), instrument=None, error_types={})
        playback.play()
        assert [told(event) for event in playback.heard] == [told(event_of(line)) for line in recorded]


@pytest.mark.parametrize("scenario", MEASURED)
def test_sp1_the_spans_of_a_scenario_are_as_recorded(scenario: str) -> None:
    collected = replayed(scenario)
    assert Counter(shape_of_ours(collected.spans())) == Counter(shape_of_recorded(lines("spans", scenario)))


@pytest.mark.parametrize("scenario", MEASURED)
def test_mt1_the_metrics_of_a_scenario_are_as_recorded(scenario: str) -> None:
    recorded = {
        (line["name"], json.dumps(line["labels"], sort_keys=True)): line["value"]["count"] if line["kind"] == "histogram" else line["value"]
        for line in json.loads((WIRE / "metrics" / f"{scenario}.json").read_text())
        if not is_told_elsewhere(line)
    }
    assert replayed(scenario).metrics() == recorded


def replayed(scenario: str) -> Collected:
    collected, clock = Collected(), HandClock()
    kinds = recorded_error_types(scenario)
    for number, recorded in enumerate(runs(lines("events", scenario))):
        Playback(recorded, clock=clock, instrument=collected.instrument, error_types=kinds[number], times_out="timeout_end" in scenario).play()
    return collected


def recorded_error_types(scenario: str) -> list[dict[str, str]]:
    """Whether a failure was transient or fatal is no part of an event: the recorded spans tell it, for each run."""
    kinds: list[dict[str, str]] = []
    for line in lines("spans", scenario):
        if line.get("name") == "strata.run":
            kinds.append({})
        elif "error.type" in line.get("fields", {}):
            run = [entry["fields"]["strata.run_id"] for entry in lines("spans", scenario) if entry.get("name") == "strata.run"]
            kinds_of_run = kinds[run.index(line["fields"]["strata.run_id"])]
            kinds_of_run[line["fields"]["strata.node.path"]] = line["fields"]["error.type"]
    return kinds


def is_told_elsewhere(line: dict[str, Any]) -> bool:
    """Loads, held leases and the scheduler are no events."""
    labels = line["labels"]
    return labels.get("strata.checkpoint.operation") == "load" or "held" in labels.values() or line["name"].startswith("strata.scheduler")


def told(event: RunEvent) -> RunEvent:
    """But for times, which differ from run to run."""
    again = {key: 0.0 for key in ("duration",) if hasattr(event, key)}
    return msgspec.structs.replace(event, timestamp=EPOCH, **again)


def name(key: str) -> str:
    return "from_status" if key == "from" else key.removesuffix("_s")


VARYING = ("strata.run_id", "strata.scheduler.wait_ms", "strata.run.priority", "strata.checkpoint.duration_ms")


def shape_of_ours(spans: list[ReadableSpan]) -> list[str]:
    names = {span.context.span_id: span.name for span in spans if span.context is not None}
    return [
        json.dumps(
            {
                "name": span.name,
                "parent": names.get(span.parent.span_id) if span.parent is not None else None,
                "error": text_of(span.status.description),
                "fields": texts(dict(span.attributes or {})),
                "notes": [[event.name, texts(dict(event.attributes or {}))] for event in span.events],
            },
            sort_keys=True,
        )
        for span in spans
    ]


def shape_of_recorded(recorded: list[dict[str, Any]]) -> list[str]:
    spans = {line["span"]: line for line in recorded if "span" in line}
    notes: dict[int, list[Any]] = {number: [] for number in spans}
    for line in recorded:
        if "log" in line:
            fields = dict(line["log"]["fields"])
            notes[line["log"]["in_span"]].append([fields.pop("message"), texts(fields)])
    return [
        json.dumps(
            {
                "name": line["fields"]["otel.name"],
                "parent": None if line["parent"] is None else spans[line["parent"]]["fields"]["otel.name"],
                "error": text_of(line["fields"].get("otel.status_message")),
                "fields": texts({key: value for key, value in line["fields"].items() if not key.startswith("otel.")}),
                "notes": notes[number],
            },
            sort_keys=True,
        )
        for number, line in spans.items()
    ]


def text_of(message: str | None) -> str | None:
    """But for the times in it."""
    return None if message is None else re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "(time)", message)


def texts(fields: dict[str, Any]) -> dict[str, Any]:
    """Values as the record has them, all text; metadata by value, since its order there is by chance."""
    shown: dict[str, Any] = {}
    for key, value in fields.items():
        if key not in VARYING:
            shown[key] = json.loads(value) if key == "strata.metadata" else str(value).lower() if isinstance(value, bool) else str(value)
    return shown
