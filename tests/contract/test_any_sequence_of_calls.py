"""Every store beside a dict that says what it should hold: whatever is called in whatever order, both agree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.errors import LeaseLost, ThreadChanged
from strata.graph.identity import Identity
from strata.ports.checkpoints import ThreadQuery
from strata.ports.leases import Acquired, Held, ThreadLease
from tests.clocks import HandClock
from tests.contract.factories import FACTORIES, StoreFactory
from tests.records import record

START = datetime(2026, 3, 1, tzinfo=UTC)
THREADS = ("", "a", "A", "ü/1", "a%")
STATES = ("interrupted", "failed", "cancelled", "resumed", "completed", "ended", "running")

minutes = st.integers(0, 5)
thread_ids = st.sampled_from(THREADS)
some_metadata = st.dictionaries(st.sampled_from(["tenant", "a.b", ""]), st.sampled_from(["acme", "x'y", ""]), max_size=2)
graphs = st.none() | st.builds(Identity, st.sampled_from(["g", "h"]), st.none() | st.just("1"))


def moment(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def text(minute: int) -> str:
    return moment(minute).strftime("%Y-%m-%dT%H:%M:%SZ")


@st.composite
def checkpoints(draw: st.DrawFn) -> Checkpoint:
    wait = draw(st.none() | minutes.map(lambda minute: WaitRecord(kind="timer", wake_at=text(minute))))
    status = draw(st.sampled_from([state for state in STATES if state != "resumed"]))
    nested = draw(st.booleans())
    return record(
        draw(thread_ids),
        state={"n": draw(st.integers(0, 9))},
        status=status,
        created_at=text(draw(minutes)),
        resumed_at=draw(st.none() | minutes.map(text)),
        metadata=draw(some_metadata) or None,
        graph=draw(graphs),
        wait=None if nested else wait,
        nested=record("Work", status=status, wait=wait) if nested else None,
    )


class StoreBesideDict(RuleBasedStateMachine):
    """The model: `logs` are the records of each thread, oldest first, `tokens` counts its leases, `holders` says who has it.

    `given` are all leases that anybody ever got, good or not.
    """

    factory: StoreFactory

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.clock = HandClock()
        self.store = self.factory(Path(self.folder.name), self.clock)
        self.store.__enter__()
        self.logs: dict[str, list[Checkpoint]] = {}
        self.tokens: dict[str, int] = {}
        self.holders: dict[str, ThreadLease] = {}
        self.given: list[ThreadLease] = []

    def teardown(self) -> None:
        self.store.__exit__(None, None, None)
        self.folder.cleanup()

    @rule(checkpoint=checkpoints())
    def save(self, checkpoint: Checkpoint) -> None:
        log = self.logs.setdefault(checkpoint.thread_id, [])
        assert self.store.run_in_loop(self.store.save(checkpoint)) == len(log)
        log.append(checkpoint)

    @rule(checkpoint=checkpoints(), behind=st.integers(0, 2), unconditional=st.booleans())
    def save_if_latest(self, checkpoint: Checkpoint, behind: int, unconditional: bool) -> None:
        log = self.logs.get(checkpoint.thread_id, [])
        expected = None if unconditional else len(log) - 1 - behind
        if expected is None or expected == len(log) - 1:
            assert self.store.run_in_loop(self.store.save_if_latest(checkpoint, expected)) == len(log)
            self.logs.setdefault(checkpoint.thread_id, []).append(checkpoint)
        else:
            with pytest.raises(ThreadChanged):
                self.store.run_in_loop(self.store.save_if_latest(checkpoint, expected))

    @rule(thread_id=thread_ids, after=st.none() | st.integers(-1, 5), limit=st.integers(1, 4))
    def read_log(self, thread_id: str, after: int | None, limit: int) -> None:
        page = self.store.run_in_loop(self.store.get_log(thread_id, after=after, limit=limit))
        entries = list(enumerate(self.logs.get(thread_id, [])))
        wanted = [entry for entry in entries if after is None or entry[0] > after][:limit]
        assert [(entry.sequence, entry.checkpoint) for entry in page.records] == wanted
        assert page.next_after == (wanted[-1][0] if len(wanted) == limit else None)

    @rule(
        states=st.sets(st.sampled_from(STATES), max_size=3),
        metadata=some_metadata,
        bounds=st.tuples(st.none() | minutes, st.none() | minutes, st.none() | minutes),
        graph=graphs,
        limit=st.integers(1, 4),
    )
    def list_threads(self, states: set[Any], metadata: Mapping[str, str], bounds: tuple[int | None, ...], graph: Identity | None, limit: int) -> None:
        after, before, due = (None if minute is None else moment(minute) for minute in bounds)
        conditions: dict[str, Any] = {"states": states, "metadata": metadata, "updated_after": after, "updated_before": before, "due_by": due}
        if graph is not None:
            conditions |= {"graph_id": graph.id, "graph_version": graph.version}
        wanted = sorted((log for log in self.logs.values() if is_meant(log[-1], bounds=bounds, **conditions)), key=place, reverse=True)
        shown: list[tuple[str, int]] = []
        cursor: str | None = None
        while True:
            page = self.store.run_in_loop(self.store.list_threads(ThreadQuery(limit=limit, cursor=cursor, **conditions)))
            shown += [(thread.thread_id, thread.sequence) for thread in page.threads]
            cursor = page.next_cursor
            if cursor is None:
                break
            assert len(page.threads) == limit
        assert shown == [(log[-1].thread_id, len(log) - 1) for log in wanted]

    @precondition(lambda self: self.logs)
    @rule(minute=minutes, states=st.sets(st.sampled_from(STATES), max_size=3), limit=st.integers(1, 3))
    def purge(self, minute: int, states: set[Any], limit: int) -> None:
        old = [
            log
            for thread_id, log in self.logs.items()
            if log[-1].state_name in states and log[-1].updated_at < text(minute) and self.holder_of(thread_id) is None
        ]
        purged = sorted(old, key=place)[:limit]
        assert self.store.run_in_loop(self.store.purge(older_than=moment(minute), states=states, limit=limit)) == len(purged)
        for log in purged:
            thread_id = log[-1].thread_id
            del self.logs[thread_id]
            self.tokens.pop(thread_id, None)
            self.holders.pop(thread_id, None)
            self.given = [lease for lease in self.given if lease.thread_id != thread_id]  # its tokens are given out again

    # Leases

    def now(self) -> int:
        return round(self.clock.time() * 1000)

    def holder_of(self, thread_id: str) -> ThreadLease | None:
        lease = self.holders.get(thread_id)
        return lease if lease is not None and lease.expires_at > self.now() else None

    def is_latest(self, lease: ThreadLease) -> bool:
        return self.tokens.get(lease.thread_id) == lease.token

    @rule(seconds=st.integers(1, 3))
    def pass_time(self, seconds: int) -> None:
        self.store.run_in_loop(self.clock.pass_time(seconds))

    @rule(thread_id=thread_ids, owner=st.sampled_from(["alice", "bob"]), ttl=st.integers(1, 4))
    def acquire(self, thread_id: str, owner: str, ttl: int) -> None:
        got = self.store.run_in_loop(self.store.try_acquire_lease(thread_id, owner, ttl))
        holder = self.holder_of(thread_id)
        if holder is not None:
            assert got == Held(holder)
            return
        self.tokens[thread_id] = self.tokens.get(thread_id, 0) + 1
        lease = self.holders[thread_id] = ThreadLease(thread_id, owner, self.tokens[thread_id], self.now() + ttl * 1000)
        self.given.append(lease)
        assert got == Acquired(lease)

    @precondition(lambda self: self.given)
    @rule(data=st.data(), ttl=st.integers(1, 4))
    def renew(self, data: st.DataObject, ttl: int) -> None:
        lease = data.draw(st.sampled_from(self.given))
        renewed = self.store.run_in_loop(self.store.renew_lease(lease, ttl))
        if self.is_latest(lease):
            self.holders[lease.thread_id] = ThreadLease(lease.thread_id, lease.owner, lease.token, self.now() + ttl * 1000)
            assert renewed == self.holders[lease.thread_id]
        else:
            assert renewed is None

    @precondition(lambda self: self.given)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.given))
        assert self.store.run_in_loop(self.store.release_lease(lease)) == self.is_latest(lease)
        if self.is_latest(lease):
            self.holders.pop(lease.thread_id, None)

    @precondition(lambda self: self.given)
    @rule(data=st.data(), behind=st.integers(0, 2), unconditional=st.booleans())
    def save_under_lease(self, data: st.DataObject, behind: int, unconditional: bool) -> None:
        lease = data.draw(st.sampled_from(self.given))
        log = self.logs.get(lease.thread_id, [])
        expected = None if unconditional else len(log) - 1 - behind
        saving = self.store.save_under_lease(record(lease.thread_id), lease, expected)
        if not self.is_latest(lease):
            with pytest.raises(LeaseLost):
                self.store.run_in_loop(saving)
        elif expected is None or not behind:
            assert self.store.run_in_loop(saving) == len(log)
            self.logs.setdefault(lease.thread_id, []).append(record(lease.thread_id))
        else:
            with pytest.raises(ThreadChanged):
                self.store.run_in_loop(saving)

    @invariant()
    def the_holders_are_those_of_the_model(self) -> None:
        for thread_id in THREADS:
            assert self.store.run_in_loop(self.store.get_lease(thread_id)) == self.holder_of(thread_id)

    @invariant()
    def the_latest_records_are_those_of_the_model(self) -> None:
        for thread_id in THREADS:
            stored = self.store.run_in_loop(self.store.load_latest(thread_id))
            log = self.logs.get(thread_id, [])
            assert (None if stored is None else (stored.checkpoint, stored.sequence)) == ((log[-1], len(log) - 1) if log else None)


def place(log: list[Checkpoint]) -> tuple[str, bytes]:
    return log[-1].updated_at, log[-1].thread_id.encode()


def is_meant(latest: Checkpoint, *, bounds: tuple[int | None, ...], states: set[str], metadata: Mapping[str, str], **conditions: Any) -> bool:
    """The conditions of the sheet, told once more and plainly."""
    after, before, due = (None if minute is None else text(minute) for minute in bounds)
    wait = (latest if latest.nested is None else latest.nested).wait
    graph_id, version = conditions.get("graph_id"), conditions.get("graph_version")
    asked = [
        not states or latest.state_name in states,
        all((latest.metadata or {}).get(key) == value for key, value in metadata.items()),
        after is None or latest.updated_at > after,
        before is None or latest.updated_at < before,
        due is None or (latest.state_name == "interrupted" and wait is not None and (wait.wake_at or "") <= due),
        graph_id is None or (latest.graph is not None and latest.graph.id == graph_id),
        version is None or (latest.graph is not None and latest.graph.version == version),
    ]
    return all(asked)


@pytest.mark.leaves_leases
@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_any_sequence_of_calls_agrees_with_the_model(name: str) -> None:
    machine = type(f"{name.title()}BesideDict", (StoreBesideDict,), {"factory": staticmethod(FACTORIES[name])})
    examples = 40 if name == "memory" else 15
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=20, deadline=None))
