"""Holds what a database says of its threads against what their nodes wrote into the diary when they began.

A step is committed when a record of the thread has its key in the trail. Then:

* a key that was committed before a process began does not begin in it: no committed step is repeated;
* when a step has begun, the step before it is committed, and stays it: no committed step is lost;
* a step that begins once more says that it may have run before.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from tests.crash.life import TRAILS, Job

FAILS_ONCE = "mend"
"""It is resumed, not recovered, after it has failed: it begins again under its key, and is not told of a recovery."""


class Step(msgspec.Struct, frozen=True):
    """A key of the diary or of a trail: `thread/node#hop`, and `@run` where the run is not durable."""

    key: str

    @property
    def node(self) -> str:
        return self.key.rpartition("/")[2].partition("#")[0]

    @property
    def hop(self) -> int:
        return int(self.key.rpartition("#")[2].partition("@")[0])

    @property
    def thread_id(self) -> str:
        return self.key.rpartition("/")[0]


class Witness:
    """Remembers what was committed when the present processes began."""

    def __init__(self, database: Path, diary: Path, jobs: tuple[Job, ...], *, durable: bool) -> None:
        self._database, self._diary, self._durable = database, diary, durable
        self._ways = {job.thread_id: job.way for job in jobs}
        self._read = 0
        self._begun: set[str] = set()
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
        return [thread_id for thread_id in self._ways if thread_id not in logs or logs[thread_id][-1]["status"] not in {"completed", "ended"}]

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
            before, trail = trail, json.loads(row["frozen_state"])["trail"]
            assert trail[: len(before)] == before, f"{thread_id}: record {row['sequence']} forgets steps"
            assert json.loads(row["metadata"])["tenant"] == "acme"
            if self._durable and row["status"] != "ended":
                assert json.loads(row["metadata"])["strata.hops"] == str(len(trail)), f"{thread_id}: record {row['sequence']} counts wrongly"
        steps = [Step(key) for key in trail]
        expected = TRAILS[self._ways[thread_id]]
        assert [step.node for step in steps] == list(expected[: len(steps)]), f"{thread_id}: {trail}"
        if self._durable:  # else hops are not counted over a pause
            assert [step.hop for step in steps] == list(range(1, len(steps) + 1)), f"{thread_id}: {trail}"
        if log[-1]["status"] in {"completed", "ended"}:
            assert len(steps) == len(expected), f"{thread_id} has finished without all of its steps: {trail}"
        return trail

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
            elif said in {"Completed", "Cancelled"} and (self._durable or said == "Cancelled"):
                assert logs[subject][-1]["status"] == ("completed" if said == "Completed" else "ended"), f"{subject}: {line}"
        self._begun |= began

    def _check_beginning(self, step: Step, said: str, began: set[str], trails: dict[str, list[str]]) -> None:
        committed = self._committed.get(step.thread_id, [])
        assert step.key not in committed, f"{step.key} was committed, and began again"
        if self._durable:
            assert step.key not in began or step.node == FAILS_ONCE, f"{step.key} began twice in one process"
            assert len(trails.get(step.thread_id, [])) >= step.hop - 1, f"{step.key} began, and the step before it is lost"
            assert step.key not in self._begun or said == "again" or step.node == FAILS_ONCE, f"{step.key} was not told that it may have run"
