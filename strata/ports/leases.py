"""A thread's lease as stores keep it: who may work on the thread, and until when (strata-waits.md 8)."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class ThreadLease(msgspec.Struct, frozen=True):
    """The right of one owner to write to one thread.

    `owner` is a label for people and decides nothing. `token` counts the thread's leases from 1: of two, the later has
    the greater one, and only the latest is good. `expires_at` is in Unix milliseconds on the store's clock.
    """

    thread_id: str
    owner: str
    token: int
    expires_at: int


class Acquired(msgspec.Struct, frozen=True):
    """The thread was free, and is the caller's from now on."""

    lease: ThreadLease


class Held(msgspec.Struct, frozen=True):
    """The thread is somebody's, possibly of the same name: `lease` is the holder's, and stays as it was."""

    lease: ThreadLease


Acquisition: TypeAlias = Acquired | Held
