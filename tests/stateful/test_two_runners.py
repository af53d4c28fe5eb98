"""Two runners over one store, driven in any order: whoever answers, wakes, ends, recovers, cancels, dies or loses a lease, what
the store holds stays true.

- one writer: a run that somebody else has written behind writes no more
- no committed step is repeated, and the steps come in their order
- no record is lost
- nothing is resumed that is finished
- no thread is left without a record of what its run came to, and each can be brought to an end
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from strata import Cancelled, Completed, Failed, Interrupted, Lease, Outcome, Refused, Runner, StoreError
from strata.checkpoint.record import Checkpoint
from strata.ports import Acquired, Stored, ThreadLease
from strata.stores.memory import MemoryStore
from strata.stores.sqlite import SqliteStore
from strata.testing import FaultyStore, TestClock
from tests.stateful.errand import ORDER, Ending, Errand, Gate, Gates, errands, paid, trail_of
from tests.stateful.ledger import Ledger, Saved

THREADS = ("t1", "t2")
threads = st.sampled_from(THREADS)
runners = st.integers(0, 1)
FINISHED = {"completed", "ended"}
SWEEP = "strata-sweep"


class TwoRunners(RuleBasedStateMachine):
    """The model: what each call that is over came to (`over`), by the name of its task; `ledger.saved` says what it wrote."""

    kind = "memory"
    durable = True
    nested = False
    leased = False

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = TemporaryDirectory()
        self.opened = AsyncExitStack()
        self.calls: dict[str, asyncio.Task[Any]] = {}
        self.began: dict[str, tuple[str, str]] = {}
        """What each call does, and with which thread."""

        self.over: dict[str, object] = {}
        self.abandoned: set[str] = set()
        self.thief: dict[str, ThreadLease] = {}

    @initialize()
    def open(self) -> None:
        self.loop.run(self._open())

    async def _open(self) -> None:
        self.clock = TestClock()
        store = MemoryStore(clock=self.clock) if self.kind == "memory" else SqliteStore(Path(self.folder.name) / "t.db", clock=self.clock)
        await self.opened.enter_async_context(store)
        self.ledger = Ledger(store)
        self.faults = FaultyStore(self.ledger)
        self.gates = Gates(self.ledger)
        graph, self.asks = errands(self.gates, durable=self.durable, nested=self.nested)
        self.runners = [Runner(graph, self.faults, clock=self.clock, lease=Lease(name, 30) if self.leased else None) for name in ("one", "two")]

    # What may happen

    @rule(thread=threads, runner=runners, start_over=st.sampled_from([False, False, False, True]), deadline=st.none() | st.integers(5, 30))
    def run_errand(self, thread: str, runner: int, start_over: bool, deadline: int | None) -> None:
        options: Any = {} if deadline is None else {"deadline": deadline}
        self._call("run", thread, self.runners[runner].run(thread, Errand(), start_over=start_over, **options))

    @rule(thread=threads, runner=runners, approves=st.booleans())
    def answer(self, thread: str, runner: int, approves: bool) -> None:
        verdict = self.asks.approve if approves else self.asks.reject
        self._call("resume", thread, self.runners[runner].resume(thread, verdict("ana")))

    @rule(thread=threads)
    def answer_twice_at_once(self, thread: str) -> None:
        for runner in self.runners:
            self._start("resume", thread, runner.resume(thread, self.asks.approve("ana")))
        self._settle()

    @rule(thread=threads, runner=runners)
    def go_on(self, thread: str, runner: int) -> None:
        self._call("resume", thread, self.runners[runner].resume(thread))

    @rule(thread=threads, runner=runners)
    def signal(self, thread: str, runner: int) -> None:
        self._call("resume", thread, self.runners[runner].signal(thread, paid()))

    @rule(thread=threads, runner=runners)
    def wake(self, thread: str, runner: int) -> None:
        self._call("resume", thread, self.runners[runner].wake(thread))

    @rule(runner=runners)
    def wake_due(self, runner: int) -> None:
        self._call("sweep", "", self.runners[runner].wake_due())

    @rule(thread=threads, runner=runners)
    def recover(self, thread: str, runner: int) -> None:
        self._call("recover", thread, self.runners[runner].recover(thread))

    @rule()
    def recover_twice_at_once(self) -> None:
        for runner in self.runners:
            self._start("sweep", "", runner.recover_stale(stale_after=10, max_concurrent=2))
        self._settle()

    @rule(thread=threads, runner=runners)
    def do_what_is_next(self, thread: str, runner: int) -> None:
        """Chance alone would hardly ever answer the right thing."""
        latest = self.loop.run(self.ledger.load_latest(thread))
        if latest is None or latest.checkpoint.state_name in FINISHED:
            self.run_errand(thread, runner, start_over=False, deadline=None)
            return
        wait = latest.checkpoint.innermost.wait
        match latest.checkpoint.state_name, None if wait is None else wait.kind:
            case "running", _:
                self.recover(thread, runner)
            case "interrupted", "event":
                self.signal(thread, runner)
            case "interrupted", "timer":
                self.pass_time(21)
                self.wake(thread, runner)
            case "interrupted", _:
                self.answer(thread, runner, approves=True)
            case _:
                self.go_on(thread, runner)

    @rule(thread=threads, runner=runners, legs=st.integers(1, 4))
    def get_on(self, thread: str, runner: int, legs: int) -> None:
        """Some legs of the way, without a stop."""
        for _ in range(legs):
            self.do_what_is_next(thread, runner)
            self.loop.run(self._let_all_go(thread))

    async def _let_all_go(self, thread: str) -> None:
        for gate in self.gates.waiting:
            if gate.thread_id == thread and not gate.ending.done():
                gate.ending.set_result("good")
        await self._settled()

    @rule(thread=threads, runner=runners, seldom=st.integers(0, 3))
    def end(self, thread: str, runner: int, seldom: int) -> None:
        if seldom:
            return
        self._call("end", thread, self.runners[runner].end(thread))

    @rule(thread=threads, runner=runners)
    def cancel(self, thread: str, runner: int) -> None:
        self.loop.run(self._cancel(thread, runner))

    async def _cancel(self, thread: str, runner: int) -> None:
        self.runners[runner].cancel(thread)
        await self._settled()

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.calls)))
        self.abandoned.add(name)
        self.calls[name].cancel()
        self._settle()

    @precondition(lambda self: self.gates.waiting)
    @rule(data=st.data(), ending=st.sampled_from(["good", "good", "good", "failed"]))
    def let_go(self, data: st.DataObject, ending: Ending) -> None:
        waiting: list[Gate] = [gate for gate in self.gates.waiting if not gate.ending.done()]
        if waiting:
            gate = waiting[data.draw(st.integers(0, len(waiting) - 1))]
            self.loop.run(self._let_go(gate, ending))

    async def _let_go(self, gate: Gate, ending: Ending) -> None:
        gate.ending.set_result(ending)
        await self._settled()

    @rule(seconds=st.sampled_from([1, 5, 11, 21, 61]))
    def pass_time(self, seconds: int) -> None:
        self.loop.run(self._pass_time(seconds))

    async def _pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            await self.clock.advance(1)
            if self.ledger.under_way:
                await self._settled()
        await self._settled()

    @precondition(lambda self: self.leased)
    @rule(thread=threads)
    def steal(self, thread: str) -> None:
        self.loop.run(self._steal(thread))

    async def _steal(self, thread: str) -> None:
        """A third worker gets the lease, as if it had run out."""
        if (held := await self.ledger.get_lease(thread)) is not None:
            await self.ledger.release_lease(held)
        got = await self.ledger.try_acquire_lease(thread, "thief", 15)
        assert isinstance(got, Acquired)

    @rule(number=st.integers(1, 2), written=st.sampled_from([False, True, None]))
    def break_a_save(self, number: int, written: bool | None) -> None:
        self.faults.fail_save(number, written=written)

    # What must hold

    @invariant()
    def the_store_holds_what_was_saved(self) -> None:
        if hasattr(self, "ledger"):
            self.loop.run(self._check())

    async def _check(self) -> None:
        assert not self.durable or not self.gates.repeated, self.gates.repeated  # else a fresh run leaves no record to tell it by
        for thread in THREADS:
            saved = [self.ledger.saved[thread][sequence] for sequence in sorted(self.ledger.saved[thread])]
            assert await self._log(thread) == [record.checkpoint for record in saved], f"{thread}: a record is lost"
            _check_writers(thread, [record.writer for record in saved])
            _check_steps(thread, saved, durable=self.durable)

    def _settle(self) -> None:
        self.loop.run(self._settled())

    async def _settled(self) -> None:
        await self.ledger.settle()
        for name, task in list(self.calls.items()):
            if task.done():
                del self.calls[name]
                self._note(name, task)

    def _note(self, name: str, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            assert name in self.abandoned, f"{name} was cancelled, and not by the test"
            return
        error = task.exception()
        if error is not None:
            assert isinstance(error, Refused | StoreError), f"{name}: {error!r}"
            return
        outcome = task.result()
        action, thread = self.began[name]
        if action != "sweep":
            self._check_outcome(name, action, thread, outcome)

    def _check_outcome(self, name: str, action: str, thread: str, outcome: Outcome[Any]) -> None:
        """The run's last record says what the caller was told."""
        mine = [saved.checkpoint for saved in self.ledger.saved[thread].values() if saved.writer == name]
        match outcome:
            case Completed():
                assert outcome.state.trail == ORDER
                assert not self.durable or mine[-1].status == "completed"
            case Interrupted():
                assert mine[-1].status == "interrupted"
            case Failed():
                assert mine[-1].status == "failed"
            case Cancelled(reason=("requested" | "deadline") as reason):
                assert (mine[-1].status, (mine[-1].metadata or {}).get("cancel_reason")) == ("cancelled", reason)
            case Cancelled(reason="ended"):
                assert not mine or mine[-1].status == "ended"
            case Cancelled(reason=reason):
                assert reason in {"superseded", "lease_lost"}
                assert not mine or mine[-1].state_name in {"running", "resumed"}

    # Calls

    def _call(self, action: str, thread: str, call: Coroutine[Any, Any, Any]) -> None:
        self._start(action, thread, call)
        self._settle()

    def _start(self, action: str, thread: str, call: Coroutine[Any, Any, Any]) -> None:
        name = f"{action}-{len(self.began)}"
        self.began[name] = (action, thread)
        self.loop.run(self._make(name, call))

    async def _make(self, name: str, call: Coroutine[Any, Any, Any]) -> None:
        self.calls[name] = asyncio.get_running_loop().create_task(call, name=name)

    async def _log(self, thread: str) -> list[Checkpoint]:
        page = await self.ledger.get_log(thread, limit=1000)
        return [logged.checkpoint for logged in page.records if isinstance(logged.checkpoint, Checkpoint)]

    # The end

    def teardown(self) -> None:
        try:
            if hasattr(self, "ledger"):
                self.loop.run(self._bring_to_an_end())
        finally:
            self.loop.run(self.opened.aclose())
            self.loop.close()
            self.folder.cleanup()

    async def _bring_to_an_end(self) -> None:
        """When all calls are over, every thread says where it stands, and can be ended."""
        for _ in range(10):
            for thread in THREADS:
                await self._let_all_go(thread)
        assert not self.calls
        assert not self.gates.waiting
        await self._pass_time(61)
        for thread in THREADS:
            latest = await self.ledger.load_latest(thread)
            if latest is not None and latest.checkpoint.state_name not in FINISHED:
                await self._end(thread)
                latest = await self.ledger.load_latest(thread)
            assert latest is None or latest.checkpoint.state_name in FINISHED
        assert self.clock.timers == 0

    async def _end(self, thread: str) -> None:
        while True:
            try:
                ended = await self.runners[0].end(thread, force=not self.durable)
            except StoreError:
                continue  # a save that was told to fail
            assert ended.reason == "ended"
            return


