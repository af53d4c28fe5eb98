"""Maps: a graph for every item of a list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from strata import (
    BadItems,
    Cancelled,
    CompiledGraph,
    Context,
    Failed,
    GraphInvalid,
    HandlerCancelled,
    MapperFailed,
    Outcomes,
    Runner,
    StateGraph,
    Token,
    first_success,
    quorum,
)
from strata.ports.events import BranchCompleted, HopLimitExceeded, JoinDecided, MapExpanded, NodeCompleted
from strata.stores.memory import MemoryStore
from strata.testing import EventRecorder
from tests.clocks import HandClock, settle
from tests.kinds.parts import HANG, Item, ItemHandler, Items, fatal, keys_of, to_item, transient
from tests.logs import checkpoints, log


class Work:
    """What assess does, by the item's key; it says what it did."""

    def __init__(self, seconds: dict[str, float] | None = None, errors: dict[str, list[Exception]] | None = None) -> None:
        self.seconds, self.errors = seconds or {}, errors or {}
        self.calls = list[str]()
        self.cancelled = list[str]()
        self.paths = list[str]()
        self.now = self.peak = 0

    async def assess(self, item: Item, ctx: Context) -> Item:
        self.calls.append(item.key)
        self.paths.append(ctx.path)
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            if seconds := self.seconds.get(item.key):
                await ctx.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled.append(item.key)
            raise
        finally:
            self.now -= 1
        if self.errors.get(item.key):
            raise self.errors[item.key].pop(0)
        return item.replace(log="assessed ")


def child(assess: ItemHandler, *, limit: int | None = None) -> CompiledGraph[Item]:
    """assess, summarize."""
    return (
        StateGraph(Item)
        .add_node("assess", assess)
        .add_node("summarize", lambda item: item.replace(log=item.log + item.key), inline=True)
        .add_edge("assess", "summarize")
        .compile(max_node_hops=limit)
    )


class Merged:
    """A merge that keeps the outcomes."""

    def __init__(self) -> None:
        self.outcomes = list[Outcomes[Item]]()

    def __call__(self, state: Items, outcomes: Outcomes[Item]) -> Items:
        self.outcomes.append(outcomes)
        return state.replace(done=[f"{outcome.name} {outcome.status}" for outcome in outcomes])


def plain(state: Items, items: list[Item]) -> Items:
    return state.replace(done=[item.log for item in items])


def investigate(graph: CompiledGraph[Item], merge: Any = plain, **options: Any) -> StateGraph[Items]:
    """Investigate, a map over the keys of the state."""
    given: dict[str, Any] = {"items": keys_of, "key": str, "enter": to_item} | options
    return StateGraph(Items).add_map("Investigate", graph, merge=merge, **given)


async def ran(graph: CompiledGraph[Items], *keys: str, seconds: float = 0, **options: Any) -> Any:
    """The outcome after so much time; no item runs on."""
    clock = HandClock()
    running = asyncio.ensure_future(Runner(graph, options.pop("store", None), clock=clock).run("t", Items(keys=list(keys)), **options))
    await clock.pass_time(seconds)
    outcome = await running
    assert clock.timers == 0
    return outcome


@pytest.mark.parametrize("partial", ["fail_group", "keep_succeeded"])
async def test_ex96_par_02_over_nothing_the_merge_runs_once_with_nothing(partial: Any) -> None:
    work, merged = Work(), Merged()
    outcome = await ran(investigate(child(work.assess), merged, partial=partial).compile())
    assert outcome.unwrap().done == []
    assert [(list(outcomes), outcomes.join_met, outcomes.deciding) for outcomes in merged.outcomes] == [([], True, ())]


async def test_ex97_an_item_is_a_level_of_its_own_with_paths_below_the_map() -> None:
    work, recorder = Work(), EventRecorder()
    outcome = await ran(investigate(child(work.assess)).compile(), "h1", observers=[recorder])
    assert outcome.unwrap().done == ["assessed h1"]
    assert work.paths == ["Investigate/h1/assess"]
    assert [line for line in recorder.lines() if not line.startswith(("Run", "Checkpoint"))] == [
        "NodeStarted Investigate#1",
        "MapExpanded Investigate#1 [h1]",
        "BranchStarted Investigate/h1#1",
        "NodeStarted Investigate/h1/assess#1",
        "NodeCompleted Investigate/h1/assess#1 committed",
        "NodeStarted Investigate/h1/summarize#1",
        "NodeCompleted Investigate/h1/summarize#1 committed",
        "BranchCompleted Investigate/h1#1 succeeded",
        "NodeCompleted Investigate#1 committed",
    ]


