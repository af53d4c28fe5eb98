"""Every store: log pages, listings and purges (strata-stores.md 12 and 13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.errors import OptionRefused
from strata.graph.identity import Identity
from strata.ports.checkpoints import ThreadQuery
from strata.stores import StoreBase
from strata.testing.contract.records import record

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


async def save(store: StoreBase, thread_id: str, /, *, moment: datetime = NOON, **fields: Any) -> Checkpoint:
    checkpoint = record(thread_id, created_at=at(moment), **fields)
    await store.save(checkpoint)
    return checkpoint


async def listed(store: StoreBase, **query: Any) -> list[str]:
    page = await store.list_threads(ThreadQuery(**query))
    assert page.unreadable == ()
    return [thread.thread_id for thread in page.threads]


async def all_pages(store: StoreBase, **query: Any) -> list[list[str]]:
    pages: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = await store.list_threads(ThreadQuery(cursor=cursor, **query))
        pages.append([thread.thread_id for thread in page.threads])
        cursor = page.next_cursor
        if cursor is None:
            return pages


# The log


async def sequences(store: StoreBase, **page: Any) -> tuple[list[int], int | None]:
    log = await store.get_log("t", **page)
    return [entry.sequence for entry in log.records], log.next_after


async def test_st8_the_log_is_oldest_first(store: StoreBase) -> None:
    saved = [await save(store, "t", metadata={"n": str(number)}) for number in range(3)]
    log = await store.get_log("t", limit=10)
    assert [entry.checkpoint for entry in log.records] == saved
    assert [entry.sequence for entry in log.records] == [0, 1, 2]
    assert log.next_after is None


async def test_li6_pages_of_a_log(store: StoreBase) -> None:
    for _ in range(3):
        await save(store, "t")
    assert await sequences(store, limit=2) == ([0, 1], 1)
    assert await sequences(store, limit=2, after=1) == ([2], None)


async def test_li6_a_full_last_page_is_followed_by_an_empty_one(store: StoreBase) -> None:
    for _ in range(2):
        await save(store, "t")
    assert await sequences(store, limit=2) == ([0, 1], 1)
    assert await sequences(store, limit=2, after=1) == ([], None)


async def test_after_minus_one_is_from_the_first(store: StoreBase) -> None:
    await save(store, "t")
    assert await sequences(store, after=-1) == ([0], None)


@pytest.mark.parametrize("limit", [0, 1001, -1])
async def test_li5_limits_are_checked(store: StoreBase, limit: int) -> None:
    text = f"a page size must be between 1 and 1000, not {limit}"
    with pytest.raises(OptionRefused, match=text):
        await store.get_log("t", limit=limit)
    with pytest.raises(OptionRefused, match=text):
        await store.list_threads(ThreadQuery(limit=limit))
    with pytest.raises(OptionRefused, match=text):
        await store.purge(older_than=NOON, states=(), limit=limit)


# Listings


async def test_li1_newest_first_and_higher_ids_first_within_a_second(store: StoreBase) -> None:
    await save(store, "old", moment=NOON - timedelta(days=1))
    for thread_id in ("b", "Z", "a", "é", "🌊", "￿"):
        await save(store, thread_id)
    assert await listed(store) == ["🌊", "￿", "é", "b", "a", "Z", "old"]


async def test_ck121_equal_times_go_by_thread_id(store: StoreBase) -> None:
    moment = datetime(2026, 11, 2, 12, tzinfo=UTC)
    await save(store, "a", moment=moment)
    await save(store, "b", moment=moment)
    page = await store.list_threads(ThreadQuery(limit=1))
    assert [thread.thread_id for thread in page.threads] == ["b"]
    assert page.next_cursor == "WyIyMDI2LTExLTAyVDEyOjAwOjAwWiIsImIiXQ"
    assert await listed(store, cursor=page.next_cursor) == ["a"]


async def test_only_the_latest_record_of_a_thread_counts(store: StoreBase) -> None:
    await save(store, "t", metadata={"tenant": "acme"})
    await save(store, "t", status="completed", next_node=None, metadata={"tenant": "other"})
    assert await listed(store, states=["interrupted"]) == []
    assert await listed(store, metadata={"tenant": "acme"}) == []
    assert await listed(store, states=["completed"], metadata={"tenant": "other"}) == ["t"]


async def test_a_stamp_lists_as_resumed_when_it_was(store: StoreBase) -> None:
    stamped = await save(store, "t")
    await save(store, "u", moment=NOON + timedelta(hours=1))
    await store.save(replace(stamped, resumed_at=at(NOON + timedelta(hours=2))))
    assert await listed(store) == ["t", "u"]
    [summary] = (await store.list_threads(ThreadQuery(states=["resumed"]))).threads
    assert (summary.thread_id, summary.sequence, summary.status, summary.updated_at) == ("t", 1, "interrupted", "2026-03-01T14:00:00Z")


async def test_a_summary_says_all_but_the_state(store: StoreBase) -> None:
    timer = WaitRecord(kind="timer", wake_at="2026-03-01T12:05:01Z")
    child = record("Verify", suspended_node="Window", next_node="Check", wait=timer)
    await save(store, "t", suspended_node="Verify", next_node="Verify", nested=child, graph=Identity("incident"), metadata={"tenant": "acme"})
    [summary] = (await store.list_threads(ThreadQuery())).threads
    assert (summary.state, summary.suspended_node, summary.next_node) == ("interrupted", "Verify", "Verify")
    assert (summary.waiting_at, summary.wait, summary.graph) == (("Verify", "Window"), timer, Identity("incident"))
    assert (summary.metadata, summary.schema_version) == ({"tenant": "acme"}, "1.6.0")


async def test_li2_filters_alone_and_combined(store: StoreBase) -> None:
    for number, status in enumerate(("failed", "ended", "failed", "running")):
        await save(store, f"t{number}", status=status, metadata={"tenant": "acme", "n": str(number % 2)}, graph=Identity("g", str(number)))
    await save(store, "plain", status="failed")
    await save(store, "unversioned", status="failed", graph=Identity("g"))
    assert await listed(store, states=["failed", "ended"]) == ["unversioned", "t2", "t1", "t0", "plain"]
    assert await listed(store, metadata={"tenant": "acme"}) == ["t3", "t2", "t1", "t0"]
    assert await listed(store, metadata={"tenant": "acme", "n": "1"}) == ["t3", "t1"]
    assert await listed(store, metadata={"tenant": "acm"}) == []
    assert await listed(store, graph_id="g") == ["unversioned", "t3", "t2", "t1", "t0"]
    assert await listed(store, graph_id="g", graph_version="2") == ["t2"]
    assert await listed(store, graph_id="other") == []
    assert await listed(store, states=["failed"], metadata={"n": "0"}, graph_id="g") == ["t2", "t0"]


@pytest.mark.parametrize("key", ["a.b", "a'b", 'a"b', "$", "", "ключ", "a[0]", "a\\b"])
async def test_any_text_is_a_metadata_key(store: StoreBase, key: str) -> None:
    await save(store, "t", metadata={key: "v'\"%"})
    await save(store, "other", metadata={"a": "v'\"%"})
    assert await listed(store, metadata={key: "v'\"%"}) == ["t"]
    assert await listed(store, metadata={key: "v"}) == []


async def test_li3_updated_bounds_exclude_the_whole_second(store: StoreBase) -> None:
    await save(store, "t")
    second = timedelta(seconds=1)
    assert await listed(store, updated_after=NOON) == []
    assert await listed(store, updated_before=NOON) == []
    assert await listed(store, updated_before=NOON + timedelta(milliseconds=900)) == []
    assert await listed(store, updated_after=NOON - second, updated_before=NOON + second) == ["t"]


async def test_li3_due_includes_the_wake_second(store: StoreBase) -> None:
    await save(store, "t", wait=WaitRecord(kind="timer", wake_at=at(NOON)))
    assert await listed(store, due_by=NOON - timedelta(milliseconds=1)) == []
    assert await listed(store, due_by=NOON) == ["t"]


async def test_li4_a_wait_that_was_resumed_or_has_no_time_is_not_due(store: StoreBase) -> None:
    timer = WaitRecord(kind="timer", wake_at=at(NOON))
    stamped = await save(store, "resumed", wait=timer)
    await store.save(replace(stamped, resumed_at=at(NOON)))
    await save(store, "event", wait=WaitRecord(kind="event", event_type="e"))
    await save(store, "ended", status="ended", wait=timer)
    await save(store, "child", nested=record("Work", wait=timer))
    assert await listed(store, due_by=NOON + timedelta(days=1)) == ["child"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"graph_version": "1"}, "a thread query's graph_version needs a graph_id"),
        ({"cursor": "not a cursor"}, "'not a cursor' is not a thread listing cursor"),
    ],
)
async def test_li5_a_query_that_cannot_be_asked_is_refused(store: StoreBase, query: dict[str, str], text: str) -> None:
    with pytest.raises(OptionRefused, match=text):
        await listed(store, **query)


async def test_pages_follow_one_another_exactly(store: StoreBase) -> None:
    for number in range(23):
        await save(store, f"t{number:02}", moment=NOON + timedelta(seconds=number // 4), status="failed" if number % 3 else "ended")
    newest_first = [f"t{number:02}" for number in reversed(range(23))]
    for limit in (1, 4, 5, 22, 23, 1000):
        pages = await all_pages(store, limit=limit)
        assert [thread_id for page in pages for thread_id in page] == newest_first
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    assert await all_pages(store, limit=4, states=["ended"]) == [["t21", "t18", "t15", "t12"], ["t09", "t06", "t03", "t00"]]


async def test_a_cursor_is_a_place_and_no_query(store: StoreBase) -> None:
    for number in range(4):
        await save(store, f"t{number}", status="failed" if number % 2 else "ended")
    page = await store.list_threads(ThreadQuery(limit=1, states=["failed"]))
    assert await listed(store, cursor=page.next_cursor) == ["t2", "t1", "t0"]


async def test_sto02_a_reader_between_two_pages_does_not_block_a_save(store: StoreBase) -> None:
    for number in range(4):
        await save(store, f"t{number}")
    page = await store.list_threads(ThreadQuery(limit=2))
    await save(store, "t4", moment=NOON + timedelta(hours=1))
    assert await listed(store, cursor=page.next_cursor) == ["t1", "t0"]


# Purges


async def test_pu1_finished_threads_before_the_cutoff_go_whole(store: StoreBase) -> None:
    cutoff = datetime(2026, 3, 1, tzinfo=UTC)
    january = datetime(2026, 1, 5, tzinfo=UTC)
    for _ in range(3):
        await save(store, "completed", moment=january, status="completed", next_node=None)
    await save(store, "ended", moment=january, status="ended", next_node=None)
    await save(store, "june", moment=datetime(2026, 6, 1, tzinfo=UTC), status="completed", next_node=None)
    await save(store, "at the cutoff", moment=cutoff, status="completed", next_node=None)
    await save(store, "failed", moment=january, status="failed")
    await save(store, "waiting", moment=january)
    assert await store.purge(older_than=cutoff) == 2
    assert await store.purge(older_than=cutoff) == 0
    assert sorted(await listed(store)) == ["at the cutoff", "failed", "june", "waiting"]
    assert (await store.get_log("completed")).records == ()
    assert await store.purge(older_than=cutoff, states=()) == 0
    assert await store.purge(older_than=cutoff, states=["failed"]) == 1
    assert sorted(await listed(store)) == ["at the cutoff", "june", "waiting"]


async def test_pu2_a_limit_takes_the_oldest(store: StoreBase) -> None:
    for number in (2, 3, 1):
        await save(store, f"c{number}", moment=NOON + timedelta(days=number), status="completed", next_node=None)
    later = NOON + timedelta(days=9)
    assert await store.purge(older_than=later, limit=2) == 2
    assert await listed(store) == ["c3"]
    assert await store.purge(older_than=later, limit=2) == 1


async def test_pu3_a_purged_id_starts_again(store: StoreBase) -> None:
    for _ in range(2):
        await save(store, "t", status="completed", next_node=None)
    assert await store.purge(older_than=NOON + timedelta(days=1)) == 1
    assert await store.load_latest("t") is None
    assert await store.save_if_latest(record("t"), -1) == 0
    assert await store.load("t") == record("t")


async def test_ck120_only_the_latest_record_decides_on_a_purge(store: StoreBase) -> None:
    await save(store, "again", status="completed", next_node=None)
    await save(store, "again")
    await save(store, "later", status="completed", next_node=None)
    await save(store, "later", moment=NOON + timedelta(days=9), status="completed", next_node=None)
    assert await store.purge(older_than=NOON + timedelta(days=1)) == 0
