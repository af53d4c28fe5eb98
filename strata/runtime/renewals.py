"""When a lease is renewed, and when it must be taken for lost (strata-waits.md 8.4)."""

from __future__ import annotations

from typing import Final

import msgspec

LONGEST_MARGIN: Final = 1.0
"""Seconds before its expiry at which a lease that could not be renewed is given up: clocks and answers are late."""

SHORTEST_INTERVAL: Final = 0.001


class Term(msgspec.Struct, frozen=True):
    """What is sure of a lease: it was good for `ttl` seconds from `since`, a moment before the store was asked.

    `next_at` is when to ask again, None if there is no use in it. Moments are monotonic.
    """

    ttl: float
    since: float
    next_at: float | None
    is_last_try: bool = False

    @property
    def interval(self) -> float:
        """Seconds between renewals, and the longest that one may take."""
        return max(self.ttl / 3, SHORTEST_INTERVAL)

    @property
    def lost_at(self) -> float:
        """When the run must stop if no renewal succeeds: a second before the expiry, less where the ttl is short.

        The margin leaves room for three tries at any ttl.
        """
        return self.since + self.ttl - min(LONGEST_MARGIN, self.ttl / 4)


def granted(ttl: float, *, asked_at: float, now: float) -> Term:
    """The store, asked at `asked_at`, has given or renewed the lease."""
    term = Term(ttl, since=asked_at, next_at=None)
    return _try_again(term, at=max(asked_at + term.interval, now), now=now)


def refused_for_now(term: Term, *, now: float) -> Term:
    """A renewal failed or took too long, which loses nothing yet."""
    if term.is_last_try:
        return msgspec.structs.replace(term, next_at=None)
    return _try_again(term, at=now + term.interval, now=now)


def patience(term: Term, *, now: float) -> float:
    """How many seconds a renewal that begins now may take."""
    return max(min(term.interval, term.lost_at - now), 0.0)


def _try_again(term: Term, *, at: float, now: float) -> Term:
    """Once more at `at`; where that is too late, a last time halfway to the loss."""
    if at < term.lost_at:
        return msgspec.structs.replace(term, next_at=at)
    return msgspec.structs.replace(term, next_at=now + max(term.lost_at - now, 0.0) / 2, is_last_try=True)
