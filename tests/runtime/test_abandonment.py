"""Abandoning a run: its task is cancelled, or the program is told to go; the thread is not cancelled by that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from strata import Cancelled, CompiledGraph, Completed, Outcome, Runner, StateGraph, StoreError
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from tests.clocks import HandClock
from tests.graphs.trails import Trail, adds
from tests.logs import checkpoints, log
from tests.odd_stores import FailingStore

HANG = 3600.0

Run = Callable[[], Awaitable[Outcome[Any]]]


class Slow:
    """A node that hangs until it is `quick`; it says when it has started, and how often it cleaned up."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.quick = False
        self.cleaned = 0
        self.calls: list[str] = []

    async def __call__(self, state: Trail) -> Trail:
        self.calls.append(state.trail)
        if self.quick:
            return state.replace(trail=state.trail + "S")
        try:
            self.started.set()
            await asyncio.sleep(HANG)
        finally:
            self.cleaned += 1
            await asyncio.sleep(0)  # anyio's scopes cancel this again, asyncio's own do not
        return state

    def between(self, *, durable: bool) -> CompiledGraph[Trail]:
        """A, this node, C."""
        return (
            StateGraph(Trail)
            .add_node("A", adds("A"), inline=True)
            .add_node("Slow", self)
            .add_node("C", adds("C"), inline=True)
            .add_edge("A", "Slow")
            .add_edge("Slow", "C")
            .compile(durable=durable)
        )


async def by_its_task(run: Run, started: asyncio.Event) -> None:
    task = asyncio.ensure_future(run())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def by_asyncio_timeout(run: Run, started: asyncio.Event) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await run()
    assert started.is_set()


async def by_wait_for(run: Run, started: asyncio.Event) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run(), 0.02)
    assert started.is_set()


async def by_anyio(run: Run, started: asyncio.Event) -> None:
    with pytest.raises(TimeoutError):
        with anyio.fail_after(0.02):
            await run()
    assert started.is_set()


async def by_a_task_group(run: Run, started: asyncio.Event) -> None:
    async def fails() -> None:
        await started.wait()
        raise LookupError("a sibling")

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())
            await run()

    with pytest.raises(ExceptionGroup) as raised:
        await together()
    assert [type(error) for error in raised.value.exceptions] == [LookupError]


WAYS = [by_its_task, by_asyncio_timeout, by_wait_for, by_anyio, by_a_task_group]


@pytest.mark.parametrize("abandon", WAYS)
async def test_ex16_gn7_an_abandoned_durable_run_writes_nothing_and_is_recovered(abandon: Callable[[Run, asyncio.Event], Awaitable[None]]) -> None:
    slow, store, clock = Slow(), MemoryStore(), HandClock()
    runner = Runner(slow.between(durable=True), store, clock=clock)
    await abandon(lambda: runner.run("t", Trail(), deadline=HANG), slow.started)
    assert await log(store) == ["running:->A", "running:A>Slow"]
    assert slow.cleaned == 1
    assert clock.timers == 0
    assert not runner.cancel("t")
    await asyncio.sleep(0)
    slow.quick = True
    assert (await runner.recover("t")).unwrap().trail == "ASC"
    assert slow.calls == ["A", "A"]


@pytest.mark.parametrize("abandon", WAYS)
async def test_ex16_an_abandoned_run_that_is_not_durable_says_where_it_stood(
    abandon: Callable[[Run, asyncio.Event], Awaitable[None]], tmp_path: Path
) -> None:
    slow, clock = Slow(), HandClock()
    async with SqliteStore(tmp_path / "t.db") as store:
        runner = Runner(slow.between(durable=False), store, clock=clock)
        await abandon(lambda: runner.run("t", Trail()), slow.started)
        assert await log(store) == ["cancelled:Slow>Slow"]
        (record,) = await checkpoints(store)
        assert record.metadata == {"cancel_reason": "requested"}
        assert bytes(record.frozen_state) == b'{"trail":"A","n":1}'
        assert slow.cleaned == 1
        assert clock.timers == 0
        slow.quick = True
        assert (await runner.resume("t")).unwrap().trail == "ASC"


async def test_the_node_that_was_abandoned_starts_again_as_the_same_hop() -> None:
    slow, store = Slow(), MemoryStore()
    runner = Runner(slow.between(durable=False), store)
    await by_its_task(lambda: runner.run("t", Trail(), max_node_hops=3), slow.started)
    (record,) = await checkpoints(store)
    assert record.metadata == {"cancel_reason": "requested", "strata.hops": "1"}
    slow.quick = True
    assert (await runner.resume("t", max_node_hops=3)).unwrap().trail == "ASC"


async def test_an_abandoned_resume_that_is_not_durable_can_be_resumed_again() -> None:
    slow, store = Slow(), MemoryStore()
    graph = slow.between(durable=False)
    runner = Runner(graph, store)
    await by_its_task(lambda: runner.run("t", Trail()), slow.started)
    slow.started.clear()
    await by_its_task(lambda: runner.resume("t"), slow.started)
    assert await log(store) == ["cancelled:Slow>Slow", "resumed:Slow>Slow", "cancelled:Slow>Slow"]


