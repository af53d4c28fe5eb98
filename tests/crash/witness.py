"""Holds what a database says of its threads against what their nodes wrote into the diary when they began.

A step is committed when a record of the thread has its key in the trail. Then:

* a key that was committed before a process began does not begin in it: no committed step is repeated;
* when a step has begun, the steps before it are committed, and stay it: no committed step is lost;
* the steps of a group or map are committed together;
* a step that begins once more says that it may have run before;
* what `ctx.once` has kept is not done again.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from tests.crash.plot import Job, Plot

FINISHED = frozenset({"completed", "ended"})


class Step(msgspec.Struct, frozen=True):
    """A key of the diary or of a trail: `thread/path#hops`, and `@run` where the run is not durable."""

    key: str

    @property
    def thread_id(self) -> str:
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """As a plot has it."""
        return self.key.partition("/")[2].partition("@")[0]

    @property
    def path(self) -> str:
        return self.name.partition("#")[0]

    @property
    def hop(self) -> int:
        """Of the outermost level."""
        return int(self.name.partition("#")[2].partition(".")[0])


class Witness:
    """Remembers what was committed when the present processes began."""

    def __init__(self, database: Path, diary: Path, jobs: tuple[Job, ...], plot: Plot) -> None:
        self._database, self._diary, self._plot, self._durable = database, diary, plot, plot.graph.durable
        self._ways = {job.thread_id: job.way for job in jobs}
        self._read = 0
        self._begun: set[str] = set()
        self._kept: set[str] = set()
        self._committed: dict[str, list[str]] = {}

    def look(self) -> None:
        """Check everything after the processes have died or ended.

        Raises:
            AssertionError: with the thread, its records and its diary.
        """
        logs = self._logs()
        trails = {thread_id: self._trail_of(thread_id, log) for thread_id, log in logs.items()}
        for thread_id, committed in self._committed.items():
            assert trails.get(thread_id, [])[: len(committed)] == committed, (
                f"{thread_id}: committed steps were lost: {committed} became {trails.get(thread_id)}"
            )
        self._read_on(logs, trails)
        self._committed = trails

    def unfinished(self) -> list[str]:
        """Threads that have not come to their end."""
        logs = self._logs()
        return [thread_id for thread_id in self._ways if thread_id not in logs or logs[thread_id][-1]["status"] not in FINISHED]

    def integrity(self) -> None:
        with closing(sqlite3.connect(self._database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def _logs(self) -> dict[str, list[dict[str, Any]]]:
        if not self._database.exists():
            return {}
        with closing(sqlite3.connect(self._database)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checkpoint_threads'").fetchall():
                return {}
            rows = [dict(row) for row in connection.execute("SELECT * FROM checkpoints ORDER BY thread_id, sequence")]
            heads = dict(connection.execute("SELECT thread_id, sequence FROM checkpoint_threads").fetchall())
        logs: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            logs.setdefault(row["thread_id"], []).append(row)
        assert heads == {thread_id: len(log) - 1 for thread_id, log in logs.items()}
        return {thread_id: log for thread_id, log in logs.items() if thread_id in self._ways}

    def _trail_of(self, thread_id: str, log: list[dict[str, Any]]) -> list[str]:
        """The committed steps; the log is whole, each record goes on from the one before, each step stands there once."""
        assert [row["sequence"] for row in log] == list(range(len(log))), f"{thread_id}: the log has gaps"
        trail: list[str] = []
        for row in log:
            before, trail = trail, _trail_in(row)
            assert trail[: len(before)] == before, f"{thread_id}: record {row['sequence']} forgets steps: {before} became {trail}"
            metadata = json.loads(row["metadata"])
            assert metadata["tenant"] == "acme"
            if self._durable and row["status"] != "ended":
                self._check_hops(row, int(metadata["strata.hops"]))
        self._check_order(thread_id, [Step(key) for key in trail], is_finished=log[-1]["status"] in FINISHED)
        return trail

    def _check_order(self, thread_id: str, steps: list[Step], *, is_finished: bool) -> None:
        stages = self._plot.trails[self._ways[thread_id]]
        expected = [step for stage in stages for step in stage]
        if self._durable:
            assert [step.name for step in steps] == expected[: len(steps)], f"{thread_id}: {steps}"
        else:  # hops are not counted over a pause
            assert [step.path for step in steps] == [step.partition("#")[0] for step in expected[: len(steps)]], f"{thread_id}: {steps}"
        whole = {sum(len(stage) for stage in stages[:count]) for count in range(len(stages) + 1)}
        assert len(steps) in whole, f"{thread_id}: half of a group is committed: {steps}"
        assert not is_finished or len(steps) == len(expected), f"{thread_id} has finished without all of its steps: {steps}"

    def _check_hops(self, row: dict[str, Any], hops: int) -> None:
        """The outermost level's; a wait has taken its hop when the thread pauses there."""
        trail = json.loads(row["frozen_state"])["trail"]
        last = Step(trail[-1]).hop if trail else 0
        allowed = {last, last + 1} if row["suspended_node"] in self._plot.waits else {last}
        assert hops in allowed, f"{row['thread_id']}: record {row['sequence']} counts {hops} hops after {trail}"

    def _read_on(self, logs: dict[str, list[dict[str, Any]]], trails: dict[str, list[str]]) -> None:
        """What the diary says of the processes that have just died or ended."""
        if not self._diary.exists():
            return
        text = self._diary.read_text(encoding="utf-8")
        lines, self._read = text[self._read :].splitlines(), len(text)
        began: set[str] = set()
        for line in lines:
            word, subject, said = line.split()
            if word == "began":
                self._check_beginning(Step(subject), said, began, trails)
                began.add(subject)
            elif word == "gave":
                assert subject not in self._kept, f"{subject} gave once more what was kept"
            elif word == "kept":
                self._kept.add(subject)
            elif said in {"Completed", "Cancelled"} and (self._durable or said == "Cancelled"):
                assert logs[subject][-1]["status"] == ("completed" if said == "Completed" else "ended"), f"{subject}: {line}"
        self._begun |= began

    def _check_beginning(self, step: Step, said: str, began: set[str], trails: dict[str, list[str]]) -> None:
        plot = self._plot
        assert step.key not in self._committed.get(step.thread_id, []), f"{step.key} was committed, and began again"
        if self._durable:
            assert step.key not in began or step.name in plot.begins_twice, f"{step.key} began twice in one process"
            assert self._comes_after(step) <= set(trails.get(step.thread_id, [])), f"{step.key} began, and a step before it is lost"
            assert step.key not in self._begun or said == "again" or step.name in plot.untold, f"{step.key} was not told that it may have run"

    def _comes_after(self, step: Step) -> set[str]:
        """The keys of the stages before it."""
        stages = self._plot.trails[self._ways[step.thread_id]]
        own = next((place for place, stage in enumerate(stages) if step.name in stage), None)
        assert own is not None, f"{step.key} is no step of this thread"
        return {f"{step.thread_id}/{name}" for stage in stages[:own] for name in stage}


def _trail_in(row: dict[str, Any]) -> list[str]:
    """Of all levels, the outermost first."""
    trail = list(json.loads(row["frozen_state"])["trail"])
    level = None if row["nested"] is None else json.loads(row["nested"])
    while level is not None:
        trail += level["frozen_state"]["trail"]
        level = level.get("nested")
    return trail
