"""A thread's log as the sheets write it: `status:suspended>next`, `-` for none, levels joined by ` / `."""

from __future__ import annotations

from strata.checkpoint.record import Checkpoint
from strata.ports import CheckpointStore


async def checkpoints(store: CheckpointStore, thread_id: str = "t") -> list[Checkpoint]:
    """All records of the thread, oldest first."""
    page = await store.get_log(thread_id, limit=1000)
    return [logged.checkpoint for logged in page.records if isinstance(logged.checkpoint, Checkpoint)]


async def log(store: CheckpointStore, thread_id: str = "t") -> list[str]:
    return [line(checkpoint) for checkpoint in await checkpoints(store, thread_id)]


def line(checkpoint: Checkpoint) -> str:
    return " / ".join(f"{level.state_name}:{level.suspended_node or '-'}>{level.next_node or '-'}" for level in checkpoint.levels())
