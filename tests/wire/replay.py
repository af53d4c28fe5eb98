"""Plays a recorded scenario on our engine: makes its calls, and holds what came of them against the record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from strata import NotAdmitted, Refused, ThreadNotFound, ThreadQuery
from strata.ports import CheckpointStore
from strata.stores.memory import MemoryStore
from strata.wire.checkpoint import decode_checkpoint, encode_checkpoint
from tests.wire.calls import Call, calls_of, plain_text, text_of, wake_times_of
from tests.wire.making import Maker
from tests.wire.scenario import Differs, Left, Result, Scenario

ANY_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+\+00:00|Z)")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a call came to: its result in the record's words, and the records that it wrote, as stored."""

    result: Result
    records: tuple[bytes, ...]


async def stocked(records: Iterable[bytes]) -> MemoryStore:
    """A store that holds these records, as if their engine had left them there."""
    store = MemoryStore()
    for record in records:
        await store.save(decode_checkpoint(record))
    return store


async def play(name: str, scenario: Scenario, *, start: int = 0) -> None:
    """Make the calls from number `start` on, and hold each answer against the record.

    The store begins with what the calls before wrote. It is put back to the record after a call that we answer
    differently, so that the next one meets what the record's engine met.
    """
    calls = calls_of(name)
    store = await stocked(written_before(calls, start))
    for call in calls[start:]:
        difference = scenario.differs.get(call.number, Differs(row=""))
        if isinstance(difference, Differs):
            answer = await make(scenario, call, store, ask=difference.ask)
            expect(answer, call, difference)
            if not difference.row:
                assert [wake_times_of(record) for record in answer.records] == [wake_times_of(record) for record in call.records]
        if isinstance(difference, Left) or (difference.row and not difference.keeps_store):
            store = await stocked(written_before(calls, call.number + 1))


def expect(answer: Answer, call: Call, difference: Differs) -> None:
    recorded = [json.loads(record) for record in call.records]
    written = [text_of(json.loads(record)) for record in answer.records]
    assert written == [text_of(record) for record in difference.records(recorded)], f"records of call {call.number} ({call.do})"
    assert said(answer.result) == said(difference.result(call.result)), f"answer to call {call.number} ({call.do})"


def said(result: Result) -> str:
    return ANY_TIME.sub("T", plain_text(result))


def written_before(calls: Sequence[Call], number: int) -> list[bytes]:
    return [record for call in calls[:number] for record in call.records]


async def written(store: CheckpointStore) -> dict[str, list[bytes]]:
    """All records of all threads."""
    page = await store.list_threads(ThreadQuery(limit=1000))
    unreadable = [row.thread_id for row in page.unreadable if row.thread_id is not None]
    return {thread_id: await log_of(store, thread_id) for thread_id in [*(thread.thread_id for thread in page.threads), *unreadable]}


async def log_of(store: CheckpointStore, thread_id: str) -> list[bytes]:
    page = await store.get_log(thread_id, limit=1000)
    return [encode_checkpoint(logged.checkpoint) for logged in page.records if not isinstance(logged.checkpoint, Refused)]


async def make(
    scenario: Scenario,
    call: Call,
    store: CheckpointStore,
    *,
    ask: Mapping[str, Any] | None = None,
    later: timedelta = timedelta(),
) -> Answer:
    """Make one call on a runner of its own, so much later than it was made there."""
    if (prepare := scenario.before.get(call.number)) is not None:
        await prepare(store)
    before = await written(store)
    given = {**call.given, **(ask or {})}
    try:
        result = await Maker(scenario, call, store, later).make(given)
    except NotAdmitted as refusal:
        result = {"outcome": "failed", "error": "not_admitted", "reason": refusal.reason}
    except Refused as refusal:
        kind = "node_not_found" if isinstance(refusal, ThreadNotFound) else "execution_aborted"
        result = {"outcome": "failed", "error": kind, "text": str(refusal)}
    records = [record for thread_id, log in (await written(store)).items() for record in log[len(before.get(thread_id, ())) :]]
    return Answer(result=result, records=tuple(records))