def _check_writers(thread: str, writers: list[str]) -> None:
    """Who was written behind writes no more. (A sweep's task makes one run after another.)"""
    turns = [writer for writer, _ in groupby(writers) if writer != SWEEP]
    assert len(turns) == len(set(turns)), f"{thread}: {turns}"


def _check_steps(thread: str, saved: list[Saved], *, durable: bool) -> None:
    """The trail grows step by step, and only a fresh run begins again."""
    for before, (writer, checkpoint) in zip([None, *saved], saved, strict=False):
        trail = trail_of(Stored(checkpoint, None))
        assert ORDER.startswith(trail), f"{thread}: {trail}"
        if before is None or (writer.startswith("run-") and before.writer != writer):
            continue
        had = trail_of(Stored(before.checkpoint, None))
        assert before.checkpoint.state_name not in FINISHED, f"{thread}: {before.checkpoint.state_name} went on"
        assert trail.startswith(had), f"{thread}: {had} became {trail}"
        assert not durable or len(trail) <= len(had) + 1, f"{thread}: {had} became {trail}"


MACHINES = [
    pytest.param(
        kind,
        durable,
        nested,
        leased,
        id=f"{kind}-{'durable' if durable else 'bounds'}-{'nested' if nested else 'flat'}-{'leased' if leased else 'free'}",
    )
    for kind, durable, nested, leased in [
        ("memory", True, False, False),
        ("memory", True, True, True),
        ("memory", False, False, True),
        ("memory", False, True, False),
        ("sqlite", True, True, False),
        ("sqlite", True, False, True),
    ]
]


@pytest.mark.parametrize(("kind", "durable", "nested", "leased"), MACHINES)
def test_whatever_two_runners_do_to_a_thread(kind: str, durable: bool, nested: bool, leased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("strata"), "disabled", True)  # thousands of failures are asked for
    machine = type("Machine", (TwoRunners,), {"kind": kind, "durable": durable, "nested": nested, "leased": leased})
    run_state_machine_as_test(machine, settings=settings(max_examples=settings().max_examples // 3, stateful_step_count=40))
