"""When a lease is renewed, and when it is taken for lost: the decisions, without a store and without time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.runtime.renewals import Term, granted, patience, refused_for_now

ttls = st.floats(0.001, 100_000)
delays = st.floats(0, 1)


def tries_of(term: Term) -> list[float]:
    """When the store is asked, if it answers at once that it cannot."""
    moments: list[float] = []
    while term.next_at is not None:
        moments.append(term.next_at)
        term = refused_for_now(term, now=term.next_at)
    return moments


def test_a_lease_is_renewed_every_third_of_its_ttl() -> None:
    term = granted(30, asked_at=100, now=101)
    assert (term.next_at, term.interval, term.lost_at) == (110, 10, 129)


def test_a_slow_answer_brings_the_next_renewal_at_once() -> None:
    assert granted(30, asked_at=100, now=115).next_at == 115


def test_three_tries_fail_before_a_lease_is_lost_a_second_before_its_expiry() -> None:
    assert tries_of(granted(30, asked_at=0, now=0)) == [10, 20, 24.5]
    assert granted(30, asked_at=0, now=0).lost_at == 29


def test_a_success_restarts_the_count() -> None:
    term = refused_for_now(refused_for_now(granted(30, asked_at=0, now=0), now=10), now=20)
    again = granted(term.ttl, asked_at=24.5, now=25)
    assert (again.next_at, again.lost_at, again.is_last_try) == (34.5, 53.5, False)


@pytest.mark.parametrize(("now", "seconds"), [(10, 10), (20, 9), (24.5, 4.5), (40, 0)])
def test_a_renewal_may_take_a_third_and_never_beyond_the_loss(now: float, seconds: float) -> None:
    assert patience(granted(30, asked_at=0, now=0), now=now) == seconds


@given(ttls)
def test_at_any_ttl_a_lease_is_lost_before_it_expires_and_after_its_last_try(ttl: float) -> None:
    term = granted(ttl, asked_at=0, now=0)
    tries = tries_of(term)
    assert tries[-1] < term.lost_at < ttl
    assert tries == sorted(tries)
    assert len(tries) == 3 or ttl < 0.003  # renewals come a millisecond apart at least


@given(ttls, st.lists(delays, min_size=4, max_size=4))
def test_however_slow_the_failures_the_tries_end_before_the_loss(ttl: float, delays: list[float]) -> None:
    term = granted(ttl, asked_at=0, now=delays[0] * ttl)
    for delay in delays[1:]:
        if term.next_at is None:
            break
        assert term.next_at >= 0
        wait = patience(term, now=term.next_at)
        assert 0 <= wait <= term.interval
        term = refused_for_now(term, now=term.next_at + delay * wait)
    else:
        assert term.next_at is None
