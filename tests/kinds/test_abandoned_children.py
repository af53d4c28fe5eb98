"""A run that is not durable and is abandoned inside graphs of its nodes: where each level stood is kept, as a cancelled run keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from strata import (
    Backoff,
    Cancelled,
    CompiledGraph,
    Context,
    Interrupted,
    NodeEnded,
    Outcome,
    Resume,
    Runner,
    StateGraph,
)
from strata.checkpoint.record import Checkpoint
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds
from tests.kinds.nests import in_brackets, starts_empty, steps
from tests.kinds.parts import transient
from tests.logs import checkpoints, log

ROOM = 1024
"""Events that a stream has room for."""


class Slow:
    """A node that is left in its first call, in the way it is told; the calls after it add an S."""

    def __init__(self, error: type[BaseException] | None = None) -> None:
        self.started = asyncio.Event()
        self.error = error
        self.keys = list[str]()

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.keys.append(ctx.idempotency_key.partition("@")[0])
        if len(self.keys) > 1:
            return state.replace(trail=state.trail + "S")
        if self.error is not None:
            raise self.error()
        self.started.set()
        await asyncio.Event().wait()
        raise AssertionError


class Entered:
    """Counts how often the graph inside is entered."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, state: Trail) -> Trail:
        self.times += 1
        return starts_empty(state)


def around(name: str, child: StateGraph[Trail], enter: Callable[[Trail], Trail] = starts_empty) -> StateGraph[Trail]:
    """Before -> the child -> After, as a run that is not durable has it."""
    return (
        StateGraph(Trail)
        .add_node("Before", adds("B"), inline=True)
        .add_subgraph(name, child.compile(durable=False), enter=enter, leave=in_brackets)
        .add_node("After", adds("A"), inline=True)
        .add_edge("Before", name)
        .add_edge(name, "After")
    )


def nested(depth: int, send: Any, enter: Callable[[Trail], Trail] = starts_empty) -> CompiledGraph[Trail]:
    """Draft -> Send -> End, so many levels deep."""
    graph = steps(("Draft", adds("D")), ("Send", send), ("End", adds("E")))
    for level in reversed(range(depth)):
        graph = around(f"W{level}", graph, enter)
    return graph.compile(durable=False)


async def by_its_task(run: Awaitable[Outcome[Trail]], slow: Slow) -> None:
    task = asyncio.ensure_future(run)
    await slow.started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def by_going(run: Awaitable[Outcome[Trail]], slow: Slow) -> None:
    """Its program is told to go."""
    assert slow.error is not None
    with pytest.raises(slow.error):
        await run


Leave = Callable[[Awaitable[Outcome[Trail]], Slow], Awaitable[None]]

WAYS = [
    pytest.param(by_its_task, None, id="its task"),
    pytest.param(by_going, KeyboardInterrupt, id="Ctrl-C"),
    pytest.param(by_going, SystemExit, id="exit"),
]


async def cancelled_records(graph: CompiledGraph[Trail], slow: Slow, clock: HandClock) -> list[Checkpoint]:
    """What `runner.cancel` leaves of it."""
    store = MemoryStore()
    runner = Runner(graph, store, clock=clock)
    task = asyncio.ensure_future(runner.run("t", Trail()))
    await slow.started.wait()
    runner.cancel("t")
    assert isinstance(await task, Cancelled)
    return await checkpoints(store)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize(("leave", "error"), WAYS)
async def test_ex50_an_abandoned_run_leaves_the_record_of_a_cancelled_one(leave: Leave, error: type[BaseException] | None, depth: int) -> None:
    slow, store, clock = Slow(error), MemoryStore(), HandClock()
    await leave(Runner(nested(depth, slow), store, clock=clock).run("t", Trail()), slow)
    (record,) = await checkpoints(store)
    assert record.waiting_at == (*(f"W{level}" for level in range(depth)), "Send")
    assert [level.status for level in record.levels()] == ["cancelled"] * (depth + 1)
    told = Slow()
    assert [record] == await cancelled_records(nested(depth, told), told, clock)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(("leave", "error"), WAYS)
async def test_ex50_the_resume_goes_on_inside(leave: Leave, error: type[BaseException] | None, depth: int) -> None:
    slow, entered = Slow(error), Entered()
    runner = Runner(nested(depth, slow, entered), MemoryStore())
    await leave(runner.run("t", Trail()), slow)
    assert (await runner.resume("t")).unwrap().trail == "B(" * depth + "DSE" + ")A" * depth
    assert entered.times == depth


