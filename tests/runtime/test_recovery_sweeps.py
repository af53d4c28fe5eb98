"""Sweeps over threads whose process died: who is taken for dead, how often, and in what order."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from strata import Completed, Lease, NotDurable, OptionRefused, RecoveryReport, Runner, SchemaUnsupported, ThreadPage, ThreadQuery
from strata.checkpoint.record import Checkpoint
from strata.graph.identity import Identity
from strata.ports import Acquired, CheckpointStore, ThreadLease
from strata.ports.events import RunEvent
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail, line
from tests.logs import checkpoints
from tests.records import record

AGE = timedelta(minutes=5)
TTL = 30.0

GRAPH = line("A", "B", "C").compile(id="wire", version="1")


def died(thread_id: str = "t", *, graph: str = "wire", **metadata: str) -> Checkpoint:
    """What a process leaves that dies in B: A has committed."""
    return record(
        thread_id,
        status="running",
        suspended_node="A",
        next_node="B",
        state={"trail": "A", "n": 1},
        schema_version="1.7.0",
        created_at="2026-11-02T12:00:00Z",
        metadata={"strata.hops": "1", **metadata},
        graph=Identity(graph, "1"),
    )


async def holding(*records: Checkpoint, clock: HandClock | None = None) -> MemoryStore:
    store = MemoryStore() if clock is None else MemoryStore(clock=clock)
    for each in records:
        await store.save(each)
    return store


async def taken(store: CheckpointStore, thread_id: str, by: str = "worker-9") -> ThreadLease:
    got = await store.try_acquire_lease(thread_id, by, TTL)
    assert isinstance(got, Acquired)
    return got.lease


def told(report: RecoveryReport[Any]) -> tuple[list[tuple[str, tuple[str, ...], int]], list[tuple[str, str]]]:
    return [(one.thread_id, one.at, one.recoveries) for one in report.recovered], [(one.thread_id, one.reason) for one in report.skipped]


@pytest.mark.leaves_leases("worker-9")
async def test_rc19_ck94_a_held_thread_is_left_alone_and_recovered_once_it_is_free() -> None:
    clock = HandClock()
    store = await holding(died("t1"), died("t2"), clock=clock)
    runner = Runner(GRAPH, store, lease=Lease("worker-1", TTL), clock=clock)
    first = await taken(store, "t1")
    await taken(store, "t2")
    held = "it is held by 'worker-9' until 2026-11-02T12:00:30Z"
    assert told(await runner.recover_stale()) == ([], [("t1", held), ("t2", held)])
    await store.release_lease(first)
    assert told(await runner.recover_stale()) == ([("t1", ("B",), 1)], [("t2", held)])


async def test_rc20_ck95_without_a_lease_the_age_says_who_is_dead() -> None:
    store, clock = await holding(died()), HandClock()
    runner = Runner(GRAPH, store, clock=clock)
    with pytest.raises(OptionRefused, match=r"^recover_stale needs stale_after="):
        await runner.recover_stale()
    assert told(await runner.recover_stale(stale_after=AGE)) == ([], [])
    await clock.pass_time(600)
    assert told(await runner.recover_stale(stale_after=AGE)) == ([("t", ("B",), 1)], [])
    assert (await runner.thread("t")).state.trail == "ABC"


async def test_rc22_ck96_one_call_takes_the_limit_of_those_it_is_for() -> None:
    others = [died("other-tenant", tenant="brick"), died("other-graph", graph="payroll", tenant="acme")]
    store = await holding(died("t1", tenant="acme"), died("t2", tenant="acme"), *others)
    runner = Runner(GRAPH, store, clock=HandClock())

    async def swept() -> tuple[list[str], list[tuple[str, str]]]:
        recovered, skipped = told(await runner.recover_stale(stale_after=0, metadata={"tenant": "acme"}, limit=1))
        return [thread for thread, *_ in recovered], skipped

    assert [await swept() for _ in range(3)] == [(["t1"], []), (["t2"], []), ([], [])]
    for other in others:
        assert await checkpoints(store, other.thread_id) == [other]


async def test_rc23_ck97_a_thread_that_dies_again_and_again_is_left_to_a_person() -> None:
    store = await holding(died(**{"strata.recoveries": "2"}))
    runner = Runner(GRAPH, store, clock=HandClock())
    report = await runner.recover_stale(stale_after=0, max_recoveries=2)
    assert told(report) == ([], [("t", "it was recovered 2 time(s) without a node completing")])
    assert len(await checkpoints(store)) == 1
    assert isinstance(await runner.recover("t"), Completed)


async def test_rc23_the_count_begins_anew_once_a_node_has_committed() -> None:
    store = await holding(died(**{"strata.recoveries": "1"}))
    report = await Runner(GRAPH, store, clock=HandClock()).recover_stale(stale_after=0, max_recoveries=2)
    assert told(report) == ([("t", ("B",), 2)], [])
    assert [(row.metadata or {}).get("strata.recoveries") for row in await checkpoints(store)] == ["1", "2", None, None]


@pytest.mark.parametrize("kind", FACTORIES)
async def test_rc27_in_every_store_the_dead_are_found_and_the_finished_are_not(kind: str, tmp_path: Path) -> None:
    clock = HandClock()
    async with FACTORIES[kind](tmp_path, clock) as store:
        runner = Runner(GRAPH, store, lease=Lease("worker-1", TTL), clock=clock)
        await runner.run("whole", Trail())
        assert told(await runner.recover_stale()) == ([], [])
        await store.save(died())
        held = await taken(store, "t")
        assert told(await runner.recover_stale()) == ([], [("t", "it is held by 'worker-9' until 2026-11-02T12:00:30Z")])
        await store.release_lease(held)
        assert told(await runner.recover_stale()) == ([("t", ("B",), 1)], [])
        assert await store.get_lease("t") is None


async def test_a_thread_that_was_written_after_it_was_listed_is_not_stale() -> None:
    class Alive(MemoryStore):
        """The process that was taken for dead commits a node behind the listing."""

        async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
            page = await super().list_threads(query)
            await self.save(replace(died(), created_at="2026-11-02T12:10:00Z"))
            return page

    store, clock = Alive(), HandClock()
    await store.save(died())
    await clock.pass_time(600)
    assert told(await Runner(GRAPH, store, clock=clock).recover_stale(stale_after=AGE)) == ([], [("t", "it is not stale yet")])


async def test_a_thread_of_a_newer_engine_is_left_to_it() -> None:
    store = await holding(replace(died(), schema_version="9.0.0"))
    report = await Runner(GRAPH, store, clock=HandClock()).recover_stale(stale_after=0)
    assert told(report) == ([], [("t", "its checkpoint has unsupported schema_version '9.0.0'")])
    assert isinstance(report.skipped[0].error, SchemaUnsupported)


async def test_the_dead_are_recovered_oldest_first() -> None:
    store = await holding(*(replace(died(f"t{minute}"), created_at=f"2026-11-02T11:{minute}:00Z") for minute in (30, 10, 20)))
    recovered, _ = told(await Runner(GRAPH, store, clock=HandClock()).recover_stale(stale_after=0))
    assert [thread for thread, *_ in recovered] == ["t10", "t20", "t30"]


async def test_observers_that_come_from_an_iterator_see_every_run_of_the_sweep() -> None:
    seen: set[str] = set()

    def look(event: RunEvent) -> None:
        seen.add(event.thread_id)

    store = await holding(died("t1"), died("t2"))
    await Runner(GRAPH, store, clock=HandClock()).recover_stale(stale_after=0, observers=iter([look]))
    assert seen == {"t1", "t2"}


async def test_what_cannot_be_swept_is_refused_in_the_sheets_order() -> None:
    async def refused(runner: Runner[Trail], **options: Any) -> str:
        with pytest.raises((OptionRefused, NotDurable)) as error:
            await runner.recover_stale(**options)
        return str(error.value)

    loose = Runner(line("A").compile(durable=False), MemoryStore())
    assert await refused(loose, limit=0, max_recoveries=0) == "a page size must be between 1 and 1000, not 0"
    assert await refused(loose, max_recoveries=0) == "max_recoveries must be at least 1"
    assert (await refused(loose)).startswith("this graph doesn't checkpoint every node")
