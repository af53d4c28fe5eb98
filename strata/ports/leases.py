"""A thread's lease as stores keep it: who may work on the thread, and until when (strata-waits.md 8)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, TypeAlias

import msgspec

LAST_MILLISECOND: Final = 253_402_300_799_000
"""The last second of the year 9999, in Unix milliseconds."""


class ThreadLease(msgspec.Struct, frozen=True):
    """The right of one owner to write to one thread.

    `owner` is a label for people and decides nothing. `token` counts the thread's leases from 1: of two, the later has
    the greater one, and only the latest is good. `expires_at` is in Unix milliseconds on the store's clock.
    """

    thread_id: str
    owner: str
    token: int
    expires_at: int

    @property
    def until(self) -> datetime:
        """When it is over, in UTC, if that is a time of the calendar; else the nearest that is."""
        return datetime.fromtimestamp(max(0, min(self.expires_at, LAST_MILLISECOND)) / 1000, UTC)


class Acquired(msgspec.Struct, frozen=True):
    """The thread was free, and is the caller's from now on."""

    lease: ThreadLease


class Held(msgspec.Struct, frozen=True):
    """The thread is somebody's, possibly of the same name: `lease` is the holder's, and stays as it was."""

    lease: ThreadLease


Acquisition: TypeAlias = Acquired | Held
