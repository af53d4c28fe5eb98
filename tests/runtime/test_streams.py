"""Reading a run while it goes: which events come in which order, what a slow reader does to the run, and leaving early."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine

import pytest

from strata import (
    Backoff,
    Cancelled,
    Committed,
    Completed,
    Context,
    Diagnostic,
    Failed,
    FatalError,
    Interrupted,
    NodeEnded,
    NodeFailed,
    NodeStarted,
    OptionRefused,
    Runner,
    SignalRefused,
    StateGraph,
    StoreError,
    StrataError,
    StreamEvent,
    ThreadExists,
    ThreadNotFound,
    Token,
    TransientError,
    branch,
)
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail, adds, line
from tests.logs import log
from tests.odd_stores import FailingStore

HANG = 3600.0
ROOM = 1024


def told(event: StreamEvent) -> str:
    """One word an event."""
    match event:
        case NodeStarted(node=node):
            return f"start {node}"
        case NodeEnded(node=node):
            return f"end {node}"
        case NodeFailed(node=node):
            return f"fail {node}"
        case Token(text=text):
            return text
        case Committed(status=status):
            return f"save {status}"
        case _:
            return type(event).__name__


async def greet(state: Trail, ctx: Context) -> Trail:
    await ctx.token("Hello, ")
    await ctx.token("World")
    return state


def greeting() -> StateGraph[Trail]:
    return StateGraph(Trail).add_node("Greet", greet).add_node("Done", adds("D"), inline=True).add_edge("Greet", "Done")


def chatty(count: int) -> Callable[[Trail, Context], Coroutine[None, None, Trail]]:
    async def talk(state: Trail, ctx: Context) -> Trail:
        for number in range(count):
            await ctx.token(str(number))
        return state.replace(n=count)

    return talk


async def test_ex56_events_come_in_the_order_of_what_happened() -> None:
    async with Runner(greeting().compile(durable=False), MemoryStore()).stream("t", Trail()) as events:
        seen = [event async for event in events]
    assert [told(event) for event in seen] == ["start Greet", "Hello, ", "World", "end Greet", "start Done", "end Done"]
    assert [event.sequence for event in seen] == [1, 2, 3, 4, 5, 6]
    assert [event.path for event in seen] == ["Greet"] * 4 + ["Done"] * 2
    assert {event.attempt for event in seen} == {1}
    assert isinstance(events.outcome, Completed)


async def test_a_durable_run_says_what_it_stored_behind_what_happened() -> None:
    store = MemoryStore()
    async with Runner(greeting().compile(), store).stream("t", Trail()) as events:
        seen = [event async for event in events]
    assert [told(event) for event in seen][3:] == ["end Greet", "save running", "start Done", "end Done", "save completed"]
    assert [event.record for event in seen if isinstance(event, Committed)] == [1, 2]


async def test_a_committed_event_comes_when_the_record_can_be_read() -> None:
    store = MemoryStore()
    async with Runner(line("A", "B", "C").add_interrupt_boundary("B").compile(), store).stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Committed):
                assert event.record is not None
                assert len(await log(store)) > event.record
    assert isinstance(events.outcome, Interrupted)


async def test_ex6_any_handler_may_send_and_without_a_reader_it_goes_nowhere() -> None:
    streaming: list[bool] = []

    async def talk(state: Trail, ctx: Context) -> Trail:
        streaming.append(ctx.streaming)
        await ctx.token("heard by nobody")
        return state

    runner = Runner(StateGraph(Trail).add_node("A", talk).compile())
    assert isinstance(await runner.run("t", Trail()), Completed)
    async with runner.stream("u", Trail()) as events:
        assert [told(event) async for event in events] == ["start A", "heard by nobody", "end A"]
    assert streaming == [False, True]


async def test_tokens_come_from_threads_and_from_inline_nodes_too() -> None:
    def talk(state: Trail, ctx: Context) -> Trail:
        for word in ("a", "b", "c"):
            ctx.token_sync(f"{ctx.node} {word}")
        return state

    graph = StateGraph(Trail).add_node("Thread", talk).add_node("Inline", talk, inline=True).add_edge("Thread", "Inline").compile()
    async with Runner(graph).stream("t", Trail(), select=[Token]) as events:
        assert [told(event) async for event in events] == ["Thread a", "Thread b", "Thread c", "Inline a", "Inline b", "Inline c"]


def busy_twice() -> Callable[[Trail], Coroutine[None, None, Trail]]:
    tries = 0

    async def busy(state: Trail) -> Trail:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise TransientError("busy")
        return state

    return busy


async def test_the_attempts_of_a_retried_node_are_not_those_of_the_nodes_behind_it() -> None:
    graph = StateGraph(Trail).add_node("Busy", busy_twice()).add_node("Async", adds("A")).add_node("Inline", adds("I"), inline=True)
    graph.add_edge("Busy", "Async").add_edge("Async", "Inline").set_recovery_policy("Busy", retries=2, backoff=Backoff(initial=0, maximum=0))
    async with Runner(graph.compile(durable=True), MemoryStore()).stream("t", Trail(), select=[NodeStarted, NodeEnded, Committed]) as events:
        seen = [(event.path, event.attempt) async for event in events if not isinstance(event, NodeStarted)]
    assert seen == [("Busy", 3), ("Busy", 3), ("Async", 1), ("Async", 1), ("Inline", 1), ("Inline", 1)]


async def test_a_failure_behind_a_retried_node_counts_its_own_attempts() -> None:
    async def broken(state: Trail) -> Trail:
        raise FatalError("broken")

    graph = StateGraph(Trail).add_node("Busy", busy_twice()).add_node("Broken", broken).add_edge("Busy", "Broken")
    graph.set_recovery_policy("Busy", retries=2, backoff=Backoff(initial=0, maximum=0))
    outcome = await Runner(graph.compile()).run("t", Trail())
    assert isinstance(outcome, Failed)
    assert outcome.attempts == 1


async def test_diagnostics_come_with_their_details_from_every_kind_of_handler() -> None:
    async def search(state: Trail, ctx: Context) -> Trail:
        await ctx.diagnostic("found", documents=3)
        return state

    def rank(state: Trail, ctx: Context) -> Trail:
        ctx.diagnostic_sync("ranked", by=["date", "size"])
        return state

    graph = StateGraph(Trail).add_node("Search", search).add_node("Thread", rank).add_node("Inline", rank, inline=True)
    runner = Runner(graph.add_edge("Search", "Thread").add_edge("Thread", "Inline").compile())
    assert isinstance(await runner.run("t", Trail()), Completed)
    async with runner.stream("u", Trail(), select=[Diagnostic]) as events:
        seen = [(event.path, event.message, event.details) async for event in events if isinstance(event, Diagnostic)]
    ranked = ("ranked", {"by": ["date", "size"]})
    assert seen == [("Search", "found", {"documents": 3}), ("Thread", *ranked), ("Inline", *ranked)]


async def test_ex58_a_reader_that_waits_loses_nothing() -> None:
    graph = StateGraph(Trail).add_node("A", chatty(3000)).compile(durable=False)
    async with Runner(graph).stream("t", Trail(), select=[Token]) as events:
        await settle()
        seen = [told(event) async for event in events]
    assert seen == [str(number) for number in range(3000)]


async def test_a_full_buffer_makes_the_handler_wait() -> None:
    sent: list[int] = []

    async def talk(state: Trail, ctx: Context) -> Trail:
        for number in range(2000):
            await ctx.token(str(number))
            sent.append(number)
        return state

    async with Runner(StateGraph(Trail).add_node("A", talk).compile(durable=False)).stream("t", Trail(), select=[Token]) as events:
        await settle()
        assert len(sent) == ROOM
        seen = [event async for event in events]
    assert len(seen) == 2000


async def test_a_full_buffer_drops_tokens_and_nothing_else_if_so_asked() -> None:
    graph = StateGraph(Trail).add_node("A", chatty(5000)).compile(durable=False)
    async with Runner(graph).stream("t", Trail(), overflow="drop") as events:
        await settle()
        seen = [event async for event in events]
    assert [told(event) for event in seen if not isinstance(event, Token)] == ["start A", "end A"]
    assert len(seen) < 5000
    assert seen[-1].sequence == 5002, "what was dropped is counted"


async def test_str_02_a_reader_selects_the_kinds_that_it_wants() -> None:
    async with Runner(greeting().compile()).stream("t", Trail(), select={NodeStarted, NodeEnded}) as events:
        seen = [event async for event in events]
    assert [told(event) for event in seen] == ["start Greet", "end Greet", "start Done", "end Done"]
    assert [event.sequence for event in seen] == [1, 4, 5, 6]


async def test_can_09_a_node_that_fails_says_so_and_the_outcome_has_its_error() -> None:
    def bug(state: Trail) -> Trail:
        raise ValueError("a bug")

    async with Runner(StateGraph(Trail).add_node("A", bug, inline=True).compile(), MemoryStore()).stream("t", Trail()) as events:
        seen = [event async for event in events]
    assert [told(event) for event in seen] == ["start A", "fail A", "save failed"]
    failed = seen[1]
    assert isinstance(failed, NodeFailed)
    assert failed.message == "ValueError: a bug"
    outcome = events.outcome
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, ValueError)


async def test_ex53_a_cancelled_run_ends_its_stream() -> None:
    async def slow(state: Trail) -> Trail:
        await asyncio.sleep(HANG)
        return state

    runner = Runner(line("Prepare").add_node("Slow", slow).add_edge("Prepare", "Slow").compile(durable=False), MemoryStore())
    seen: list[str] = []
    async with runner.stream("t", Trail()) as events:
        async for event in events:
            seen.append(told(event))
            if seen[-1] == "start Slow":
                runner.cancel("t")
    assert seen == ["start Prepare", "end Prepare", "start Slow", "save cancelled"]
    assert isinstance(events.outcome, Cancelled)


async def test_a_hop_limit_tells_nothing_of_the_node_that_it_refused() -> None:
    async with Runner(line("A", "B").compile(max_node_hops=1, durable=False), MemoryStore()).stream("t", Trail()) as events:
        assert [told(event) async for event in events] == ["start A", "end A", "save failed"]


async def test_a_cancellation_while_the_reader_is_waited_for_keeps_the_node_from_starting() -> None:
    ran: list[str] = []

    async def fill(state: Trail, ctx: Context) -> Trail:
        for _ in range(ROOM - 2):  # the start of this node and its end take the rest
            await ctx.token(".")
        return state

    def second(state: Trail) -> Trail:
        ran.append("second")
        return state

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("Fill", fill).add_node("Second", second).add_edge("Fill", "Second").compile(durable=False)
    runner = Runner(graph, store)
    async with runner.stream("t", Trail()) as events:
        await settle()
        assert not ran
        assert runner.cancel("t")
        await settle()
        seen = [told(event) async for event in events]
    assert seen[-1] == "save cancelled"
    assert not ran
    outcome = events.outcome
    assert isinstance(outcome, Cancelled)
    assert outcome.node == "Second"


async def test_ex65_a_streamed_resume_starts_with_the_node_resumed_into() -> None:
    async def talk(state: Trail, ctx: Context) -> Trail:
        await ctx.token(state.trail)
        return state

    graph = line("A").add_node("Talk", talk).add_edge("A", "Talk").add_interrupt_boundary("A").compile(durable=False)
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    async with runner.stream_resume("t", graph.approve("ana").override(trail="alice")) as events:
        assert [told(event) async for event in events] == ["start Talk", "alice", "end Talk"]
    assert isinstance(events.outcome, Completed)


async def test_ex67_a_streamed_resume_may_pause_again_and_be_resumed_again() -> None:
    graph = line("A", "B", "C").add_interrupt_boundary("A").add_interrupt_boundary("B").compile()
    runner = Runner(graph, MemoryStore())
    await runner.run("t", Trail())
    async with runner.stream_resume("t", graph.approve("ana")) as events:
        assert [told(event) async for event in events] == ["start B", "end B", "save interrupted"]
    assert isinstance(events.outcome, Interrupted)
    async with runner.stream_resume("t", graph.approve("bob")) as events:
        assert [told(event) async for event in events] == ["start C", "end C", "save completed"]
    assert isinstance(events.outcome, Completed)


async def test_a_streamed_recovery_starts_with_the_node_in_flight() -> None:
    store, hangs = MemoryStore(), [True]

    async def slow(state: Trail) -> Trail:
        if hangs:
            await asyncio.sleep(HANG)
        return state

    graph = line("A").add_node("Slow", slow).add_node("Greet", greet).add_edge("A", "Slow").add_edge("Slow", "Greet").compile()
    runner = Runner(graph, store)
    async with runner.stream("t", Trail()) as events:
        async for event in events:
            if told(event) == "start Slow":
                break
    assert await log(store) == ["running:->A", "running:A>Slow"]
    hangs.clear()
    async with runner.stream_recover("t", select=[NodeStarted, NodeEnded, Token]) as events:
        assert [told(event) async for event in events] == ["start Slow", "end Slow", "start Greet", "Hello, ", "World", "end Greet"]


async def test_ex67_a_refusal_raises_on_entering() -> None:
    store = MemoryStore()
    graph = line("A", "B").add_interrupt_boundary("A").compile()
    runner = Runner(graph, store)
    with pytest.raises(ThreadNotFound):
        async with runner.stream_resume("t", graph.approve()):
            pytest.fail("entered")
    await runner.run("t", Trail())
    with pytest.raises(ThreadExists):
        async with runner.stream("t", Trail()):
            pytest.fail("entered")
    with pytest.raises(SignalRefused):
        async with runner.stream_resume("t"):
            pytest.fail("entered")
    with pytest.raises(OptionRefused):
        async with runner.stream_resume("t", graph.approve(), metadata={"error": "x"}):
            pytest.fail("entered")
    assert await log(store) == ["running:->A", "interrupted:A>B"]


async def test_ex68_can_08_leaving_the_block_abandons_the_run() -> None:
    cleaned: list[bool] = []

    async def talk(state: Trail, ctx: Context) -> Trail:
        try:
            for number in range(10_000):
                await ctx.token(str(number))
        finally:
            cleaned.append(True)
        return state

    store, clock = MemoryStore(), HandClock()
    runner = Runner(line("A").add_node("Talk", talk).add_edge("A", "Talk").compile(), store, clock=clock)
    async with runner.stream("t", Trail(), deadline=HANG) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert cleaned == [True]
    assert await log(store) == ["running:->A", "running:A>Talk"]
    assert clock.timers == 0
    assert not runner.cancel("t")
    with pytest.raises(StrataError, match="no outcome"):
        _ = events.outcome


@pytest.mark.parametrize("words", [1, 5_000])
async def test_can_08_a_clean_up_that_sends_to_a_reader_who_has_left_comes_to_its_end(words: int) -> None:
    """With more words than the buffer has room for, too: nobody will read them."""
    cleaned: list[str] = []

    async def talk(state: Trail, ctx: Context) -> Trail:
        try:
            while True:
                await ctx.token("word")
        finally:
            for _ in range(words):
                await ctx.token("bye")
            await ctx.diagnostic("gone", words=words)
            cleaned.append("Talk")

    store = MemoryStore()
    async with Runner(StateGraph(Trail).add_node("Talk", talk).compile(), store, clock=HandClock()).stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert cleaned == ["Talk"]
    assert await log(store) == ["running:->Talk"]


async def test_an_abandoned_stream_that_is_not_durable_says_where_it_stood() -> None:
    store = MemoryStore()
    runner = Runner(line("A").add_node("Talk", chatty(10_000)).add_edge("A", "Talk").compile(durable=False), store)
    async with runner.stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert await log(store) == ["cancelled:Talk>Talk"]


async def test_an_error_in_the_block_goes_up_and_abandons_the_run() -> None:
    store = MemoryStore()
    runner = Runner(line("A").add_node("Talk", chatty(10_000)).add_edge("A", "Talk").compile(), store)
    with pytest.raises(LookupError):
        async with runner.stream("t", Trail()):
            raise LookupError
    assert (await log(store))[-1] == "running:A>Talk"


async def test_a_reader_whose_task_is_cancelled_abandons_the_run() -> None:
    async def slow(state: Trail) -> Trail:
        await asyncio.sleep(HANG)
        return state

    store = MemoryStore()
    runner = Runner(line("A").add_node("Slow", slow).add_edge("A", "Slow").compile(), store)

    async def read() -> None:
        async with runner.stream("t", Trail()) as events:
            async for _ in events:
                pass

    task = asyncio.create_task(read())
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await log(store) == ["running:->A", "running:A>Slow"]
    assert not runner.cancel("t")


@pytest.mark.parametrize("boundary", [True, False])
async def test_leaving_while_the_last_events_wait_does_not_repeat_the_node_that_has_committed(boundary: bool) -> None:
    """The buffer is full when A ends: the run is abandoned between A's commit and its record."""

    async def fill(state: Trail, ctx: Context) -> Trail:
        for _ in range(ROOM - 1):  # and the start of A
            await ctx.token(".")
        return state.replace(trail=state.trail + "A")

    store = MemoryStore()
    graph = StateGraph(Trail).add_node("A", fill).add_node("B", adds("B")).add_edge("A", "B")
    if boundary:
        graph.add_interrupt_boundary("A")
    compiled = graph.compile(durable=False)
    runner = Runner(compiled, store)
    async with runner.stream("t", Trail()):
        await settle()
    assert await log(store) == ["interrupted:A>B" if boundary else "cancelled:B>B"]
    answer = compiled.approve("ana") if boundary else None
    assert (await runner.resume("t", answer)).unwrap().trail == "AB"


