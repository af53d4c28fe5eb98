"""Where spans and metrics go: the port that a telemetry library stands behind. `strata.telemetry` has the one for OpenTelemetry."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeAlias

from strata.ports.metrics import Metric

Value: TypeAlias = str | int | float | bool
SpanKind: TypeAlias = Literal["internal", "client"]


class Span(Protocol):
    """A stretch of a run that is being recorded."""

    def rename(self, name: str, /) -> None: ...

    def set(self, key: str, value: Value, /) -> None: ...

    def fail(self, message: str, /) -> None:
        """Give it the status ERROR. A span that is not told so has no status."""
        ...

    def note(self, message: str, fields: Mapping[str, Value], /) -> None:
        """Something that happened at this moment of it."""
        ...


class Instrument(Protocol):
    """What a run is measured with: `Runner(instrument=...)`.

    It knows nothing of graphs: names, attributes and labels come from the engine, as the sheet has them. None of its calls
    may raise or wait.
    """

    def span(
        self, name: str, attributes: Mapping[str, Value], /, *, kind: SpanKind = "internal", within: Span | None = None
    ) -> AbstractContextManager[Span]:
        """A span that is current while the context is entered: in the task that entered it, in tasks made there, on worker threads.

        Its parent is what is current then; where nothing is, `within`, if that is given. It ends with the context; an error that
        passes through is no status.
        """
        ...

    def record(self, metric: Metric, value: float, labels: Mapping[str, str], /) -> None:
        """Count `value`, or add it to the up-down counter, or to the histogram."""
        ...
