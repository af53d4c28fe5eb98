"""Our runs of the recorded scenarios tell observers what the Rust engine's told, and leave its spans and its metrics."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.observing.observed import comparable, play, recorded_for
from tests.telemetry.replaying import WIRE, lines
from tests.telemetry.test_recorded_runs import MEASURED, Collected, shape_of_ours, shape_of_recorded
from tests.wire.scenarios import PLAYED


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize("name", PLAYED)
async def test_the_events_of_a_scenario_are_as_recorded(name: str) -> None:
    played = await play(name, PLAYED[name])
    ours = [[comparable(run) for run in runs] for _, runs in played]
    assert ours == recorded_for(name, PLAYED[name], played)


ALL_MADE = [name for name in MEASURED if name in PLAYED and not PLAYED[name].differs]
"""Where a call is not made or answered differently, its spans and metrics are missing, and cannot be told from the others'."""


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize("name", ALL_MADE)
async def test_the_spans_of_a_scenario_are_as_recorded(name: str) -> None:
    collected = Collected()
    await play(name, PLAYED[name], instrument=collected.instrument)
    assert Counter(shape_of_ours(collected.spans())) == Counter(shape_of_recorded(lines("spans", name)))


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize("name", ALL_MADE)
async def test_the_metrics_of_a_scenario_are_as_recorded(name: str) -> None:
    collected = Collected()
    await play(name, PLAYED[name], instrument=collected.instrument)
    assert {key: value for key, value in collected.metrics().items() if key != FRESH} == recorded_metrics(name)


FRESH = ("strata.checkpoint.latency", json.dumps({"strata.checkpoint.operation": "load", "strata.checkpoint.status": "none"}))
"""Our `run` looks whether the thread exists; theirs never loads."""


def recorded_metrics(name: str) -> dict[tuple[str, str], Any]:
    """By name and labels: the value, of a histogram the count."""
    return {
        (line["name"], json.dumps(line["labels"], sort_keys=True)): line["value"]["count"] if line["kind"] == "histogram" else line["value"]
        for line in json.loads((WIRE / "metrics" / f"{name}.json").read_text())
    }