async def test_leaving_while_the_end_of_the_last_node_waits_stores_nothing_of_a_run_that_is_over() -> None:
    async def fill(state: Trail, ctx: Context) -> Trail:
        for _ in range(ROOM - 1):
            await ctx.token(".")
        return state

    store = MemoryStore()
    runner = Runner(StateGraph(Trail).add_node("A", fill).compile(durable=False), store)
    async with runner.stream("t", Trail()):
        await settle()
    assert await store.load_latest("t") is None


async def test_leaving_with_a_thread_that_waits_for_the_reader_lets_it_go() -> None:
    done = threading.Event()

    def talk(state: Trail, ctx: Context) -> Trail:
        try:
            for number in range(5000):
                ctx.token_sync(str(number))
        finally:
            done.set()
        return state

    runner = Runner(StateGraph(Trail).add_node("A", talk).compile(), MemoryStore())
    async with runner.stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert await asyncio.to_thread(done.wait, 5)
    await settle()


async def test_the_stream_of_an_entered_run_need_not_be_read() -> None:
    async with Runner(line("A").compile(), store := MemoryStore()).stream("t", Trail()):
        pass
    assert (await log(store))[0] == "running:->A"


async def test_a_second_reader_ends_when_the_first_does() -> None:
    async with Runner(greeting().compile(durable=False)).stream("t", Trail()) as events:

        async def read() -> list[str]:
            return [told(event) async for event in events]

        first, second = await asyncio.gather(read(), read())
        assert sorted(first + second) == sorted(["start Greet", "Hello, ", "World", "end Greet", "start Done", "end Done"])
        assert [told(event) async for event in events] == []
    assert [told(event) async for event in events] == []


