"""Leases as rows of `checkpoint_leases`; each call is one transaction (strata-waits.md 8.3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from strata.errors import StoreError
from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease
from strata.stores.sqlite import statements


def acquire(connection: sqlite3.Connection, thread_id: str, owner: str, *, now: int, expires_at: int) -> Acquisition:
    """Take the thread for `owner` until `expires_at` unless its lease lives at `now` (both Unix ms).

    Raises:
        StoreError: the row holds what is no lease; it stands as it stood.
    """
    connection.execute(statements.BEGIN)
    try:
        taken = connection.execute(statements.TAKE_LEASE, (thread_id, owner, expires_at, now)).fetchall()
        answer = _given(taken, thread_id, owner, expires_at) or _held(connection, thread_id, now)
        connection.execute(statements.COMMIT)
    except BaseException:
        if connection.in_transaction:
            connection.execute(statements.ROLLBACK)
        raise
    return answer


def live_lease(connection: sqlite3.Connection, thread_id: str, *, now: int) -> ThreadLease | None:
    """The lease that lives at `now`.

    Raises:
        StoreError: the row holds what is no lease.
    """
    for owner, token, expires_at in connection.execute(statements.LEASE_OF, (thread_id, now)).fetchall():
        return ThreadLease(
            thread_id,
            bytes(owner).decode(errors="replace"),
            _whole(token, "token", thread_id),
            _whole(expires_at, "expires_at", thread_id),
        )
    return None


def _given(taken: Sequence[tuple[object]], thread_id: str, owner: str, expires_at: int) -> Acquired | None:
    for (token,) in taken:
        return Acquired(ThreadLease(thread_id, owner, _whole(token, "token", thread_id), expires_at))
    return None


def _held(connection: sqlite3.Connection, thread_id: str, now: int) -> Held:
    holder = live_lease(connection, thread_id, now=now)
    assert holder is not None, "only a lease that lives is not taken"
    return Held(holder)


def _whole(value: object, column: str, thread_id: str) -> int:
    """SQLite keeps what is no whole number in a column of whole numbers."""
    if isinstance(value, int):
        return value
    found = value.decode(errors="replace") if isinstance(value, bytes) else value
    raise StoreError(
        f"the lease of thread '{thread_id}' cannot be read: its column {column} holds '{found}', and not a whole number",
        hint="the row was left as it is: look at checkpoint_leases with the sqlite3 program, or delete it once nobody works on the thread",
    )


def renew(connection: sqlite3.Connection, lease: ThreadLease, *, expires_at: int) -> ThreadLease | None:
    """The lease with its new expiry, None if its token is no longer the latest."""
    renewed = connection.execute(statements.RENEW_LEASE, (lease.owner, expires_at, lease.thread_id, lease.token)).rowcount
    return ThreadLease(lease.thread_id, lease.owner, lease.token, expires_at) if renewed else None


def release(connection: sqlite3.Connection, lease: ThreadLease) -> bool:
    return bool(connection.execute(statements.RELEASE_LEASE, (lease.thread_id, lease.token)).rowcount)
