"""A run, watched: from one call at each point of it come its events, its spans and its metrics, so that they cannot disagree.

`run.watch` is None where there is neither an observer nor an instrument: that test is all a run pays that nobody watches.
Where each call stands (`watch` is `run.watch`, paths are qualified; strata-observability.md 2.3 is the order):

A call, after its options are checked and it was admitted, and before anything is loaded:
    with watch.run(mode, priority=...):           mode is what was called; a wake that ends the thread says "end" in RunStarted
        watch.emit(RunStarted(...))               as soon as the node to start at is known
        watch.emit(LeaseAcquired(...))            or watch.lease_is_held()
        watch.emit(CheckpointSaved(...))          behind every save of the outermost level that succeeded, `watch.seconds()` measures
        watch.emit(Resumed(...) or Recovered(...))  behind the save of the stamp or the claim
        watch.timed_out()                         in place of Resumed, behind the save that ends a thread whose wait was over
        ... the walk ...
        watch.emit(LeaseLost(...))                when found out, before the node's end
        watch.emit(Interrupted(...))              behind the row, directly before the completion
        watch.completed(outcome, ...)             last, the lease is released. An exception that leaves the block does this by itself
                                                  (and RunStarted, if need be); an abandoned run has no completion
A hop, once it may start:
    watch.emit(HopLimitExceeded(...))             the node that may not start
    with watch.node(path) as node:                NodeStarted
        with node.attempt(number) as attempt:     one of them per attempt, around the user's code; a wait and a timer have one too
            attempt.failed(text, error_type)      before the block is left
        node.retries(text, timed_out=..., delay=...)   before the wait between two attempts, `delay` capped
        node.completed(result, ...)               NodeCompleted, before the row; exactly once unless the run is abandoned
    watch.followed(path, next_path)               each edge taken, not the one out of a pause; fallbacks count by themselves
A group or a map, inside its attempt:
    watch.emit(MapExpanded(...))                  once the keys are found sound
    with watch.branch(path, attempt) as branch:   in the part's own task; BranchStarted
        ended = branch.completed(result, ...)     the event, for whoever settles the part to `watch.emit(ended)`: a deciding part's
                                                  end must come before JoinDecided, the losers' behind it
    watch.emit(JoinDecided(...))                  where the join is not `all`
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec

from strata.engine.measures import Measure, acquisition, measures_of, transition, wake
from strata.engine.notes import attributes_of, note_of
from strata.engine.silent import SILENT, SILENT_SPAN
from strata.graph.clock import Clock
from strata.ports import metrics
from strata.ports.events import (
    BranchCompleted,
    BranchReason,
    BranchResult,
    BranchStarted,
    CancelReason,
    JoinDecided,
    MapExpanded,
    NodeCompleted,
    NodeResult,
    NodeStarted,
    RetryScheduled,
    RunCompleted,
    RunEvent,
    RunMode,
    RunResult,
    RunStarted,
)
from strata.ports.instrument import Instrument, Span, Value


class Watch:
    """Of one run. It is called from the run's own loop, and never waits.

    Args:
        deliver: takes each event, in order; None where nobody observes.
        instrument: takes spans and metrics; None where nobody measures.
    """

    def __init__(
        self,
        *,
        thread_id: str,
        run_id: str,
        clock: Clock,
        deliver: Callable[[RunEvent], None] | None,
        instrument: Instrument | None,
    ) -> None:
        self.thread_id = thread_id
        self.run_id = run_id
        self._clock = clock
        self._deliver = deliver
        self.instrument = instrument
        self._instrument: Instrument = SILENT if instrument is None else instrument
        self._sequence = 0
        self._latest = 0.0
        self._began = clock.monotonic()
        self._mode: RunMode = "run"
        self._is_started = False
        self._is_over = False
        self._span: Span = SILENT_SPAN
        self._nodes: dict[str, NodeWatch] = {}
        self._branches: dict[str, Span] = {}

    def emit(self, event: RunEvent) -> None:
        """Record that `event` has happened; its envelope is filled in. What comes after the run's end is dropped."""
        if self._is_over:
            return
        self._is_started = True
        self._sequence += 1
        self._latest = max(self._latest, self._clock.time())
        stamped = msgspec.structs.replace(
            event,
            thread_id=self.thread_id,
            run_id=self.run_id,
            sequence=self._sequence,
            timestamp=datetime.fromtimestamp(self._latest, UTC),
        )
        if self.instrument is not None:
            self._measure(stamped)
        if self._deliver is not None:
            self._deliver(stamped)

    def seconds(self) -> float:
        """The clock that durations are measured on."""
        return self._clock.monotonic()

    # The run

    @contextmanager
    def run(self, mode: RunMode, *, priority: int | None = None) -> Generator[None]:
        """Around the whole call. An exception that goes through is a refusal, or the store's, and the run's failure (sheet 1)."""
        self._began, self._mode = self.seconds(), mode
        attributes: dict[str, Value] = {**self.attributes(), "strata.run.mode": mode}
        if priority is not None:
            attributes["strata.run.priority"] = priority
        with self._instrument.span(f"strata.{mode}", attributes) as self._span:
            try:
                yield
            except Exception as error:
                self._refused(str(error))
                raise
            finally:
                if self._is_started:
                    self._record(Measure(metrics.GRAPHS_ACTIVE, -1))

    def completed(
        self,
        outcome: RunResult,
        *,
        error: str | None = None,
        cancel_reason: CancelReason | None = None,
        error_type: str | None = None,
    ) -> None:
        """The run's end. `error_type` is `hop_limit` where the outermost level's limit ended it, else None."""
        if outcome == "failed":
            self._span.fail(error or "")
            if error_type is not None:
                self._span.set("error.type", error_type)
        duration = self.seconds() - self._began
        self.emit(RunCompleted(outcome=outcome, error=error, cancel_reason=cancel_reason, duration=duration))
        self._is_over = True

    def _refused(self, text: str) -> None:
        if not self._is_started:
            self.emit(RunStarted(mode=self._mode, node=""))
        if not self._is_over:
            self.completed("failed", error=text)

    def lease_is_held(self) -> None:
        """The thread's lease is somebody else's."""
        self._record(acquisition("held"))

    def timed_out(self) -> None:
        """The record is saved that ends a thread whose wait was over and led nowhere."""
        self._record(wake("timeout"))

    def followed(self, path: str, next_path: str) -> None:
        """An edge was taken."""
        self._record(transition(path, next_path))

    # Its nodes

    @contextmanager
    def node(self, path: str) -> Generator[NodeWatch]:
        """Around all attempts of a node."""
        with self._instrument.span(path, {**self.attributes(), "strata.node.path": path}) as span:
            node = self._nodes[path] = NodeWatch(self, self._instrument, path, span)
            try:
                self.emit(NodeStarted(node_path=path, attempt=1))
                yield node
            finally:
                del self._nodes[path]

    @contextmanager
    def branch(self, path: str, attempt: int) -> Generator[BranchWatch]:
        """Around a branch or an item; `attempt` is the group's."""
        attributes = {**self.attributes(), "strata.node.path": path, "strata.attempt": attempt}
        with self._instrument.span(path, attributes) as span:
            self._branches[path] = span
            try:
                self.emit(BranchStarted(node_path=path, attempt=attempt))
                yield BranchWatch(self, path, attempt, span)
            finally:
                del self._branches[path]

    def span_at(self, path: str) -> Span | None:
        """The span of the attempt or the branch that runs there: what its calls lie below, wherever they are made."""
        node = self._nodes.get(path)
        return self._branches.get(path) if node is None else node.attempt_span

    def attributes(self) -> dict[str, Value]:
        """What every span of the run carries."""
        return {"strata.thread_id": self.thread_id, "strata.run_id": self.run_id}

    def _measure(self, event: RunEvent) -> None:
        if isinstance(event, RunStarted) and event.mode != self._mode:
            self._mode = event.mode
            self._span.rename(f"strata.{event.mode}")
        for measure in measures_of(event, self._mode):
            self._record(measure)
        for key, value in attributes_of(event).items():
            self._span.set(key, value)
        if (note := note_of(event)) is not None:
            self._place(event).note(note.message, note.fields)

    def _place(self, event: RunEvent) -> Span:
        """The span that a note about `event` belongs to."""
        match event:
            case RetryScheduled(node_path=path) | NodeCompleted(node_path=path):
                return self._nodes[path].span if path in self._nodes else self._span
            case JoinDecided(node_path=path) | MapExpanded(node_path=path):
                return self._nodes[path].attempt_span if path in self._nodes else self._span
            case _:
                return self._span

    def _record(self, measure: Measure) -> None:
        self._instrument.record(measure.metric, measure.value, measure.labels)


