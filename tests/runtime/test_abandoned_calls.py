"""Any call, abandoned at any turn of the loop or twice in a row: no task, timer, slot or lease is left, and the thread goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import pytest

from strata import CompiledGraph, Completed, Event, Interrupted, Lease, Runner, RunStream, Scheduler, StateGraph, branch
from strata.testing import EventRecorder
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds, line
from tests.kinds.nests import alone
from tests.kinds.parts import first_of
from tests.logs import checkpoints
from tests.odd_stores import BusyStore

WAIT = 60.0


def awaiting_payment() -> CompiledGraph[Trail]:
    """A -> B -> Wait -> Paid, or Late after a minute."""
    graph = line("A", "B").add_wait_for_event("Wait", "paid", timeout=WAIT, on_timeout="Late").add_node("Late", adds("L"), inline=True)
    return graph.add_node("Paid", adds("P"), inline=True).add_edge("B", "Wait").add_edge("Wait", "Paid").compile(id="payments")


GRAPH = awaiting_payment()


class Office:
    """A busy store, a scheduler of one slot, and a runner for the call that is abandoned."""

    def __init__(self, *, leased: bool) -> None:
        self.tasks = asyncio.all_tasks()
        self.clock = HandClock()
        self.store = BusyStore(clock=self.clock)
        self.scheduler = Scheduler(1, clock=self.clock)
        lease = Lease("worker-1", WAIT) if leased else None
        self.runner = Runner(GRAPH, self.store, lease=lease, scheduler=self.scheduler, observers=[EventRecorder()], clock=self.clock)

    async def waiting(self) -> None:
        await Runner(GRAPH, self.store, clock=self.clock).run("t", Trail())

    async def due(self) -> None:
        await self.waiting()
        await self.clock.pass_time(WAIT)

    async def died(self) -> None:
        """Its process died in B."""
        elsewhere = Office(leased=False)
        await elsewhere.waiting()
        for record in (await checkpoints(elsewhere.store))[:2]:
            await self.store.save(record)
        await self.clock.pass_time(WAIT)

    async def nothing(self) -> None: ...

    async def assert_nothing_is_left(self) -> None:
        await settle()
        assert await self.store.get_lease("t") is None
        snapshot = self.scheduler.snapshot()
        assert (snapshot.active, snapshot.queued, self.clock.timers) == (0, 0, 0)
        assert asyncio.all_tasks() <= self.tasks

    async def goes_on(self) -> bool:
        """Whether the thread is somewhere it can be gone on from, once it is recovered if it has to be."""
        stored = await self.store.load_latest("t")
        if stored is not None and stored.checkpoint.status == "running":
            return isinstance(await self.runner.recover("t"), Interrupted | Completed)
        return stored is None or stored.checkpoint.state_name in ("interrupted", "completed", "ended")


Prepare = Callable[[Office], Awaitable[None]]
Make = Callable[[Runner[Trail]], Awaitable[Any]]
Read = Callable[[Runner[Trail]], RunStream[Trail]]

CALLS: Mapping[str, tuple[Prepare, Make]] = {
    "run": (Office.nothing, lambda runner: runner.run("t", Trail())),
    "signal": (Office.waiting, lambda runner: runner.signal("t", Event("paid"))),
    "wake": (Office.due, lambda runner: runner.wake("t")),
    "recover": (Office.died, lambda runner: runner.recover("t")),
    "end": (Office.waiting, lambda runner: runner.end("t")),
    "wake_due": (Office.due, lambda runner: runner.wake_due()),
    "recover_stale": (Office.died, lambda runner: runner.recover_stale(stale_after=1)),
}

STREAMS: Mapping[str, tuple[Prepare, Read]] = {
    "run": (Office.nothing, lambda runner: runner.stream("t", Trail())),
    "signal": (Office.waiting, lambda runner: runner.stream_resume("t", Event("paid"))),
    "wake": (Office.due, lambda runner: runner.stream_wake("t")),
    "recover": (Office.died, lambda runner: runner.stream_recover("t")),
}


def read(stream: Read) -> Make:
    async def to_the_end(runner: Runner[Trail]) -> Any:
        async with stream(runner) as events:
            async for _ in events:
                pass
        return events.outcome

    return to_the_end


EVERY = [
    *(pytest.param(prepare, make, id=name) for name, (prepare, make) in CALLS.items()),
    *(pytest.param(prepare, read(stream), id=f"stream of {name}") for name, (prepare, stream) in STREAMS.items()),
]


@pytest.mark.parametrize("leased", [True, False], ids=["leased", "free"])
@pytest.mark.parametrize(("prepare", "make"), EVERY)
async def test_can_01_at_every_turn_of_the_loop_a_call_may_be_abandoned(prepare: Prepare, make: Make, leased: bool) -> None:
    for turns in count():
        office = Office(leased=leased)
        await prepare(office)
        call = asyncio.ensure_future(make(office.runner))
        for _ in range(turns):
            await asyncio.sleep(0)
        was_over = call.done()
        call.cancel()
        await asyncio.wait({call})
        await office.assert_nothing_is_left()
        assert await office.goes_on(), turns
        if was_over:
            break


# Told twice


async def stubborn(state: Trail) -> Trail:
    """Cleans up for a long time when it is told to stop."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(WAIT)
    return state


def stubborn_graphs(*, durable: bool) -> Mapping[str, StateGraph[Trail]]:
    item = StateGraph(Trail).add_node("Step", stubborn).compile(durable=durable)
    return {
        "node": StateGraph(Trail).add_node("Work", stubborn),
        "child": alone("Work", item),
        "group": StateGraph(Trail).add_parallel_group("Work", [branch("a", stubborn), branch("b", stubborn)], first_of),
        "map": StateGraph(Trail).add_map("Work", item, items=lambda _: ["a", "b"], key=str, enter=lambda state, _: state, merge=first_of),
    }


@pytest.mark.parametrize("durable", [True, False], ids=["durable", "bounds"])
@pytest.mark.parametrize("kind", ["node", "child", "group", "map"])
async def test_can_01_a_second_cancellation_forces_the_exit_and_nothing_outlives_it(kind: str, durable: bool) -> None:
    clock = HandClock()
    store, scheduler = BusyStore(clock=clock), Scheduler(1, clock=clock)
    graph = stubborn_graphs(durable=durable)[kind].compile(durable=durable)
    running = asyncio.create_task(Runner(graph, store, lease=Lease("worker-1", WAIT), scheduler=scheduler, clock=clock).run("t", Trail()))
    await settle()
    running.cancel()
    await settle()
    assert not running.done()
    running.cancel()
    await settle()
    assert running.cancelled()
    assert (await store.get_lease("t"), scheduler.snapshot().active, clock.timers) == (None, 0, 0)
    assert [record.status for record in await checkpoints(store)] == (["running"] if durable else ["cancelled"])


async def test_can_01_a_run_that_is_told_while_it_is_abandoned_is_abandoned_all_the_same() -> None:
    clock, store = HandClock(), BusyStore()
    runner = Runner(StateGraph(Trail).add_node("Work", stubborn).compile(), store, clock=clock)
    running = asyncio.create_task(runner.run("t", Trail()))
    await settle()
    running.cancel()
    await settle()
    runner.cancel("t")
    running.cancel()
    await settle()
    assert running.cancelled()
    assert [record.status for record in await checkpoints(store)] == ["running"]
