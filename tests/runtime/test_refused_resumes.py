"""What refuses a resume, in the order of the sheets; a refusal writes nothing and leaves the thread as resumable as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from strata import (
    CheckpointUnreadable,
    CompiledGraph,
    Completed,
    Interrupted,
    OptionRefused,
    Refused,
    Runner,
    SchemaUnsupported,
    Signal,
    SignalRefused,
    State,
    StateGraph,
    StoredLevel,
    ThreadChanged,
    ThreadFinished,
    ThreadNotFound,
    ThreadRunning,
    WrongGraph,
)
from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.graph.identity import Identity
from strata.stores.memory import MemoryStore
from tests.graphs.trails import Trail, line, undoing
from tests.logs import checkpoints, log
from tests.odd_stores import OvertakenStore
from tests.records import json_of, record

TRAIL = {"trail": "A", "n": 1}


def paused_line() -> StateGraph[Trail]:
    """A, where the thread waits; B."""
    return line("A", "B").add_interrupt_boundary("A")


GRAPH = paused_line().compile()


def waits_at(suspended: str = "A", next_node: str | None = "B", **fields: Any) -> Checkpoint:
    return record(**({"state": TRAIL, "suspended_node": suspended, "next_node": next_node} | fields))


async def refused(
    stored: Checkpoint | None,
    answer: Signal[Any] | None,
    *,
    graph: CompiledGraph[Any] = GRAPH,
    **options: Any,
) -> Refused:
    """The refusal of a resume; the log is as it was."""
    store = MemoryStore()
    if stored is not None:
        await store.save(stored)
    with pytest.raises(Refused) as raised:
        await Runner(graph, store).resume("t", answer, **options)
    assert await checkpoints(store) == ([] if stored is None else [stored])
    return raised.value


# One by one


async def test_ck61_an_unknown_thread() -> None:
    error = await refused(None, GRAPH.approve("ana"))
    assert isinstance(error, ThreadNotFound)
    assert str(error) == "no checkpoint found for thread 't'"


@pytest.mark.parametrize("version", ["2.0.0", "1.7.1", "1.0", "1.8.0", "1.9.0", ""])
async def test_ck10_a_version_that_this_build_does_not_know(version: str) -> None:
    error = await refused(replace(waits_at(), schema_version=version), GRAPH.approve("ana"))
    assert isinstance(error, SchemaUnsupported)
    assert str(error) == f"checkpoint for thread 't' has unsupported schema_version '{version}'"
    assert (error.version, error.path) == (version, "schema_version")


async def test_ck98_rc9_a_running_thread() -> None:
    error = await refused(waits_at(status="running"), GRAPH.approve("ana"))
    assert isinstance(error, ThreadRunning)
    assert str(error) == "thread 't' is running: only a waiting, failed or cancelled thread can be resumed"


async def test_ck61_en5_an_ended_thread() -> None:
    error = await refused(waits_at(status="ended", next_node=None), GRAPH.approve("ana"))
    assert isinstance(error, ThreadFinished)
    assert str(error) == "thread 't' was ended: an ended thread can't be resumed"


async def test_ck61_a_completed_thread() -> None:
    error = await refused(waits_at(status="completed", next_node=None), GRAPH.approve("ana"))
    assert isinstance(error, ThreadFinished)
    assert str(error) == (
        "checkpoint for thread 't' is not resumable (status: Completed): only an interrupted, failed or cancelled checkpoint can be"
    )


async def test_ck61_int_09_a_thread_that_was_resumed_already() -> None:
    error = await refused(waits_at(resumed_at="2026-11-02T10:00:00Z"), GRAPH.approve("ana"))
    assert isinstance(error, ThreadChanged)
    assert str(error) == "checkpoint for thread 't' was already resumed"
    assert error.reason == "resumed"
    assert "reopen" in (error.hint or "")


async def test_int_09_con_08_a_second_answer_to_one_question_is_refused() -> None:
    store = MemoryStore()
    graph = paused_line().compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    await runner.resume("t", graph.approve("ana"))
    before = await log(store)
    with pytest.raises(ThreadChanged, match="was already resumed"):
        await runner.resume("t", graph.reject("bob"))
    assert await log(store) == before


async def test_int_08_an_answer_to_what_the_person_did_not_see() -> None:
    error = await refused(waits_at(), GRAPH.approve("ana"), at_sequence=3)
    assert isinstance(error, ThreadChanged)
    assert str(error) == "thread 't' is at sequence 0, and the answer was made for sequence 3"
    assert error.reason == "appended"


async def test_an_answer_to_what_the_person_saw_is_taken() -> None:
    store = MemoryStore()
    runner = Runner(GRAPH, store)
    await runner.run("t", Trail())
    seen = await runner.thread("t")
    assert isinstance(await runner.resume("t", GRAPH.approve("ana"), at_sequence=seen.sequence), Completed)


# Identity and migration

WIRE_2 = Identity("wire-transfer", "2")


@pytest.mark.parametrize(
    ("identity", "text"),
    [
        ({"id": "payroll", "version": "2"}, "not 'payroll' version 2"),
        ({"id": "payroll"}, "not 'payroll' unversioned"),
        ({"id": "wire-transfer", "version": "3"}, "not version 3, and this graph has no migration"),
        ({"id": "wire-transfer"}, "not unversioned, and this graph has no migration"),
        ({"id": "Wire-transfer", "version": "2"}, "not 'Wire-transfer' version 2"),
        ({}, "and this graph has no identity"),
    ],
)
async def test_gi4_gi5_ck107_another_graphs_thread(identity: dict[str, str], text: str) -> None:
    error = await refused(waits_at(graph=WIRE_2), GRAPH.approve("ana"), graph=paused_line().compile(**identity))  # type: ignore[arg-type]
    assert isinstance(error, WrongGraph)
    assert str(error) == f"thread 't' was written by graph 'wire-transfer' version 2, {text}"
    assert error.wrote == WIRE_2
    assert error.hint


async def test_gi5_an_unversioned_thread_is_another_version() -> None:
    graph = paused_line().compile(id="wire-transfer", version="3")
    error = await refused(waits_at(graph=Identity("wire-transfer", None)), graph.approve("ana"), graph=graph)
    assert str(error) == "thread 't' was written by graph 'wire-transfer' unversioned, not version 3, and this graph has no migration"


async def test_gi1_gi4_the_graph_that_wrote_a_thread_resumes_it() -> None:
    store = MemoryStore()
    graph = paused_line().compile(id="wire-transfer", version="2", durable=False)
    await Runner(graph, store).run("t", Trail())
    (paused,) = await checkpoints(store)
    assert (paused.graph, paused.schema_version) == (WIRE_2, "1.6.0")
    other = Runner(paused_line().compile(id="payroll", version="2"), store)
    with pytest.raises(WrongGraph):
        await other.resume("t", graph.approve("ana"))
    with pytest.raises(WrongGraph):
        await other.end("t")
    assert await checkpoints(store) == [paused]
    assert isinstance(await Runner(graph, store).resume("t", graph.approve("ana")), Completed)


async def test_gi1_ck9_an_unnamed_graph_leaves_no_name() -> None:
    store = MemoryStore()
    await Runner(paused_line().compile(durable=False), store).run("t", Trail())
    (paused,) = await checkpoints(store)
    assert (paused.graph, paused.schema_version) == (None, "1.0.0")


async def test_gi9_ck109_a_nameless_thread_is_taken_as_it_is() -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError

    store = MemoryStore()
    named = paused_line().add_node("B", bug, inline=True).compile(id="wire-transfer", version="2", durable=False)
    await store.save(waits_at())
    await Runner(named, store).resume("t", named.approve("ana"))
    _, stamp, failed = await checkpoints(store)
    assert (stamp.state_name, stamp.graph, stamp.schema_version) == ("resumed", None, "1.0.0")
    assert (failed.state_name, failed.graph, failed.schema_version) == ("failed", WIRE_2, "1.6.0")


async def test_a_claim_has_the_claiming_graphs_identity_at_once() -> None:
    store = MemoryStore()
    named = paused_line().compile(id="wire-transfer", version="2")
    await store.save(waits_at())
    await Runner(named, store).resume("t", named.approve("ana"))
    assert [(stored.state_name, stored.graph) for stored in await checkpoints(store)] == [
        ("interrupted", None),
        ("running", WIRE_2),
        ("completed", WIRE_2),
    ]


@pytest.mark.parametrize("durable", [True, False])
async def test_gi7_ck108_a_migration_takes_a_thread_of_another_version(durable: bool) -> None:
    seen: list[StoredLevel] = []

    def migrate(old: StoredLevel) -> StoredLevel | None:
        seen.append(old)
        return StoredLevel(
            thread_id="mine now",
            identity=old.identity,
            status=old.status,
            state={"trail": old.state["text"], "n": old.state["n"]},
            suspended_node=old.suspended_node,
            next_node="Send",
            metadata={"changed": "yes"},
        )

    store = MemoryStore()
    old = waits_at(state={"text": "old", "n": 1}, graph=Identity("wire-transfer", "1"), metadata={"tenant": "acme"})
    await store.save(old)
    graph = line("A", "Send").add_interrupt_boundary("A").compile(id="wire-transfer", version="2", migrate=migrate, durable=durable)
    outcome = await Runner(graph, store).resume("t", graph.approve("ana").override(n=7))
    assert outcome.unwrap() == Trail(trail="oldSend", n=8)
    assert [level.identity.version for level in seen] == ["1"]
    first, taken, *_ = await checkpoints(store)
    assert first == old
    assert (taken.thread_id, taken.next_node, taken.graph) == ("t", "Send", WIRE_2)
    if durable:
        assert (taken.status, taken.schema_version) == ("running", "1.7.0")
    else:
        assert (taken.state_name, taken.schema_version, taken.metadata) == ("resumed", "1.6.0", {"tenant": "acme"})
        assert bytes(taken.frozen_state) == b'{"trail":"old","n":1}'


def refuses(old: StoredLevel) -> StoredLevel | None:
    return None


async def test_gi8_ck108_a_migration_may_refuse() -> None:
    def one_line(**options: Any) -> CompiledGraph[Trail]:
        return paused_line().compile(id="wire-transfer", durable=False, **options)

    store = MemoryStore()
    await Runner(one_line(version="1"), store).run("t", Trail())
    before = await checkpoints(store)
    refusing = one_line(version="2", migrate=refuses)
    with pytest.raises(WrongGraph) as raised:
        await Runner(refusing, store).resume("t", refusing.approve("ana"))
    assert str(raised.value) == "thread 't' was written by graph 'wire-transfer' version 1, not version 2, and this graph's migration refused it"
    assert await checkpoints(store) == before
    first = one_line(version="1")
    assert isinstance(await Runner(first, store).resume("t", first.approve("ana")), Completed)


async def test_a_migration_is_not_asked_about_its_own_version() -> None:
    def migrate(old: StoredLevel) -> StoredLevel | None:
        raise AssertionError

    store = MemoryStore()
    graph = paused_line().compile(id="wire-transfer", version="2", migrate=migrate)
    await store.save(waits_at(graph=WIRE_2))
    assert isinstance(await Runner(graph, store).resume("t", graph.approve("ana")), Completed)


def _raises(old: StoredLevel) -> StoredLevel:
    raise KeyError("text")


def _returns_nonsense(old: StoredLevel) -> Any:
    return "new"


def _returns_what_json_cannot_hold(old: StoredLevel) -> StoredLevel:
    return StoredLevel(
        thread_id="t", identity=old.identity, status=old.status, state={"trail": object()}, suspended_node="A", next_node="B", metadata={}
    )


@pytest.mark.parametrize("migrate", [_raises, _returns_nonsense, _returns_what_json_cannot_hold])
async def test_a_broken_migration_refuses_and_says_what_it_raised(migrate: Callable[[StoredLevel], StoredLevel | None]) -> None:
    graph = paused_line().compile(id="wire-transfer", version="3", migrate=migrate)
    error = await refused(waits_at(graph=WIRE_2), graph.approve("ana"), graph=graph)
    assert isinstance(error, WrongGraph)
    assert str(error).startswith("thread 't' was written by graph 'wire-transfer' version 2, and this graph's migration raised ")


async def test_mig_04_a_migration_to_a_node_that_the_graph_lacks_is_refused_before_anything_is_written() -> None:
    def migrate(old: StoredLevel) -> StoredLevel:
        return StoredLevel(
            thread_id="t", identity=old.identity, status=old.status, state=old.state, suspended_node="A", next_node="Gone", metadata={}
        )

    graph = paused_line().compile(id="wire-transfer", version="3", migrate=migrate)
    assert isinstance(await refused(waits_at(graph=WIRE_2), graph.approve("ana"), graph=graph), WrongGraph)


# Levels and answers


async def test_ck49_hs24_an_answer_for_a_level_that_the_thread_does_not_have() -> None:
    error = await refused(waits_at(), GRAPH.approve("ana").at("Nope", signal=GRAPH.amend()))
    assert isinstance(error, SignalRefused)
    assert str(error) == "cannot resume thread 't': a signal was addressed to level [Nope], but the checkpoint's levels are []"


async def test_ck49_hs24_a_second_answer_for_the_innermost_level() -> None:
    error = await refused(waits_at(), GRAPH.approve("ana").at(signal=GRAPH.amend()))
    assert str(error) == (
        "cannot resume thread 't': a signal was addressed to level [], which is the innermost level and already has the innermost signal"
    )


async def test_addressed_levels_are_checked_in_the_order_of_their_paths() -> None:
    error = await refused(waits_at(), GRAPH.approve("ana").at("Z", signal=GRAPH.amend()).at("B", "C", signal=GRAPH.amend()))
    assert "addressed to level [B/C], but" in str(error)


@pytest.mark.parametrize("text", ["-1", "x", "4294967296"])
async def test_gh12_a_hop_count_that_is_no_number(text: str) -> None:
    error = await refused(waits_at(metadata={"strata.hops": text}), GRAPH.approve("ana"))
    assert isinstance(error, CheckpointUnreadable)
    assert str(error) == f"checkpoint for thread 't' has an invalid 'strata.hops' value '{text}'"


async def test_ck79_a_person_does_not_answer_an_event() -> None:
    stored = waits_at(wait=WaitRecord(kind="event", event_type="payment.received", wake_at="2026-11-03T00:00:00Z"))
    error = await refused(stored, GRAPH.approve("ana"))
    assert isinstance(error, SignalRefused)
    assert str(error) == "thread 't' is waiting for event 'payment.received' at [A]: only a signal of that event answers it"


async def test_ck79_a_person_does_not_answer_a_timer() -> None:
    error = await refused(waits_at(wait=WaitRecord(kind="timer", wake_at="2026-11-03T00:00:00Z")), GRAPH.approve("ana"))
    assert isinstance(error, SignalRefused)
    assert str(error) == "thread 't' is waiting for a timer at [A] until 2026-11-03T00:00:00Z: it wakes when due"


async def test_a_person_answers_a_boundary_with_a_time_limit() -> None:
    store = MemoryStore()
    await store.save(waits_at(wait=WaitRecord(kind="human", wake_at="2026-11-03T00:00:00Z")))
    assert isinstance(await Runner(GRAPH, store).resume("t", GRAPH.approve("ana")), Completed)
    assert all(stored.wait is None for stored in (await checkpoints(store))[1:])


async def test_a_waiting_thread_needs_an_answer_and_is_told_how_to_give_it() -> None:
    error = await refused(waits_at(), None)
    assert isinstance(error, SignalRefused)
    assert "waiting for a human at [A]" in str(error)
    assert "graph.approve" in str(error)


async def test_an_amendment_decides_nothing_about_a_waiting_thread() -> None:
    error = await refused(waits_at(), GRAPH.amend().override(n=2))
    assert isinstance(error, SignalRefused)
    assert "approve(reviewer)" in str(error)


@pytest.mark.parametrize("answer", ["yes", True, GRAPH, GRAPH.approve, {"approved": True}])
async def test_int_16_what_is_no_answer(answer: Any) -> None:
    error = await refused(waits_at(), answer)
    assert isinstance(error, SignalRefused)
    assert "an answer is graph.approve(reviewer)" in str(error)


@pytest.mark.parametrize("reviewer", [None, 5, "half \ud800"])
async def test_a_reviewer_that_cannot_be_stored(reviewer: Any) -> None:
    assert isinstance(await refused(waits_at(), GRAPH.approve(reviewer)), SignalRefused)


async def test_ck41_hs18_a_boundary_without_a_way_out() -> None:
    error = await refused(waits_at("B", None), GRAPH.approve("ana"))
    assert isinstance(error, SignalRefused)
    assert str(error) == "checkpoint for thread 't' has no next_node to resume from"


@pytest.mark.parametrize(("suspended", "next_node", "which"), [("A", "Gone", "next"), ("Gone", "B", "suspended")])
async def test_mig_04_a_node_that_the_graph_lacks_is_refused_before_the_stamp(suspended: str, next_node: str, which: str) -> None:
    error = await refused(waits_at(suspended, next_node), GRAPH.approve("ana"))
    assert isinstance(error, WrongGraph)
    assert str(error) == f"the {which} node of thread 't' is 'Gone', which this graph does not have: its nodes are A, B"


# State and overrides


class Deploy(State):
    replicas: int = 1
    dry_run: bool = False
    note: str | None = None
    reason: str = ""
    plan: dict[str, list[str]] = {}  # noqa: RUF012 - msgspec copies it


def deploys() -> CompiledGraph[Deploy]:
    return (
        StateGraph(Deploy)
        .add_node("Ask", lambda state: state, inline=True)
        .add_node("Do", lambda state: state, inline=True)
        .add_edge("Ask", "Do")
        .add_interrupt_boundary("Ask")
        .compile()
    )


async def test_ck36_hs1_overrides_keep_their_types() -> None:
    store = MemoryStore()
    graph = deploys()
    runner = Runner(graph, store)
    await runner.run("t", Deploy(note="x"))
    answer = graph.approve("ana").override(replicas=7, dry_run=True, note=None, reason="42", plan={"steps": ["a"]})
    outcome = await runner.resume("t", answer)
    assert outcome.unwrap() == Deploy(replicas=7, dry_run=True, note=None, reason="42", plan={"steps": ["a"]})
    decision = (await runner.thread("t")).decision
    assert decision is not None
    assert decision.overrides == {"replicas": 7, "dry_run": True, "note": None, "reason": "42", "plan": {"steps": ["a"]}}


@pytest.mark.parametrize("changes", [{"replicas": "three"}, {"dry_run": "42"}, {"reason": None}, {"plan": {"steps": [1]}}, {"replicas": 2**64}])
async def test_ck37_ck39_hs3_an_override_that_does_not_fit(changes: dict[str, Any]) -> None:
    store = MemoryStore()
    graph = deploys()
    runner = Runner(graph, store)
    await runner.run("t", Deploy())
    before = await checkpoints(store)
    with pytest.raises(SignalRefused, match=r"^failed to rehydrate state for thread 't': ") as raised:
        await runner.resume("t", graph.approve("ana").override(**changes))
    assert next(iter(changes)) in str(raised.value)
    assert await checkpoints(store) == before
    assert isinstance(await runner.resume("t", graph.approve("ana").override(replicas=3)), Completed)


async def test_ck47_an_override_of_no_field_names_the_one_that_was_meant() -> None:
    store = MemoryStore()
    graph = deploys()
    runner = Runner(graph, store)
    await runner.run("t", Deploy())
    with pytest.raises(SignalRefused, match=r"^cannot resume thread 't': Deploy has no field 'replica'.*'replicas'"):
        await runner.resume("t", graph.approve("ana").override(replica=3))  # pyright: ignore[reportCallIssue]


async def test_an_override_of_another_graphs_state() -> None:
    error = await refused(waits_at(), deploys().approve("ana").override(replicas=3))
    assert isinstance(error, SignalRefused)
    assert str(error) == ("cannot resume thread 't': the answer overrides fields of Deploy, and the thread's innermost level holds a Trail")


async def test_an_answer_of_another_graph_without_overrides_is_an_answer() -> None:
    store = MemoryStore()
    await store.save(waits_at())
    assert isinstance(await Runner(GRAPH, store).resume("t", deploys().approve("ana")), Completed)


async def test_overrides_that_do_not_fit_together_are_the_answers_fault() -> None:
    class Range(State):
        low: int = 0
        high: int = 9

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low is above high")

    graph = (
        StateGraph(Range)
        .add_node("A", lambda state: state, inline=True)
        .add_node("B", lambda state: state, inline=True)
        .add_edge("A", "B")
        .add_interrupt_boundary("A")
        .compile()
    )
    error = await refused(waits_at(state={"low": 0, "high": 9}), graph.approve("ana").override(low=10), graph=graph)
    assert isinstance(error, SignalRefused)
    assert "low is above high" in str(error)


@pytest.mark.parametrize("state", [{"trail": 5, "n": 1}, {"trail": "A", "n": "one"}, [1], None])
async def test_mig_01_a_state_that_does_not_rehydrate(state: Any) -> None:
    error = await refused(replace(waits_at(), frozen_state=json_of(state)), GRAPH.approve("ana"))
    assert isinstance(error, CheckpointUnreadable)
    assert str(error).startswith("failed to rehydrate state for thread 't': ")


async def test_an_override_may_mend_a_state_that_does_not_rehydrate() -> None:
    store = MemoryStore()
    await store.save(waits_at(state={"trail": "A", "n": "one"}))
    outcome = await Runner(GRAPH, store).resume("t", GRAPH.approve("ana").override(n=1))
    assert outcome.unwrap() == Trail(trail="AB", n=2)


async def test_mig_02_fields_that_are_new_take_their_defaults_and_unknown_ones_are_dropped() -> None:
    store = MemoryStore()
    await store.save(waits_at(state={"trail": "A", "gone": [1, 2]}))
    assert (await Runner(GRAPH, store).resume("t", GRAPH.approve("ana"))).unwrap() == Trail(trail="AB", n=1)


async def test_ck59_a_level_below_a_node_that_runs_no_graph() -> None:
    error = await refused(waits_at("B", "B", nested=record("B", state=TRAIL)), GRAPH.approve("ana"))
    assert str(error) == "checkpoint nests a child graph under 'B', which is not a subgraph node"
    assert isinstance(error, WrongGraph)


# Options


@pytest.mark.parametrize("key", ["error", "error_kind", "attempts", "cancel_reason", "strata.run_id", "strata."])
async def test_ex12_ck63_reserved_metadata(key: str) -> None:
    error = await refused(waits_at(), GRAPH.approve("ana"), metadata={key: "x"})
    assert isinstance(error, OptionRefused)
    assert isinstance(error, ValueError)
    assert str(error) == f"run metadata key '{key}' is reserved"
    with pytest.raises(OptionRefused, match="is reserved"):
        await Runner(GRAPH, MemoryStore()).run("t", Trail(), metadata={key: "x"})
    with pytest.raises(OptionRefused, match="is reserved"):
        async with Runner(GRAPH, MemoryStore()).stream("t", Trail(), metadata={key: "x"}):
            pytest.fail("entered")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metadata": {"": "x"}}, "run metadata keys can't be empty"),
        ({"metadata": {"error": "x", "": "y"}}, "run metadata keys can't be empty"),
        ({"metadata": {"strata.x": "x", "attempts": "y"}}, "run metadata key 'attempts' is reserved"),
        ({"run_id": ""}, "a run id can't be empty"),
        ({"max_node_hops": 0}, "a run's max_node_hops must be at least 1"),
        ({"max_node_hops": 2**32}, "a run's max_node_hops must be at most 4294967295"),
        ({"run_id": "", "max_node_hops": 0}, "a run id can't be empty"),
        ({"metadata": {"error": "x"}, "run_id": ""}, "run metadata key 'error' is reserved"),
    ],
)
async def test_ex12_options_are_checked_first_and_in_order(options: dict[str, Any], text: str) -> None:
    for stored, answer in ((None, GRAPH.approve("ana")), (waits_at(), None), (waits_at(status="ended"), GRAPH.approve("ana"))):
        error = await refused(stored, answer, **options)
        assert isinstance(error, OptionRefused)
        assert str(error) == text


@pytest.mark.parametrize("deadline", [float("nan"), float("inf"), 1e300, "soon", True])
async def test_a_deadline_that_is_no_time(deadline: Any) -> None:
    assert isinstance(await refused(waits_at(), GRAPH.approve("ana"), deadline=deadline), OptionRefused)


@pytest.mark.parametrize("thread_id", ["", "half \ud800", 5])
async def test_sec_10_a_thread_id_that_no_store_could_keep(thread_id: Any) -> None:
    runner = Runner(GRAPH, MemoryStore())
    for call in (runner.run(thread_id, Trail()), runner.resume(thread_id), runner.recover(thread_id), runner.end(thread_id)):
        with pytest.raises(OptionRefused, match="a thread id"):
            await call


async def test_sec_10_a_thread_id_is_only_a_name() -> None:
    store = MemoryStore()
    for thread_id in ("../../etc/passwd", "a/b\\c", "CON", "x\x00y", "'; DROP TABLE checkpoints; --"):
        assert isinstance(await Runner(GRAPH, store).run(thread_id, Trail()), Interrupted)
        assert (await Runner(GRAPH, store).thread(thread_id)).thread_id == thread_id


# Races


async def test_ck104_an_end_between_load_and_stamp_refuses_the_resume() -> None:
    ran: list[str] = []

    def look(state: Trail) -> Trail:
        ran.append("B")
        return state

    graph = paused_line().add_node("B", look, inline=True).compile()

    async def end(store: MemoryStore) -> None:
        await Runner(graph, store).end("t")

    store = OvertakenStore(end)
    await store.save(waits_at())
    with pytest.raises(ThreadChanged) as raised:
        await Runner(graph, store).resume("t", graph.approve("ana"))
    assert str(raised.value) == "checkpoint for thread 't' changed before it could be resumed: another resume or end got there first"
    assert not ran
    assert await log(store) == ["interrupted:A>B", "ended:A>-"]


async def test_con_01_rc9_of_two_resumes_from_one_load_one_runs() -> None:
    async def resume(store: MemoryStore) -> None:
        assert isinstance(await Runner(GRAPH, store).resume("t", GRAPH.approve("bob")), Completed)

    store = OvertakenStore(resume)
    await store.save(waits_at())
    with pytest.raises(ThreadChanged):
        await Runner(GRAPH, store).resume("t", GRAPH.approve("ana"))
    assert await log(store) == ["interrupted:A>B", "running:A>B", "completed:B>-"]


# Several faults at once: the first of the sheet is told

NAMED = paused_line().compile(id="payroll", version="1")
ADDRESSED = NAMED.amend().at("Nope", signal=NAMED.amend())
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("unsupported schema_version", {"schema_version": "9.0.0"}),
    ("is running", {"status": "running"}),
    ("was already resumed", {"resumed_at": "2026-11-02T10:00:00Z"}),
    ("was written by graph", {"graph": WIRE_2}),
    ("addressed to level", {}),
    ("invalid 'strata.hops'", {"metadata": {"strata.hops": "x"}}),
    ("is waiting for event", {"wait": WaitRecord(kind="event", event_type="e")}),
    ("no next_node", {"next_node": None}),
    ("failed to rehydrate", {"state": {"trail": 5}}),
    ("nests a child graph", {"nested": record("B", state=TRAIL)}),
]


@pytest.mark.parametrize("first", range(len(FAULTS) - 1))
async def test_the_first_fault_of_the_sheet_is_told(first: int) -> None:
    fields: dict[str, Any] = {"state": TRAIL, "suspended_node": "A", "next_node": "B", "schema_version": "1.6.0"}
    faults = FAULTS[first:]
    for text, fault in reversed(faults):
        if text != "nests a child graph" or first > 6:  # the fit of an answer is asked of the innermost level only
            fields |= fault
    answer = ADDRESSED if any(text == "addressed to level" for text, _ in faults) else NAMED.approve("ana")
    error = await refused(record(**fields), answer, graph=NAMED)
    assert faults[0][0] in str(error)


@pytest.mark.parametrize(("status", "text"), [("ended", "was ended"), ("completed", "not resumable")])
async def test_a_finished_thread_says_so_before_anything_of_the_answer(status: str, text: str) -> None:
    stored = waits_at(
        status=status, next_node=None, graph=WIRE_2, metadata={"strata.hops": "x"}, state={"trail": 5}, resumed_at="2026-11-02T10:00:00Z"
    )
    assert text in str(await refused(stored, ADDRESSED, graph=NAMED))


async def test_ck86_rc8_a_durable_resume_claims_with_the_answer_in_it() -> None:
    store = MemoryStore()
    runner = Runner(GRAPH, store)
    await runner.run("t", Trail(), metadata={"tenant": "acme", "incident": "INC-1"})
    await runner.resume("t", GRAPH.approve("ana").override(n=40), metadata={"incident": "INC-2"})
    claim = (await checkpoints(store))[2]
    assert (claim.status, claim.schema_version, claim.suspended_node, claim.next_node, claim.wait) == ("running", "1.7.0", "A", "B", None)
    assert bytes(claim.frozen_state) == b'{"trail":"A","n":40}'
    assert claim.metadata == {"tenant": "acme", "incident": "INC-2", "strata.hops": "1"}
    assert claim.decision is not None
    assert (claim.decision.reviewer, bytes(claim.decision.overrides)) == ("ana", b'{"n":40}')
    assert all(stored.resumed_at is None for stored in await checkpoints(store))


async def test_rc8_a_rejections_claim_has_the_route_as_its_next_node() -> None:
    graph = undoing().compile()
    store = MemoryStore()
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    await runner.resume("t", graph.reject("ana").override(trail="sorry"))
    assert (await log(store))[2:] == ["running:A>Undo", "completed:Undo>-"]
    assert (await runner.thread("t")).state.trail == "sorryU"


async def test_ck18_a_stamp_is_the_record_again_and_nothing_else() -> None:
    store = MemoryStore()
    graph = paused_line().compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail(), metadata={"tenant": "acme"})
    await runner.resume("t", graph.approve("ana").override(n=40), metadata={"tenant": "other"})
    paused, stamp = await checkpoints(store)
    assert stamp.resumed_at is not None
    assert replace(stamp, resumed_at=None) == paused


async def test_unknown_keys_of_a_stored_state_outlive_a_claim() -> None:
    store = MemoryStore()
    await store.save(waits_at(state={"trail": "A", "n": 1, "another engine's": [1.50]}))
    await Runner(GRAPH, store).resume("t", GRAPH.approve("ana").override(n=2))
    assert bytes((await checkpoints(store))[1].frozen_state) == b'{"trail":"A","n":2,"another engine\'s":[1.5]}'
