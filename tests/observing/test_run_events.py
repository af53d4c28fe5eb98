"""What an observer is told of a run, in order (strata-observability.md 2.3 and 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from strata import Backoff, Completed, Context, Event, Failed, FatalError, Runner, Scheduler, StateGraph, TransientError, branch
from strata.ports.events import Interrupted, Resumed, RetryScheduled, RunStarted
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder, TestClock
from tests.graphs.trails import Trail, adds, line, loop


def fails(times: int, error: Callable[[], Exception]) -> Any:
    """A node that fails so often, and then adds its name."""
    left = [times]

    def work(state: Trail, ctx: Context) -> Trail:
        if left[0]:
            left[0] -= 1
            raise error()
        return adds(ctx.node)(state)

    return work


async def hangs(state: Trail) -> Trail:
    await asyncio.Event().wait()
    return state


def reviewed() -> StateGraph[Trail]:
    return (
        StateGraph(Trail)
        .add_node("Classify", fails(1, lambda: TransientError("busy")), inline=True)
        .add_node("Approve", adds("a"), inline=True)
        .add_node("Execute", adds("x"), inline=True)
        .add_edge("Classify", "Approve")
        .add_edge("Approve", "Execute")
        .set_recovery_policy("Classify", retries=1)
        .add_interrupt_boundary("Approve")
    )


class Seen:
    """A runner over memory whose events are recorded."""

    def __init__(self, graph: StateGraph[Trail], *, durable: bool = False, **options: Any) -> None:
        self.recorder = EventRecorder()
        self.clock = TestClock()
        self.graph = graph.compile(durable=durable, **options)
        self.store = MemoryStore(clock=self.clock)
        self.runner = Runner(self.graph, self.store, observers=[self.recorder], clock=self.clock)

    @property
    def lines(self) -> list[str]:
        return self.recorder.lines()

    def only(self, kind: type[Any]) -> Any:
        [found] = [event for event in self.recorder.events if isinstance(event, kind)]
        return found


FIRST = [
    "RunStarted run Classify",
    "NodeStarted Classify#1",
    'RetryScheduled Classify#1 in 0 s "busy"',
    "NodeCompleted Classify#2 committed",
    "NodeStarted Approve#1",
    "NodeCompleted Approve#1 committed",
    "CheckpointSaved interrupted Approve",
    "Interrupted Approve → Execute",
    "RunCompleted interrupted",
]
SECOND = [
    "RunStarted resume Execute",
    "CheckpointSaved interrupted Approve (stamp)",
    "Resumed interrupted Approve",
    "NodeStarted Execute#1",
    "NodeCompleted Execute#1 committed",
    "RunCompleted completed",
]


async def test_ev1_ev2_a_run_and_its_resume() -> None:
    seen = Seen(reviewed())
    await seen.runner.run("t", Trail())
    assert seen.lines == FIRST
    seen.recorder.clear()
    await seen.runner.resume("t", seen.graph.approve("ana"))
    assert seen.lines == SECOND


async def test_ev2_with_a_reader_the_events_are_the_same() -> None:
    seen = Seen(reviewed())
    async with seen.runner.stream("t", Trail()) as events:
        _ = [event async for event in events]
    async with seen.runner.stream_resume("t", seen.graph.approve("ana")) as events:
        _ = [event async for event in events]
    assert seen.lines == FIRST + SECOND


async def test_ev3_a_group_that_fails_and_its_fallback() -> None:
    def broken(state: Trail) -> Trail:
        raise FatalError("broken")

    graph = (
        StateGraph(Trail)
        .add_parallel_group("Gather", [branch("Slow", hangs), branch("Broken", broken)], lambda state, results: state)
        .add_node("Recover", adds("r"), inline=True)
        .set_recovery_policy("Gather", fallback="Recover")
    )
    seen = Seen(graph)
    assert isinstance(await seen.runner.run("t", Trail()), Completed)
    assert [line.split(' "')[0] for line in seen.lines] == [
        "RunStarted run Gather",
        "NodeStarted Gather#1",
        "BranchStarted Gather/Slow#1",
        "BranchStarted Gather/Broken#1",
        "BranchCompleted Gather/Broken#1 failed",
        "BranchCompleted Gather/Slow#1 cancelled (sibling_failed)",
        "NodeCompleted Gather#1 failed → Recover",
        "NodeStarted Recover#1",
        "NodeCompleted Recover#1 committed",
        "RunCompleted completed",
    ]


async def test_ev4_a_pause_inside_and_its_resume() -> None:
    work = line("Draft", "Approve", "Send").add_interrupt_boundary("Approve").compile(durable=False)
    graph = line("Prepare").add_subgraph("Work", work, enter=lambda state: state, leave=lambda _, child: child)
    graph.add_node("Finish", adds("f"), inline=True).add_edge("Prepare", "Work").add_edge("Work", "Finish")
    seen = Seen(graph)
    await seen.runner.run("t", Trail())
    assert seen.lines[-5:] == [
        "NodeCompleted Work/Approve#1 committed",
        "NodeCompleted Work#1 interrupted",
        "CheckpointSaved interrupted Work/Approve",
        "Interrupted Work/Approve → Work",
        "RunCompleted interrupted",
    ]
    seen.recorder.clear()
    await seen.runner.resume("t", work.approve("ana"))
    assert seen.lines == [
        "RunStarted resume Work",
        "CheckpointSaved interrupted Work/Approve (stamp)",
        "Resumed interrupted Work/Approve",
        "NodeStarted Work#1",
        "NodeStarted Work/Send#1",
        "NodeCompleted Work/Send#1 committed",
        "NodeCompleted Work#1 committed",
        "NodeStarted Finish#1",
        "NodeCompleted Finish#1 committed",
        "RunCompleted completed",
    ]


async def test_ev6_a_node_that_is_cancelled() -> None:
    seen = Seen(StateGraph(Trail).add_node("A", hangs))
    run = asyncio.create_task(seen.runner.run("t", Trail()))
    await seen.clock.settle()
    seen.runner.cancel("t")
    await run
    assert seen.lines[-3:] == ["NodeCompleted A#1 cancelled", "CheckpointSaved cancelled A", "RunCompleted cancelled (requested)"]


async def test_ev7_a_node_that_runs_over_twice() -> None:
    seen = Seen(StateGraph(Trail).add_node("Charge", hangs, timeout=0.020).set_recovery_policy("Charge", retries=1))
    run = asyncio.create_task(seen.runner.run("t", Trail()))
    await seen.clock.advance(1)
    assert isinstance(await run, Failed)
    text = "\"node 'Charge' timed out after 20 ms\""
    assert seen.lines[-4:] == [
        f"RetryScheduled Charge#1 in 0 s (timed out) {text}",
        f"NodeCompleted Charge#2 failed {text}",
        "CheckpointSaved failed Charge",
        f"RunCompleted failed {text}",
    ]


async def test_ev10_a_bug_closes_its_node_and_the_run() -> None:
    seen = Seen(StateGraph(Trail).add_node("A", fails(1, lambda: LookupError("no such word")), inline=True))
    assert isinstance(await seen.runner.run("t", Trail()), Failed)
    text = '"LookupError: no such word"'
    assert seen.lines[1:] == ["NodeStarted A#1", f"NodeCompleted A#1 failed {text}", "CheckpointSaved failed A", f"RunCompleted failed {text}"]


async def test_ev20_a_map_tells_its_keys_and_its_items() -> None:
    assess = line("assess").compile(durable=False)
    graph = StateGraph(Trail).add_map(
        "Investigate",
        assess,
        merge=lambda state, results: state,
        items=lambda state: ["h1"][: state.n],
        key=lambda item: item,
        enter=lambda state, item: Trail(),
    )
    seen = Seen(graph)
    await seen.runner.run("t", Trail(n=1))
    assert seen.lines[1:-1] == [
        "NodeStarted Investigate#1",
        "MapExpanded Investigate#1 [h1]",
        "BranchStarted Investigate/h1#1",
        "NodeStarted Investigate/h1/assess#1",
        "NodeCompleted Investigate/h1/assess#1 committed",
        "BranchCompleted Investigate/h1#1 succeeded",
        "NodeCompleted Investigate#1 committed",
    ]
    seen.recorder.clear()
    await seen.runner.run("none", Trail(n=0))
    assert seen.lines[1:-1] == ["NodeStarted Investigate#1", "MapExpanded Investigate#1 []", "NodeCompleted Investigate#1 committed"]


async def test_ev23_the_hop_limit_names_the_node_that_did_not_start() -> None:
    seen = Seen(loop(), max_node_hops=3)
    await seen.runner.run("t", Trail())
    assert seen.lines[-3:] == [
        "HopLimitExceeded B 3/3",
        "CheckpointSaved failed B",
        "RunCompleted failed \"hop limit of 3 reached: node 'B' would be hop 4\"",
    ]


@pytest.mark.parametrize(
    ("maximum", "hints", "delays"),
    [(5, [None] * 5, [1, 2, 4, 5, 5]), (10, [3, 60, None], [3, 10, 4])],
)
async def test_ev24_the_delay_is_the_backoffs_or_the_hint_up_to_the_maximum(maximum: float, hints: list[float | None], delays: list[float]) -> None:
    errors = iter(hints)
    work = fails(len(hints), lambda: TransientError("busy", retry_after=next(errors)))
    graph = StateGraph(Trail).add_node("A", work, inline=True)
    graph.set_recovery_policy("A", retries=len(hints), backoff=Backoff(initial=1, maximum=maximum, jitter="none"))
    seen = Seen(graph)
    run = asyncio.create_task(seen.runner.run("t", Trail()))
    await seen.clock.advance(timedelta(minutes=5))
    await run
    assert [event.delay for event in seen.recorder.events if isinstance(event, RetryScheduled)] == delays


@pytest.mark.parametrize(("options", "identity"), [({"id": "orders", "version": "2"}, ("orders", "2")), ({}, None)])
async def test_ev25_the_start_names_the_graph(options: dict[str, Any], identity: tuple[str, str] | None) -> None:
    seen = Seen(line("A"), **options)
    await seen.runner.run("t", Trail())
    graph = seen.only(RunStarted).graph
    assert identity == (None if graph is None else (graph.id, graph.version))


async def test_ev26_the_start_says_how_long_the_run_was_queued() -> None:
    recorder, clock, scheduler = EventRecorder(), TestClock(), Scheduler(1)
    runner = Runner(line("A").compile(), MemoryStore(), observers=[recorder], scheduler=scheduler, clock=clock)
    async with scheduler.slot(clock=clock):
        waiting = asyncio.create_task(runner.run("t", Trail()))
        await clock.advance(3)
    await waiting
    assert [event.queued_for for event in recorder.events if isinstance(event, RunStarted)] == [3.0]


async def test_ev27_an_event_and_who_was_waited_for() -> None:
    graph = StateGraph(Trail).add_wait_for_event("Wait", "deployment.finished", timeout=60).add_node("Next", adds("n"), inline=True)
    seen = Seen(graph.add_edge("Wait", "Next"))
    await seen.runner.run("t", Trail())
    wait = seen.only(Interrupted).wait
    assert (wait.kind, wait.event_type) == ("event", "deployment.finished")
    await seen.runner.signal("t", Event("deployment.finished"))
    resumed = seen.only(Resumed)
    assert (resumed.wake, resumed.event_type, resumed.is_approved, resumed.reviewer) == ("event", "deployment.finished", True, "")


def escalated(*, route: bool) -> StateGraph[Trail]:
    graph = line("Approve", "Publish").add_node("Escalate", adds("e"), inline=True).add_node("Revise", adds("r"), inline=True)
    return graph.add_interrupt_boundary("Approve", on_reject="Revise", timeout=60, on_timeout="Escalate" if route else None)


@pytest.mark.parametrize("sweeps", [False, True])
async def test_wt30_a_timeout_that_ends_the_thread_is_a_resume_by_hand_and_an_end_by_a_sweep(sweeps: bool) -> None:
    graph = line("Approve", "Publish").add_interrupt_boundary("Approve", timeout=60)
    seen = Seen(graph)
    await seen.runner.run("t", Trail())
    seen.recorder.clear()
    await seen.clock.advance(61)
    if sweeps:
        await seen.runner.wake_due()
    else:
        async with seen.runner.stream_wake("t") as events:
            assert [event async for event in events] == []
    mode, node = ("end", "Approve") if sweeps else ("resume", "Approve")
    assert seen.lines == [f"RunStarted {mode} {node}", "CheckpointSaved ended Approve", "RunCompleted cancelled (ended)"]
