"""How a waiting thread is answered, in words: for whoever gave it something else, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from strata.checkpoint.record import WaitRecord
from strata.graph.answers import WaitingFor


def how_to_answer(wait: WaitRecord | WaitingFor | None = None, *, schema: Mapping[str, Any] | None = None) -> str:
    """`wait` is what it waits for beside a person's decision; `schema` is that of the answer, where a node has asked for one."""
    if schema is not None:
        return f"answer with Resume(value), a value of {msgspec.json.encode(schema).decode():.400}"
    match wait:
        case WaitRecord(kind="event") | WaitingFor(kind="event"):
            return f"answer it with runner.signal(thread_id, Event('{wait.event_type}', payload=...))"
        case WaitRecord(kind="timer") | WaitingFor(kind="timer"):
            return "wake it with runner.wake(thread_id) or runner.wake_due() when the time has come"
        case _:
            return "answer it with runner.resume(thread_id, graph.approve(reviewer)) or graph.reject(reviewer)"
