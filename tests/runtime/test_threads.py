"""A thread's life beside its runs: started over, ended, reopened, looked at, and what its metadata carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from strata import (
    Cancelled,
    CheckpointUnreadable,
    Completed,
    Context,
    Failed,
    Interrupted,
    OptionRefused,
    Refused,
    Runner,
    StateGraph,
    StoredLevel,
    StoreError,
    ThreadChanged,
    ThreadExists,
    ThreadFinished,
    ThreadNotFound,
    ThreadQuery,
    WrongGraph,
)
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.graph.identity import Identity
from strata.ports import Logged, LogPage
from strata.stores.memory import MemoryStore
from tests.clocks import START, HandClock
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints, log
from tests.odd_stores import BareStore, OvertakenStore
from tests.records import json_of, record

TRAIL = {"trail": "A", "n": 1}
STAMP = "2026-11-02T10:00:00Z"
GRAPH = line("A", "B").add_interrupt_boundary("A").compile()


def stored_as(status: str = "interrupted", suspended: str | None = "A", next_node: str | None = "B", **fields: Any) -> Checkpoint:
    return record(**({"state": TRAIL, "status": status, "suspended_node": suspended, "next_node": next_node} | fields))


async def holding(*records: Checkpoint) -> MemoryStore:
    store = MemoryStore(clock=HandClock())
    for each in records:
        await store.save(each)
    return store


# Running an id again


@pytest.mark.parametrize(
    ("stored", "state_name"),
    [
        (stored_as(), "interrupted"),
        (stored_as("failed"), "failed"),
        (stored_as("cancelled"), "cancelled"),
        (stored_as("running"), "running"),
        (stored_as(resumed_at=STAMP), "resumed"),
        (stored_as(schema_version="9.9.9"), "interrupted"),
    ],
)
async def test_a_thread_that_has_not_finished_is_not_run_again_unless_so_asked(stored: Checkpoint, state_name: str) -> None:
    store = await holding(stored)
    runner = Runner(GRAPH, store)
    with pytest.raises(ThreadExists) as raised:
        await runner.run("t", Trail())
    assert (raised.value.thread_id, raised.value.state_name, raised.value.sequence) == ("t", state_name, 0)
    assert "start_over=True" in str(raised.value)
    assert await checkpoints(store) == [stored]
    assert isinstance(await runner.run("t", Trail(), start_over=True), Interrupted)
    assert (await log(store))[1:] == ["running:->A", "interrupted:A>B"]
    assert (await checkpoints(store))[1].metadata == {"strata.hops": "0"}


@pytest.mark.parametrize("status", ["completed", "ended"])
async def test_a_finished_thread_is_free(status: str) -> None:
    store = await holding(stored_as(status, next_node=None))
    assert isinstance(await Runner(GRAPH, store).run("t", Trail()), Interrupted)


async def test_of_two_first_runs_of_one_id_one_runs() -> None:
    async def run(store: MemoryStore) -> None:
        assert isinstance(await Runner(GRAPH, store).run("t", Trail(trail="first")), Interrupted)

    store = OvertakenStore(run)
    with pytest.raises(ThreadChanged, match=r"^thread 't' changed before it could be started"):
        await Runner(GRAPH, store).run("t", Trail(trail="second"))
    assert await log(store) == ["running:->A", "interrupted:A>B"]


async def test_con_01_a_run_whose_thread_was_started_over_is_superseded() -> None:
    async def start_over(state: Trail) -> Trail:
        if state.trail == "A":
            other = line("A", "B", "C").compile()
            assert isinstance(await Runner(other, store).run("t", Trail(trail="other "), start_over=True), Completed)
        return state

    store = MemoryStore()
    graph = line("A").add_node("B", start_over).add_node("C", adds("C")).add_edge("A", "B").add_edge("B", "C").compile()
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "superseded"
    assert (await log(store))[-1] == "completed:C>-"
    assert b"other" in bytes((await checkpoints(store))[-1].frozen_state)


async def test_a_run_that_is_not_durable_and_was_overtaken_is_superseded_where_it_stops() -> None:
    async def overtake(state: Trail) -> Trail:
        await store.save(stored_as("ended", next_node=None))
        return state

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("A", overtake).add_node("B", adds("B")).add_edge("A", "B").add_interrupt_boundary("A").compile(durable=False)
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, outcome.node) == ("superseded", "A")
    assert await log(store) == ["ended:A>-"]


# Ending


async def test_ck100_en1_an_ended_thread_says_who_and_keeps_what_the_callers_said() -> None:
    store = await holding(stored_as(metadata={"tenant": "acme", "strata.hops": "1"}))
    outcome = await Runner(GRAPH, store, clock=HandClock()).end("t", by="oncall", metadata={"incident": "INC-7"})
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, outcome.node, outcome.stopped_at, outcome.state) == ("ended", "A", ("A",), Trail(trail="A", n=1))
    last = (await checkpoints(store))[-1]
    assert (last.schema_version, last.status, last.suspended_node, last.next_node) == ("1.4.0", "ended", "A", None)
    assert last.metadata == {"tenant": "acme", "incident": "INC-7", "strata.end_reason": "requested", "strata.ended_by": "oncall"}
    assert last.created_at == "2026-11-02T12:00:00Z"
    assert await log(store) == ["interrupted:A>B", "ended:A>-"]


async def test_ck102_en4_ending_again_gives_the_same_answer_and_writes_nothing() -> None:
    store = await holding(stored_as("cancelled", metadata={"cancel_reason": "deadline"}))
    runner = Runner(GRAPH, store)
    first = await runner.end("t", by="ana")
    before = await checkpoints(store)
    assert before[-1].metadata == {"strata.end_reason": "requested", "strata.ended_by": "ana"}
    again = await runner.end("t", by="bob")
    assert (again.node, again.stopped_at, again.state, again.reason) == (first.node, first.stopped_at, first.state, "ended")
    assert await checkpoints(store) == before


async def test_ck6_an_ended_thread_keeps_its_decision_and_its_graph() -> None:
    decision = DecisionRecord(boundary="A", is_approved=True, reviewer="ana", overrides=json_of({}), decided_at=STAMP)
    store = await holding(stored_as("failed", decision=decision))
    await Runner(GRAPH, store).end("t")
    last = (await checkpoints(store))[-1]
    assert (last.schema_version, last.decision, last.next_node) == ("1.4.0", decision, None)


async def test_gi3_ck110_every_record_of_a_named_graph_names_it() -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError

    store = MemoryStore()
    graph = line("A").add_node("B", bug, inline=True).add_edge("A", "B").compile(id="wire", durable=False, max_node_hops=9)
    runner = Runner(graph, store)
    await runner.run("failed", Trail())
    await runner.run("cancelled", Trail(), deadline=0)
    await runner.run("limited", Trail(), max_node_hops=1)
    await runner.run("ended", Trail())
    await runner.end("ended")
    for thread_id in ("failed", "cancelled", "limited", "ended"):
        for each in await checkpoints(store, thread_id):
            assert (each.graph, each.schema_version) == (Identity("wire", None), "1.6.0")


async def test_ck105_a_running_thread_ends_where_it_was_about_to_go() -> None:
    store = await holding(stored_as("running", metadata={"strata.hops": "1"}))
    outcome = await Runner(GRAPH, store).end("t")
    assert (outcome.node, outcome.stopped_at, outcome.state.trail) == ("B", ("B",), "A")
    assert (await log(store))[-1] == "ended:B>-"


async def test_ending_a_thread_while_it_runs_stops_its_writing() -> None:
    async def ends(state: Trail) -> Trail:
        await runner.end("t", by="ana")
        return state

    store = MemoryStore()
    runner = Runner(line("A").add_node("B", ends).add_node("C", adds("C")).add_edge("A", "B").add_edge("B", "C").compile(), store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "superseded"
    assert (await log(store))[-1] == "ended:B>-"


async def refused(store: MemoryStore, call: Callable[[Runner[Trail]], Any], *, graph: Any = GRAPH) -> Refused:
    before = await checkpoints(store)
    with pytest.raises(Refused) as raised:
        await call(Runner(graph, store))
    assert await checkpoints(store) == before
    return raised.value


async def test_ck103_en6_what_cannot_be_ended() -> None:
    error = await refused(await holding(stored_as(resumed_at=STAMP)), lambda runner: runner.end("t"))
    assert isinstance(error, ThreadChanged)
    assert str(error) == (f"thread 't' was resumed at {STAMP} and may still be running: only a waiting, failed or cancelled thread can be ended")
    error = await refused(await holding(stored_as("completed", next_node=None)), lambda runner: runner.end("t"))
    assert isinstance(error, ThreadFinished)
    assert str(error) == "thread 't' has completed: only a waiting, failed or cancelled thread can be ended"
    assert isinstance(await refused(await holding(), lambda runner: runner.end("t")), ThreadNotFound)


async def test_en11_another_graphs_thread_is_not_ended() -> None:
    store = await holding(stored_as(graph=Identity("wire", "2")))
    error = await refused(store, lambda runner: runner.end("t"), graph=line("A").compile(id="payroll", version="2"))
    assert isinstance(error, WrongGraph)
    assert str(error) == "thread 't' was written by graph 'wire' version 2, not 'payroll' version 2"


async def test_the_faults_of_an_end_are_told_in_the_sheets_order() -> None:
    all_of_them: dict[str, Any] = {"graph": Identity("wire", "2"), "state": {"trail": 5}}
    named = line("A").compile(id="payroll")

    async def told(stored: Checkpoint, **options: Any) -> str:
        return str(await refused(await holding(stored), lambda runner: runner.end("t", **options), graph=named))

    assert "is reserved" in await told(stored_as(schema_version="9.0.0"), metadata={"error": "x"})
    assert "unsupported schema_version" in await told(stored_as("completed", schema_version="9.0.0", resumed_at=STAMP, **all_of_them))
    assert "may still be running" in await told(stored_as("completed", resumed_at=STAMP, **all_of_them))
    assert "has completed" in await told(stored_as("completed", **all_of_them))
    assert "was written by graph" in await told(stored_as(**all_of_them))
    assert "was written by graph" in await told(stored_as("ended", **all_of_them))
    assert "failed to rehydrate" in await told(stored_as(state={"trail": 5}))


async def test_force_ends_a_thread_that_is_stuck_behind_a_resume() -> None:
    store = await holding(stored_as(resumed_at=STAMP))
    outcome = await Runner(GRAPH, store).end("t", by="ana", force=True)
    assert outcome.reason == "ended"
    last = (await checkpoints(store))[-1]
    assert (last.state_name, last.resumed_at, last.suspended_node) == ("ended", None, "A")


@pytest.mark.parametrize("by", ["", "half \ud800", 5])
async def test_whoever_ends_or_reopens_a_thread_has_a_storable_name(by: Any) -> None:
    assert isinstance(await refused(await holding(stored_as()), lambda runner: runner.end("t", by=by)), OptionRefused)
    assert isinstance(await refused(await holding(stored_as(resumed_at=STAMP)), lambda runner: runner.reopen("t", by=by)), OptionRefused)


async def test_ck104_a_resume_that_lands_within_an_end_is_decided_anew() -> None:
    async def resume(store: MemoryStore) -> None:
        await store.save(stored_as(resumed_at=STAMP))

    store = OvertakenStore(resume)
    await store.save(stored_as())
    with pytest.raises(ThreadChanged, match="may still be running") as raised:
        await Runner(GRAPH, store).end("t")
    assert raised.value.reason == "resumed"
    assert await log(store) == ["interrupted:A>B", "resumed:A>B"]


@pytest.mark.parametrize(("times", "ends"), [(1, True), (2, True), (3, False)])
async def test_an_end_tries_three_times(times: int, ends: bool) -> None:
    async def append(store: MemoryStore) -> None:
        await store.save(stored_as())

    store = OvertakenStore(append, times=times)
    await store.save(stored_as())
    runner = Runner(GRAPH, store)
    if ends:
        assert (await runner.end("t")).reason == "ended"
    else:
        with pytest.raises(ThreadChanged) as raised:
            await runner.end("t")
        assert str(raised.value) == "thread 't' kept changing while it was being ended"
    assert len(await log(store)) == 1 + times + ends


async def test_ck106_en9_a_store_that_only_saves_and_loads_resumes_and_ends() -> None:
    store = BareStore()
    runner = Runner(GRAPH, store)
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    assert isinstance(await runner.resume("t", GRAPH.approve("ana")), Completed)
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    assert (await runner.end("t")).reason == "ended"
    assert (await runner.thread("t")).sequence is None
    with pytest.raises(StoreError, match="no log"):
        _ = [each async for each in runner.log("t")]


# Reopening


async def test_a_stuck_thread_is_reopened_and_resumed_once_more() -> None:
    store = await holding(stored_as(metadata={"tenant": "acme"}), stored_as(resumed_at=STAMP, metadata={"tenant": "acme"}))
    runner = Runner(GRAPH, store, clock=HandClock())
    thread = await runner.reopen("t", by="ana")
    assert (thread.state_name, thread.sequence, thread.metadata) == ("interrupted", 2, {"tenant": "acme", "strata.reopened_by": "ana"})
    assert (await checkpoints(store))[-1].created_at == "2026-11-02T12:00:00Z"
    assert isinstance(await runner.resume("t", GRAPH.approve("bob")), Completed)


@pytest.mark.parametrize("status", ["interrupted", "failed", "cancelled", "completed", "ended", "running"])
async def test_only_a_stuck_thread_is_reopened(status: str) -> None:
    error = await refused(await holding(stored_as(status)), lambda runner: runner.reopen("t"))
    assert not isinstance(error, ThreadChanged) or error.reason == "not_resumed"


async def test_an_unknown_or_foreign_thread_is_not_reopened() -> None:
    assert isinstance(await refused(await holding(), lambda runner: runner.reopen("t")), ThreadNotFound)
    store = await holding(stored_as(resumed_at=STAMP, graph=Identity("wire", None)))
    assert isinstance(await refused(store, lambda runner: runner.reopen("t")), WrongGraph)


# Looking


async def test_a_thread_is_looked_at_without_being_decoded() -> None:
    store = await holding(stored_as(state={"trail": 5}, metadata={"tenant": "acme", "strata.hops": "3", "error": "boom"}))
    thread = await Runner(GRAPH, store).thread("t")
    assert (thread.thread_id, thread.sequence, thread.state_name, thread.status) == ("t", 0, "interrupted", "interrupted")
    assert (thread.waiting_at, thread.hops, thread.error, thread.graph, thread.identity) == (("A",), 3, "boom", None, None)
    assert thread.raw_state == b'{"trail":5}'
    assert thread.metadata["tenant"] == "acme"
    with pytest.raises(CheckpointUnreadable, match=r"^failed to rehydrate state for thread 't': "):
        _ = thread.state
    assert "interrupted" in repr(thread)


@pytest.mark.parametrize("text", ["x", "", "-1", "9" * 5000])
async def test_a_view_never_stumbles_over_a_count(text: str) -> None:
    assert (await Runner(GRAPH, await holding(stored_as(metadata={"strata.hops": text}))).thread("t")).hops is None


async def test_an_unknown_thread_cannot_be_looked_at() -> None:
    with pytest.raises(ThreadNotFound):
        await Runner(GRAPH, MemoryStore()).thread("t")
    assert [each async for each in Runner(GRAPH, MemoryStore()).log("t")] == []


async def test_dur_09_the_log_is_what_was_written_and_never_changes() -> None:
    store = MemoryStore()
    runner = Runner(GRAPH, store)
    await runner.run("t", Trail())
    before = await checkpoints(store)
    await runner.resume("t", GRAPH.approve("ana").override(trail="changed"))
    records = [each async for each in runner.log("t")]
    assert [each.checkpoint for each in records][: len(before)] == before
    assert [(each.sequence, each.state_name, each.suspended_node, each.next_node) for each in records] == [
        (0, "running", None, "A"),
        (1, "interrupted", "A", "B"),
        (2, "running", "A", "B"),
        (3, "completed", "B", None),
    ]
    assert records[-1].state == Trail(trail="changedB", n=2)
    assert [each.sequence async for each in runner.log("t", after=1)] == [2, 3]


async def test_a_long_log_is_read_to_its_end() -> None:
    store = MemoryStore()
    for number in range(205):
        await store.save(stored_as(metadata={"n": str(number)}))
    assert [int(each.metadata["n"]) async for each in Runner(GRAPH, store).log("t")] == list(range(205))


class TornStore(MemoryStore):
    """Its second row cannot be read."""

    async def get_log(self, thread_id: str, /, *, after: int | None = None, limit: int = 100) -> LogPage:
        page = await super().get_log(thread_id, after=after, limit=limit)
        torn = CheckpointUnreadable("torn", thread_id=thread_id, sequence=1)
        return LogPage(tuple(Logged(1, torn) if logged.sequence == 1 else logged for logged in page.records), page.next_after)


async def test_a_row_that_cannot_be_read_does_not_hide_those_behind_it() -> None:
    store = TornStore()
    for _ in range(3):
        await store.save(stored_as())
    runner, seen = Runner(GRAPH, store), list[int | None]()
    after: int | None = None
    while True:
        try:
            async for each in runner.log("t", after=after):
                seen.append(each.sequence)
            break
        except CheckpointUnreadable as error:
            after = error.sequence
    assert seen == [0, 2]


async def test_threads_are_listed_by_what_they_came_to() -> None:
    runner = Runner(GRAPH, MemoryStore())
    await runner.run("t", Trail(), metadata={"tenant": "acme"})
    await runner.run("u", Trail(), metadata={"tenant": "other"})
    await runner.end("u")
    page = await runner.threads(ThreadQuery(states=["interrupted"]))
    assert [(summary.thread_id, summary.waiting_at) for summary in page.threads] == [("t", ("A",))]
    assert {summary.thread_id for summary in (await runner.threads()).threads} == {"t", "u"}
    assert [summary.thread_id for summary in (await runner.threads(ThreadQuery(metadata={"tenant": "other"}))).threads] == ["u"]


WIRE_2 = Identity("wire", "2")


def never(old: StoredLevel) -> StoredLevel | None:
    pytest.fail("the migration was asked")


OWNED: list[tuple[Identity | None, dict[str, Any], bool]] = [
    (None, {}, True),
    (WIRE_2, {}, False),
    (None, {"id": "wire", "version": "2"}, True),
    (WIRE_2, {"id": "wire", "version": "2"}, True),
    (WIRE_2, {"id": "other", "version": "2"}, False),
    (WIRE_2, {"id": "wire", "version": "3"}, False),
    (WIRE_2, {"id": "wire"}, False),
    (WIRE_2, {"id": "wire", "version": "3", "migrate": never}, True),
    (Identity("wire", None), {"id": "wire"}, True),
]


@pytest.mark.parametrize(("wrote", "graph", "owned"), OWNED)
async def test_gi10_ck111_a_graph_owns_what_it_would_take_over(wrote: Identity | None, graph: dict[str, Any], owned: bool) -> None:
    runner = Runner(line("A", "B").compile(**graph), await holding(stored_as(graph=wrote)))
    assert runner.owns(await runner.thread("t")) is owned
    assert [runner.owns(each) async for each in runner.log("t")] == [owned]


# Metadata


async def test_ck62_ck65_the_callers_keys_are_carried_and_the_engines_are_not() -> None:
    seen: list[Mapping[str, str]] = []
    switch: list[bool] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.append(dict(ctx.metadata))
        if not switch:
            raise LookupError("off")
        return state

    store = MemoryStore()
    graph = line("A").add_node("B", look, inline=True).add_edge("A", "B").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail(), metadata={"tenant": "acme"})
    assert isinstance(await runner.resume("t", graph.approve("ana")), Failed)
    assert isinstance(await runner.resume("t", deadline=0), Cancelled)
    switch.append(True)
    assert isinstance(await runner.resume("t"), Completed)
    records = await checkpoints(store)
    acme = {"tenant": "acme"}
    assert [each.metadata for each in records] == [
        acme,
        acme,
        acme | {"error": "LookupError: off", "error_kind": "fatal"},
        acme | {"error": "LookupError: off", "error_kind": "fatal"},
        acme | {"cancel_reason": "deadline"},
        acme | {"cancel_reason": "deadline"},
    ]
    assert seen == [acme, acme]


async def test_ex11_ck64_a_resume_lays_its_own_metadata_over_what_is_stored() -> None:
    seen: list[Mapping[str, str]] = []

    def bug(state: Trail, ctx: Context) -> Trail:
        seen.append(dict(ctx.metadata))
        raise ValueError

    store = MemoryStore()
    graph = line("A").add_node("B", bug, inline=True).add_edge("A", "B").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail(), metadata={"tenant": "acme", "incident": "INC-1"})
    await runner.resume("t", graph.approve("ana"), metadata={"incident": "INC-2"})
    assert seen == [{"tenant": "acme", "incident": "INC-2"}]
    paused, stamp, failed = await checkpoints(store)
    assert paused.metadata == stamp.metadata == {"tenant": "acme", "incident": "INC-1"}
    assert failed.metadata is not None
    assert failed.metadata["incident"] == "INC-2"


async def test_ck15_without_anything_to_say_metadata_is_null() -> None:
    store = MemoryStore()
    await Runner(line("A", "B").add_interrupt_boundary("A").compile(durable=False), store).run("t", Trail())
    assert [each.metadata for each in await checkpoints(store)] == [None]


async def test_sec_08_a_service_is_stored_nowhere() -> None:
    class Credentials(str):
        pass

    store = MemoryStore()
    await Runner(GRAPH, store, services=[Credentials("canary")]).run("t", Trail(), services=[Credentials("canary")])
    assert "canary" not in repr(await checkpoints(store))


async def test_records_carry_the_clocks_time_cut_to_seconds() -> None:
    store = MemoryStore()
    clock = HandClock(at=START + 0.999)
    await Runner(GRAPH, store, clock=clock).run("t", Trail())
    assert {each.created_at for each in await checkpoints(store)} == {"2026-11-02T12:00:00Z"}
