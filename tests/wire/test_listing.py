"""What all stores share of listings: cursors, checks, conditions and summaries (strata-stores.md 12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.checkpoint.record import WaitRecord
from strata.errors import OptionRefused
from strata.graph.identity import Identity
from strata.ports.checkpoints import ThreadQuery
from strata.wire.listing import Position, check_limit, check_states, check_time, conditions_of, decode_cursor, encode_cursor, matches, summary_of
from tests.records import record


def test_the_cursor_of_the_sheet() -> None:
    last = summary_of(record("t1", created_at="2026-09-16T00:00:00Z"), 0)
    assert encode_cursor(last) == "WyIyMDI2LTA5LTE2VDAwOjAwOjAwWiIsInQxIl0"
    assert decode_cursor("WyIyMDI2LTA5LTE2VDAwOjAwOjAwWiIsInQxIl0") == Position("2026-09-16T00:00:00Z", "t1")


@given(st.text(st.characters(codec="utf-8")))
def test_a_cursor_names_any_thread(thread_id: str) -> None:
    last = summary_of(record(thread_id), 0)
    assert decode_cursor(encode_cursor(last)) == Position(last.updated_at, thread_id)


@pytest.mark.parametrize(
    "cursor", ["not a cursor", "nonsense", "", "W10", "WyJhIl0", "WzEsMl0", "WyJhIiwiYiIsImMiXQ", "W+/=", "é", "\ud800", "W" * 5001]
)
def test_li5_anything_else_is_refused(cursor: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        decode_cursor(cursor)
    assert str(refusal.value) == f"'{cursor}' is not a thread listing cursor"


@pytest.mark.parametrize("limit", [0, 1001, -1])
def test_li5_a_page_has_one_to_a_thousand(limit: int) -> None:
    with pytest.raises(OptionRefused) as refusal:
        check_limit(limit)
    assert str(refusal.value) == f"a page size must be between 1 and 1000, not {limit}"


def test_li5_checks_come_in_the_order_of_the_sheet() -> None:
    wrong = ThreadQuery(limit=0, graph_version="1", cursor="nonsense")
    for query, text in [
        (wrong, "a page size must be between 1 and 1000, not 0"),
        (ThreadQuery(graph_version="1", cursor="nonsense"), "a thread query's graph_version needs a graph_id"),
        (ThreadQuery(graph_id="g", graph_version="1", cursor="nonsense"), "'nonsense' is not a thread listing cursor"),
    ]:
        with pytest.raises(OptionRefused) as refusal:
            conditions_of(query)
        assert str(refusal.value) == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"limit": "x"}, "a page size is a whole number, not 'x'"),
        ({"limit": 2.0}, "a page size is a whole number, not 2.0"),
        ({"cursor": 3}, "a thread listing cursor is text, not 3"),
        ({"states": 3}, "a collection of thread states is a list, not 3: write [...] around it"),
        ({"states": [["failed"]]}, "'['failed']' is not a thread state: they are interrupted"),
        ({"updated_after": "today"}, "a thread query's updated_after is a datetime with a time zone, as in"),
        ({"updated_before": timedelta(days=1)}, "a thread query's updated_before is a datetime with a time zone, as in"),
        ({"due_by": 12.5}, "a thread query's due_by is a datetime with a time zone, as in"),
        ({"metadata": "x"}, "a thread query's metadata is a dict of text to text, not 'x'"),
        ({"metadata": {1: "a"}}, "a key of a thread query's metadata is text, not 1"),
        ({"metadata": {"a": 1}}, "the value of 'a' in a thread query's metadata is text, not 1"),
        ({"graph_id": 3}, "a thread query's graph_id is text, not 3"),
        ({"graph_id": "g", "graph_version": 1}, "a thread query's graph_version is text, not 1"),
        ({"graph_id": "\ud800"}, r"a thread query's graph_id '\ud800' has half a surrogate pair"),
    ],
)
def test_a_condition_of_another_type_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionRefused) as refusal:
        conditions_of(ThreadQuery(**options))
    assert str(refusal.value).startswith(text)


@pytest.mark.parametrize("states", ["failed", ("paused",), ("failed", "")])
def test_states_that_do_not_exist_are_refused(states: Any) -> None:
    with pytest.raises(OptionRefused):
        check_states(cast("tuple[str, ...]", states))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 10, 2, 11, 2, 59, 900_000, tzinfo=UTC), "2026-10-02T11:02:59Z"),
        (datetime(2026, 10, 2, 1, tzinfo=timezone(timedelta(hours=2))), "2026-10-01T23:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(9999, 12, 31, tzinfo=UTC), "9999-12-31T00:00:00Z"),
    ],
)
def test_times_are_cut_to_whole_seconds(moment: datetime, text: str) -> None:
    assert check_time(moment) == text


@pytest.mark.parametrize("moment", [datetime(2026, 10, 2), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2)))])  # noqa: DTZ001
def test_a_time_that_names_no_moment_is_refused(moment: datetime) -> None:
    with pytest.raises(OptionRefused):
        check_time(moment)


def test_ck7_the_summary_shows_the_innermost_wait() -> None:
    timer = WaitRecord(kind="timer", wake_at="2026-11-02T12:05:01Z")
    summary = summary_of(record(suspended_node="Verify", nested=record("Verify", suspended_node="Window", wait=timer), graph=Identity("g")), 3)
    assert (summary.wait, summary.waiting_at, summary.graph, summary.sequence) == (timer, ("Verify", "Window"), Identity("g"), 3)


def test_a_summary_of_a_thread_without_metadata_has_an_empty_map() -> None:
    assert summary_of(record(), 0).metadata == {}


def test_a_stamped_thread_is_resumed_and_updated_when_it_was() -> None:
    summary = summary_of(record(resumed_at="2026-11-02T10:00:00Z"), 1)
    assert (summary.state, summary.status, summary.updated_at) == ("resumed", "interrupted", "2026-11-02T10:00:00Z")


def test_li4_a_stamped_wait_is_not_due() -> None:
    due = conditions_of(ThreadQuery(due_by=datetime(2031, 1, 1, tzinfo=UTC)))
    timer = WaitRecord(kind="timer", wake_at="2026-11-02T12:05:01Z")
    assert matches(record(wait=timer), due)
    assert not matches(record(wait=timer, resumed_at="2026-11-02T12:06:00Z"), due)
    assert not matches(record(wait=WaitRecord(kind="event", event_type="e")), due)
    assert not matches(record(), due)
