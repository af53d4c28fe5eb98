"""Whether a change of a graph concerns a stored thread: by where the thread stands, level by level."""

from __future__ import annotations

from strata.checkpoint.metadata import QUESTION
from strata.checkpoint.record import Checkpoint
from strata.graph.changes.finding import Finding


def is_affected(checkpoint: Checkpoint, finding: Finding) -> bool:
    """Whether the thread with this newest record is one that the finding speaks of."""
    level = _level_at(checkpoint, finding.level)
    if level is None:
        return False
    match finding.reach:
        case "level":
            return True
        case "node":
            return finding.node in (level.suspended_node, level.next_node)
        case "inside":
            return level.nested is not None and level.next_node == finding.node
        case "pause":
            return _is_paused_by(level, finding.node)
        case "timeout":
            return _is_paused_by(level, finding.node) and level.wait is not None and level.wait.wake_at is not None


def _level_at(checkpoint: Checkpoint, path: tuple[str, ...]) -> Checkpoint | None:
    """The level that these subgraph nodes lead to; a nested record bears the name of the node that it runs in."""
    chain = checkpoint.levels()
    if tuple(level.thread_id for level in chain[1 : len(path) + 1]) != path:
        return None
    return chain[len(path)]


def _is_paused_by(level: Checkpoint, node: str | None) -> bool:
    """Whether the node's own boundary or wait holds the level: not a graph inside it, nor a question that it asked."""
    is_innermost = level.nested is None and level.status == "interrupted"
    return is_innermost and level.suspended_node == node and QUESTION not in (level.metadata or {})