@pytest.mark.parametrize(("leave", "error"), WAYS)
async def test_the_node_inside_starts_again_under_its_key(leave: Leave, error: type[BaseException] | None) -> None:
    slow, paid = Slow(error), list[str]()

    async def pays(state: Trail, ctx: Context) -> Trail:
        await ctx.once("pay", lambda: paid.append(ctx.node))
        return await slow(state, ctx)

    runner = Runner(nested(2, pays), MemoryStore())
    await leave(runner.run("t", Trail()), slow)
    assert (await runner.resume("t")).unwrap().trail == "B(B(DSE)A)A"
    assert slow.keys == ["t/W0/W1/Send#2.2.2"] * 2
    assert paid == ["Send"]


async def test_a_level_that_counts_its_hops_counts_on() -> None:
    slow, store = Slow(), MemoryStore()
    child = steps(("Draft", adds("D")), ("Send", slow), ("End", adds("E"))).compile(max_node_hops=3, durable=False)
    graph = steps(("Before", adds("B"))).add_subgraph("Work", child, enter=starts_empty, leave=in_brackets).add_edge("Before", "Work")
    runner = Runner(graph.compile(max_node_hops=2, durable=False), store)
    await by_its_task(runner.run("t", Trail()), slow)
    (record,) = await checkpoints(store)
    assert [(level.metadata or {})["strata.hops"] for level in record.levels()] == ["1", "1"]
    assert (await runner.resume("t")).unwrap().trail == "B(DSE)"


# A thread that had paused in there


def approving(send: Any) -> tuple[CompiledGraph[Trail], CompiledGraph[Trail]]:
    """Draft -> Approve, where a person is asked -> Send, and that one level down."""
    child = steps(("Draft", adds("D")), ("Approve", adds("A")), ("Send", send)).add_interrupt_boundary("Approve")
    return around("Work", child).compile(durable=False), child.compile(durable=False)


@pytest.mark.parametrize(("leave", "error"), WAYS)
async def test_a_person_who_has_answered_inside_is_not_asked_again(leave: Leave, error: type[BaseException] | None) -> None:
    slow, store = Slow(error), MemoryStore()
    graph, child = approving(slow)
    runner = Runner(graph, store)
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    await leave(runner.resume("t", child.approve("ed").override(n=5)), slow)
    nested = (await checkpoints(store))[-1].nested
    assert nested is not None
    assert nested.decision is not None
    assert (nested.decision.reviewer, bytes(nested.frozen_state)) == ("ed", b'{"trail":"DA","n":5}')
    assert (await runner.resume("t")).unwrap() == Trail(trail="B(DAS)A", n=6)


async def test_a_question_that_was_answered_inside_is_not_asked_again() -> None:
    slow, asked = Slow(), list[str]()

    async def asks(state: Trail, ctx: Context) -> Trail:
        answer = ctx.interrupt("which?", returns=str)
        asked.append(answer)
        return await slow(state.replace(trail=state.trail + answer), ctx)

    runner = Runner(nested(2, asks), MemoryStore())
    assert isinstance(await runner.run("t", Trail()), Interrupted)
    await by_its_task(runner.resume("t", Resume("x")), slow)
    assert (await runner.resume("t")).unwrap().trail == "B(B(DxSE)A)A"
    assert asked == ["x", "x"]


@pytest.mark.parametrize("how", ["cancelled", "abandoned"])
async def test_ck55_nobody_is_asked_again_by_a_run_that_is_stopped_before_it_enters_the_answered_child_anew(how: str) -> None:
    """Between two attempts of the node around it."""
    failed = list[int]()

    async def fails_once(state: Trail) -> Trail:
        failed.append(1)
        if len(failed) == 1:
            raise transient("busy")
        return state.replace(trail=state.trail + "S")

    child = steps(("Approve", adds("A")), ("Send", fails_once)).add_interrupt_boundary("Approve")
    graph = around("Work", child).set_recovery_policy("Work", retries=1, backoff=Backoff(initial=10, maximum=10, jitter="none"))
    clock, store = HandClock(), MemoryStore()
    runner = Runner(graph.compile(durable=False), store, clock=clock)
    await runner.run("t", Trail())
    running = asyncio.ensure_future(runner.resume("t", child.compile(durable=False).approve("ed").override(n=5)))
    await settle()
    assert failed == [1]
    if how == "cancelled":
        runner.cancel("t")
        await running
    else:
        running.cancel()
        await asyncio.wait({running})
    assert (await log(store))[-1] == "cancelled:Work>Work / cancelled:Send>Send"
    assert (await runner.resume("t")).unwrap() == Trail(trail="B(AS)A", n=6)


# At any moment