async def test_a_run_that_is_told_to_stop_while_it_is_abandoned_is_abandoned() -> None:
    slow, store = Slow(), MemoryStore()
    runner = Runner(slow.between(durable=True), store)
    task = asyncio.create_task(runner.run("t", Trail()))
    await slow.started.wait()
    runner.cancel("t")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await log(store) == ["running:->A", "running:A>Slow"]


async def test_a_task_that_was_cancelled_before_may_run_threads_all_the_same() -> None:
    slow, store = Slow(), MemoryStore()
    runner = Runner(slow.between(durable=True), store)

    async def survivor() -> Outcome[Trail]:
        try:
            await asyncio.sleep(HANG)
        except asyncio.CancelledError:
            return await runner.run("t", Trail())
        raise AssertionError

    task = asyncio.create_task(survivor())
    await asyncio.sleep(0)
    task.cancel()
    await slow.started.wait()
    runner.cancel("t")
    assert isinstance(await task, Cancelled)
    assert (await log(store))[-1] == "cancelled:Slow>Slow"


async def test_an_abandonment_goes_up_even_if_it_cannot_be_stored(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow()
    runner = Runner(slow.between(durable=False), FailingStore(1))
    await by_its_task(lambda: runner.run("t", Trail()), slow.started)
    assert "thread 't' was abandoned, and where it stood could not be stored: the disk is full" in caplog.text


async def test_an_abandonment_goes_up_even_if_another_run_has_the_thread() -> None:
    slow, store = Slow(), MemoryStore()
    runner = Runner(slow.between(durable=False), store)
    other = Slow()
    other.quick = True

    async def overtake() -> None:
        await slow.started.wait()
        await Runner(other.between(durable=True), store).run("t", Trail())

    task = asyncio.ensure_future(runner.run("t", Trail()))
    await overtake()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await log(store))[-1] == "completed:C>-"


async def test_an_abandonment_at_the_256th_hop_counts_no_hop_that_was_not_made() -> None:
    hops: list[int] = []

    def again(state: Trail) -> Trail:
        hops.append(state.n)
        if state.n == 300:
            task.cancel()
        return state.replace(n=state.n + 1)

    graph = (
        StateGraph(Trail)
        .add_node("Again", again, inline=True)
        .add_node("End", again, inline=True)
        .add_conditional_edge("Again", "Again", lambda state: state.n < 10_000)
        .add_edge("Again", "End")
        .compile(durable=False, max_node_hops=20_000)
    )
    store = MemoryStore()
    task = asyncio.ensure_future(Runner(graph, store).run("t", Trail()))
    with pytest.raises(asyncio.CancelledError):
        await task
    (record,) = await checkpoints(store)
    assert record.metadata == {"cancel_reason": "requested", "strata.hops": str(len(hops))}


class OutOfHere(BaseException):
    """As libraries have them that want nobody to catch them."""


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, OutOfHere])
async def test_what_ends_the_program_goes_up_and_abandons_the_run(error: type[BaseException], durable: bool, inline: bool) -> None:
    def leaves(state: Trail) -> Trail:
        raise error

    store, clock = MemoryStore(), HandClock()
    graph = StateGraph(Trail).add_node("A", adds("A")).add_node("B", leaves, inline=inline).add_edge("A", "B").compile(durable=durable)
    runner = Runner(graph, store, clock=clock)
    with pytest.raises(error):
        await runner.run("t", Trail(), deadline=HANG)
    assert await log(store) == (["running:->A", "running:A>B"] if durable else ["cancelled:B>B"])
    assert clock.timers == 0
    assert not runner.cancel("t")


async def test_dur_02_a_durable_run_is_stored_before_its_first_node_runs() -> None:
    store, seen = MemoryStore(), list[str]()

    async def look(state: Trail) -> Trail:
        seen.extend(await log(store))
        return state

    await Runner(StateGraph(Trail).add_node("A", look).compile(), store).run("t", Trail(trail="given"))
    assert seen == ["running:->A"]
    assert bytes((await checkpoints(store))[0].frozen_state) == b'{"trail":"given","n":0}'


async def test_a_store_that_fails_before_the_first_node_leaves_nothing_running() -> None:
    clock = HandClock()
    runner = Runner(Slow().between(durable=True), FailingStore(1), clock=clock)
    with pytest.raises(StoreError):
        await runner.run("t", Trail(), deadline=HANG)
    assert clock.timers == 0
    assert not runner.cancel("t")


async def test_two_runs_of_one_runner_at_once_do_not_meet() -> None:
    async def slow(state: Trail) -> Trail:
        await asyncio.sleep(0)
        return state.replace(trail=state.trail + "x")

    graph = StateGraph(Trail).add_node("A", slow).add_node("B", slow).add_edge("A", "B").compile()
    runner = Runner(graph, MemoryStore())
    outcomes = await asyncio.gather(*(runner.run(f"t{number}", Trail(n=number)) for number in range(20)))
    assert [(outcome.thread_id, outcome.state) for outcome in outcomes] == [(f"t{n}", Trail(n=n, trail="xx")) for n in range(20)]
    assert all(isinstance(outcome, Completed) for outcome in outcomes)
