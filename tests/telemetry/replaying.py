"""The recorded events of the Rust engine, played to a watch as the engine would have made them happen."""

from __future__ import annotations

import contextvars
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from strata.engine.watch import AttemptWatch, BranchWatch, NodeWatch, Watch
from strata.graph.clock import Clock
from strata.ports import events
from strata.ports.events import RunEvent
from strata.ports.instrument import Instrument

WIRE = Path(__file__).parents[2] / "schema" / "wire"


def lines(kind: str, scenario: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (WIRE / kind / f"{scenario}.jsonl").read_text().splitlines()]


def runs(recorded: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The events of each run, in the order the runs began; a caller may have given several the same id."""
    begun: list[list[dict[str, Any]]] = []
    latest: dict[str, list[dict[str, Any]]] = {}
    for event in recorded:
        if event["sequence"] == 1:
            begun.append([])
            latest[event["run_id"]] = begun[-1]
        latest[event["run_id"]].append(event)
    yield from begun


def event_of(recorded: dict[str, Any]) -> RunEvent:
    """The record as one of our events; field names that end in a unit are the record's own."""
    name = "".join(part.capitalize() for part in recorded["event"].split("_"))
    fields = {key.removesuffix("_s"): value for key, value in recorded.items() if key != "event" and value is not None}
    if "from" in fields:
        fields["from_status"] = fields.pop("from")
    fields["timestamp"] = micros(fields["timestamp"])
    if "expires_at" in fields:
        fields["expires_at"] = micros(fields["expires_at"])
    kind: type[RunEvent] = getattr(events, name)
    return msgspec.convert(fields, kind)


def micros(text: str) -> datetime:
    return datetime.fromisoformat(text)


class Playback:
    """One run. Each open node, attempt or branch has a context of its own, as it has a place in some task of the engine."""

    def __init__(
        self,
        recorded: list[dict[str, Any]],
        *,
        clock: Clock,
        instrument: Instrument | None,
        error_types: Mapping[str, str],
        times_out: bool = False,
    ) -> None:
        """`error_types` of the nodes and branches that failed, and whether an end is that of a wait whose time was over, no event tells."""
        self._recorded = recorded
        self._times_out = times_out
        self._error_types = error_types
        self.heard: list[RunEvent] = []
        first = recorded[0]
        self.watch = Watch(thread_id=first["thread_id"], run_id=first["run_id"], clock=clock, deliver=self.heard.append, instrument=instrument)
        self._open: dict[str, _Scope] = {}
        self._left: dict[str, str] = {}
        self._refused = {event["node_path"] for event in recorded if "is a streaming node" in (event.get("error") or "")}
        """Nodes that were refused before an attempt: that needs a kind of node which we do not have."""

    def play(self) -> None:
        contextvars.copy_context().run(self._play, self._recorded[0]["mode"])

    def _play(self, mode: events.RunMode) -> None:
        with self.watch.run(mode):
            for recorded in self._recorded:
                self._happen(recorded["event"], recorded)

    def _happen(self, kind: str, recorded: dict[str, Any]) -> None:
        path = recorded["node_path"]
        match kind:
            case "node_started":
                self._follow(path)
                scope = self._open[path] = _Scope(self._around(path))
                scope.node = scope.enter(self.watch.node(path))
                if path not in self._refused:
                    scope.try_once(1)
            case "branch_started":
                scope = self._open[path] = _Scope(self._around(path))
                scope.branch = scope.enter(self.watch.branch(path, recorded["attempt"]))
            case "retry_scheduled":
                self._retry(self._open[path], recorded)
            case "node_completed":
                self._complete(path, recorded)
            case "branch_completed":
                self._settle(path, recorded)
            case "run_completed":
                over = "hop_limit" if (recorded["error"] or "").startswith("hop limit") else None
                self.watch.completed(recorded["outcome"], error=recorded["error"], cancel_reason=recorded["cancel_reason"], error_type=over)
            case "hop_limit_exceeded":
                self._follow(path)
                self._emit(path, event_of(recorded))
            case _:
                self._emit(path, event_of(recorded))
                if self._times_out and recorded.get("status") == "ended":
                    self.watch.timed_out()

    def _emit(self, path: str | None, event: RunEvent) -> None:
        scope = self._open.get(path or "")
        if scope is None:
            self.watch.emit(event)
        else:
            scope.place.run(self.watch.emit, event)

    def _retry(self, scope: _Scope, recorded: dict[str, Any]) -> None:
        scope.fail(recorded["error"], "timeout" if recorded["timed_out"] else "transient")
        scope.told(lambda node: node.retries(recorded["error"], timed_out=recorded["timed_out"], delay=recorded["delay_s"]))
        scope.try_once(recorded["attempt"] + 1)

    def _complete(self, path: str, recorded: dict[str, Any]) -> None:
        scope, error, result = self._open.pop(path), recorded["error"], recorded["result"]
        kind = self._error_types.get(path, "fatal")
        if result == "failed" and path not in self._refused:
            scope.fail(error, kind)
        scope.end_attempt()
        scope.told(lambda node: node.completed(result, error=error, error_type=kind, fallback=recorded["fallback"]))
        scope.close()
        if result == "committed":
            self._left[level_of(path)] = path

    def _settle(self, path: str, recorded: dict[str, Any]) -> None:
        scope = self._open.pop(path)
        assert scope.branch is not None
        kind = self._error_types.get(path, "transient")
        ended = scope.branch.completed(recorded["result"], error=recorded["error"], error_type=kind, reason=recorded["reason"])
        scope.close()
        self.watch.emit(ended)

    def _follow(self, path: str) -> None:
        """The edge that led here, if a node of this level has been left for it."""
        left = self._left.pop(level_of(path), None)
        if left is not None:
            self.watch.followed(left, path)

    def _around(self, path: str) -> contextvars.Context:
        while path:
            path = level_of(path)
            if path in self._open:
                return self._open[path].place
        return contextvars.copy_context()


class _Scope:
    """Something open: its context, and what is to be left again."""

    def __init__(self, around: contextvars.Context) -> None:
        self.place = around.copy()
        self._stack = ExitStack()
        self._attempt: AttemptWatch | None = None
        self._attempts: list[AbstractContextManager[AttemptWatch]] = []
        self.node: NodeWatch | None = None
        self.branch: BranchWatch | None = None

    def enter(self, manager: AbstractContextManager[Any]) -> Any:
        return self.place.run(self._stack.enter_context, manager)

    def told(self, what: Callable[[NodeWatch], object]) -> None:
        assert self.node is not None
        self.place.run(what, self.node)

    def try_once(self, number: int) -> None:
        assert self.node is not None
        self._attempts.append(self.node.attempt(number))
        self._attempt = self.place.run(self._attempts[-1].__enter__)

    def fail(self, error: str, error_type: str) -> None:
        assert self._attempt is not None
        self._attempt.failed(error, error_type)
        self.end_attempt()

    def end_attempt(self) -> None:
        if self._attempts:
            self.place.run(self._attempts.pop().__exit__, None, None, None)

    def close(self) -> None:
        self.place.run(self._stack.close)


def level_of(path: str) -> str:
    return path.rpartition("/")[0]
