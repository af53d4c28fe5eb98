"""Every store that keeps progress: until the thread's next record, and no longer (design section 3, point 6)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from strata.ports.progress import Items
from strata.testing.contract.records import record

ITEMS: Items = {("Work/reviews#2.1", "legal"): b'{"state":1}', ("Work/reviews#2.1/a#1", "once/pay"): '"\N{EURO SIGN}"'.encode()}


async def test_progress_comes_back_and_more_is_added(store: Any) -> None:
    base = await store.save(record("t"))
    assert await store.load_progress("t", base) == {}
    await store.keep_progress("t", base, ITEMS)
    more: Items = {("x#1", "b"): b"1", ("Work/reviews#2.1", "legal"): b"2"}
    await store.keep_progress("t", base, more)
    assert await store.load_progress("t", base) == {**ITEMS, **more}


async def test_progress_is_of_one_thread(store: Any) -> None:
    base = await store.save(record("t"))
    assert await store.save(record("other")) == base
    await store.keep_progress("t", base, ITEMS)
    assert await store.load_progress("other", base) == {}


async def test_progress_ends_with_the_next_record(store: Any) -> None:
    base = await store.save(record("t"))
    await store.keep_progress("t", base, ITEMS)
    latest = await store.save(record("t"))
    assert await store.load_progress("t", base) == {}
    assert await store.load_progress("t", latest) == {}


async def test_progress_on_an_older_record_is_not_kept(store: Any) -> None:
    base = await store.save(record("t"))
    await store.save(record("t"))
    await store.keep_progress("t", base, ITEMS)
    assert await store.load_progress("t", base) == {}
    await store.keep_progress("none", 0, ITEMS)
    assert await store.load_progress("none", 0) == {}


async def test_progress_goes_with_its_thread(store: Any) -> None:
    base = await store.save(record("t", status="completed", next_node=None, created_at="2026-03-01T12:00:00Z"))
    await store.keep_progress("t", base, ITEMS)
    assert await store.purge(older_than=datetime(2026, 3, 2, tzinfo=UTC)) == 1
    assert await store.save(record("t")) == base
    assert await store.load_progress("t", base) == {}
