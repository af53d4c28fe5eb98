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

__all__ = [
    "Acquired",
    "Acquisition",
    "CheckpointStore",
    "Held",
    "LogPage",
    "Logged",
    "Stored",
    "ThreadLease",
    "ThreadPage",
    "ThreadQuery",
    "ThreadSummary",
]
