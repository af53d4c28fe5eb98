"""Checkpoints to save."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Raw

from strata.checkpoint.record import Checkpoint
from strata.checkpoint.version import lowest_version
from strata.wire.checkpoint import encode_checkpoint


def record(thread_id: str = "t", /, *, state: object = None, **fields: Any) -> Checkpoint:
    """A checkpoint that waits at `review`, but for what `fields` say; its version is the lowest that expresses it."""
    values: dict[str, Any] = {
        "status": "interrupted",
        "suspended_node": "review",
        "next_node": "publish",
        "metadata": None,
        "created_at": "2026-11-02T09:15:04Z",
    }
    values |= fields
    carried = {key: values[key] for key in ("status", "nested", "decision", "wait", "graph") if key in values}
    version = values.pop("schema_version", None) or lowest_version(**carried)
    return Checkpoint(schema_version=version, thread_id=thread_id, frozen_state=json_of({"score": 7.5} if state is None else state), **values)


def json_of(value: object) -> Raw:
    return Raw(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def value_of(checkpoint: Checkpoint) -> Any:
    """The record as plain values, to compare by value: keys in any order, numbers as numbers."""
    return json.loads(encode_checkpoint(checkpoint))
