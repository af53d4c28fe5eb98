"""What observers, spans and metrics get of our own runs of a recorded scenario, in a form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import msgspec

from strata import Refused
from strata.ports.events import EPOCH, BranchCompleted, BranchStarted, NodeEvent, RunEvent
from strata.ports.instrument import Instrument
from strata.testing import EventRecorder
from tests.telemetry.replaying import event_of, lines, runs
from tests.wire.calls import Call, calls_of
from tests.wire.making import Maker
from tests.wire.replay import stocked, written_before
from tests.wire.scenario import Differs, Scenario

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
NO_THREAD = re.compile(r"node '(no checkpoint found for thread '.*')' not found")
"""The other engine's observers are told of an unknown thread in the words of an unknown node."""

ONE_RUN = {"run", "resume", "signal", "recover", "end", "run_streaming"}
"""Calls that are a run each, refused or not."""

Told = list[str]


def is_made(scenario: Scenario, call: Call) -> bool:
    """Whether we make the call, and answer as recorded."""
    difference = scenario.differs.get(call.number)
    return difference is None or (isinstance(difference, Differs) and difference.keeps_store)


async def play(name: str, scenario: Scenario, *, instrument: Instrument | None = None) -> list[tuple[Call, list[list[RunEvent]]]]:
    """Make the calls of a scenario, and give what observers were told of each call's runs; those that are not made are left out."""
    calls = calls_of(name)
    store = await stocked([])
    told: list[tuple[Call, list[list[RunEvent]]]] = []
    for call in calls:
        if not is_made(scenario, call):
            store = await stocked(written_before(calls, call.number + 1))
            continue
        if (prepare := scenario.before.get(call.number)) is not None:
            await prepare(store)
        recorder = EventRecorder()
        with suppress(Refused):
            await Maker(scenario, call, store, observers=[recorder], instrument=instrument).make(call.given)
        told.append((call, list(runs_of(recorder.events))))
    return told


def recorded_for(name: str, scenario: Scenario, played: Sequence[tuple[Call, list[list[RunEvent]]]]) -> list[list[Told]]:
    """The record's runs of the calls that were made, of each as many as there were."""
    recorded: Iterator[list[RunEvent]] = iter([[event_of(line) for line in run] for run in runs(lines("events", name))])
    made = {call.number: len(ours) for call, ours in played}
    taken: list[list[Told]] = []
    for call in calls_of(name):
        if call.number in made:
            taken.append([comparable(next(recorded)) for _ in range(made[call.number])])
        elif call.do in ONE_RUN and "scheduler" not in call.given.get("config", {}):  # who is not admitted has no run
            next(recorded)
    assert not list(recorded), "the record has runs that we have not made"
    return taken


def runs_of(events: Sequence[RunEvent]) -> Iterator[list[RunEvent]]:
    """The events of each run, in the order the runs began."""
    begun: list[list[RunEvent]] = []
    latest: dict[str, list[RunEvent]] = {}
    for event in events:
        if event.sequence == 1:
            latest[event.run_id] = []
            begun.append(latest[event.run_id])
        latest[event.run_id].append(event)
    yield from begun


def comparable(run: Sequence[RunEvent]) -> Told:
    """All that the events say but for ids and times. What branches did beside each other stands branch by branch: who was first is chance."""
    parts = {event.node_path for event in run if isinstance(event, BranchStarted)}
    shown: Told = []
    for beside, stretch in groupby(run, key=lambda event: _part_of(event, parts) is not None):
        events = list(stretch)
        shown += [told(event) for event in (sorted(events, key=lambda event: _part_of(event, parts) or "") if beside else events)]
    return shown


def told(event: RunEvent) -> str:
    """One event in words."""
    fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(event, timestamp=EPOCH, run_id=""))
    for varying in ("duration", "expires_at", "timestamp", "run_id", "sequence"):
        fields.pop(varying, None)
    if fields.get("queued_for") is not None:
        fields["queued_for"] = "some time"
    if isinstance(error := fields.get("error"), str):
        fields["error"] = NO_THREAD.sub(r"\1", error)
    shown = " ".join(f"{key}={value!r}" for key, value in fields.items())
    return f"{type(event).__name__} {TIME.sub('(time)', shown)}"


def _part_of(event: RunEvent, parts: set[str]) -> str | None:
    """The branch or item that the event happened in."""
    if isinstance(event, BranchStarted | BranchCompleted):
        return event.node_path
    if not isinstance(event, NodeEvent):
        return None
    return next((part for part in parts if event.node_path.startswith(f"{part}/")), None)
