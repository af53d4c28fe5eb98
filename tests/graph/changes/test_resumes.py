"""What the comparison foretells of a paused thread is what its resume in the new graph comes to, over a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import Cancelled, CheckpointUnreadable, CompiledGraph, Failed, Refused, Runner, State, StateGraph, StoredLevel, WrongGraph
from strata.checkpoint.record import Checkpoint
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.clocks import HandClock
from tests.graphs.pausing import answered, codes, foretold, paused, pausing_line, woken
from tests.graphs.trails import Trail, adds, line, undoing


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "threads.db") as store:
        yield store


# Nodes and pauses: refused

BOUNDARY = {"A": "boundary", "B": "node", "C": "node"}
INSIDE = {"A": "inside", "B": "node"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (BOUNDARY, {"First": "boundary", "B": "node", "C": "node"}, "node_renamed"),
        (BOUNDARY, {"A": "boundary", "Second": "node", "C": "node"}, "node_renamed"),
        (BOUNDARY, {"B": "node", "C": "node"}, "node_removed"),
        (BOUNDARY, {"A": "boundary", "C": "node"}, "node_removed"),
        (INSIDE, {"A": "node", "B": "node"}, "subgraph_removed"),
        (INSIDE, {"A": "boundary", "B": "node"}, "subgraph_removed"),
        (INSIDE, {"B": "node"}, "node_removed"),
        ({"A": "event paid", "B": "node"}, {"A": "event settled", "B": "node"}, "wait_changed"),
        ({"A": "event paid", "B": "node"}, {"A": "boundary", "B": "node"}, "wait_changed"),
        ({"A": "event paid", "B": "node"}, {"A": "node", "B": "node"}, "wait_changed"),
        ({"A": "event paid", "B": "node"}, {"A": "timer", "B": "node"}, "wait_changed"),
        ({"A": "timer", "B": "node"}, {"A": "event paid", "B": "node"}, "wait_changed"),
        ({"A": "timer", "B": "node"}, {"A": "node", "Later": "timer", "B": "node"}, "wait_changed"),
    ],
)
async def test_a_change_that_breaks_a_paused_thread(old: dict[str, str], new: dict[str, str], code: str, store: SqliteStore) -> None:
    before, after = pausing_line(**old).compile(), pausing_line(**new).compile()
    record = await paused(store, before)
    assert codes(foretold(before, after, record)) == [code]
    with pytest.raises(WrongGraph):
        await answered(store, after, record)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("boundary until", "boundary"),
        ("boundary until", "node"),
        ("event paid until", "event paid"),
    ],
)
async def test_a_timeout_that_is_gone_cannot_wake_a_thread(old: str, new: str, store: SqliteStore) -> None:
    before, after = pausing_line(A=old, B="node").compile(), pausing_line(A=new, B="node").compile()
    record = await paused(store, before)
    assert codes(foretold(before, after, record)) == ["timeout_removed"]
    with pytest.raises(WrongGraph):
        await woken(store, after)


async def test_a_failed_thread_needs_the_node_that_failed(store: SqliteStore) -> None:
    def fails(trail: Trail) -> Trail:
        raise ValueError("no")

    before = line("A").add_node("B", fails).add_edge("A", "B").compile()
    after = line("A", "C").compile()
    record = await paused(store, before)
    assert record.status == "failed"
    assert codes(foretold(before, after, record)) == ["node_renamed"]
    with pytest.raises(WrongGraph):
        await answered(store, after, record)


def around(child: CompiledGraph[Any], **names: Any) -> CompiledGraph[Trail]:
    return line().add_subgraph("Work", child, enter=lambda trail: trail, leave=lambda trail, _: trail).compile(**names)


@pytest.mark.parametrize(
    ("child", "code"),
    [
        (line("Read", "Approve", "File").add_interrupt_boundary("Approve"), "node_renamed"),
        (line("Read", "Sign", "Store").add_interrupt_boundary("Sign"), "node_renamed"),
        (line("Sign", "Store", "Send").add_interrupt_boundary("Sign"), "node_removed"),
    ],
)
async def test_a_change_of_a_graph_inside_breaks_what_is_paused_in_it(child: StateGraph[Trail], code: str, store: SqliteStore) -> None:
    before = around(line("Read", "Sign", "File").add_interrupt_boundary("Sign").compile())
    record = await paused(store, before)
    (finding,) = foretold(before, around(child.compile()), record)
    assert (finding.code, finding.level) == (code, ("Work",))
    with pytest.raises(WrongGraph):
        await answered(store, around(child.compile()), record)


# Nodes and pauses: taken, but not as it was meant


async def test_a_rejection_without_its_route_goes_on_as_an_approval(store: SqliteStore) -> None:
    before, after = undoing().compile(), line("A", "B", "Undo").add_interrupt_boundary("A").compile()
    record = await paused(store, before)
    assert codes(foretold(before, after, record)) == ["reject_route_removed"]
    outcome = await Runner(after, store).resume("t", after.reject("ana"))
    assert outcome.unwrap().trail.startswith("AB")


async def test_a_timeout_without_its_route_ends_the_thread(store: SqliteStore) -> None:
    def graph(route: str | None) -> CompiledGraph[Trail]:
        waits = line("B", "Late").add_wait_for_event("A", "paid", timeout=60, on_timeout=route).add_edge("A", "B")
        return waits.set_entry_point("A").compile()

    before, after = graph("Late"), graph(None)
    record = await paused(store, before)
    assert codes(foretold(before, after, record)) == ["timeout_route_removed"]
    outcome = await woken(store, after)
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "ended"


async def test_an_edge_that_is_gone_is_still_taken_by_what_has_paused_before_it(store: SqliteStore) -> None:
    before = line("A", "B").add_node("C", adds("C")).add_interrupt_boundary("A", on_reject="C").compile()
    after = line("A", "C", "B").add_interrupt_boundary("A", on_reject="C").compile()
    record = await paused(store, before)
    assert foretold(before, after, record) == []
    assert codes(foretold(before, after, record, "caution")) == ["edge_removed"]
    assert (await answered(store, after, record)).unwrap().trail == "AB"


# Nodes and pauses: harmless


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BOUNDARY, {**BOUNDARY, "D": "node"}),
        (BOUNDARY, {"Start": "node", **BOUNDARY}),
        (BOUNDARY, {"A": "boundary", "B": "node", "End": "node"}),
        (BOUNDARY, {"A": "boundary until", "B": "node", "C": "node"}),
        (BOUNDARY, {"A": "node", "B": "boundary", "C": "node"}),
        ({"A": "event paid", "B": "node"}, {"A": "event paid until", "B": "node"}),
        ({"A": "event paid until", "B": "node"}, {"A": "event paid", "B": "node"}),
        (INSIDE, {"A": "inside boundary", "B": "inside"}),
    ],
)
async def test_a_change_that_a_paused_thread_does_not_notice(old: dict[str, str], new: dict[str, str], store: SqliteStore) -> None:
    before, after = pausing_line(**old).compile(), pausing_line(**new).compile()
    record = await paused(store, before)
    assert {finding.reach for finding in foretold(before, after, record)} <= {"timeout"}
    assert not isinstance(await answered(store, after, record), Failed)


KINDS = ["node", "boundary", "boundary until", "event paid", "event sent", "event paid until", "timer", "inside", "inside boundary"]
LINES = st.dictionaries(st.sampled_from(["A", "B", "C"]), st.sampled_from(KINDS), min_size=1)


@given(LINES, LINES)
async def test_whatever_is_refused_was_foretold_and_nothing_else(old: dict[str, str], new: dict[str, str]) -> None:
    """The answer that the thread waits for is refused where and only where a finding says so, its timeout only there."""
    before, after = pausing_line(**old, Z="node").compile(), pausing_line(**new, Z="node").compile()
    store = MemoryStore()
    record = await paused(store, before)
    if record.status == "completed":
        return
    found = foretold(before, after, record)
    if _has_timeout(record) and await _is_refused(woken(await _copy(store), after)):
        assert any(finding.node in record.waiting_at for finding in found)
    assert await _is_refused(answered(store, after, record)) == any(finding.reach != "timeout" for finding in found)


def _has_timeout(record: Checkpoint) -> bool:
    wait = record.innermost.wait
    return wait is not None and wait.wake_at is not None and wait.kind != "timer"


async def _copy(store: MemoryStore) -> MemoryStore:
    """A store with the thread's newest record alone."""
    stored, copy = await store.load_latest("t"), MemoryStore()
    assert stored is not None
    await copy.save(stored.checkpoint)
    return copy


