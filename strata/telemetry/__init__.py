"""Spans and metrics of runs in OpenTelemetry (`pip install strata[otel]`)."""

from strata.telemetry.opentelemetry import OpenTelemetryInstrument

__all__ = ["OpenTelemetryInstrument"]