async def test_ex98_no_more_items_run_than_the_limit_and_both_orders_are_the_lists() -> None:
    work = Work({"a": 9.0, "b": 1, "c": 1, "d": 1, "e": 1})
    outcome = await ran(investigate(child(work.assess), max_concurrency=2).compile(), *"abcde", seconds=20)
    assert outcome.unwrap().done == [f"assessed {key}" for key in "abcde"]
    assert (work.calls, work.peak) == (list("abcde"), 2)


@pytest.mark.parametrize(("options", "peak"), [({}, 8), ({"max_concurrency": None}, 12), ({"max_concurrency": 1}, 1), ({"max_concurrency": 50}, 12)])
async def test_ex98_par_04_eight_at_once_unless_it_says_otherwise_and_all_of_them(options: dict[str, Any], peak: int) -> None:
    work = Work(dict.fromkeys("abcdefghijkl", 1.0))
    outcome = await ran(investigate(child(work.assess), **options).compile(), *"abcdefghijkl", seconds=20)
    assert len(outcome.unwrap().done) == 12
    assert work.peak == peak


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 7])
async def test_par_04_all_items_are_done_under_every_limit(limit: int) -> None:
    work = Work(dict.fromkeys("abcdef", 1.0) | {"a": 3.0})
    outcome = await ran(investigate(child(work.assess), max_concurrency=limit).compile(), *"abcdef", seconds=20)
    assert outcome.unwrap().done == [f"assessed {key}" for key in "abcdef"]
    assert work.peak == min(limit, 6)


async def test_can_02_an_item_whose_own_task_is_cancelled_from_inside_fails_the_map_and_stops_the_others() -> None:
    work = Work({"slow": HANG})

    async def assess(item: Item, ctx: Context) -> Item:
        task = asyncio.current_task()
        assert task is not None
        if item.key == "odd":
            task.cancel()
        return await work.assess(item, ctx)

    work.seconds["odd"] = HANG
    outcome = await ran(investigate(child(assess)).compile(), "slow", "odd")
    assert isinstance(outcome, Failed)
    assert outcome.kind == "fatal"
    assert outcome.message == f"item 'odd': {HandlerCancelled('assess')}"
    assert sorted(work.cancelled) == ["odd", "slow"]


BAD_KEYS = [
    (["h1", "h2", "h1"], "map 'Investigate': items 0 and 2 have the same key 'h1'"),
    (["h1", ""], "map 'Investigate': item 1 has an empty key"),
    (["a/b"], "map 'Investigate': item 0 has the key 'a/b', which contains '/'"),
]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (3, "map 'Investigate': item 0 has the key 3, which is no string"),
        ("\ud800", "map 'Investigate': item 0 has the key '\\ud800', which has half a surrogate pair"),
    ],
)
async def test_ex99_a_key_that_no_store_could_keep_starts_nothing(key: Any, text: str) -> None:
    def key_of(_: str) -> Any:
        return key

    work = Work()
    outcome = await ran(investigate(child(work.assess), key=key_of).compile(), "h1", store=MemoryStore())
    assert isinstance(outcome, Failed)
    assert outcome.message == text
    assert work.calls == []


@pytest.mark.parametrize(("keys", "text"), BAD_KEYS)
async def test_ex99_with_bad_keys_nothing_starts(keys: list[str], text: str) -> None:
    work, recorder, store = Work(), EventRecorder(), MemoryStore()
    graph = investigate(child(work.assess)).set_recovery_policy("Investigate", retries=3).compile()
    outcome = await ran(graph, *keys, observers=[recorder], store=store)
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.kind, outcome.attempts) == (text, "fatal", 1)
    assert isinstance(outcome.error, BadItems)
    assert work.calls == []
    assert recorder.lines(MapExpanded) == []
    assert (await checkpoints(store))[-1].metadata == {"error": text, "error_kind": "fatal", "attempts": "1", "strata.hops": "0"}


async def test_ex99_more_items_than_allowed_are_refused() -> None:
    work = Work()
    outcome = await ran(investigate(child(work.assess), max_items=2).compile(), "a", "b", "c")
    assert isinstance(outcome, Failed)
    assert outcome.message == "map 'Investigate' has 3 items, more than its limit of 2"
    assert work.calls == []


async def test_ex101_what_succeeded_is_merged_where_the_rest_may_fail() -> None:
    work, merged = Work(errors={"h2": [fatal("no evidence")]}), Merged()
    outcome = await ran(investigate(child(work.assess), merged, partial="keep_succeeded").compile(), "h1", "h2", "h3")
    assert outcome.unwrap().done == ["h1 succeeded", "h2 failed", "h3 succeeded"]
    assert merged.outcomes[0][1].error == "failed at 'assess' after 1 attempt(s): no evidence"


