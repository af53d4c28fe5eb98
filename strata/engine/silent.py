"""The instrument of a run that has observers only: it records nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

from strata.ports.instrument import Instrument, Span, SpanKind, Value
from strata.ports.metrics import Metric


class _SilentSpan:
    def rename(self, name: str, /) -> None: ...

    def set(self, key: str, value: Value, /) -> None: ...

    def fail(self, message: str, /) -> None: ...

    def note(self, message: str, fields: Mapping[str, Value], /) -> None: ...


class _Silent:
    def span(
        self, name: str, attributes: Mapping[str, Value], /, *, kind: SpanKind = "internal", within: Span | None = None
    ) -> AbstractContextManager[Span]:
        return _NOWHERE

    def record(self, metric: Metric, value: float, labels: Mapping[str, str], /) -> None: ...


SILENT_SPAN: Span = _SilentSpan()
SILENT: Instrument = _Silent()
_NOWHERE = nullcontext(SILENT_SPAN)
