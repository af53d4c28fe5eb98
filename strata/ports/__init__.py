"""What the engine needs of the world, and the records that pass."""

from strata.ports.checkpoints import (
    CheckpointStore,
    LogPage,
    Logged,
    Stored,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)

__all__ = ["CheckpointStore", "LogPage", "Logged", "Stored", "ThreadPage", "ThreadQuery", "ThreadSummary"]
