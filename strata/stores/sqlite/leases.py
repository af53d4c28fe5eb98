"""Leases as rows of `checkpoint_leases`; each call is one transaction (strata-waits.md 8.3)."""

from __future__ import annotations

import sqlite3

from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease
from strata.stores.sqlite import statements


def acquire(connection: sqlite3.Connection, thread_id: str, owner: str, *, now: int, expires_at: int) -> Acquisition:
    """Take the thread for `owner` until `expires_at` unless its lease lives at `now` (both Unix ms)."""
    connection.execute(statements.BEGIN)
    try:
        taken = connection.execute(statements.TAKE_LEASE, (thread_id, owner, expires_at, now)).fetchall()
        holder = None if taken else live_lease(connection, thread_id, now=now)
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise
    if holder is not None:
        return Held(holder)
    ((token,),) = taken
    return Acquired(ThreadLease(thread_id, owner, int(token), expires_at))


def live_lease(connection: sqlite3.Connection, thread_id: str, *, now: int) -> ThreadLease | None:
    for owner, token, expires_at in connection.execute(statements.LEASE_OF, (thread_id, now)).fetchall():
        return ThreadLease(thread_id, bytes(owner).decode(errors="replace"), int(token), int(expires_at))
    return None


def renew(connection: sqlite3.Connection, lease: ThreadLease, *, expires_at: int) -> ThreadLease | None:
    """The lease with its new expiry, None if its token is no longer the latest."""
    renewed = connection.execute(statements.RENEW_LEASE, (lease.owner, expires_at, lease.thread_id, lease.token)).rowcount
    return ThreadLease(lease.thread_id, lease.owner, lease.token, expires_at) if renewed else None


def release(connection: sqlite3.Connection, lease: ThreadLease) -> bool:
    return bool(connection.execute(statements.RELEASE_LEASE, (lease.thread_id, lease.token)).rowcount)
