"""What every store says when it refuses."""

from __future__ import annotations

from strata.errors import LeaseLost, ThreadChanged
from strata.ports.leases import ThreadLease


def thread_changed(thread_id: str, *, expected: int, latest: int | None = None) -> ThreadChanged:
    """Nothing was written: `expected` is not the thread's newest sequence (-1: the thread was not to exist)."""
    now = "" if latest is None else f"; its latest is {_named(latest)}"
    return ThreadChanged(f"thread '{thread_id}' changed: {_named(expected)} was expected to be its latest{now}", thread_id=thread_id)


def lease_lost(lease: ThreadLease) -> LeaseLost:
    """Nothing was written: the lease's token is not its thread's latest."""
    return LeaseLost(lease.thread_id, owner=lease.owner, token=lease.token)


def _named(sequence: int) -> str:
    return "no checkpoint" if sequence < 0 else f"checkpoint #{sequence}"