class Order:
    """Everything that may stand inside: what is done once, a question, a person's approval, graphs in graphs."""

    def __init__(self) -> None:
        self.done = list[str]()
        self.trails = list[str]()
        self.entered = Entered()
        child = steps(("P", self.pays), ("Q", self.pays))
        work = (
            steps(("X", self.pays), ("Ask", self.asks), ("Sign", adds("g")))
            .add_interrupt_boundary("Sign")
            .add_subgraph("Inner", child.compile(durable=False), enter=self.entered, leave=in_brackets)
            .add_node("Y", self.pays)
            .add_edge("Sign", "Inner")
            .add_edge("Inner", "Y")
        )
        self.work = work.compile(durable=False)
        self.graph = around("Work", work, self.entered).add_node("After", self.ends, inline=True).compile(durable=False)

    def ends(self, state: Trail) -> Trail:
        self.trails.append(f"{state.trail}A")
        return state

    async def pays(self, state: Trail, ctx: Context) -> Trail:
        await ctx.token(ctx.node)
        await asyncio.sleep(0)
        await ctx.once("pay", lambda: self.done.append(ctx.node))
        await asyncio.sleep(0)
        return state.replace(trail=state.trail + ctx.node)

    async def asks(self, state: Trail, ctx: Context) -> Trail:
        answer = ctx.interrupt("which?", returns=str)
        await asyncio.sleep(0)
        return state.replace(trail=state.trail + answer)


Call = Callable[[Runner[Trail], Any], Awaitable[None]]


async def plainly(runner: Runner[Trail], answer: Any) -> None:
    await (runner.run("t", Trail()) if answer == "run" else runner.resume("t", answer))


async def streamed(runner: Runner[Trail], answer: Any) -> None:
    async with runner.stream("t", Trail()) if answer == "run" else runner.stream_resume("t", answer) as events:
        async for _ in events:
            await asyncio.sleep(0)


@pytest.mark.parametrize("call", [plainly, streamed])
@pytest.mark.parametrize("leg", range(3))
async def test_at_every_turn_of_the_loop_nothing_is_done_and_nobody_is_asked_again(call: Call, leg: int) -> None:
    """The run, or one of its two resumes, is abandoned after 0, 1, 2, ... turns, and then gone on with."""
    for turns in count():
        order, store, is_over = Order(), MemoryStore(), False
        runner = Runner(order.graph, store)
        for number, answer in enumerate(("run", Resume("x"), order.work.approve("ed"))):
            if number != leg:
                await call(runner, answer)
                continue
            before = await store.load("t")
            is_over = await left_after(turns, call(runner, answer))
            latest = await store.load("t")
            if latest is before:
                await call(runner, answer)
            elif latest is not None and latest.state_name == "cancelled":
                await call(runner, None)
        assert (order.trails, order.done, order.entered.times) == (["B(Xxg(PQ)Y)A"], ["X", "P", "Q", "Y"], 2), turns
        if is_over:
            break


async def left_after(turns: int, call: Awaitable[None]) -> bool:
    """Abandons the call after so many turns; says whether it was over by then."""
    running = asyncio.ensure_future(call)
    for _ in range(turns):
        await asyncio.sleep(0)
    is_over = running.done()
    running.cancel()
    await asyncio.wait({running})
    return is_over


@pytest.mark.parametrize("depth", [1, 2])
async def test_a_child_that_had_finished_when_its_reader_left_stands_before_its_last_node(depth: int) -> None:
    """Nothing of what it came to has reached the node around it; the stream was full when it was to tell of its end."""
    ran, store = list[str](), MemoryStore()

    def last(state: Trail) -> Trail:
        ran.append("Last")
        return state.replace(trail="L")

    graph = StateGraph(Trail).add_node("Count", adds(""), inline=True).add_node("Last", last, inline=True)
    graph.add_conditional_edge("Count", "Count", lambda state: state.n <= ROOM).add_edge("Count", "Last")
    for _ in range(depth - 1):
        graph = StateGraph(Trail).add_subgraph("Inner", graph.compile(durable=False), enter=starts_empty, leave=in_brackets)
    runner = Runner(around("Work", graph).compile(durable=False), store)
    async with runner.stream("t", Trail(), select=[NodeEnded]) as events:
        async for event in events:
            assert event.path == "Before"
            break
        await settle()
        assert ran == ["Last"]
    inner = " / cancelled:Inner>Inner" * (depth - 1)
    assert await log(store) == [f"cancelled:Work>Work{inner} / cancelled:Last>Last"]
    assert (await runner.resume("t")).unwrap().trail == "B" + "(" * depth + "L" + ")" * depth + "A"
    assert ran == ["Last", "Last"]
