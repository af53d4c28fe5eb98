"""The instrument that hands spans and metrics to OpenTelemetry; the only importer of its API."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode

from strata.ports.instrument import Span, SpanKind, Value
from strata.ports.metrics import Metric

SCOPE = "strata"

_Record: TypeAlias = Callable[[float, Mapping[str, str]], None]


class OpenTelemetryInstrument:
    """Spans and metrics by the names of the sheet (strata-observability.md 3 and 4), in the given providers or the global ones.

        runner = Runner(graph, store, instrument=OpenTelemetryInstrument())

    Spans are current around the user's code, on worker threads too: what a handler opens lies below its attempt. The log
    events of the sheet are events of their span. Metrics carry no ids, but those of a map's items name the item's key.
    """

    def __init__(self, tracer_provider: trace.TracerProvider | None = None, meter_provider: metrics.MeterProvider | None = None) -> None:
        self._tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
        self._meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
        self._recorders: dict[str, _Record] = {}

    def span(
        self, name: str, attributes: Mapping[str, Value], /, *, kind: SpanKind = "internal", within: Span | None = None
    ) -> AbstractContextManager[Span]:
        return self._entered(name, attributes, trace.SpanKind.CLIENT if kind == "client" else trace.SpanKind.INTERNAL, _around(within))

    def record(self, metric: Metric, value: float, labels: Mapping[str, str], /) -> None:
        recorder = self._recorders.get(metric.name)
        if recorder is None:
            recorder = self._recorders[metric.name] = self._recorder_of(metric)
        recorder(value, labels)

    @contextmanager
    def _entered(self, name: str, attributes: Mapping[str, Value], kind: trace.SpanKind, around: Context | None) -> Generator[Span]:
        started = self._tracer.start_as_current_span(
            name,
            around,
            kind=kind,
            attributes=dict(attributes),
            record_exception=False,  # what a failure is, and whether it is one, the engine says
            set_status_on_exception=False,
        )
        with started as span:
            yield _OpenSpan(span)

    def _recorder_of(self, metric: Metric) -> _Record:
        meter, name, unit, text = self._meter, metric.name, metric.unit, metric.description
        match metric.kind:
            case "counter":
                return meter.create_counter(name, unit=unit, description=text).add
            case "up_down":
                return meter.create_up_down_counter(name, unit=unit, description=text).add
            case "histogram":
                boundaries = list(metric.boundaries) or None
                return meter.create_histogram(name, unit=unit, description=text, explicit_bucket_boundaries_advisory=boundaries).record


def _around(within: Span | None) -> Context | None:
    """Where the parent of a new span is found: None is what is current, and that goes before `within`."""
    if not isinstance(within, _OpenSpan) or trace.get_current_span().get_span_context().is_valid:
        return None
    return within.as_parent()


class _OpenSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def as_parent(self) -> Context:
        return trace.set_span_in_context(self._span)

    def rename(self, name: str, /) -> None:
        self._span.update_name(name)

    def set(self, key: str, value: Value, /) -> None:
        self._span.set_attribute(key, value)

    def fail(self, message: str, /) -> None:
        self._span.set_status(Status(StatusCode.ERROR, message))

    def note(self, message: str, fields: Mapping[str, Value], /) -> None:
        self._span.add_event(message, dict(fields))
