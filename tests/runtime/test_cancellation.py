"""Stopping a run: by `runner.cancel`, by a deadline; what its handler may still do, and what is left."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from strata import Cancelled, Completed, Context, Failed, HandlerCancelled, Interrupted, NodeTimedOut, Runner, State, StateGraph
from strata.stores.memory import MemoryStore
from tests.clocks import START, HandClock, settle
from tests.graphs.trails import Trail, adds, line
from tests.logs import checkpoints, log
from tests.odd_stores import SlowStore

HANG = 3600.0


def hanging(*, started: asyncio.Event | None = None, timeout: float | None = None) -> StateGraph[Trail]:
    """A, then Slow, which sleeps for an hour; then C."""

    async def slow(state: Trail) -> Trail:
        if started is not None:
            started.set()
        await asyncio.sleep(HANG)
        return state.replace(trail=state.trail + "S")

    return (
        StateGraph(Trail)
        .add_node("A", adds("A"), inline=True)
        .add_node("Slow", slow, timeout=timeout)
        .add_node("C", adds("C"), inline=True)
        .add_edge("A", "Slow")
        .add_edge("Slow", "C")
    )


@pytest.mark.parametrize("durable", [True, False])
async def test_ex39_ck3_a_cancelled_run_stands_at_the_node_with_the_state_from_before_it(durable: bool) -> None:
    store, clock, started = MemoryStore(), HandClock(), asyncio.Event()
    runner = Runner(hanging(started=started).compile(durable=durable), store, clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    assert runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.thread_id, outcome.node, outcome.reason, outcome.stopped_at) == ("t", "Slow", "requested", ("Slow",))
    assert outcome.state.trail == "A"
    last = (await checkpoints(store))[-1]
    assert (last.schema_version, last.status, last.suspended_node, last.next_node, last.nested) == ("1.2.0", "cancelled", "Slow", "Slow", None)
    assert last.metadata == {"cancel_reason": "requested"} | ({"strata.hops": "1"} if durable else {})
    assert bytes(last.frozen_state) == b'{"trail":"A","n":1}'
    assert clock.timers == 0
    assert not runner.cancel("t")


async def test_cancelling_a_thread_that_no_run_works_on_tells_nobody() -> None:
    runner = Runner(line("A").compile(), MemoryStore())
    assert not runner.cancel("t")
    await runner.run("t", Trail())
    assert not runner.cancel("t")


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("deadline", [0, -5.0, timedelta(seconds=-1), datetime.fromtimestamp(START, UTC)])
async def test_ex40_ck31_behind_its_deadline_nothing_runs(durable: bool, deadline: float | timedelta | datetime) -> None:
    store, clock = MemoryStore(), HandClock()
    outcome = await Runner(line("A", "B").compile(durable=durable), store, clock=clock).run("t", Trail(trail="x"), deadline=deadline)
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.reason, outcome.state.trail) == ("A", "deadline", "x")
    assert await log(store) == (["running:->A"] if durable else []) + ["cancelled:A>A"]
    assert (await checkpoints(store))[-1].metadata == {"cancel_reason": "deadline"} | ({"strata.hops": "0"} if durable else {})
    assert clock.timers == 0


async def test_ex43_a_deadline_stops_the_handler_that_runs() -> None:
    store, clock, started = MemoryStore(), HandClock(), asyncio.Event()
    running = asyncio.create_task(Runner(hanging(started=started).compile(), store, clock=clock).run("t", Trail(), deadline=0.150))
    await started.wait()
    await clock.pass_time(0.1)
    assert not running.done()
    await clock.pass_time(0.1)
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "deadline"
    metadata = (await checkpoints(store))[-1].metadata
    assert metadata is not None
    assert metadata["cancel_reason"] == "deadline"
    assert clock.timers == 0


async def test_a_deadline_is_a_moment_and_does_not_move_while_the_store_is_slow() -> None:
    store, clock = SlowStore(), HandClock()
    running = asyncio.create_task(Runner(line("A").compile(), store, clock=clock).run("t", Trail(), deadline=10))
    await store.saving.wait()
    await clock.pass_time(11)
    store.gate.set()
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert await log(store) == ["running:->A", "cancelled:A>A"]


async def test_a_handler_sees_its_deadline() -> None:
    seen: list[datetime | None] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.append(ctx.deadline)
        return state

    runner = Runner(StateGraph(Trail).add_node("A", look, inline=True).compile(), clock=HandClock())
    await runner.run("t", Trail(), deadline=timedelta(minutes=1))
    await runner.run("u", Trail())
    assert seen == [datetime.fromtimestamp(START + 60, UTC), None]


async def test_can_01_the_handlers_clean_up_runs_and_may_await() -> None:
    cleaned: list[str] = []
    started = asyncio.Event()

    async def slow(state: Trail) -> Trail:
        try:
            started.set()
            await asyncio.sleep(HANG)
        finally:
            await asyncio.sleep(0)
            cleaned.append("after an await")
        return state

    store = MemoryStore()
    runner = Runner(StateGraph(Trail).add_node("A", slow).compile(), store)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    assert isinstance(await running, Cancelled)
    assert cleaned == ["after an await"]
    assert not running.cancelled()


async def test_a_handler_that_takes_the_cancellation_and_returns_has_committed() -> None:
    started = asyncio.Event()

    async def stubborn(state: Trail) -> Trail:
        try:
            started.set()
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            return state.replace(trail="saved")
        return state

    store, clock = MemoryStore(), HandClock()
    graph = StateGraph(Trail).add_node("A", stubborn).add_node("B", adds("B")).add_edge("A", "B").compile()
    runner = Runner(graph, store, clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.state.trail) == ("B", "saved")
    assert await log(store) == ["running:->A", "running:A>B", "cancelled:B>B"]
    assert clock.timers == 0


async def test_a_last_node_that_takes_the_cancellation_completes_the_run() -> None:
    started = asyncio.Event()

    async def stubborn(state: Trail) -> Trail:
        try:
            started.set()
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return state

    runner = Runner(StateGraph(Trail).add_node("A", stubborn).compile(), MemoryStore())
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    assert isinstance(await running, Completed)


async def test_an_error_while_the_run_is_stopped_is_the_handlers_way_of_stopping() -> None:
    started = asyncio.Event()

    async def slow(state: Trail) -> Trail:
        try:
            started.set()
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            raise ConnectionError("closed under me") from None
        return state

    store = MemoryStore()
    runner = Runner(StateGraph(Trail).add_node("A", slow).compile(), store)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    assert isinstance(await running, Cancelled)
    assert await log(store) == ["running:->A", "cancelled:A>A"]


async def test_a_handler_that_does_not_stop_is_told_again_after_the_grace() -> None:
    started, cancellations = asyncio.Event(), 0

    async def deaf(state: Trail) -> Trail:
        nonlocal cancellations
        started.set()
        while True:
            try:
                await asyncio.sleep(HANG)
            except asyncio.CancelledError:
                cancellations += 1
                if cancellations == 3:
                    raise

    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", deaf).compile(), MemoryStore(), clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    await clock.pass_time(1.9)
    assert cancellations == 1
    await clock.pass_time(0.1)
    assert cancellations == 2
    await clock.pass_time(2)
    assert isinstance(await running, Cancelled)
    assert clock.timers == 0


async def test_ex44_can_05_a_sync_handler_is_given_up_while_its_thread_runs_on() -> None:
    started, release, noticed = threading.Event(), threading.Event(), threading.Event()

    def block(state: Trail, ctx: Context) -> Trail:
        started.set()
        release.wait()
        if ctx.cancelled:
            noticed.set()
        return state.replace(trail="late")

    store, clock = MemoryStore(), HandClock()
    runner = Runner(line("A").add_node("B", block).add_edge("A", "B").compile(), store, clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    runner.cancel("t")
    await clock.pass_time(1.9)
    assert not running.done(), "the thread has its grace"
    await clock.pass_time(0.1)
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert not release.is_set()
    release.set()
    assert await asyncio.to_thread(noticed.wait, 5)
    await settle()
    assert await log(store) == ["running:->A", "running:A>B", "cancelled:B>B"]
    assert outcome.state.trail == "A"
    assert clock.timers == 0


async def test_a_sync_handler_stops_itself_when_it_asks() -> None:
    started, release, stopped = threading.Event(), threading.Event(), threading.Event()

    def look(state: Trail, ctx: Context) -> Trail:
        started.set()
        release.wait()
        try:
            ctx.raise_if_cancelled()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return state

    runner = Runner(StateGraph(Trail).add_node("A", look).compile(), MemoryStore())
    running = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    runner.cancel("t")
    release.set()
    assert isinstance(await running, Cancelled)
    assert stopped.is_set(), "the run is over before its thread"


async def test_a_sleep_on_a_thread_ends_early_when_the_run_is_stopped() -> None:
    started, over = threading.Event(), threading.Event()

    def nap(state: Trail, ctx: Context) -> Trail:
        started.set()
        try:
            ctx.sleep_sync(HANG)
        finally:
            over.set()
        return state

    runner = Runner(StateGraph(Trail).add_node("A", nap).compile(), MemoryStore())
    running = asyncio.create_task(runner.run("t", Trail()))
    await asyncio.to_thread(started.wait)
    runner.cancel("t")
    assert isinstance(await running, Cancelled)
    assert over.is_set()


async def test_a_run_may_be_cancelled_from_another_thread() -> None:
    started = asyncio.Event()
    runner = Runner(hanging(started=started).compile(), MemoryStore())
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    assert await asyncio.to_thread(runner.cancel, "t")
    assert isinstance(await running, Cancelled)


@pytest.mark.parametrize("durable", [True, False])
async def test_ck30_a_cancellation_while_a_boundary_saves_comes_too_late(durable: bool) -> None:
    store = SlowStore()
    graph = line("A", "B").add_interrupt_boundary("A").compile(durable=durable)
    runner = Runner(graph, store)
    if durable:
        store.gate.set()
    running = asyncio.create_task(runner.run("t", Trail()))
    await store.saving.wait()
    runner.cancel("t")
    store.gate.set()
    assert isinstance(await running, Interrupted)
    assert (await log(store))[-1] == "interrupted:A>B"


async def test_ck29_ex21_a_save_is_finished_before_the_run_goes_on() -> None:
    store, ran = SlowStore(), False

    def entry(state: Trail) -> Trail:
        nonlocal ran
        ran = True
        return state

    running = asyncio.create_task(Runner(StateGraph(Trail).add_node("A", entry, inline=True).compile(), store).run("t", Trail()))
    await store.saving.wait()
    await settle()
    assert not ran
    store.gate.set()
    assert isinstance(await running, Completed)


async def test_a_cancellation_while_the_run_is_being_recorded_stops_it_at_the_next_node() -> None:
    store = SlowStore()
    runner = Runner(line("A", "B").compile(), store)
    running = asyncio.create_task(runner.run("t", Trail()))
    await store.saving.wait()
    assert runner.cancel("t"), "a run can be told to stop as soon as it has been admitted"
    store.gate.set()
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert await log(store) == ["running:->A", "cancelled:A>A"]


@pytest.mark.parametrize("inline", [True, False])
async def test_ex19_gn3_a_node_that_cancels_its_own_run_commits_first(inline: bool) -> None:
    store = SlowStore()
    store.gate.set()

    def cancels(state: Trail) -> Trail:
        assert runner.cancel("t")
        return state.replace(trail="A")

    async def cancels_on_the_loop(state: Trail) -> Trail:
        return cancels(state)

    graph = line("B").add_node("A", cancels if inline else cancels_on_the_loop, inline=inline).add_edge("A", "B").set_entry_point("A").compile()
    runner = Runner(graph, store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.state.trail) == ("B", "A")
    assert await log(store) == ["running:->A", "running:A>B", "cancelled:B>B"]
    await asyncio.sleep(0.001)  # nothing of the cancellation is left for the task that ran it


async def test_a_last_node_that_cancels_its_own_run_completes_it() -> None:
    async def cancels(state: Trail) -> Trail:
        runner.cancel("t")
        return state

    store = SlowStore()
    store.gate.set()
    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", cancels).compile(), store, clock=clock)
    assert isinstance(await runner.run("t", Trail()), Completed)
    await asyncio.sleep(0.001)
    assert clock.timers == 0


async def test_ck32_ex41_a_guard_that_cancels_the_run_stops_it_at_its_target() -> None:
    def cancels(state: Trail) -> bool:
        return runner.cancel("t")

    store = MemoryStore()
    runner = Runner(line("A").add_node("B", adds("B"), inline=True).add_conditional_edge("A", "B", cancels).compile(), store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.state.trail) == ("B", "A")
    assert await log(store) == ["running:->A", "running:A>B", "cancelled:B>B"]


async def test_a_cancelled_error_that_nobody_sent_is_the_nodes_failure() -> None:
    async def raises(state: Trail) -> Trail:
        raise asyncio.CancelledError

    store = MemoryStore()
    outcome = await Runner(StateGraph(Trail).add_node("A", raises).compile(), store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, HandlerCancelled)
    assert await log(store) == ["running:->A", "failed:A>A"]


async def test_a_sync_handler_that_raises_cancelled_error_fails() -> None:
    def raises(state: Trail) -> Trail:
        raise asyncio.CancelledError

    outcome = await Runner(StateGraph(Trail).add_node("A", raises).compile(), MemoryStore()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, HandlerCancelled)


async def test_handlers_that_never_suspend_still_let_a_deadline_through() -> None:
    class Counted(State):
        n: int = 0

    def count(state: Counted) -> Counted:
        return state.replace(n=state.n + 1)

    graph = (
        StateGraph(Counted)
        .add_node("Again", count, inline=True)
        .add_node("End", count)
        .add_conditional_edge("Again", "Again", lambda state: state.n < 100_000)
        .add_edge("Again", "End")
        .compile(durable=False, check="type")
    )
    outcome = await Runner(graph).run("t", Counted(), deadline=0.005)
    assert isinstance(outcome, Cancelled)
    assert outcome.reason == "deadline"
    assert outcome.state.n % 256 in {0, 255}


async def test_ex49_a_cancelled_thread_is_resumed_at_its_node_with_an_override() -> None:
    switch: list[bool] = []
    calls: list[str] = []

    async def slow(state: Trail) -> Trail:
        calls.append(state.trail)
        if not switch:
            started.set()
            await asyncio.sleep(HANG)
        return state

    started = asyncio.Event()
    store = MemoryStore()
    graph = line("A").add_node("Slow", slow).add_edge("A", "Slow").compile(durable=False)
    runner = Runner(graph, store)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    await running
    switch.append(True)
    assert isinstance(await runner.resume("t", graph.amend().override(trail="fixed")), Completed)
    assert calls == ["A", "fixed"]
    assert (await log(store)) == ["cancelled:Slow>Slow", "resumed:Slow>Slow"]


async def test_a_resume_behind_its_deadline_takes_the_answer_and_stops() -> None:
    store = MemoryStore()
    graph = line("A", "B").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    outcome = await runner.resume("t", graph.approve("ana").override(trail="kept"), deadline=0)
    assert isinstance(outcome, Cancelled)
    assert await log(store) == ["interrupted:A>B", "resumed:A>B", "cancelled:B>B"]
    last = (await checkpoints(store))[-1]
    assert bytes(last.frozen_state) == b'{"trail":"kept","n":1}'
    assert last.decision is not None
    assert last.decision.reviewer == "ana"


async def test_ck46_hs11_a_decision_outlives_a_cancellation_behind_it() -> None:
    seen: list[str | None] = []

    async def look(state: Trail, ctx: Context) -> Trail:
        seen.append(None if ctx.decision is None else ctx.decision.reviewer)
        started.set()
        if len(seen) == 1:
            await asyncio.sleep(HANG)
        return state

    started = asyncio.Event()
    store = MemoryStore()
    graph = line("A").add_node("B", look).add_edge("A", "B").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, store)
    await runner.run("t", Trail())
    running = asyncio.create_task(runner.resume("t", graph.approve("alice")))
    await started.wait()
    runner.cancel("t")
    await running
    cancelled = (await checkpoints(store))[-1]
    assert cancelled.decision is not None
    assert (cancelled.status, cancelled.decision.reviewer) == ("cancelled", "alice")
    assert isinstance(await runner.resume("t", graph.approve("bob")), Completed)
    assert seen == ["alice", "alice"]


async def test_gh11_ck75_cancellation_wins_over_the_hop_limit() -> None:
    store = MemoryStore()
    runner = Runner(line("A", "B").compile(max_node_hops=1), store)
    await runner.run("t", Trail())
    outcome = await runner.resume("t", deadline=0)
    assert isinstance(outcome, Cancelled)
    last = (await checkpoints(store))[-1]
    assert (last.status, last.next_node, last.metadata) == ("cancelled", "B", {"cancel_reason": "deadline", "strata.hops": "1"})


# Node timeouts


async def test_ex47_a_node_that_takes_too_long_fails_transiently() -> None:
    store, clock, started = MemoryStore(), HandClock(), asyncio.Event()
    running = asyncio.create_task(Runner(hanging(started=started, timeout=0.050).compile(durable=False), store, clock=clock).run("t", Trail()))
    await started.wait()
    await clock.pass_time(0.050)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert (outcome.node, outcome.attempts, outcome.kind, outcome.message) == ("Slow", 1, "transient", "node 'Slow' timed out after 50 ms")
    assert isinstance(outcome.error, NodeTimedOut)
    last = (await checkpoints(store))[-1]
    assert last.schema_version == "1.0.0"
    assert last.metadata == {"error": "node 'Slow' timed out after 50 ms", "error_kind": "transient", "attempts": "1"}
    assert clock.timers == 0


async def test_a_node_in_time_leaves_no_timer() -> None:
    clock = HandClock()
    graph = StateGraph(Trail).add_node("A", adds("A"), timeout=1).compile()
    assert isinstance(await Runner(graph, MemoryStore(), clock=clock).run("t", Trail()), Completed)
    assert clock.timers == 0


async def test_ex44_a_sync_node_that_times_out_is_given_up() -> None:
    started, release = threading.Event(), threading.Event()

    def block(state: Trail) -> Trail:
        started.set()
        release.wait()
        return state

    clock = HandClock()
    running = asyncio.create_task(Runner(StateGraph(Trail).add_node("A", block, timeout=1).compile(), MemoryStore(), clock=clock).run("t", Trail()))
    await asyncio.to_thread(started.wait)
    await clock.pass_time(1)
    await clock.pass_time(2)
    outcome = await running
    release.set()
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, NodeTimedOut)
    assert clock.timers == 0


async def test_a_state_that_comes_behind_the_timeout_counts_all_the_same() -> None:
    started = asyncio.Event()

    async def late(state: Trail) -> Trail:
        started.set()
        try:
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            return state.replace(trail="late")
        return state

    clock = HandClock()
    running = asyncio.create_task(Runner(StateGraph(Trail).add_node("A", late, timeout=1).compile(), MemoryStore(), clock=clock).run("t", Trail()))
    await started.wait()
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "late"
    assert clock.timers == 0


async def test_an_error_behind_the_timeout_is_the_timeout() -> None:
    started = asyncio.Event()

    async def late(state: Trail) -> Trail:
        started.set()
        try:
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            raise ValueError("interrupted in the middle of a request") from None
        return state

    clock = HandClock()
    running = asyncio.create_task(Runner(StateGraph(Trail).add_node("A", late, timeout=1).compile(), MemoryStore(), clock=clock).run("t", Trail()))
    await started.wait()
    await clock.pass_time(1)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.message) == ("transient", "node 'A' timed out after 1000 ms")
    assert isinstance(outcome.error, NodeTimedOut)
    assert isinstance(outcome.error.__cause__, ValueError)


async def test_when_cancellation_and_timeout_meet_cancellation_wins() -> None:
    store, clock, started = MemoryStore(), HandClock(), asyncio.Event()
    runner = Runner(hanging(started=started, timeout=1).compile(), store, clock=clock)
    running = asyncio.create_task(runner.run("t", Trail(), deadline=1))
    await started.wait()
    await clock.pass_time(1)
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (await log(store))[-1] == "cancelled:Slow>Slow"
    assert clock.timers == 0


async def test_a_timeout_that_falls_due_during_the_clean_up_leaves_nothing_behind() -> None:
    started, clean = asyncio.Event(), asyncio.Event()

    async def slow(state: Trail) -> Trail:
        started.set()
        try:
            await asyncio.sleep(HANG)
        finally:
            await clean.wait()
        return state

    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", slow, timeout=1).compile(), MemoryStore(), clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await started.wait()
    runner.cancel("t")
    await clock.pass_time(1)
    assert isinstance(await running, Cancelled)
    assert clock.timers == 0


async def test_an_attempt_that_timed_out_says_so_to_its_handler() -> None:
    started, release = threading.Event(), threading.Event()
    seen: list[bool] = []

    def look(state: Trail, ctx: Context) -> Trail:
        seen.append(ctx.cancelled)
        started.set()
        release.wait()
        seen.append(ctx.cancelled)
        return state

    clock = HandClock()
    running = asyncio.create_task(Runner(StateGraph(Trail).add_node("A", look, timeout=1).compile(), MemoryStore(), clock=clock).run("t", Trail()))
    await asyncio.to_thread(started.wait)
    await clock.pass_time(1)
    release.set()
    await running
    assert seen == [False, True]