async def test_ex102_a_failed_map_says_which_item_and_when_to_come_back_and_nests_nothing() -> None:
    work, store = Work(errors={"b": [transient("rate limited", retry_after=5)]}), MemoryStore()
    outcome = await ran(investigate(child(work.assess)).compile(), "a", "b", store=store)
    assert isinstance(outcome, Failed)
    assert outcome.message == "item 'b': failed at 'assess' after 1 attempt(s): rate limited"
    assert (outcome.kind, outcome.retry_after) == ("transient", 5.0)
    last = (await checkpoints(store))[-1]
    assert last.nested is None
    assert last.metadata is not None
    assert (last.metadata["error_kind"], last.metadata["strata.retry_after_ms"]) == ("transient", "5000")


async def test_ex105_a_decided_join_stops_the_other_items_before_the_map_ends() -> None:
    work, merged, recorder = Work({"slow": HANG}), Merged(), EventRecorder()
    outcome = await ran(investigate(child(work.assess), merged, join=first_success()).compile(), "slow", "fast", observers=[recorder])
    assert outcome.unwrap().done == ["slow cancelled", "fast succeeded"]
    assert work.cancelled == ["slow"]
    assert recorder.lines(BranchCompleted, JoinDecided, NodeCompleted)[-5:] == [
        "BranchCompleted Investigate/fast#1 succeeded",
        "JoinDecided Investigate#1 first_success met [fast]",
        "NodeCompleted Investigate/slow/assess#1 cancelled",
        "BranchCompleted Investigate/slow#1 cancelled (lost_race)",
        "NodeCompleted Investigate#1 committed",
    ]


async def test_ex107_inside_a_subgraph_paths_begin_with_it_and_tokens_are_named_by_item_and_node() -> None:
    paths = list[str]()

    async def speak(item: Item, ctx: Context) -> Item:
        paths.append(ctx.path)
        await ctx.token(item.key)
        return item

    inner = investigate(child(speak)).compile()
    graph = StateGraph(Items).add_subgraph("Outer", inner, enter=lambda state: state, leave=lambda _, state: state).compile()
    async with Runner(graph).stream("t", Items(keys=["a", "b"])) as events:
        seen = [(event.path, event.text) async for event in events if isinstance(event, Token)]
    assert seen == [("Outer/Investigate/a/assess", "a"), ("Outer/Investigate/b/assess", "b")]
    assert paths == [path for path, _ in seen]


async def test_ex108_a_retry_runs_every_item_again() -> None:
    work, recorder = Work(errors={"b": [transient("busy")]}), EventRecorder()
    graph = investigate(child(work.assess), max_concurrency=1).set_recovery_policy("Investigate", retries=1).compile()
    outcome = await ran(graph, "a", "b", observers=[recorder])
    assert outcome.unwrap().done == ["assessed a", "assessed b"]
    assert work.calls == ["a", "b", "a", "b"]
    assert recorder.lines(MapExpanded) == ["MapExpanded Investigate#1 [a, b]", "MapExpanded Investigate#2 [a, b]"]


@pytest.mark.parametrize("retries", [0, 3])
async def test_ex109_ck34_a_cancelled_map_winds_its_items_down_and_nests_nothing(retries: int) -> None:
    work, store, clock, recorder = Work({"a": HANG, "b": HANG}), MemoryStore(), HandClock(), EventRecorder()
    graph = investigate(child(work.assess)).set_recovery_policy("Investigate", retries=retries).compile()
    runner = Runner(graph, store, clock=clock, observers=[recorder])
    running = asyncio.ensure_future(runner.run("t", Items(keys=["a", "b"])))
    await settle()
    runner.cancel("t")
    outcome = await running
    assert isinstance(outcome, Cancelled)
    assert (outcome.node, outcome.stopped_at) == ("Investigate", ("Investigate",))
    assert work.cancelled == ["a", "b"]
    assert (await log(store))[-1] == "cancelled:Investigate>Investigate"
    assert clock.timers == 0
    ends = recorder.lines(BranchCompleted, NodeCompleted)
    for key in "ab":
        assert ends.index(f"NodeCompleted Investigate/{key}/assess#1 cancelled") < ends.index(f"BranchCompleted Investigate/{key}#1 cancelled")
    assert ends[-1] == "NodeCompleted Investigate#1 cancelled"


async def test_ex110_gh7_items_count_their_own_hops_and_the_map_is_one() -> None:
    work, recorder = Work(), EventRecorder()
    assert (await ran(investigate(child(work.assess)).compile(max_node_hops=1), "a", "b", "c")).unwrap().done
    outcome = await ran(investigate(child(work.assess, limit=1)).compile(), "a", observers=[recorder])
    assert isinstance(outcome, Failed)
    assert outcome.message == "item 'a': hit its hop limit: hop limit of 1 reached: node 'summarize' would be hop 2"
    assert outcome.kind == "fatal"
    assert recorder.lines(HopLimitExceeded) == ["HopLimitExceeded Investigate/a/summarize 1/1"]


