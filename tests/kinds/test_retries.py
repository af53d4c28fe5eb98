"""Trying a node again, and where it goes when that is over."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from strata import (
    Backoff,
    Cancelled,
    Completed,
    Context,
    Failed,
    HopLimitExceeded,
    LastFailure,
    Retried,
    Runner,
    StateGraph,
    StrataError,
    ThreadFinished,
)
from strata.stores.memory import MemoryStore
from strata.testing import TestClock
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds, line
from tests.kinds.parts import HANG, Calls, fallback, fatal, transient
from tests.logs import checkpoints, log


def charging(charge: Any, *, timeout: float | None = None) -> StateGraph[Trail]:
    """Prepare, Charge, Done."""
    return (
        StateGraph(Trail)
        .add_node("Prepare", adds("P"), inline=True)
        .add_node("Charge", charge, timeout=timeout)
        .add_node("Done", adds("D"), inline=True)
        .add_edge("Prepare", "Charge")
        .add_edge("Charge", "Done")
    )


class RandomClock(TestClock):
    """Chance is what the test says."""

    def __init__(self, chance: float) -> None:
        super().__init__()
        self.chance = chance

    def random(self) -> float:
        return self.chance


class Delays:
    """A node that always fails, and the times between its attempts."""

    def __init__(self, clock: TestClock, *, retry_after: float | None = None) -> None:
        self.clock = clock
        self.times = list[float]()
        self.retry_after = retry_after

    async def __call__(self, state: Trail) -> Trail:
        self.times.append(self.clock.time())
        raise transient("busy", retry_after=self.retry_after)

    @property
    def between(self) -> list[float]:
        return [round(after - before, 6) for before, after in zip(self.times, self.times[1:], strict=False)]


async def delays(backoff: Backoff | None, retries: int, clock: TestClock, *, retry_after: float | None = None) -> list[float]:
    charge = Delays(clock, retry_after=retry_after)
    graph = charging(charge).set_recovery_policy("Charge", retries=retries, backoff=backoff).compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.advance(HANG)
    outcome = await running
    assert isinstance(outcome, Failed)
    assert outcome.attempts == retries + 1 == len(charge.times)
    assert clock.timers == 0
    return charge.between


async def test_ex1_steps_of_every_manner_and_two_attempts_of_one() -> None:
    calls = Calls()

    async def load(state: Trail) -> Trail:
        return state.replace(trail="load ")

    def sync(state: Trail) -> Trail:
        return state.replace(trail=state.trail + "sync ")

    graph = (
        StateGraph(Trail)
        .add_node("Load", load)
        .add_node("Sync", sync)
        .add_node("Charge", calls.fails(transient("busy"), times=1))
        .add_edge("Load", "Sync")
        .add_edge("Sync", "Charge")
        .set_recovery_policy("Charge", retries=1)
        .compile()
    )
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "load sync Charge"
    assert calls.started == ["Charge", "Charge"]


async def test_ex4_a_handler_sees_its_attempt_and_keeps_its_key() -> None:
    seen = list[tuple[int, str]]()

    async def charge(state: Trail, ctx: Context) -> Trail:
        seen.append((ctx.attempt, ctx.idempotency_key))
        if ctx.attempt < 3:
            raise transient("busy")
        return state

    await Runner(charging(charge).set_recovery_policy("Charge", retries=2).compile(), MemoryStore()).run("t", Trail())
    assert seen == [(1, "t/Charge#2"), (2, "t/Charge#2"), (3, "t/Charge#2")]


async def test_ex22_without_a_backoff_retries_start_at_once_whatever_the_error_asks_for() -> None:
    assert await delays(None, 2, TestClock(), retry_after=5) == [0, 0]


@pytest.mark.parametrize(
    ("jitter", "chance", "expected"),
    [
        ("none", 0.3, [1, 2, 4, 8, 8]),
        ("full", 0.0, [0, 0, 0, 0, 0]),
        ("full", 0.25, [0.25, 0.5, 1, 2, 2]),
        ("equal", 0.0, [0.5, 1, 2, 4, 4]),
        ("equal", 0.5, [0.75, 1.5, 3, 6, 6]),
    ],
)
async def test_ex24_jitter_takes_a_part_of_the_ceiling(jitter: Any, chance: float, expected: list[float]) -> None:
    assert await delays(Backoff(initial=1, maximum=8, jitter=jitter), 5, RandomClock(chance)) == expected


async def test_ex23_the_delay_doubles_up_to_its_maximum() -> None:
    assert await delays(Backoff(initial=1, maximum=5, jitter="none"), 5, TestClock()) == [1, 2, 4, 5, 5]
    assert await delays(Backoff(initial=3, maximum=3, jitter="none"), 2, TestClock()) == [3, 3]
    assert await delays(Backoff(initial=0, maximum=5, jitter="none"), 2, TestClock()) == [0, 0]


async def test_ex23_the_delay_stays_at_its_maximum_however_many_attempts_there_are() -> None:
    """Doubled without end it would be more than a float holds, from the 1,025th retry on."""
    assert (await delays(Backoff(initial=1, maximum=2, jitter="none"), 1100, TestClock()))[-1] == 2


async def test_a_hint_replaces_the_delay_up_to_the_maximum_and_is_not_jittered() -> None:
    assert await delays(Backoff(initial=1, maximum=10), 1, RandomClock(0.1), retry_after=7) == [7]
    assert await delays(Backoff(initial=1, maximum=5), 1, RandomClock(0.1), retry_after=7) == [5]
    assert await delays(Backoff(initial=1, maximum=5, jitter="none"), 1, TestClock(), retry_after=-1) == [1]


@pytest.mark.parametrize("durable", [True, False])
async def test_ex26_a_stop_ends_the_wait_between_two_attempts(durable: bool) -> None:
    calls, clock, store = Calls(), HandClock(), MemoryStore()
    graph = fallback(charging(calls.fails(transient("busy"))), "Charge", retries=5, backoff=Backoff(initial=HANG, maximum=HANG))
    runner = Runner(graph.compile(durable=durable), store, clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    assert runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.reason, outcome.state.trail) == ("Charge", "requested", "P")
    assert calls.started == ["Charge"]
    assert (await log(store))[-1] == "cancelled:Charge>Charge"
    assert clock.timers == 0


async def test_an_abandoned_wait_leaves_no_timer() -> None:
    calls, clock = Calls(), HandClock()
    graph = charging(calls.fails(transient("busy"))).set_recovery_policy("Charge", retries=5, backoff=Backoff(initial=9, maximum=9)).compile()
    running = asyncio.ensure_future(Runner(graph, MemoryStore(), clock=clock).run("t", Trail()))
    await settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert clock.timers == 0


class Sees:
    """Nodes that keep the failure they were told of."""

    def __init__(self) -> None:
        self.failures = list[LastFailure | None]()

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.failures.append(ctx.last_failure)
        return state.replace(trail=state.trail + ctx.node[0])


async def test_ex28_a_fallback_is_told_what_failed_and_the_node_behind_it_is_not() -> None:
    sees, clock, error = Sees(), HandClock(), transient("rate limited", retry_after=2)

    async def charge(state: Trail, ctx: Context) -> Trail:
        sees.failures.append(ctx.last_failure)
        raise error

    graph = (
        charging(charge)
        .add_node("Recover", sees)
        .add_node("After", sees)
        .add_edge("Recover", "After")
        .set_recovery_policy("Charge", retries=1, backoff=Backoff(initial=1, maximum=9), fallback="Recover")
        .compile()
    )
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(2)
    assert (await running).unwrap().trail == "PRA"
    expected = LastFailure(
        node="Charge",
        node_path="Charge",
        message="rate limited",
        kind="transient",
        retry_after=2.0,
        attempts=2,
        timed_out=False,
        error=error,
    )
    assert sees.failures == [None, None, expected, None]


async def test_ex29_a_fatal_failure_is_not_tried_again() -> None:
    sees, calls = Sees(), Calls()
    graph = charging(calls.fails(fatal("no"))).add_node("Recover", sees).set_recovery_policy("Charge", retries=3, fallback="Recover").compile()
    assert (await Runner(graph).run("t", Trail())).unwrap().trail == "PR"
    failure = sees.failures[0]
    assert failure is not None
    assert (failure.attempts, failure.kind, failure.retry_after, calls.started) == (1, "fatal", None, ["Charge"])


async def test_ex29_a_fallback_is_told_of_a_timeout() -> None:
    sees, calls, clock = Sees(), Calls(), HandClock()
    graph = charging(calls.hangs(), timeout=1).add_node("Recover", sees).set_recovery_policy("Charge", fallback="Recover").compile()
    running = asyncio.ensure_future(Runner(graph, clock=clock).run("t", Trail()))
    await clock.pass_time(1)
    assert (await running).unwrap().trail == "PR"
    failure = sees.failures[0]
    assert failure is not None
    assert (failure.timed_out, failure.message, failure.kind) == (True, "node 'Charge' timed out after 1000 ms", "transient")


async def test_ex30_a_fallback_that_is_tried_again_still_sees_the_first_failure() -> None:
    seen, calls = list[str](), Calls()

    async def recover(state: Trail, ctx: Context) -> Trail:
        assert ctx.last_failure is not None
        seen.append(ctx.last_failure.message)
        if ctx.attempt == 1:
            raise transient("busy too")
        return state

    graph = (
        charging(calls.fails(fatal("no")))
        .add_node("Recover", recover)
        .set_recovery_policy("Charge", fallback="Recover")
        .set_recovery_policy("Recover", retries=1)
        .compile()
    )
    assert isinstance(await Runner(graph).run("t", Trail()), Completed)
    assert seen == ["no", "no"]


async def test_a_fallback_that_fails_too_fails_the_run_and_its_resume_tells_it_of_nothing() -> None:
    sees, calls, store = Sees(), Calls(), MemoryStore()

    async def recover(state: Trail, ctx: Context) -> Trail:
        await sees(state, ctx)
        if len(sees.failures) == 1:
            raise fatal("nor this")
        return state

    graph = charging(calls.fails(fatal("no"))).add_node("Recover", recover).set_recovery_policy("Charge", fallback="Recover").compile()
    runner = Runner(graph, store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Failed)
    assert (outcome.node, outcome.message) == ("Recover", "nor this")
    assert isinstance(await runner.resume("t"), Completed)
    assert [failure is None for failure in sees.failures] == [False, True]


@pytest.mark.parametrize("durable", [True, False])
async def test_ex35_out_of_retries_the_fallback_goes_on_with_the_state_from_before(durable: bool) -> None:
    calls = Calls()
    graph = fallback(charging(calls.fails(transient("busy"))), "Charge", retries=2).compile(durable=durable)
    store = MemoryStore()
    assert (await Runner(graph, store).run("t", Trail())).unwrap().trail == "PR"
    assert calls.started == ["Charge"] * 3
    # the fallback is not recorded between the failure and its own commit
    assert await log(store) == (["running:->Prepare", "running:Prepare>Charge", "completed:Recover>-"] if durable else [])


@pytest.mark.parametrize("durable", [True, False])
async def test_ex35_ex36_a_failed_record_names_the_attempts_and_a_resume_has_all_retries_again(durable: bool) -> None:
    calls, store = Calls(), MemoryStore()
    graph = charging(calls.fails(transient("busy"), times=3)).set_recovery_policy("Charge", retries=1).compile(durable=durable)
    runner = Runner(graph, store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Failed)
    last = (await checkpoints(store))[-1]
    assert (last.status, last.suspended_node, last.next_node, bytes(last.frozen_state)) == ("failed", "Charge", "Charge", b'{"trail":"P","n":1}')
    assert last.metadata == {"error": "busy", "error_kind": "transient", "attempts": "2"} | ({"strata.hops": "1"} if durable else {})
    assert (await runner.resume("t")).unwrap().trail == "PChargeD"
    assert calls.started == ["Charge"] * 4
    if durable:
        with pytest.raises(ThreadFinished):
            await runner.resume("t")


async def test_ex37_gh4_a_retry_is_no_hop() -> None:
    def flaky() -> StateGraph[Trail]:
        return (
            StateGraph(Trail)
            .add_node("Flaky", Calls().fails(transient("busy"), times=2))
            .add_node("End", adds("E"), inline=True)
            .add_edge("Flaky", "End")
            .set_recovery_policy("Flaky", retries=2)
        )

    assert (await Runner(flaky().compile(max_node_hops=2)).run("t", Trail())).unwrap().trail == "FlakyE"
    outcome = await Runner(flaky().compile(max_node_hops=1)).run("t", Trail())
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops) == ("End", 1)


async def test_ex37_gh5_a_fallback_is_a_hop_of_its_own() -> None:
    def rescued() -> StateGraph[Trail]:
        graph = line("Rescue", "End").add_node("Broken", Calls().fails(fatal("no"))).set_entry_point("Broken")
        return graph.set_recovery_policy("Broken", fallback="Rescue")

    assert (await Runner(rescued().compile(max_node_hops=3)).run("t", Trail())).unwrap().trail == "RescueEnd"
    outcome = await Runner(rescued().compile(max_node_hops=2)).run("t", Trail())
    assert isinstance(outcome, HopLimitExceeded)
    assert (outcome.node, outcome.hops) == ("End", 2)


async def test_ex45_a_cancelled_node_is_neither_tried_again_nor_falls_back() -> None:
    calls, clock = Calls(), HandClock()
    runner = Runner(fallback(charging(calls.hangs()), "Charge", retries=3).compile(), clock=clock)
    running = asyncio.ensure_future(runner.run("t", Trail()))
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (calls.started, outcome.state.trail) == (["Charge"], "P")


RETRIED: list[tuple[Exception, bool]] = [
    (ConnectionResetError("reset"), True),
    (BrokenPipeError("pipe"), True),
    (TimeoutError("late"), True),
    (transient("busy"), True),
    (fatal("no"), False),
    (ValueError("wrong"), False),
    (PermissionError("no"), False),
    (FileNotFoundError("none"), False),
    (KeyError("key"), False),
    (sqlite3.IntegrityError("twice"), False),
]


@pytest.mark.parametrize(("error", "again"), RETRIED, ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "")
async def test_ret_01_what_is_tried_again_unless_the_node_says_otherwise(error: Exception, again: bool) -> None:
    calls = Calls()
    await Runner(charging(calls.fails(error)).set_recovery_policy("Charge", retries=1).compile()).run("t", Trail())
    assert len(calls.started) == (2 if again else 1)


async def test_ret_02_a_passing_conflict_is_tried_again_before_anything_is_recorded() -> None:
    calls, store = Calls(), MemoryStore()
    conflict = sqlite3.OperationalError("database is locked")
    graph = charging(calls.fails(conflict, times=2)).set_recovery_policy("Charge", retries=2, on=sqlite3.OperationalError).compile()
    assert isinstance(await Runner(graph, store).run("t", Trail()), Completed)
    assert all(line.startswith(("running", "completed")) for line in await log(store))


async def test_our_two_errors_say_themselves_what_they_are() -> None:
    for error, attempts in ((transient("busy"), 3), (fatal("no"), 1)):
        calls = Calls()
        await Runner(charging(calls.fails(error)).set_recovery_policy("Charge", retries=2, on=StrataError).compile()).run("t", Trail())
        assert len(calls.started) == attempts


async def test_a_predicate_of_retry_that_raises_fails_the_node_with_the_error_that_it_was_asked_about() -> None:
    calls, store = Calls(), MemoryStore()

    def broken(error: Exception) -> bool:
        raise KeyError("code")

    graph = charging(calls.fails(ValueError("wrong"))).set_recovery_policy("Charge", retries=2, on=broken).compile()
    outcome = await Runner(graph, store).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert len(calls.started) == 1
    assert outcome.kind == "fatal"
    assert "KeyError" in outcome.message
    assert outcome.node == "Charge"
    assert (await log(store))[-1] == "failed:Charge>Charge"


Sync = Callable[[Trail], Trail] | Callable[[Trail], Coroutine[Any, Any, Trail]]


@pytest.mark.parametrize("inline", [True, False])
async def test_a_sync_node_is_tried_again_as_well(inline: bool) -> None:
    calls = list[int]()

    def charge(state: Trail) -> Trail:
        calls.append(1)
        if len(calls) < 3:
            raise transient("busy")
        return state

    graph = line("A").add_node("Charge", charge, inline=inline).add_edge("A", "Charge").set_recovery_policy("Charge", retries=2).compile()
    assert isinstance(await Runner(graph).run("t", Trail()), Completed)
    assert len(calls) == 3


async def test_str_04_a_reader_sees_the_second_attempt_and_is_told_that_the_first_is_void() -> None:
    async def charge(state: Trail, ctx: Context) -> Trail:
        await ctx.token(f"try {ctx.attempt}")
        if ctx.attempt == 1:
            raise transient("busy")
        return state

    runner = Runner(charging(charge).set_recovery_policy("Charge", retries=1).compile(durable=False), MemoryStore())
    async with runner.stream("t", Trail()) as events:
        seen = [event async for event in events if event.path == "Charge"]
    assert [(type(event).__name__, event.attempt) for event in seen] == [
        ("NodeStarted", 1),
        ("Token", 1),
        ("Retried", 1),
        ("Token", 2),
        ("NodeEnded", 2),
    ]
    retried = seen[2]
    assert isinstance(retried, Retried)
    assert (retried.node, retried.message, retried.delay) == ("Charge", "busy", 0)