async def test_reading_on_after_a_break_goes_on_where_it_stopped() -> None:
    async with Runner(greeting().compile(durable=False)).stream("t", Trail()) as events:
        async for event in events:
            if told(event) == "Hello, ":
                break
        assert [told(event) async for event in events] == ["World", "end Greet", "start Done", "end Done"]
    assert isinstance(events.outcome, Completed)


async def test_reading_behind_the_block_ends_at_once() -> None:
    runner = Runner(line("A").add_node("Talk", chatty(10_000)).add_edge("A", "Talk").compile(), MemoryStore())
    async with runner.stream("t", Trail()) as events:
        await settle()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            _ = [event async for event in events]


async def test_a_stream_is_one_run() -> None:
    stream = Runner(line("A").compile()).stream("t", Trail())
    async with stream as events:
        _ = [event async for event in events]
    with pytest.raises(StrataError, match="entered before"):
        async with stream:
            pytest.fail("entered")


async def test_a_store_that_fails_raises_at_the_reader() -> None:
    seen: list[str] = []

    async def read() -> None:
        async with Runner(line("A", "B").compile(), FailingStore(2)).stream("t", Trail()) as events:
            async for event in events:
                seen.append(told(event))  # noqa: PERF401 - what was read before the error counts

    with pytest.raises(StoreError, match="the disk is full"):
        await read()
    assert seen == ["start A", "end A"]


