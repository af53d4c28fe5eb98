"""What a store says of leases, held to its port: the store may be the user's own."""

from __future__ import annotations

from typing import NoReturn

from strata.errors import StoreError
from strata.graph.arguments import is_whole
from strata.graph.texts import is_text
from strata.ports.leases import Acquired, Acquisition, Held, ThreadLease


def acquisition(answer: object, store: object) -> Acquisition:
    """The answer of `try_acquire_lease`.

    Raises:
        StoreError: it is none, or its lease cannot be used; the text names the store and what is wrong.
    """
    if not isinstance(answer, (Acquired, Held)):
        _refuse(store, "try_acquire_lease", f"with {answer!r:.80}, and not with Acquired(lease) or Held(lease)")
    _check(answer.lease, store, "try_acquire_lease")
    return answer


def renewed(answer: object, store: object) -> ThreadLease | None:
    """The answer of `renew_lease`. Raises StoreError as `acquisition` does."""
    return _lease_or_none(answer, store, "renew_lease")


def holder(answer: object, store: object) -> ThreadLease | None:
    """The answer of `get_lease`. Raises StoreError as `acquisition` does."""
    return _lease_or_none(answer, store, "get_lease")


def _lease_or_none(answer: object, store: object, call: str) -> ThreadLease | None:
    return None if answer is None else _check(answer, store, call)


def _check(lease: object, store: object, call: str) -> ThreadLease:
    if not isinstance(lease, ThreadLease):
        _refuse(store, call, f"with {lease!r:.80} for a lease, and not with a ThreadLease")
    if not is_text(lease.owner):
        _refuse(store, call, f"with a lease whose owner is {lease.owner!r:.80}, and no text")
    if not is_whole(lease.token):
        _refuse(store, call, f"with a lease whose token is {lease.token!r:.80}, and not a whole number")
    if not is_whole(lease.expires_at):
        _refuse(store, call, f"with a lease whose expires_at is {lease.expires_at!r:.80}, and not a Unix time in whole milliseconds")
    return lease


def _refuse(store: object, call: str, what: str) -> NoReturn:
    raise StoreError(
        f"the store {type(store).__name__} answered {call}() {what}", hint="the tests of strata.testing.contract hold a store to its port"
    )
