"""Outcomes and stream events in the words of `calls.jsonl`."""

from __future__ import annotations

import json
from typing import Any

from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    Failed,
    HopLimitExceeded,
    Interrupted,
    NodeEnded,
    NodeStarted,
    NoMatchingEdge,
    Outcome,
    Retried,
    StreamEvent,
    Token,
    WaitingFor,
)
from strata.graph.times import wire_time
from tests.wire.scenario import Result


def result_of(outcome: Outcome[Any], graph: CompiledGraph[Any]) -> Result:
    """An outcome as `calls.jsonl` has it."""
    state = json.loads(graph.codec.encode(outcome.state))
    match outcome:
        case Completed():
            return {"outcome": "completed", "state": state}
        case Interrupted(suspended_node=node, next_node=next_node, waiting_at=path, wait=wait):
            return {
                "outcome": "interrupted",
                "thread_id": outcome.thread_id,
                "suspended_node": node,
                "next_node": next_node or "",
                "waiting_at": list(path),
                "wait": None if wait is None else _wait(wait),
                "state": state,
            }
        case HopLimitExceeded(node=node, hops=hops, limit=limit):
            return {"outcome": "failed", "error": "hop_limit_exceeded", "node": node, "hops": hops, "limit": limit}
        case Failed(node=node, error=NoMatchingEdge()):
            return {"outcome": "failed", "error": "no_matching_edge", "node": node}
        case Failed(node=node, attempts=attempts, message=message):
            return {"outcome": "failed", "error": "node_failed", "node": node, "attempts": attempts, "message": message}
        case Cancelled(node=node, reason=reason, stopped_at=path):
            return {
                "outcome": "cancelled",
                "thread_id": outcome.thread_id,
                "node": node,
                "reason": reason,
                "stopped_at": list(path),
                "state": state,
            }


def _wait(wait: WaitingFor) -> Result:
    return {"kind": wait.kind, "event_type": wait.event_type, "wake_at": None if wait.wake_at is None else wire_time(wait.wake_at.timestamp())}


def chunk_of(event: StreamEvent) -> Result | None:
    """A stream event as `calls.jsonl` has it; None for those that the other engine does not have."""
    match event:
        case NodeStarted(path=path, node=node):
            return {"type": "NodeStart", "node": path, "content": node}
        case NodeEnded(path=path, node=node):
            return {"type": "NodeEnd", "node": path, "content": node}
        case Token(path=path, text=text):
            return {"type": "Token", "node": path, "content": text}
        case Retried(path=path, message=message):
            return {"type": "Retry", "node": path, "content": message}
        case _:
            return None
