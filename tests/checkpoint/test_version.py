"""The version rule of strata-checkpoint.md 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Raw

from strata.checkpoint.record import DecisionRecord, WaitRecord
from strata.checkpoint.version import READABLE_VERSIONS, lowest_version, schema_version_of
from strata.graph.identity import Identity
from strata.wire.checkpoint import decode_checkpoint
from tests.records import RECORDED, record, recorded

DECISION = DecisionRecord(boundary="review", is_approved=True, reviewer="dana", overrides=Raw(b"{}"), decided_at="2026-11-02T10:00:01Z")
TIMER = WaitRecord(kind="timer", wake_at="2026-11-02T12:05:01Z")
GRAPH = Identity("incident")
FOREIGN = "newer_checkpoint"
"""The scenario whose records were put into the store with other versions on purpose."""


@pytest.mark.parametrize("path", [path for path in RECORDED if path.parent.name != FOREIGN], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_recorded_level_has_the_version_that_we_would_give_it(path: Path) -> None:
    levels = decode_checkpoint(path.read_bytes()).levels()
    assert [schema_version_of(level) for level in levels] == [level.schema_version for level in levels]


def test_the_eight_readable_versions() -> None:
    assert sorted(READABLE_VERSIONS) == ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0"]


def test_ck10_other_versions_are_not_readable() -> None:
    assert {"2.0.0", "1.7.1", "1.0", "1.8.0", "1.9.0", "1.10.0"}.isdisjoint(READABLE_VERSIONS)


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        ("1.7.0", {"status": "running", "graph": GRAPH, "decision": DECISION}),
        ("1.6.0", {"status": "ended", "graph": GRAPH, "decision": DECISION}),
        ("1.4.0", {"status": "ended", "decision": DECISION}),
        ("1.5.0", {"status": "interrupted", "wait": TIMER, "decision": DECISION}),
        ("1.3.0", {"status": "cancelled", "decision": DECISION}),
        ("1.2.0", {"status": "cancelled", "nested": record("Work", status="cancelled")}),
        ("1.2.0", {"status": "failed", "nested": record("Work", status="cancelled")}),
        ("1.1.0", {"status": "failed", "nested": record("Work", status="failed")}),
        ("1.0.0", {"status": "failed"}),
        ("1.6.0", {"status": "failed", "nested": record("Work", graph=GRAPH)}),
        ("1.5.0", {"status": "interrupted", "nested": record("Work", wait=TIMER)}),
        ("1.3.0", {"status": "interrupted", "nested": record("Work", decision=DECISION)}),
        ("1.1.0", {"status": "interrupted", "wait": TIMER, "nested": record("Work")}),
    ],
)
def test_the_first_rule_that_matches_decides(version: str, fields: dict[str, object]) -> None:
    assert lowest_version(**fields) == version  # type: ignore[arg-type]  # a table of fields


def test_ck6_an_ended_thread_with_a_decision() -> None:
    assert schema_version_of(record(status="ended", next_node=None, decision=DECISION)) == "1.4.0"


def test_ck7_a_timer_in_a_child_gives_both_levels_their_version() -> None:
    child = record("Verify", wait=TIMER)
    assert [schema_version_of(level) for level in record(nested=child).levels()] == ["1.5.0", "1.5.0"]


def test_ck8_a_named_graph_around_an_unnamed_child() -> None:
    levels = record(graph=GRAPH, nested=record("Remediate")).levels()
    assert [schema_version_of(level) for level in levels] == ["1.6.0", "1.0.0"]


def test_versions_of_a_durable_log_go_up_and_down() -> None:
    assert [checkpoint.schema_version for checkpoint in recorded("essay_every")] == ["1.7.0"] * 7 + ["1.0.0"]