async def test_a_store_that_fails_raises_when_a_reader_leaves_that_has_not_met_it() -> None:
    with pytest.raises(StoreError, match="the disk is full"):
        async with Runner(line("A", "B").compile(), FailingStore(2)).stream("t", Trail()):
            await settle()


async def test_a_store_that_fails_at_once_raises_on_entering() -> None:
    for fails in ("load", 1):
        with pytest.raises(StoreError):
            async with Runner(line("A").compile(), FailingStore(fails)).stream("t", Trail()):
                pytest.fail("entered")


async def test_tokens_of_an_attempt_that_was_given_up_are_dropped() -> None:
    started, release, late = threading.Event(), threading.Event(), threading.Event()

    def talk(state: Trail, ctx: Context) -> Trail:
        ctx.token_sync("in time")
        started.set()
        release.wait()
        ctx.token_sync("late")
        late.set()
        return state

    clock = HandClock()
    runner = Runner(StateGraph(Trail).add_node("A", talk, timeout=1).compile(durable=False), MemoryStore(), clock=clock)
    async with runner.stream("t", Trail()) as events:
        await asyncio.to_thread(started.wait)
        await clock.pass_time(1)
        release.set()
        assert await asyncio.to_thread(late.wait, 5)
        assert [told(event) async for event in events] == ["start A", "in time", "fail A", "save failed"]