async def test_ex100_a_quorum_may_be_larger_than_a_list_and_is_then_not_reached_before_anything_starts() -> None:
    work = Work()
    outcome = await ran(investigate(child(work.assess), join=quorum(50)).compile(), "a", "b")
    assert isinstance(outcome, Failed)
    assert outcome.message == "quorum of 50 not reached: 0 of 2 items succeeded"
    assert work.calls == []
    with pytest.raises(GraphInvalid):
        investigate(child(work.assess), join=quorum(0)).compile()


async def test_without_items_a_first_success_cannot_be_met() -> None:
    outcome = await ran(investigate(child(Work().assess), join=first_success()).compile())
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.kind) == ("no items to run", "fatal")


async def test_an_item_that_runs_over_has_failed_alone() -> None:
    work, merged = Work({"b": HANG}), Merged()
    outcome = await ran(investigate(child(work.assess), merged, item_timeout=5, partial="keep_succeeded").compile(), "a", "b", seconds=5)
    assert outcome.unwrap().done == ["a succeeded", "b timed_out"]
    assert merged.outcomes[0][1].error == "item 'b' timed out after 5000 ms"


async def test_the_timeout_of_a_map_winds_its_items_down() -> None:
    work = Work({"a": HANG, "b": HANG})
    graph = investigate(child(work.assess), timeout=5).set_recovery_policy("Investigate", retries=1).compile()
    outcome = await ran(graph, "a", "b", seconds=10)
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.attempts, outcome.kind) == ("node 'Investigate' timed out after 5000 ms", 2, "transient")
    assert work.cancelled == ["a", "b", "a", "b"]


def boom(*_: object) -> Any:
    raise LookupError("none")


BROKEN: list[tuple[dict[str, Callable[..., Any]], str]] = [
    ({"items": boom}, "items of node 'Investigate' raised LookupError: none"),
    ({"key": boom}, "key of node 'Investigate' raised LookupError: none"),
    ({"merge": boom}, "the merge of node 'Investigate' raised LookupError: none"),
]


@pytest.mark.parametrize(("broken", "text"), BROKEN)
async def test_a_mapper_that_raises_fails_the_map_by_name(broken: dict[str, Any], text: str) -> None:
    store = MemoryStore()
    outcome = await ran(investigate(child(Work().assess), **broken).compile(), "a", store=store)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, MapperFailed)
    assert (outcome.message, outcome.kind) == (text, "fatal")
    assert (await log(store))[-1] == "failed:Investigate>Investigate"


async def test_an_enter_that_raises_fails_its_item_alone() -> None:
    merged = Merged()

    def enter(state: Items, key: str) -> Item:
        return boom() if key == "b" else to_item(state, key)

    outcome = await ran(investigate(child(Work().assess), merged, enter=enter, partial="keep_succeeded").compile(), "a", "b")
    assert outcome.unwrap().done == ["a succeeded", "b failed"]
    assert merged.outcomes[0][1].error == "enter of node 'Investigate' raised LookupError: none"


async def test_what_an_item_makes_of_its_own_retries_and_fallback_stays_inside_it() -> None:
    work = Work(errors={"a": [transient("busy")], "b": [fatal("no")]})
    inner = (
        StateGraph(Item)
        .add_node("assess", work.assess)
        .add_node("give_up", lambda item: item.replace(log="none"), inline=True)
        .set_recovery_policy("assess", retries=1, fallback="give_up")
        .compile()
    )
    assert (await ran(investigate(inner).compile(), "a", "b")).unwrap().done == ["assessed ", "none"]


async def test_an_abandoned_run_waits_for_its_items() -> None:
    work, clock, store = Work({"a": HANG, "b": HANG}), HandClock(), MemoryStore()
    running = asyncio.ensure_future(Runner(investigate(child(work.assess)).compile(), store, clock=clock).run("t", Items(keys=["a", "b"])))
    await settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.cancelled == ["a", "b"]
    assert await log(store) == ["running:->Investigate"]
    assert clock.timers == 0


async def test_par_06_sync_items_run_as_many_at_a_time_as_there_are_threads() -> None:
    import threading

    meeting = threading.Barrier(12, timeout=5)

    def meets(item: Item) -> Item:
        meeting.wait()
        return item

    inner = StateGraph(Item).add_node("meets", meets).compile()
    graph = investigate(inner, max_concurrency=None).compile()
    assert len((await Runner(graph, max_threads=12).run("t", Items(keys=list("abcdefghijkl")))).unwrap().done) == 12
