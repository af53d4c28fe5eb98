"""What a reader sees of branches, items, children and retries, and what a slow one does to them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from strata import (
    Cancelled,
    Committed,
    CompiledGraph,
    Completed,
    Context,
    Failed,
    Interrupted,
    NodeEnded,
    NodeFailed,
    NodeStarted,
    Retried,
    Runner,
    StateGraph,
    StreamEvent,
    Token,
    branch,
)
from strata.stores.memory import MemoryStore
from tests.clocks import HandClock, settle
from tests.graphs.trails import Trail
from tests.kinds.nests import alone, in_brackets, starts_empty, steps
from tests.kinds.parts import gather, transient
from tests.odd_stores import CountingStore

ROOM = 1024


def told(event: StreamEvent) -> str:
    """One word an event, after its path."""
    match event:
        case NodeStarted(path=path, node=node):
            return f"start {path}({node})"
        case NodeEnded(path=path, node=node):
            return f"end {path}({node})"
        case NodeFailed(path=path, message=message):
            return f"fail {path}: {message}"
        case Retried(path=path, message=message):
            return f"retry {path}: {message}"
        case Token(path=path, text=text):
            return f"{path} says {text}"
        case _:
            return type(event).__name__


def says(*words: str) -> Any:
    async def talk(state: Trail, ctx: Context) -> Trail:
        for word in words:
            await ctx.token(word)
        return state.replace(trail=state.trail + ctx.node[0])

    return talk


class Tries:
    """Says which attempt it is, and fails so many times."""

    def __init__(self, fails: int, text: str = "timeout") -> None:
        self.fails, self.calls, self.text = fails, 0, text

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self.calls += 1
        await ctx.token(f"try{self.calls}")
        if self.calls <= self.fails:
            raise transient(self.text)
        return state


async def seen(graph: CompiledGraph[Trail]) -> list[str]:
    async with Runner(graph).stream("t", Trail()) as events:
        return [told(event) async for event in events if not isinstance(event, Committed)]


def streams(graph: StateGraph[Trail]) -> CompiledGraph[Trail]:
    return graph.compile(durable=False)


def merge(state: Trail, results: list[Trail]) -> Trail:
    return state


def fan(**branches: Any) -> StateGraph[Trail]:
    return StateGraph(Trail).add_parallel_group("Gather", [branch(name, fn) for name, fn in branches.items()], merge)


async def test_ex58_three_talkative_branches_and_a_slow_reader_lose_nothing() -> None:
    words = [str(number) for number in range(2000)]
    graph = streams(fan(a=says(*words), b=says(*words), c=says(*words)))
    async with Runner(graph).stream("t", Trail()) as events:
        await settle()  # the reader is not there yet, and the branches wait for room
        tokens = [event async for event in events if isinstance(event, Token)]
    for name in "abc":
        assert [token.text for token in tokens if token.path == f"Gather/{name}"] == words
    assert [token.sequence for token in tokens] == sorted(token.sequence for token in tokens)


async def test_ex58_a_talkative_child_and_a_slow_reader_lose_nothing() -> None:
    words = [str(number) for number in range(3000)]
    graph = streams(alone("Work", streams(steps(("Talk", says(*words))))))
    async with Runner(graph).stream("t", Trail()) as events:
        await settle()
        tokens = [event.text async for event in events if isinstance(event, Token)]
    assert tokens == words


async def test_ex59_branches_send_tokens_under_their_paths_and_have_no_events_of_their_own() -> None:
    async def silent(state: Trail) -> Trail:
        return state

    words = await seen(streams(fan(a=says("x", "y"), b=says("z"), c=silent)))
    assert (words[0], words[-1]) == ("start Gather(Gather)", "end Gather(Gather)")
    assert sorted(words[1:-1]) == ["Gather/a says x", "Gather/a says y", "Gather/b says z"]


async def test_ex60_a_retry_of_a_group_tells_the_reader_to_forget_the_round() -> None:
    graph = streams(fan(flaky=Tries(1)).set_recovery_policy("Gather", retries=2))
    assert await seen(graph) == [
        "start Gather(Gather)",
        "Gather/flaky says try1",
        "retry Gather: branch 'flaky': timeout",
        "Gather/flaky says try2",
        "end Gather(Gather)",
    ]


async def test_ex60_a_group_that_fails_for_good_tells_one_retry_and_one_failure() -> None:
    graph = streams(fan(flaky=Tries(9)).set_recovery_policy("Gather", retries=1))
    assert await seen(graph) == [
        "start Gather(Gather)",
        "Gather/flaky says try1",
        "retry Gather: branch 'flaky': timeout",
        "Gather/flaky says try2",
        "fail Gather: branch 'flaky': timeout",
    ]


async def test_ex61_ex64_without_a_reader_tokens_go_nowhere_at_every_depth() -> None:
    child = streams(steps(("Talk", says("x"))))
    graph = fan(a=says("x")).add_subgraph("Work", child, enter=starts_empty, leave=in_brackets).add_edge("Gather", "Work")
    assert isinstance(await Runner(streams(graph)).run("t", Trail()), Completed)


async def test_ex62_str_01_str_06_a_childs_events_carry_the_whole_path_and_come_once() -> None:
    child = streams(steps(("Talk", says("Hel", "lo"))))
    assert await seen(streams(alone("Work", child))) == [
        "start Work(Work)",
        "start Work/Talk(Talk)",
        "Work/Talk says Hel",
        "Work/Talk says lo",
        "end Work/Talk(Talk)",
        "end Work(Work)",
    ]
    words = await seen(streams(alone("Work", streams(alone("Inner", child)))))
    assert [word for word in words if "says" in word] == ["Work/Inner/Talk says Hel", "Work/Inner/Talk says lo"]


async def test_ex62_one_child_behind_two_nodes_is_named_by_each() -> None:
    child = streams(steps(("Talk", says("x"))))
    graph = StateGraph(Trail)
    for name in ("First", "Second"):
        graph.add_subgraph(name, child, enter=starts_empty, leave=in_brackets)
    words = await seen(streams(graph.add_edge("First", "Second")))
    assert [word for word in words if "says" in word] == ["First/Talk says x", "Second/Talk says x"]


def fan_in_child(fails: int, *, own: int = 0) -> StateGraph[Trail]:
    child = StateGraph(Trail).add_parallel_group("Fan", [branch("flaky", Tries(fails))], merge)
    if own:
        child.set_recovery_policy("Fan", retries=own)
    return alone("Work", streams(child))


async def test_ex63_a_retry_around_a_child_starts_the_child_again() -> None:
    assert await seen(streams(fan_in_child(1).set_recovery_policy("Work", retries=2))) == [
        "start Work(Work)",
        "start Work/Fan(Fan)",
        "Work/Fan/flaky says try1",
        "fail Work/Fan: branch 'flaky': timeout",
        "retry Work: subgraph 'Work' failed at 'Fan' after 1 attempt(s): branch 'flaky': timeout",
        "start Work/Fan(Fan)",
        "Work/Fan/flaky says try2",
        "end Work/Fan(Fan)",
        "end Work(Work)",
    ]


async def test_ex63_a_retry_inside_a_child_is_told_there_only() -> None:
    words = await seen(streams(fan_in_child(1, own=2)))
    assert [word for word in words if word.startswith("retry")] == ["retry Work/Fan: branch 'flaky': timeout"]


async def test_ex63_a_child_that_gives_up_fails_inside_first() -> None:
    words = await seen(streams(fan_in_child(9)))
    assert [word.partition(":")[0] for word in words if word.startswith(("fail", "end"))] == ["fail Work/Fan", "fail Work"]


async def test_ex64_ex65_a_child_that_pauses_has_no_end_and_a_streamed_resume_starts_with_its_nodes() -> None:
    child = steps(("Ask", says("before")), ("Talk", says("after"))).add_interrupt_boundary("Ask").compile()
    runner = Runner(alone("Work", child).compile(), MemoryStore())
    async with runner.stream("t", Trail()) as events:
        words = [told(event) async for event in events]
    assert words == ["start Work(Work)", "start Work/Ask(Ask)", "Work/Ask says before", "end Work/Ask(Ask)", "Committed"]
    assert isinstance(events.outcome, Interrupted)
    async with runner.stream_resume("t", child.approve("ed").override(trail="x")) as events:
        words = [told(event) async for event in events]
    assert [word for word in words if word != "Committed"] == [
        "start Work(Work)",
        "start Work/Talk(Talk)",
        "Work/Talk says after",
        "end Work/Talk(Talk)",
        "end Work(Work)",
    ]
    assert events.outcome.unwrap().trail == "(xT)"


TALKERS: list[Callable[[Any], StateGraph[Trail]]] = [
    lambda talk: steps(("Talk", talk)),
    lambda talk: fan(Talk=talk),
    lambda talk: alone("W", streams(steps(("Talk", talk)))),
]


@pytest.mark.parametrize("make", TALKERS)
async def test_a_cancelled_run_ends_though_nobody_reads(make: Callable[[Any], StateGraph[Trail]]) -> None:
    async def endless(state: Trail, ctx: Context) -> Trail:
        while True:
            await ctx.token("word")

    runner = Runner(streams(make(endless)))
    async with runner.stream("t", Trail()) as events:
        await settle()
        runner.cancel("t")
        await settle()
        kinds = [type(event) async for event in events]
    assert len(kinds) == ROOM + 1
    assert kinds[-1] is Committed
    assert isinstance(events.outcome, Cancelled)


async def test_late_tokens_of_an_attempt_that_ran_over_do_not_reach_the_reader_even_if_they_wait_for_room() -> None:
    """A sync node fills the buffer and waits for room on its thread; its time is over, and the second attempt speaks."""
    clock, loop, ended, full = HandClock(), asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def talk(state: Trail, ctx: Context) -> Trail:
        if ctx.attempt == 2:
            return state
        try:
            for number in range(2 * ROOM):
                if number == ROOM - 1:  # one place is taken by the node's start
                    loop.call_soon_threadsafe(full.set)
                ctx.token_sync(str(number))
        finally:
            loop.call_soon_threadsafe(ended.set)
        return state

    graph = steps(("Talk", talk), timeout=1).set_recovery_policy("Talk", retries=1)
    async with Runner(streams(graph), clock=clock).stream("t", Trail()) as events:
        await full.wait()
        await clock.pass_time(1)
        await ended.wait()  # the thread is let go though nobody has read
        kinds = [type(event).__name__ async for event in events]
    assert kinds == ["NodeStarted", *["Token"] * (ROOM - 1), "Retried", "NodeEnded"]
    assert clock.timers == 0


async def test_tokens_that_a_handlers_own_task_sends_after_its_attempt_are_dropped() -> None:
    late = list[asyncio.Task[None]]()

    async def talk(state: Trail, ctx: Context) -> Trail:
        async def later() -> None:
            await asyncio.sleep(0)
            await ctx.token("late")

        if ctx.attempt == 1:
            late.append(asyncio.create_task(later()))
            raise transient("busy")
        await asyncio.gather(*late)
        await ctx.token("second")
        return state

    words = await seen(streams(steps(("Talk", talk)).set_recovery_policy("Talk", retries=1)))
    assert words == ["start Talk(Talk)", "retry Talk: busy", "Talk says second", "end Talk(Talk)"]


async def test_can_08_leaving_a_stream_early_ends_every_branch_and_saves_once() -> None:
    cleaned, store = list[str](), CountingStore()

    async def endless(state: Trail, ctx: Context) -> Trail:
        try:
            while True:
                await ctx.token("word")
        finally:
            await asyncio.sleep(0)
            cleaned.append(ctx.node)

    graph = streams(gather({"b": endless, "c": endless}))
    async with Runner(graph, store).stream("t", Trail()) as events:
        async for event in events:
            if isinstance(event, Token):
                break
    assert cleaned == ["b", "c"]
    assert store.saved == ["cancelled"]


async def test_can_09_the_reader_sees_the_error_itself() -> None:
    async def talk(state: Trail, ctx: Context) -> Trail:
        await ctx.token("x")
        raise ValueError("wrong")

    async with Runner(streams(alone("Work", streams(steps(("Talk", talk)))))).stream("t", Trail()) as events:
        words = [told(event) async for event in events if not isinstance(event, Committed)]
    assert words[-2:] == [
        "fail Work/Talk: ValueError: wrong",
        "fail Work: subgraph 'Work' failed at 'Talk' after 1 attempt(s): ValueError: wrong",
    ]
    assert isinstance(events.outcome, Failed)


@pytest.mark.parametrize("kind", [Token, NodeStarted])
async def test_str_02_a_filter_holds_at_every_depth(kind: type[StreamEvent]) -> None:
    graph = streams(alone("Work", streams(steps(("Talk", says("x"))))))
    async with Runner(graph).stream("t", Trail(), select=[kind]) as events:
        assert {type(event) async for event in events} == {kind}


async def test_str_05_a_reader_that_does_not_read_slows_nobody_where_tokens_may_be_dropped() -> None:
    graph = streams(fan(a=says(*map(str, range(3000))), b=says(*map(str, range(3000)))))
    async with Runner(graph).stream("t", Trail(), overflow="drop") as events:
        await settle()
        kept = [event async for event in events]
    assert ROOM <= len(kept) <= ROOM + 1  # the end waits for room, tokens do not
    assert isinstance(kept[-1], NodeEnded)
    assert isinstance(events.outcome, Completed)