class NodeWatch:
    """Of one node, all its attempts included."""

    def __init__(self, watch: Watch, instrument: Instrument, path: str, span: Span) -> None:
        self._watch = watch
        self._instrument = instrument
        self._path = path
        self._began = watch.seconds()
        self._attempt = 1
        self.span = span
        self.attempt_span: Span = span

    @contextmanager
    def attempt(self, number: int) -> Generator[AttemptWatch]:
        """Around the user's code, or the parts of a group or a map, or the child of a subgraph."""
        self._attempt = number
        attributes = {**self._watch.attributes(), "strata.node.path": self._path, "strata.attempt": number}
        with self._instrument.span(f"{self._path} #{number}", attributes) as self.attempt_span:
            yield AttemptWatch(self.attempt_span)

    def retries(self, error: str, *, timed_out: bool, delay: float) -> None:
        """The attempt failed, and another follows after `delay` seconds."""
        self._watch.emit(RetryScheduled(node_path=self._path, attempt=self._attempt, error=error, timed_out=timed_out, delay=delay))

    def completed(self, result: NodeResult, *, error: str | None = None, error_type: str = "fatal", fallback: str | None = None) -> None:
        """The node's end. `error_type` of a failure is `transient`, `fatal`, `timeout` or `panic`."""
        self.span.set("strata.retry_count", self._attempt - 1)
        self.span.set("strata.node.result", result)
        if result == "failed":
            _fail(self.span, error or "", error_type)
        self._watch.emit(
            NodeCompleted(
                node_path=self._path,
                attempt=self._attempt,
                result=result,
                duration=self._watch.seconds() - self._began,
                error=error,
                fallback=fallback,
            )
        )


class AttemptWatch:
    """Of one attempt."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def failed(self, error: str, error_type: str) -> None:
        """It failed, whether or not another follows. One that was stopped, or paused, has not."""
        _fail(self._span, error, error_type)


class BranchWatch:
    """Of one branch of a group or item of a map."""

    def __init__(self, watch: Watch, path: str, attempt: int, span: Span) -> None:
        self._watch = watch
        self._path = path
        self._attempt = attempt
        self._span = span
        self._began = watch.seconds()

    def completed(
        self,
        result: BranchResult,
        *,
        error: str | None = None,
        error_type: str = "fatal",
        reason: BranchReason | None = None,
    ) -> BranchCompleted:
        """Its end, for whoever settles it to emit. A failure that is a timeout is `transient`, and says so as its reason."""
        if reason is not None:
            self._span.set("strata.branch.reason", reason)
        if result == "failed":
            _fail(self._span, error or "", error_type)
        duration = self._watch.seconds() - self._began
        return BranchCompleted(node_path=self._path, attempt=self._attempt, result=result, duration=duration, error=error, reason=reason)


def _fail(span: Span, message: str, error_type: str) -> None:
    span.fail(message)
    span.set("error.type", error_type)
