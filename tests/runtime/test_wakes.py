"""Threads that wait for a time or an event: what wakes them, what does not, and what is left behind."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from strata import (
    Cancelled,
    CompiledGraph,
    Completed,
    Event,
    Interrupted,
    NotDue,
    NotWaiting,
    OptionRefused,
    Runner,
    SignalRefused,
    StateGraph,
    ThreadFinished,
    ThreadPage,
    ThreadQuery,
    WakeReport,
    WrongGraph,
)
from strata.checkpoint.record import Checkpoint
from strata.graph.answers import WaitingFor
from strata.graph.clock import SYSTEM
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES
from tests.graphs.trails import Trail, adds
from tests.logs import checkpoints, log
from tests.odd_stores import OvertakenStore

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
"""When the clock of a test stands."""


EVENT = "deployment.finished"


def after(**duration: float) -> datetime:
    return NOON + timedelta(**duration)


def checking(*, until: int = 2) -> StateGraph[Trail]:
    """Check -> a window of five minutes -> Check, until it was checked often enough -> Done."""
    return (
        StateGraph(Trail)
        .add_node("Check", adds("c"), inline=True)
        .add_timer("Window", 300)
        .add_node("Done", adds("D"), inline=True)
        .add_conditional_edge("Check", "Window", lambda state: state.n < until)
        .add_edge("Check", "Done")
        .add_edge("Window", "Check")
    )


def deploying(*, timeout: float | None = 3600, route: str | None = None) -> StateGraph[Trail]:
    """Start -> Deploying, which waits for an event -> Verify."""
    graph = (
        StateGraph(Trail)
        .add_node("Start", adds("s"), inline=True)
        .add_wait_for_event("Deploying", EVENT, timeout=timeout, on_timeout=route)
        .add_node("Verify", adds("v"), inline=True)
        .add_edge("Start", "Deploying")
        .add_edge("Deploying", "Verify")
    )
    return graph if route is None else graph.add_node(route, adds("r"), inline=True)


def approving(*, timeout: float | None = 1800, route: str | None = "Escalate") -> StateGraph[Trail]:
    graph = StateGraph(Trail).add_node("Approve", adds("a"), inline=True).add_node("Ship", adds("s"), inline=True).add_edge("Approve", "Ship")
    graph.add_interrupt_boundary("Approve", timeout=timeout, on_timeout=route)
    return graph if route is None else graph.add_node(route, adds("e"), inline=True)


def ticking() -> StateGraph[Trail]:
    """A timer of a minute, then Tock."""
    return StateGraph(Trail).add_timer("Tick", 60).add_node("Tock", adds("t"), inline=True).add_edge("Tick", "Tock")


class Waiting:
    """A runner whose thread `t` has come to its wait, and what is asked of it."""

    def __init__(self, graph: StateGraph[Trail], *, durable: bool = False, store: MemoryStore | None = None, **identity: Any) -> None:
        self.store = MemoryStore() if store is None else store
        self.graph: CompiledGraph[Trail] = graph.compile(durable=durable, **identity)
        self.runner = Runner(self.graph, self.store, clock=HandClock())

    async def paused(self, thread_id: str = "t") -> Interrupted[Trail]:
        outcome = await self.runner.run(thread_id, Trail())
        assert isinstance(outcome, Interrupted)
        return outcome

    async def last(self) -> Checkpoint:
        return (await checkpoints(self.store))[-1]


def told(report: WakeReport[Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    return [(one.thread_id, one.by) for one in report.woken], [(one.thread_id, one.reason) for one in report.skipped]


NOTHING: tuple[list[Any], list[Any]] = ([], [])


# Timers


async def test_wt1_ck77_a_timer_pauses_until_its_time() -> None:
    waiting = Waiting(checking())
    outcome = await waiting.paused()
    assert (outcome.suspended_node, outcome.next_node, outcome.wait) == (
        "Window",
        "Check",
        WaitingFor(kind="timer", event_type=None, wake_at=after(minutes=5)),
    )
    [row] = await checkpoints(waiting.store)
    assert (row.schema_version, row.suspended_node, row.next_node) == ("1.5.0", "Window", "Check")
    assert row.wait is not None
    assert (row.wait.kind, row.wait.event_type, row.wait.wake_at) == ("timer", None, "2026-11-02T12:05:00Z")


async def test_wt2_wt3_wt4_ck77_a_timer_is_woken_at_its_time_and_once() -> None:
    waiting = Waiting(checking())
    await waiting.paused()
    [before] = await checkpoints(waiting.store)
    for early in (NOON, after(minutes=4, seconds=59.9)):
        assert told(await waiting.runner.wake_due(now=early)) == NOTHING
    assert await checkpoints(waiting.store) == [before]
    report = await waiting.runner.wake_due(now=after(minutes=5))
    assert told(report) == ([("t", "timer")], [])
    outcome = report.woken[0].outcome
    assert isinstance(outcome, Completed)
    assert outcome.state == Trail(trail="ccD", n=3)
    stored, stamp = await checkpoints(waiting.store)
    assert (stored, stamp.state_name, stamp.wait, stamp.decision) == (before, "resumed", before.wait, None)
    assert told(await waiting.runner.wake_due(now=after(hours=1))) == NOTHING


@pytest.mark.parametrize(("now", "is_due"), [(datetime(2030, 1, 2, 3, 4, 5, 900_000, UTC), False), (datetime(2030, 1, 2, 3, 4, 6, tzinfo=UTC), True)])
async def test_wt5_ck14_a_part_of_a_second_is_waited_for_whole(now: datetime, is_due: bool) -> None:
    def until(state: Trail) -> datetime:
        return datetime(2030, 1, 2, 3, 4, 5, 250_000, UTC)

    waiting = Waiting(StateGraph(Trail).add_timer("Tick", until=until).add_node("Tock", adds("t"), inline=True).add_edge("Tick", "Tock"))
    await waiting.paused()
    row = await waiting.last()
    assert row.wait is not None
    assert row.wait.wake_at == "2030-01-02T03:04:06Z"
    assert [one.thread_id for one in (await waiting.runner.wake_due(now=now)).woken] == (["t"] if is_due else [])


async def test_wt6_ck78_a_thread_that_waits_again_is_woken_by_a_later_call() -> None:
    waiting = Waiting(checking(until=3))
    await waiting.paused()
    clock = waiting.runner
    first = await clock.wake_due(now=after(minutes=5))
    assert isinstance(first.woken[0].outcome, Interrupted)
    again = (await waiting.last()).wait
    assert again is not None
    assert again.wake_at is not None
    assert again.wake_at >= "2026-11-02T12:05:00Z"
    second = await clock.wake_due(now=after(hours=1))
    assert isinstance(second.woken[0].outcome, Completed)


async def test_wt36_ck86_a_durable_wake_is_a_claim_and_no_stamp() -> None:
    waiting = Waiting(ticking(), durable=True)
    await waiting.paused()
    assert isinstance(await waiting.runner.wake("t", now=after(minutes=1)), Completed)
    assert await log(waiting.store) == ["running:->Tick", "interrupted:Tick>Tock", "running:Tick>Tock", "completed:Tock>-"]
    rows = await checkpoints(waiting.store)
    assert rows[2].wait is None
    assert all(row.resumed_at is None for row in rows)


# Events


async def test_wt8_wt9_ck79_an_event_lets_the_thread_go_on() -> None:
    waiting = Waiting(deploying())
    outcome = await waiting.paused()
    assert outcome.wait == WaitingFor(kind="event", event_type=EVENT, wake_at=after(hours=1))
    assert (await waiting.last()).schema_version == "1.5.0"
    ended = await waiting.runner.signal("t", Event(EVENT, overrides={"n": 7}))
    assert isinstance(ended, Completed)
    assert ended.state == Trail(trail="sv", n=8)
    assert await log(waiting.store) == ["interrupted:Deploying>Verify", "resumed:Deploying>Verify"]
    assert (await waiting.last()).decision is None
    assert told(await waiting.runner.wake_due(now=after(hours=2))) == NOTHING


REFUSED_EVENTS: list[tuple[Any, str, str]] = [
    (
        deploying,
        "deployment.started",
        "thread 't' is not waiting for event 'deployment.started': it is waiting for event 'deployment.finished' at [Deploying]",
    ),
    (approving, EVENT, "thread 't' is not waiting for event 'deployment.finished': it is waiting for a human at [Approve]"),
    (checking, EVENT, "thread 't' is not waiting for event 'deployment.finished': it is waiting for a timer at [Window]"),
]


@pytest.mark.parametrize(("graph", "event", "text"), REFUSED_EVENTS, ids=["wt10", "wt11-human", "wt11-timer"])
async def test_wt10_wt11_ck79_an_event_that_nobody_waits_for_is_refused(graph: Any, event: str, text: str) -> None:
    waiting = Waiting(graph())
    await waiting.paused()
    with pytest.raises(NotWaiting) as refused:
        await waiting.runner.signal("t", Event(event))
    assert str(refused.value).splitlines()[0] == text
    assert len(await checkpoints(waiting.store)) == 1


async def test_wt13_ck79_a_failed_thread_waits_for_no_event() -> None:
    def breaks(state: Trail) -> Trail:
        raise ValueError

    waiting = Waiting(deploying().add_node("Start", breaks, inline=True))
    await waiting.runner.run("t", Trail())
    with pytest.raises(NotWaiting, match="its latest checkpoint is failed"):
        await waiting.runner.signal("t", Event(EVENT))
    assert len(await checkpoints(waiting.store)) == 1


async def test_wt38_an_event_that_comes_too_early_is_not_kept() -> None:
    graph = deploying().add_node("Ask", adds("?"), inline=True).add_edge("Ask", "Start").set_entry_point("Ask").add_interrupt_boundary("Ask")
    waiting = Waiting(graph)
    await waiting.paused()
    with pytest.raises(NotWaiting):
        await waiting.runner.signal("t", Event(EVENT))
    outcome = await waiting.runner.resume("t", waiting.graph.approve("ana"))
    assert isinstance(outcome, Interrupted)
    assert outcome.suspended_node == "Deploying"


async def test_wt40_an_event_behind_its_time_is_taken_if_nobody_woke_the_thread() -> None:
    waiting = Waiting(deploying())
    await waiting.paused()
    runner = Runner(waiting.graph, waiting.store, clock=HandClock(at=after(hours=3).timestamp()))
    assert isinstance(await runner.signal("t", Event(EVENT)), Completed)
    assert told(await runner.wake_due()) == NOTHING


async def test_a_payload_that_json_cannot_hold_is_refused_and_not_folded_as_null() -> None:
    def fold(state: Trail, price: float | None) -> Trail:
        return state.replace(trail=f"{state.trail}{price}")

    graph = StateGraph(Trail).add_wait_for_event("Price", EVENT, fold=fold, payload=float | None)
    waiting = Waiting(graph.add_node("Next", adds("N"), inline=True).add_edge("Price", "Next"))
    await waiting.paused()
    with pytest.raises(SignalRefused, match=r"does not fit: JSON has no nan, which is at \$$"):
        await waiting.runner.signal("t", Event(EVENT, payload=float("nan")))
    assert (await waiting.runner.signal("t", Event(EVENT, payload=None))).unwrap().trail == "NoneN"


async def test_wt37_ck85_a_blank_event_is_refused_before_anything_is_loaded() -> None:
    runner = Runner(deploying().compile(), MemoryStore())
    for blank in ("", " "):
        with pytest.raises(SignalRefused, match="a signal needs an event type"):
            await runner.signal("nobody", Event(blank))


# Time limits


async def test_wt14_ck80_a_wait_that_times_out_takes_its_route() -> None:
    waiting = Waiting(deploying(route="Rollback"))
    await waiting.paused()
    report = await waiting.runner.wake_due(now=after(minutes=61))
    assert told(report) == ([("t", "timeout")], [])
    assert report.woken[0].outcome.unwrap().trail == "sr"


async def test_wt15_ck80_without_a_route_the_thread_is_ended() -> None:
    waiting = Waiting(deploying())
    await waiting.paused()
    report = await waiting.runner.wake_due(now=after(minutes=61))
    outcome = report.woken[0].outcome
    assert isinstance(outcome, Cancelled)
    assert (outcome.reason, outcome.node, outcome.stopped_at) == ("ended", "Deploying", ("Deploying",))
    row = await waiting.last()
    assert (row.status, row.wait, row.metadata) == ("ended", None, {"strata.end_reason": "timed_out"})
    assert told(await waiting.runner.wake_due(now=after(hours=2))) == NOTHING
    with pytest.raises(ThreadFinished, match="was ended"):
        await waiting.runner.signal("t", Event(EVENT))


async def test_wt16_ck81_an_approval_that_nobody_gave_takes_its_timeout_route_without_a_decision() -> None:
    waiting = Waiting(approving())
    await waiting.paused()
    assert told(await waiting.runner.wake_due(now=after(minutes=29))) == NOTHING
    report = await waiting.runner.wake_due(now=after(minutes=31))
    assert report.woken[0].outcome.unwrap().trail == "ae"
    assert all(row.decision is None for row in await checkpoints(waiting.store))


async def test_wt18_ck81_an_approval_in_time_is_never_due() -> None:
    waiting = Waiting(approving())
    await waiting.paused()
    await waiting.runner.resume("t", waiting.graph.approve("ana"))
    assert told(await waiting.runner.wake_due(now=after(hours=2))) == NOTHING


NOT_DUE: list[tuple[Any, datetime, str]] = [
    (checking, after(minutes=4, seconds=59), "thread 't' is not due until 2026-11-02T12:05:00Z: it is waiting for a timer at [Window]"),
    (lambda: approving(timeout=None, route=None), after(days=9), "thread 't' is not due: it is waiting for a human at [Approve], with no timeout"),
    (
        lambda: deploying(timeout=None),
        after(days=9),
        "thread 't' is not due: it is waiting for event 'deployment.finished' at [Deploying], with no timeout",
    ),
]


@pytest.mark.parametrize(("graph", "now", "text"), NOT_DUE, ids=["early", "boundary", "event"])
async def test_wt31_ck85_what_is_not_due(graph: Any, now: datetime, text: str) -> None:
    waiting = Waiting(graph())
    await waiting.paused()
    with pytest.raises(NotDue) as refused:
        await waiting.runner.wake("t", now=now)
    assert str(refused.value).splitlines()[0] == text
    assert len(await checkpoints(waiting.store)) == 1


async def test_wt31_ck85_a_failed_thread_is_not_due() -> None:
    def breaks(state: Trail) -> Trail:
        raise ValueError

    waiting = Waiting(checking().add_node("Check", breaks, inline=True))
    await waiting.runner.run("t", Trail())
    with pytest.raises(NotDue, match=r"^thread 't' is not due: its latest checkpoint is failed"):
        await waiting.runner.wake("t", now=after(days=9))


async def test_wt32_another_graphs_timer_and_an_ended_thread() -> None:
    waiting = Waiting(ticking())
    await waiting.paused()
    other = Runner(
        StateGraph(Trail).add_node("Tick", adds("x"), inline=True).add_node("Tock", adds("y"), inline=True).add_edge("Tick", "Tock").compile(),
        waiting.store,
    )
    with pytest.raises(WrongGraph, match=r"^thread 't' waits at \[Tick\], which is not a timer in this graph"):
        await other.wake("t", now=after(hours=1))
    await waiting.runner.end("t")
    with pytest.raises(ThreadFinished, match="was ended"):
        await waiting.runner.wake("t", now=after(hours=1))


# One sweep and several threads, graphs and drivers


@pytest.mark.parametrize("limit", [0, 1001])
async def test_wt47_a_sweep_has_a_limit_of_one_to_a_thousand(limit: int) -> None:
    with pytest.raises(OptionRefused, match=f"a page size must be between 1 and 1000, not {limit}"):
        await Waiting(ticking()).runner.wake_due(limit=limit)


async def test_wt48_a_thread_that_comes_to_an_event_is_no_longer_due() -> None:
    graph = ticking().add_wait_for_event("Deploying", EVENT, timeout=60).add_node("Verify", adds("v"), inline=True)
    waiting = Waiting(graph.add_edge("Tock", "Deploying").add_edge("Deploying", "Verify"))
    await waiting.paused()
    first = await waiting.runner.wake_due(now=after(minutes=1))
    assert isinstance(first.woken[0].outcome, Interrupted)
    assert first.woken[0].outcome.suspended_node == "Deploying"
    waiting.runner = Runner(waiting.graph, waiting.store, clock=HandClock(at=after(minutes=1).timestamp()))
    assert told(await waiting.runner.wake_due(now=after(seconds=59))) == NOTHING


async def wakes(store: MemoryStore) -> None:
    """Another driver on the thread."""
    await Runner(ticking().compile(durable=False), store, clock=HandClock()).wake("t", now=after(minutes=1))


async def test_ck83_of_two_drivers_that_loaded_the_thread_one_wakes_it() -> None:
    waiting = Waiting(ticking())
    await waiting.paused()
    store = OvertakenStore(wakes)
    await store.save(await waiting.last())
    assert told(await Runner(waiting.graph, store, clock=HandClock()).wake_due(now=after(minutes=1))) == (
        [],
        [("t", "another driver woke or ended it first")],
    )
    assert await log(store) == ["interrupted:Tick>Tock", "resumed:Tick>Tock"]


async def test_wt23_a_thread_that_another_driver_woke_before_it_was_loaded_is_no_longer_due() -> None:
    class Listed(MemoryStore):
        async def list_threads(self, query: ThreadQuery, /) -> ThreadPage:
            page = await super().list_threads(query)
            await wakes(self)
            return page

    waiting = Waiting(ticking(), store=Listed())
    await waiting.paused()
    assert told(await waiting.runner.wake_due(now=after(minutes=1))) == ([], [("t", "it is no longer due")])
    assert await log(waiting.store) == ["interrupted:Tick>Tock", "resumed:Tick>Tock"]


async def test_wt24_ck84_a_thread_of_a_graph_without_that_wait_is_skipped() -> None:
    waiting = Waiting(deploying())
    await waiting.paused()
    runner = Runner(
        ticking()
        .add_node("Deploying", adds("x"), inline=True)
        .add_node("Verify", adds("y"), inline=True)
        .add_edge("Tock", "Deploying")
        .add_edge("Deploying", "Verify")
        .compile(),
        waiting.store,
    )
    woken, skipped = told(await runner.wake_due(now=after(hours=2)))
    assert woken == []
    assert [(thread, reason.splitlines()[0]) for thread, reason in skipped] == [
        ("t", "thread 't' waits at [Deploying], which has no timeout in this graph")
    ]
    assert told(await runner.wake_due(now=after(hours=2), metadata={"tenant": "acme"})) == NOTHING
    assert len(await checkpoints(waiting.store)) == 1


async def test_wt25_gi11_ck112_a_graph_wakes_its_own_threads() -> None:
    store = MemoryStore()
    graphs = {"a": ticking().compile(id="ticker-a", version="1"), "b": ticking().compile(id="ticker-b", version="1"), "none": ticking().compile()}
    for thread, graph in graphs.items():
        await Runner(graph, store, clock=HandClock()).run(thread, Trail())
    driver = Runner(graphs["a"], store, clock=HandClock())
    assert told(await driver.wake_due(now=after(hours=1))) == ([("a", "timer")], [])
    woken, skipped = told(await driver.wake_due(now=after(hours=1), match_graph=False))
    assert woken == [("none", "timer")]
    assert [(thread, reason.splitlines()[0]) for thread, reason in skipped] == [
        ("b", "thread 'b' was written by graph 'ticker-b' version 1, not 'ticker-a' version 1")
    ]


async def test_gi12_a_new_version_wakes_the_old_ones_threads_if_it_can_take_them_over() -> None:
    store = MemoryStore()
    await Runner(ticking().compile(id="ticker", version="1"), store, clock=HandClock()).run("t", Trail())
    without = Runner(ticking().compile(id="ticker", version="2"), store, clock=HandClock())
    assert told(await without.wake_due(now=after(hours=1))) == NOTHING
    taking = Runner(ticking().compile(id="ticker", version="2", migrate=lambda level: level), store, clock=HandClock())
    assert told(await taking.wake_due(now=after(hours=1))) == ([("t", "timer")], [])


async def test_ck87_a_sweep_that_is_stopped_lets_its_run_finish_and_begins_no_other() -> None:
    stop = asyncio.Event()

    def stops(state: Trail) -> Trail:
        stop.set()
        return state

    waiting = Waiting(ticking().add_node("Tock", stops, inline=True))
    await waiting.paused("t1")
    await waiting.paused("t2")
    report = await waiting.runner.wake_due(now=after(hours=1), stop=stop)
    assert [type(one.outcome) for one in report.woken] == [Completed]
    stop.clear()
    assert len((await waiting.runner.wake_due(now=after(hours=1))).woken) == 1


@pytest.mark.parametrize("kind", FACTORIES)
async def test_st14_a_timer_and_then_an_event_in_every_store(kind: str, tmp_path: Path) -> None:
    graph = ticking().add_wait_for_event("Deploying", EVENT).add_node("Verify", adds("v"), inline=True)
    compiled = graph.add_edge("Tock", "Deploying").add_edge("Deploying", "Verify").compile()
    async with FACTORIES[kind](tmp_path, SYSTEM) as store:
        runner = Runner(compiled, store, clock=HandClock())
        await runner.run("t", Trail())
        assert told(await runner.wake_due(now=after(minutes=1))) == ([("t", "timer")], [])
        assert (await runner.thread("t")).waiting_at == ("Deploying",)
        assert told(await runner.wake_due(now=after(days=9))) == NOTHING
        assert isinstance(await runner.signal("t", Event(EVENT)), Completed)