async def _is_refused(resumed: Any) -> bool:
    try:
        await resumed
    except Refused:
        return True
    return False


# Identity


def named(**names: Any) -> CompiledGraph[Trail]:
    return line("A", "B").add_interrupt_boundary("A").compile(**names)


def accepts(level: StoredLevel) -> StoredLevel:
    return level


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ({"id": "trips", "version": "1"}, "id_changed"),
        ({}, "identity_removed"),
        ({"id": "trails", "version": "2"}, "version_changed"),
    ],
)
async def test_another_identity_takes_no_thread_over(names: dict[str, str], code: str, store: SqliteStore) -> None:
    before, after = named(id="trails", version="1"), named(**names)
    record = await paused(store, before)
    assert codes(foretold(before, after, record)) == [code]
    with pytest.raises(WrongGraph):
        await answered(store, after, record)


async def test_another_identity_inside_takes_no_thread_over_that_is_paused_there(store: SqliteStore) -> None:
    before, after = around(named(id="trails", version="1"), id="trips"), around(named(id="trails", version="2"), id="trips")
    record = await paused(store, before)
    (finding,) = foretold(before, after, record)
    assert (finding.code, finding.level) == ("version_changed", ("Work",))
    with pytest.raises(WrongGraph):
        await answered(store, after, record)


