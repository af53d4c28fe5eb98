"""What every store asks of a lease before it looks at the thread (strata-waits.md 8.2)."""

from __future__ import annotations

from typing import Final

from strata.checkpoint import given
from strata.checkpoint.record import Checkpoint
from strata.errors import OptionRefused
from strata.ports.leases import ThreadLease
from strata.stores.asked import check_thread_id

GREATEST_TOKEN: Final = 2**63 - 1
LONGEST_TTL: Final = 100 * 365 * 86_400.0
"""Seconds: a hundred years. Beyond, the expiry would run out of the calendar."""


def milliseconds_of(ttl: float) -> int:
    """A lease's `ttl` (s) in whole milliseconds, rounded up; what is below a microsecond is not looked at.

    Raises:
        OptionRefused: it is no number, shorter than one millisecond, or longer than `LONGEST_TTL`.
    """
    given.number(ttl, "a lease's ttl", "seconds")
    if not ttl >= 0.001:  # nor is nan
        raise OptionRefused("a lease's ttl must be at least 1 millisecond")
    if ttl > LONGEST_TTL:
        raise OptionRefused("a lease's ttl must be at most a hundred years")
    return -(-round(ttl * 1_000_000) // 1000)


def check_owner(owner: str) -> None:
    """Raises OptionRefused for a blank one: people could not tell who holds the thread."""
    given.text(owner, "a lease's owner")
    if not owner.strip():
        raise OptionRefused("a lease needs an owner")


def check_lease(lease: ThreadLease) -> None:
    """Raises OptionRefused for what is none, and for a token that no store has given."""
    given.instance(lease, ThreadLease, "a lease is the ThreadLease that the store gave")
    check_thread_id(lease.thread_id)
    given.text(lease.owner, "a lease's owner")
    if abs(given.whole_number(lease.token, "the token of a lease")) > GREATEST_TOKEN:
        raise OptionRefused(f"the token of a lease is a whole number of 64 bits, not {lease.token}")


def check_thread(lease: ThreadLease, checkpoint: Checkpoint) -> None:
    """Raises OptionRefused where the lease is none, or another thread's."""
    check_lease(lease)
    if lease.thread_id != checkpoint.thread_id:
        raise OptionRefused(f"the lease is for thread '{lease.thread_id}', not the checkpoint's thread '{checkpoint.thread_id}'")
