"""Every store: saves, plain and conditional, and what is loaded afterwards (strata-stores.md 1)."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec import Raw
from msgspec.structs import replace

from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.errors import ThreadChanged
from strata.graph.identity import Identity
from strata.ports.checkpoints import Stored
from strata.stores import StoreBase
from strata.testing.contract.records import json_of, record, value_of

OVERRIDES = {"plan": {"a": [1]}, "replicas": 3, "dry_run": True, "note": None, "reason": "no"}
DECISION = DecisionRecord(boundary="review", is_approved=True, reviewer="", overrides=json_of(OVERRIDES), decided_at="2026-11-02T10:00:01Z")


async def logged(store: StoreBase, thread_id: str = "t") -> list[Checkpoint]:
    page = await store.get_log(thread_id, limit=1000)
    assert [entry.sequence for entry in page.records] == list(range(len(page.records)))
    checkpoints = [entry.checkpoint for entry in page.records if isinstance(entry.checkpoint, Checkpoint)]
    assert len(checkpoints) == len(page.records)
    return checkpoints


async def test_st1_an_unknown_thread_has_nothing(store: StoreBase) -> None:
    assert await store.load("nobody") is None
    assert await store.load_latest("nobody") is None
    page = await store.get_log("nobody")
    assert (page.records, page.next_after) == ((), None)


async def test_st2_a_state_comes_back_as_it_was(store: StoreBase) -> None:
    state = {"d": 4200.5, "i": 9007199254740993, "l": [True, False, None], "s": 'say "hi" \\ é 日本語 🚀\n', "e": "", "n": None}
    saved = record(state=state)
    await store.save(saved)
    assert await store.load("t") == saved


async def test_ck11_integers_at_the_edge_come_back_exact(store: StoreBase) -> None:
    await store.save(record(state={"low": -(2**63), "high": 2**64 - 1}))
    loaded = await store.load("t")
    assert loaded is not None
    assert json.loads(bytes(loaded.frozen_state)) == {"low": -(2**63), "high": 2**64 - 1}


async def test_st3_each_save_is_the_latest_in_turn(store: StoreBase) -> None:
    paused = record()
    stamped = replace(paused, resumed_at="2026-11-02T09:40:31Z", metadata={"tenant": "acme", "incident": "INC-1"})
    completed = record(status="completed", next_node=None)
    for sequence, checkpoint in enumerate([paused, stamped, completed]):
        assert await store.save(checkpoint) == sequence
        assert await store.load_latest("t") == Stored(checkpoint, sequence)


async def test_st4_threads_do_not_mix(store: StoreBase) -> None:
    completed = record("t1", status="completed", suspended_node=None, next_node=None)
    failed = record("t2", status="failed", metadata={"error": "busy"})
    assert [await store.save(completed), await store.save(failed)] == [0, 0]
    assert [await store.load("t1"), await store.load("t2")] == [completed, failed]


async def test_st5_nested_levels_come_back_whole(store: StoreBase) -> None:
    grandchild = record("Stage", state={"p": 1}, metadata={"tenant": "acme"})
    nested = record(nested=record("Work", nested=grandchild, graph=Identity("work", "3")), graph=Identity("outer"))
    await store.save(nested)
    assert await store.load("t") == nested
    await store.save(record())
    assert await logged(store) == [nested, record()]


@pytest.mark.parametrize(
    "saved",
    [
        record(status="failed", nested=record("Work", status="failed")),
        record(status="cancelled", metadata={"cancel_reason": "requested"}),
        record(status="cancelled", nested=record("Work", status="cancelled")),
        record(status="failed", nested=record("Work", status="cancelled", metadata={"cancel_reason": "timeout"})),
    ],
)
async def test_st6_failures_and_cancellations_come_back(store: StoreBase, saved: Checkpoint) -> None:
    await store.save(saved)
    assert await store.load("t") == saved


async def test_st7_decisions_come_back_at_every_level(store: StoreBase) -> None:
    decided = record(decision=DECISION, nested=record("Work", decision=DECISION))
    await store.save(decided)
    await store.save(record())
    before, after = await logged(store)
    assert before == decided
    assert value_of(before)["nested"]["decision"]["overrides"] == OVERRIDES
    assert after.decision is None


async def test_oc1_a_conditional_save_needs_the_latest_sequence(store: StoreBase) -> None:
    paused = record()
    stamped = replace(paused, resumed_at="2026-11-02T09:40:31Z")
    await store.save(paused)
    assert await store.save_if_latest(stamped, 0) == 1
    with pytest.raises(ThreadChanged) as refusal:
        await store.save_if_latest(paused, 0)
    assert refusal.value.thread_id == "t"
    assert await logged(store) == [paused, stamped]
    assert await store.save_if_latest(paused, None) == 2


async def test_oc2_minus_one_means_that_the_thread_must_not_exist(store: StoreBase) -> None:
    assert await store.save_if_latest(record(), -1) == 0
    with pytest.raises(ThreadChanged):
        await store.save_if_latest(record(), -1)
    assert await logged(store) == [record()]


@pytest.mark.parametrize("expected", [-1, 0, 2, 7])
async def test_a_sequence_that_is_not_the_latest_is_refused(store: StoreBase, expected: int) -> None:
    await store.save(record())
    await store.save(record())
    with pytest.raises(ThreadChanged):
        await store.save_if_latest(record(status="ended"), expected)
    assert len(await logged(store)) == 2


async def test_a_conditional_save_of_an_unknown_thread_is_refused(store: StoreBase) -> None:
    with pytest.raises(ThreadChanged):
        await store.save_if_latest(record(), 0)
    assert await store.load_latest("t") is None


async def test_of_conditional_saves_at_once_exactly_one_is_written(store: StoreBase) -> None:
    await store.save(record())
    rivals = [record(metadata={"by": str(number)}) for number in range(12)]
    results = await asyncio.gather(*(store.save_if_latest(rival, 0) for rival in rivals), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["ThreadChanged"] * 11 + ["int"]
    winner = next(rival for rival, result in zip(rivals, results, strict=True) if result == 1)
    assert await logged(store) == [record(), winner]


async def test_saves_at_once_are_kept_in_the_order_they_were_given(store: StoreBase) -> None:
    saved = [record(metadata={"number": str(number)}) for number in range(50)]
    assert await asyncio.gather(*(store.save(checkpoint) for checkpoint in saved)) == list(range(50))
    assert await logged(store) == saved


async def test_many_threads_at_once(store: StoreBase) -> None:
    saved = [record(f"thread {number:03}", metadata={"hop": str(hop)}) for hop in range(3) for number in range(200)]
    await asyncio.gather(*(store.save(checkpoint) for checkpoint in saved))
    for number in range(0, 200, 7):
        assert [checkpoint.metadata for checkpoint in await logged(store, f"thread {number:03}")] == [{"hop": "0"}, {"hop": "1"}, {"hop": "2"}]


async def test_a_cancelled_waiter_does_not_cancel_the_write(store: StoreBase) -> None:
    first, second = record(metadata={"n": "1"}), record(metadata={"n": "2"})
    waiter = asyncio.ensure_future(store.save(first))
    await asyncio.sleep(0)
    waiter.cancel()
    await store.save(second)
    await asyncio.gather(waiter, return_exceptions=True)
    assert await logged(store) == [first, second]


async def test_dur09_earlier_records_never_change(store: StoreBase) -> None:
    saved = record(metadata={"tenant": "acme"})
    await store.save(saved)
    before = value_of((await logged(store))[0])
    for sequence in range(3):
        await store.save_if_latest(replace(saved, resumed_at="2026-11-02T09:40:31Z", metadata={"n": str(sequence)}), sequence)
    assert value_of((await logged(store))[0]) == before


@pytest.mark.parametrize("thread_id", ["", " ", "thread/with spaces:ü", "日本語 🚀", "a'b\"c;--", "%_*?[x]", "\n\t", "x" * 5000])
async def test_any_text_is_a_thread_id(store: StoreBase, thread_id: str) -> None:
    saved = record(thread_id)
    await store.save(record("other"))
    assert await store.save(saved) == 0
    assert await store.load_latest(thread_id) == Stored(saved, 0)
    assert await store.save_if_latest(saved, 0) == 1


async def test_ck12_a_state_need_not_be_an_object(store: StoreBase) -> None:
    for state in (b"7", b"null", b"[1]", b'"text"'):
        saved = replace(record(), frozen_state=Raw(state))
        await store.save(saved)
        assert await store.load("t") == saved


async def test_a_big_state_comes_back(store: StoreBase) -> None:
    saved = record(state={"text": "é" * 2_000_000, "items": list(range(100_000))})
    await store.save(saved)
    assert await store.load("t") == saved