@pytest.mark.parametrize(
    ("before", "after"),
    [(named(), named(id="trails", version="1")), (named(id="trails", version="1"), named(id="trails", version="2", migrate=accepts))],
)
async def test_a_graph_takes_over_what_nobody_signed_and_what_it_migrates(
    before: CompiledGraph[Trail], after: CompiledGraph[Trail], store: SqliteStore
) -> None:
    record = await paused(store, before)
    assert foretold(before, after, record) == []
    assert (await answered(store, after, record)).unwrap().trail == "AB"


async def test_what_a_migration_may_see_to_does_not_break(store: SqliteStore) -> None:
    def renames(level: StoredLevel) -> StoredLevel:
        return StoredLevel(
            thread_id=level.thread_id,
            identity=level.identity,
            status=level.status,
            state=level.state,
            suspended_node=level.suspended_node,
            next_node="C",
            metadata=level.metadata,
        )

    before = named(id="trails", version="1")
    after = line("A", "C").add_interrupt_boundary("A").compile(id="trails", version="2", migrate=renames)
    record = await paused(store, before)
    assert foretold(before, after, record) == []
    assert codes(foretold(before, after, record, "caution")) == ["version_changed", "node_renamed"]
    assert (await answered(store, after, record)).unwrap().trail == "AC"


# States


class Order(State):
    cents: int
    note: str = ""


class WithCustomer(State):
    cents: int
    customer: str
    note: str = ""


class WithRequired(State, forbid_unknown_fields=True):
    cents: int


class Worded(State):
    cents: str
    note: str = ""


class WithoutNote(State):
    cents: int


class Wider(State):
    cents: float | None
    note: str | None = ""
    customer: str = "nobody"


def ordering(state: type[Any], *, is_inside: bool = False) -> CompiledGraph[Any]:
    def keep(order: Any) -> Any:
        return order

    graph = StateGraph(state).add_node("A", keep).add_node("B", keep).add_edge("A", "B").add_interrupt_boundary("A").compile()
    return StateGraph(state).add_subgraph("Work", graph, enter=keep, leave=lambda _, inner: inner).compile() if is_inside else graph


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize(
    ("state", "code"),
    [(WithCustomer, "field_added_without_default"), (Worded, "field_retyped"), (WithRequired, "field_refused")],
)
async def test_a_state_that_cannot_be_read_as_the_new_one(state: type[Any], code: str, is_inside: bool, store: SqliteStore) -> None:
    before, after = ordering(Order, is_inside=is_inside), ordering(state, is_inside=is_inside)
    record = await paused(store, before, Order(cents=5, note="gift"))
    found = foretold(before, after, record)
    assert [(finding.code, finding.level) for finding in found] == [(code, ())] + ([(code, ("Work",))] if is_inside else [])
    with pytest.raises(CheckpointUnreadable):
        await answered(store, after, record)


async def test_what_a_removed_field_held_is_lost(store: SqliteStore) -> None:
    before, after = ordering(Order), ordering(WithoutNote)
    record = await paused(store, before, Order(cents=5, note="gift"))
    assert codes(foretold(before, after, record)) == ["field_removed"]
    await answered(store, after, record)
    stored = await store.load_latest("t")
    assert stored is not None
    assert bytes(stored.checkpoint.frozen_state) == b'{"cents":5}'


async def test_a_state_that_takes_more_is_read(store: SqliteStore) -> None:
    before, after = ordering(Order), ordering(Wider)
    record = await paused(store, before, Order(cents=5))
    assert foretold(before, after, record) == []
    assert set(codes(foretold(before, after, record, "harmless"))) == {"field_widened", "field_added"}
    outcome = await Runner(after, store, clock=HandClock()).resume("t", after.approve("ana"))
    assert outcome.unwrap() == Wider(cents=5, note="", customer="nobody")
