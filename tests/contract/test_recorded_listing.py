"""Every store answers the recorded listings, logs and purges as the Rust engine's stores did; those four agree."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from strata.checkpoint.record import Checkpoint
from strata.errors import OptionRefused
from strata.ports.checkpoints import ThreadQuery, ThreadSummary
from strata.stores import StoreBase
from strata.wire.checkpoint import decode_checkpoint
from tests.records import WIRE

LISTING = WIRE / "listing"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


QUERIES: dict[str, dict[str, Any]] = {
    "all": {},
    "due by 11:03:00": {"due_by": moment("2026-10-02T11:03:00")},
    "due by 11:02:59.9": {"due_by": moment("2026-10-02T11:02:59.900")},
    "due by 11:59:00": {"due_by": moment("2026-10-02T11:59:00")},
    "due by 2020": {"due_by": moment("2020-01-01")},
    "due by 2031, limit 2": {"due_by": moment("2031-01-01"), "limit": 2},
    "limit 0": {"limit": 0},
    "limit 1001": {"limit": 1001},
    "bad cursor": {"cursor": "nonsense"},
    "interrupted": {"states": ["interrupted"]},
    "failed or cancelled": {"states": ["failed", "cancelled"]},
    "ended": {"states": ["ended"]},
    "completed": {"states": ["completed"]},
    "running": {"states": ["running"]},
    "resumed": {"states": ["resumed"]},
    "metadata tenant acme": {"metadata": {"tenant": "acme"}},
    "metadata tenant acme and incident 43": {"metadata": {"tenant": "acme", "incident": "43"}},
    "graph orders": {"graph_id": "orders"},
    "graph orders version 2": {"graph_id": "orders", "graph_version": "2"},
    "version without graph": {"graph_version": "2"},
    "updated after 09:30:00": {"updated_after": moment("2026-10-02T09:30:00")},
    "updated before 09:30:00": {"updated_before": moment("2026-10-02T09:30:00")},
}
"""The queries behind the recorded descriptions."""

PURGES: dict[str, dict[str, Any]] = {
    "finished, before 09:40:00, limit 2": {"older_than": moment("2026-10-02T09:40:00"), "limit": 2},
    "finished, before 09:40:00, limit 100": {"older_than": moment("2026-10-02T09:40:00"), "limit": 100},
    "failed, before 2027": {"older_than": moment("2027-01-01")},
    "no states": {"older_than": moment("2027-01-01")},
    "limit 0": {"older_than": moment("2027-01-01"), "limit": 0},
}


def lines_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LISTING / name).read_text(encoding="utf-8").splitlines()]


def test_the_four_recorded_stores_agree() -> None:
    assert len({(LISTING / f"{name}.jsonl").read_bytes() for name in ("memory", "sqlite", "postgres", "redis")}) == 1


async def test_every_recorded_call_is_answered_the_same(store: StoreBase) -> None:
    for line in (LISTING / "input.jsonl").read_bytes().splitlines():
        await store.save(decode_checkpoint(line))
    for recorded in lines_of("sqlite.jsonl"):
        assert await answer(store, recorded) == recorded


async def answer(store: StoreBase, recorded: dict[str, Any]) -> dict[str, Any]:
    """The recorded call made again, and its result in the words of the record."""
    if "purge" in recorded:
        return await purged(store, recorded)
    if "log" in recorded:
        return await log_page(store, recorded)
    if "ids" in recorded:
        page = await store.list_threads(ThreadQuery(limit=5, cursor=recorded["cursor"]))
        ids = [thread.thread_id for thread in page.threads]
        return {"list": recorded["list"], "cursor": recorded["cursor"], "ids": ids, "next_cursor": page.next_cursor}
    return {"list": recorded["list"], "result": await listing(store, recorded["list"])}


async def listing(store: StoreBase, description: str) -> dict[str, Any]:
    try:
        page = await store.list_threads(ThreadQuery(**QUERIES[description]))
    except OptionRefused as refusal:
        return {"refused": str(refusal)}
    return {"next_cursor": page.next_cursor, "threads": [shown(thread) for thread in page.threads]}


def shown(thread: ThreadSummary) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(thread)
    if thread.wait is not None:
        del fields["wait"]["unknown"]
    return fields | {"waiting_at": list(thread.waiting_at)}


async def log_page(store: StoreBase, recorded: dict[str, Any]) -> dict[str, Any]:
    thread_id, limit = recorded["log"], recorded.get("limit", 100)
    if "sequences" not in recorded:
        if "limit" not in recorded:
            return {"log": thread_id, "result": len((await store.get_log(thread_id)).records)}
        with pytest.raises(OptionRefused) as refusal:
            await store.get_log(thread_id, limit=limit)
        return {"log": thread_id, "limit": limit, "result": {"Err": str(refusal.value)}}
    page = await store.get_log(thread_id, after=recorded["after_sequence"], limit=limit)
    return {
        "log": thread_id,
        "after_sequence": recorded["after_sequence"],
        "limit": limit,
        "sequences": [entry.sequence for entry in page.records],
        "statuses": [entry.checkpoint.status for entry in page.records if isinstance(entry.checkpoint, Checkpoint)],
        "next_after_sequence": page.next_after,
    }


async def purged(store: StoreBase, recorded: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any]
    try:
        result = {"Ok": await store.purge(states=recorded["states"], **PURGES[recorded["purge"]])}
    except OptionRefused as refusal:
        result = {"Err": str(refusal)}
    left = [thread.thread_id for thread in (await store.list_threads(ThreadQuery())).threads]
    return {"purge": recorded["purge"], "states": recorded["states"], "result": result, "left": left}
