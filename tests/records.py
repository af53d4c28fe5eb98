"""Checkpoints for tests, and the ones that the Rust engine wrote."""

from __future__ import annotations

from pathlib import Path

from strata.checkpoint.record import Checkpoint
from strata.testing.contract.records import json_of as json_of
from strata.testing.contract.records import record as record
from strata.testing.contract.records import value_of as value_of
from strata.wire.checkpoint import decode_checkpoint

WIRE = Path(__file__).parents[1] / "schema" / "wire"

RECORDED = sorted(path for path in (WIRE / "checkpoints").glob("*/*.json"))
"""Every checkpoint that the Rust engine wrote, byte for byte."""


def recorded(scenario: str) -> list[Checkpoint]:
    """The checkpoints of one scenario in the order written."""
    return [decode_checkpoint(path.read_bytes()) for path in RECORDED if path.parent.name == scenario]
