"""The Rust engine answers, and is the one whose records the fixtures hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.rust_engine import Peer

pytestmark = pytest.mark.interop

DEFINITIONS = Path(__file__).parents[2] / "schema" / "wire" / "definitions"


@pytest.mark.parametrize(("graph_id", "recorded"), [("", "essays.json"), ("essays", "essays_identity.json")])
def test_its_essay_definition_is_the_recorded_one(peer: Peer, graph_id: str, recorded: str) -> None:
    assert peer.definition("essay", graph_id=graph_id) == (DEFINITIONS / recorded).read_text().strip()


def test_it_runs_an_order_to_its_boundary_and_on(peer: Peer, tmp_path: Path) -> None:
    database = tmp_path / "orders.db"
    paused = peer.start(database, "order", "o-1", {"order_id": "o-1", "amount": 100})
    assert (paused["outcome"], paused["waiting_at"]) == ("interrupted", ["approve"])
    shipped = peer.resume(database, "order", "o-1", reviewer="ann")
    assert (shipped["outcome"], shipped["state"]["approved_by"]) == ("completed", "ann")
    assert [thread["state"] for thread in peer.threads(database)] == ["completed"]


def test_a_killed_run_leaves_a_running_thread(peer: Peer, tmp_path: Path) -> None:
    database = tmp_path / "essays.db"
    said = peer.killed_at("review", database, "start", "essay", "e-1", state={"topic": "rivers", "min_score": 8})
    assert said["hanging"] == "review"
    record = peer.checkpoint(database, "e-1")
    assert record is not None
    assert (record["status"], record["next_node"]) == ("running", "review")
