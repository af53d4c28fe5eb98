"""Durable runs of groups, maps and graphs inside nodes: which records they leave, and where a recovery goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strata import CompiledGraph, Completed, Context, Failed, Runner, State, StateGraph, StoreError, branch
from strata.ports import CheckpointStore
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import FaultyStore
from tests.graphs.trails import Trail, adds, line
from tests.kinds.nests import Keys, alone, in_brackets, inside, starts_empty, steps
from tests.kinds.parts import HANG, Calls, fallback, fatal, first_of
from tests.logs import checkpoints, log


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CheckpointStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    async with SqliteStore(tmp_path / "threads.db") as opened:
        yield opened


WORK = [
    "running:->Before",
    "running:Before>Work",
    "running:Work>Work / running:X>Y",
    "running:Work>Work / running:Y>Z",
    "running:Work>After",
    "completed:After>-",
]


async def test_ex131_ck22_a_childs_steps_are_recorded_inside_its_parents_record(store: CheckpointStore) -> None:
    assert isinstance(await Runner(inside("Work", line("X", "Y", "Z").compile()).compile(), store).run("t", Trail()), Completed)
    assert await log(store) == WORK
    fourth = (await checkpoints(store))[3]
    assert msgspec.json.decode(fourth.frozen_state)["trail"] == "B"
    assert fourth.metadata == {"strata.hops": "1"}
    nested = fourth.nested
    assert nested is not None
    assert msgspec.json.decode(nested.frozen_state)["trail"] == "XY"
    assert nested.metadata == {"strata.hops": "2"}


async def test_ck23_three_levels(store: CheckpointStore) -> None:
    stage = line("P", "Q").compile()
    wrap = StateGraph(Trail).add_subgraph("Stage", stage, enter=starts_empty, leave=in_brackets).add_node("Wrap", adds("W"), inline=True)
    await Runner(alone("Work", wrap.add_edge("Stage", "Wrap").compile()).compile(), store).run("t", Trail())
    assert await log(store) == [
        "running:->Work",
        "running:Work>Work / running:Stage>Stage / running:P>Q",
        "running:Work>Work / running:Stage>Wrap",
        "completed:Work>-",
    ]


async def test_ck20_fifteen_nodes_leave_sixteen_records(store: CheckpointStore) -> None:
    await Runner(line(*"ABCDEFGHIJKLMNO").compile(), store).run("t", Trail())
    assert len(await log(store)) == 16


class Step(State):
    key: str = ""


def fanned(keys: Keys) -> StateGraph[Trail]:
    """Group, Fan (a map over one item of two nodes), Done."""

    def look(name: str) -> Any:
        async def step(state: Step, ctx: Context) -> Step:
            keys.seen.append(ctx.idempotency_key + (" again" if ctx.is_recovery else ""))
            return state

        return step

    child = StateGraph(Step).add_node("Step", look("Step")).add_node("Then", look("Then")).add_edge("Step", "Then").compile()
    return (
        StateGraph(Trail)
        .add_parallel_group("Group", [branch("b1", keys.node("b"))], first_of)
        .add_map("Fan", child, items=lambda _: ["k1"], key=str, enter=lambda _, key: Step(key=key), merge=lambda state, _: state)
        .add_node("Done", keys.node("D"))
        .add_edge("Group", "Fan")
        .add_edge("Fan", "Done")
    )


async def test_ex132_ck21_a_group_and_a_map_are_one_record_each(store: CheckpointStore) -> None:
    keys = Keys()
    await Runner(fanned(keys).compile(), store).run("t", Trail())
    assert await log(store) == ["running:->Group", "running:Group>Fan", "running:Fan>Done", "completed:Done>-"]
    assert keys.seen == ["t/Group/b1#1", "t/Fan/k1/Step#2.1", "t/Fan/k1/Then#2.2", "t/Done#3"]


class Dies:
    """A node that hangs on its first call, so that a test can let its process die there."""

    def __init__(self, keys: Keys, name: str) -> None:
        self.started = asyncio.Event()
        self._look = keys.node(name)
        self._calls = 0

    async def __call__(self, state: Trail, ctx: Context) -> Trail:
        self._calls += 1
        state = await self._look(state, ctx)
        if self._calls == 1:
            self.started.set()
            await asyncio.sleep(HANG)
        return state


async def died(run: Awaitable[object], started: asyncio.Event) -> None:
    """The process died in the middle: as for the store, nothing more is written."""
    running = asyncio.ensure_future(run)
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_ex133_ck89_a_recovery_goes_on_inside_the_child(store: CheckpointStore) -> None:
    keys = Keys()
    dies = Dies(keys, "Y")
    child = steps(("X", keys.node("X")), ("Y", dies), ("Z", keys.node("Z"))).compile()
    runner = Runner(inside("Work", child).compile(), store)
    await died(runner.run("t", Trail()), dies.started)
    keys.seen.clear()
    assert (await runner.recover("t")).unwrap().trail == "B(XYZ)A"
    assert keys.seen == ["t/Work/Y#2.2 again", "t/Work/Z#2.3"]


async def test_ex133_before_a_childs_first_commit_it_is_entered_again(store: CheckpointStore) -> None:
    keys, entered = Keys(), list[str]()
    dies = Dies(keys, "X")

    def enter(state: Trail) -> Trail:
        entered.append(state.trail)
        return Trail()

    child = steps(("X", dies), ("Y", keys.node("Y"))).compile()
    graph = steps(("Before", adds("B"))).add_subgraph("Work", child, enter=enter, leave=in_brackets).add_edge("Before", "Work").compile()
    runner = Runner(graph, store)
    await died(runner.run("t", Trail()), dies.started)
    keys.seen.clear()
    assert (await runner.recover("t")).unwrap().trail == "B(XY)"
    assert entered == ["B", "B"]
    assert keys.seen == ["t/Work/X#2.1 again", "t/Work/Y#2.2"]


async def test_ck88_a_recovered_node_is_told_that_it_may_have_run(store: CheckpointStore) -> None:
    keys = Keys()
    dies = Dies(keys, "B")
    runner = Runner(steps(("A", keys.node("A")), ("B", dies), ("C", keys.node("C"))).compile(), store)
    await died(runner.run("t", Trail()), dies.started)
    keys.seen.clear()
    assert isinstance(await runner.recover("t"), Completed)
    assert keys.seen == ["t/B#2 again", "t/C#3"]
    records = await checkpoints(store)
    assert [(record.status, (record.metadata or {}).get("strata.recoveries")) for record in records[1:]] == [
        ("running", None),
        ("running", "1"),
        ("running", None),
        ("completed", None),
    ]


async def test_a_recovered_map_runs_whole_and_every_node_of_its_items_is_told(store: CheckpointStore) -> None:
    seen, started = list[str](), asyncio.Event()

    async def step(state: Step, ctx: Context) -> Step:
        seen.append(f"{ctx.path} {ctx.is_recovery}")
        if not ctx.is_recovery and state.key == "b":
            started.set()
            await asyncio.sleep(HANG)
        return state

    child = StateGraph(Step).add_node("Step", step).add_node("Then", step).add_edge("Step", "Then").compile()
    graph = StateGraph(Trail).add_map(
        "Fan", child, items=lambda _: ["b", "c"], key=str, enter=lambda _, key: Step(key=key), merge=lambda state, _: state, keep_progress=False
    )
    runner = Runner(graph.compile(), store)
    await died(runner.run("t", Trail()), started)
    seen.clear()
    assert isinstance(await runner.recover("t"), Completed)
    assert sorted(seen) == [f"Fan/{key}/{name} True" for key in "bc" for name in ("Step", "Then")]


async def test_a_fallback_is_not_recorded_before_it_commits_and_a_crash_in_it_runs_the_failed_node_again(store: CheckpointStore) -> None:
    keys, calls = Keys(), Calls()
    dies = Dies(keys, "R")
    graph = fallback(steps(("Charge", calls.fails(fatal("no")))), "Charge").add_node("Recover", dies).compile()
    runner = Runner(graph, store)
    await died(runner.run("t", Trail()), dies.started)
    assert await log(store) == ["running:->Charge"]
    assert (await runner.recover("t")).unwrap().trail == "R"
    assert len(calls.started) == 2


async def test_a_store_that_fails_under_a_child_ends_the_run_and_is_no_failure_of_the_node() -> None:
    faulty = FaultyStore(MemoryStore())
    runner = Runner(fallback(inside("Work", line("X", "Y", "Z").compile()), "Work", retries=3).compile(), faulty)
    faulty.fail_save(3)
    with pytest.raises(StoreError):
        await runner.run("t", Trail())
    assert await log(faulty) == WORK[:2]
    assert (await runner.recover("t")).unwrap().trail == "B(XYZ)A"


Make = Callable[[Any], CompiledGraph[Any]]
CHILDREN: list[Make] = [
    lambda node: alone("Work", steps(("W", node)).compile()).compile(),
    lambda node: StateGraph(Trail).add_parallel_group("Work", [branch("b", node)], first_of).compile(),
]


@pytest.mark.parametrize("make", CHILDREN)
async def test_a_bug_inside_a_composite_leaves_a_record_that_can_be_resumed(
    store: CheckpointStore, make: Callable[[Any], CompiledGraph[Any]]
) -> None:
    calls = list[int]()

    async def buggy(state: Trail) -> Trail:
        calls.append(1)
        if len(calls) == 1:
            raise KeyError("a bug")
        return state

    runner = Runner(make(buggy), store)
    outcome = await runner.run("t", Trail())
    assert isinstance(outcome, Failed)
    last = (await checkpoints(store))[-1]
    assert (last.status, last.suspended_node, last.next_node) == ("failed", "Work", "Work")
    assert last.metadata is not None
    assert last.metadata["error_kind"] == "fatal"
    assert "KeyError: 'a bug'" in last.metadata["error"]
    assert isinstance(await runner.resume("t"), Completed)


async def test_ret_05_a_retried_thread_runs_only_what_had_not_succeeded_in_a_child_too(store: CheckpointStore) -> None:
    calls = Calls()
    child = steps(("X", calls.takes(0)), ("Y", calls.fails(fatal("no"), times=1)), ("Z", calls.takes(0))).compile()
    runner = Runner(inside("Work", child).compile(), store)
    assert isinstance(await runner.run("t", Trail()), Failed)
    assert isinstance(await Runner(inside("Work", child).compile(), store).resume("t"), Completed)
    assert calls.started == ["X", "Y", "Y", "Z"]
