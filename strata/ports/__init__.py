"""What the engine needs of the world, and the records that pass."""

from strata.ports.checkpoints import (
    CheckpointStore,
    Logged,
    LogPage,
    Stored,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease
from strata.ports.progress import Items, ProgressStore

__all__ = [
    "Acquired",
    "Acquisition",
    "CheckpointStore",
    "Held",
    "Items",
    "LogPage",
    "Logged",
    "ProgressStore",
    "Stored",
    "ThreadLease",
    "ThreadPage",
    "ThreadQuery",
    "ThreadSummary",
]