async def test_mig_10_a_task_that_outlives_its_node_sends_nothing_more() -> None:
    late: list[asyncio.Task[None]] = []

    async def talk(state: Trail, ctx: Context) -> Trail:
        async def later() -> None:
            await asyncio.sleep(0.01)
            await ctx.token("late")

        late.append(asyncio.create_task(later()))
        return state

    async def wait(state: Trail) -> Trail:
        await late[0]
        return state

    graph = StateGraph(Trail).add_node("A", talk).add_node("B", wait).add_edge("A", "B").compile(durable=False)
    async with Runner(graph).stream("t", Trail(), select=[Token]) as events:
        assert [event async for event in events] == []


async def test_an_inline_node_that_keeps_its_context_sends_nothing_afterwards() -> None:
    kept: list[Context] = []

    def keep(state: Trail, ctx: Context) -> Trail:
        kept.append(ctx)
        return state

    async def use(state: Trail) -> Trail:
        await kept[0].token("late")
        return state

    graph = StateGraph(Trail).add_node("A", keep, inline=True).add_node("B", use).add_edge("A", "B").compile(durable=False)
    async with Runner(graph).stream("t", Trail(), select=[Token]) as events:
        assert [event async for event in events] == []


@pytest.mark.parametrize("where", ["node", "thread", "branch"])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
async def test_what_ends_the_program_goes_up_to_the_reader_and_not_past_it(error: type[BaseException], where: str) -> None:
    async def leaves(state: Trail) -> Trail:
        raise error

    def leaves_a_thread(state: Trail) -> Trail:
        raise error

    builder = StateGraph(Trail)
    if where == "branch":
        builder.add_parallel_group("A", [branch("B", leaves), branch("C", leaves_a_thread)], lambda state, results: state)
    else:
        builder.add_node("A", leaves if where == "node" else leaves_a_thread)

    async def reads() -> None:
        async with events:
            async for _ in events:
                pass

    events = Runner(builder.compile(), MemoryStore()).stream("t", Trail())
    with pytest.raises(error):
        await reads()
    with pytest.raises(error):
        _ = events.outcome
