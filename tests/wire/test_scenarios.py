"""Our engine, asked what the Rust engine was asked, writes what it wrote and answers what it answered."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.wire.calls import CHECKPOINTS, calls_of, strings_of, text_of
from tests.wire.replay import make, play, stocked, written_before
from tests.wire.scenario import Left
from tests.wire.scenarios import PLAYED, SCENARIOS

STEPS = {"run", "run_streaming", "resume", "signal", "wake_due"}
"""The calls that run nodes."""


def test_every_recorded_scenario_is_played_or_says_why_not() -> None:
    assert sorted(SCENARIOS) == sorted(folder.name for folder in CHECKPOINTS.iterdir())


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize("name", PLAYED)
async def test_the_calls_of_a_scenario_write_its_records_and_get_its_answers(name: str) -> None:
    await play(name, PLAYED[name])


def later_calls() -> Iterator[tuple[str, int]]:
    for name, scenario in PLAYED.items():
        for call in calls_of(name)[1:]:
            if not isinstance(scenario.differs.get(call.number), Left):
                yield name, call.number


@pytest.mark.parametrize(("name", "number"), list(later_calls()))
async def test_a_thread_that_the_other_engine_left_goes_on_as_it_did_there(name: str, number: int) -> None:
    await play(name, PLAYED[name], start=number)


def deaths() -> Iterator[tuple[str, int, int]]:
    """Every record after which a process can have died: scenario, call, and the record's number among those of the call."""
    for name, scenario in PLAYED.items():
        if scenario.tells_recovery:
            continue
        for call in calls_of(name):
            if call.number not in scenario.differs and scenario.graph_of(call).durable and call.do in STEPS:
                for number, record in enumerate(call.records[:-1]):
                    if json.loads(record)["status"] == "running":
                        yield name, call.number, number


@pytest.mark.leaves_leases("worker-b")
@pytest.mark.parametrize(("name", "number", "last"), list(deaths()))
async def test_a_run_that_died_behind_any_of_its_records_recovers_to_the_recorded_end(name: str, number: int, last: int) -> None:
    scenario, call = PLAYED[name], calls_of(name)[number]
    store = await stocked([*written_before(calls_of(name), number), *call.records[: last + 1]])
    answer = await make(scenario, call, store, ask={"do": "recover"})
    claim = json.loads(call.records[last])
    claim["metadata"]["strata.recoveries"] = "1"
    expected = [claim, *(json.loads(record) for record in call.records[last + 1 :])]
    assert [text_of(json.loads(record)) for record in answer.records] == [text_of(record) for record in expected]


@pytest.mark.parametrize("name", ["essay_unicode", "numbers"])
async def test_strings_are_escaped_to_the_same_bytes(name: str) -> None:
    (call, *_) = calls_of(name)
    answer = await make(PLAYED[name], call, await stocked([]))
    assert [strings_of(record) for record in answer.records] == [strings_of(record) for record in call.records]
