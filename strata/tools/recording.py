"""A call as observers, spans and metrics are told of it: once when it starts, once when it ends (strata-tools.md 11)."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from strata.engine.calling import CallSite
from strata.engine.silent import SILENT
from strata.graph.clock import SYSTEM
from strata.ports import metrics
from strata.ports.events import ToolCallCompleted, ToolCallStarted
from strata.ports.instrument import Instrument, Span, Value
from strata.tools.context import ToolContext
from strata.tools.endings import Ending, ending_of


class Audience(NamedTuple):
    """Who is told of a call.

    Attributes:
        site: where the node stands that makes it, if one does; its run's observers are told.
        instrument: where its span and its metrics go.
    """

    site: CallSite | None
    instrument: Instrument


def audience_of(site: CallSite | None, own: Instrument | None) -> Audience | None:
    """`own` is the registry's instrument, for calls whose run has none. None where nobody listens."""
    watch = None if site is None else site.watch
    instrument = own if watch is None or watch.instrument is None else watch.instrument
    return None if watch is None and instrument is None else Audience(site, instrument or SILENT)


class Recorded:
    """A call that is being recorded; `is_short_circuited` is for whoever finds that a middleware answered it."""

    __slots__ = ("is_short_circuited",)

    def __init__(self) -> None:
        self.is_short_circuited = False


@contextmanager
def recorded(tool: str, context: ToolContext, audience: Audience, *, is_known: bool) -> Generator[Recorded]:
    """Around the whole call, whatever becomes of it; its span is current inside.

    `is_known`: the name is one of the registry's, or of those that it leaves out. One that a model made up is no label of a metric.
    """
    site, instrument = audience
    seconds = SYSTEM.monotonic if site is None else site.clock.monotonic
    attempt = None if site is None or site.watch is None else site.watch.span_at(site.path)
    with instrument.span(f"execute_tool {tool}", _attributes(tool, context), within=attempt) as span:
        _tell_started(site, tool, context)
        call, began = Recorded(), seconds()
        error: BaseException | None = None
        try:
            yield call
        except BaseException as raised:
            error = raised
            raise
        finally:
            ending, duration = ending_of(tool, error), seconds() - began
            _measure(instrument, tool if is_known else None, ending, duration)
            _mark(span, ending, is_short_circuited=call.is_short_circuited)
            _tell_completed(site, tool, context, ending, duration)


def _attributes(tool: str, context: ToolContext) -> dict[str, Value]:
    known: dict[str, Value | None] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": context.call_id,
        "strata.thread_id": context.thread_id,
        "strata.run_id": context.run_id,
        "strata.node.path": context.node_path,
        "strata.attempt": context.attempt,
        "strata.tool.caller": context.caller_id,
    }
    return {key: value for key, value in known.items() if value is not None}


def _tell_started(site: CallSite | None, tool: str, context: ToolContext) -> None:
    if site is not None and site.watch is not None:
        called, caller = context.call_id or "", context.caller_id
        site.watch.emit(ToolCallStarted(node_path=site.path, attempt=site.attempt, tool=tool, call_id=called, caller_id=caller))


def _tell_completed(site: CallSite | None, tool: str, context: ToolContext, ending: Ending, duration: float) -> None:
    if site is not None and site.watch is not None:
        site.watch.emit(
            ToolCallCompleted(
                node_path=site.path,
                attempt=site.attempt,
                tool=tool,
                call_id=context.call_id or "",
                result=ending.result,
                duration=duration,
                error=ending.error,
            )
        )


def _mark(span: Span, ending: Ending, *, is_short_circuited: bool) -> None:
    span.set("strata.tool.result", ending.result)
    if is_short_circuited:
        span.set("strata.tool.short_circuited", True)
    if ending.error_type is not None:
        span.set("error.type", ending.error_type)
        span.fail(ending.error or "")


def _measure(instrument: Instrument, tool: str | None, ending: Ending, duration: float) -> None:
    labels: dict[str, str] = {"strata.tool.result": ending.result}
    if tool is not None:
        labels["gen_ai.tool.name"] = tool
    instrument.record(metrics.TOOL_REQUESTS, 1, labels)
    instrument.record(metrics.TOOL_DURATION, duration, labels)
