"""What one process does until it is killed: it takes each of its threads as it finds it, and goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from strata import Cancelled, Outcome, Runner, Thread, ThreadNotFound
from strata.stores.sqlite import SqliteStore
from tests.crash.diary import Diary
from tests.crash.plot import Job, Plot

PATIENCE = 60.0  # seconds; a life takes less than one


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one process. The plot's graph was compiled before the fork."""

    plot: Plot
    database: Path
    diary: Path
    jobs: tuple[Job, ...]

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        diary = Diary(self.diary)
        async with asyncio.timeout(PATIENCE), SqliteStore(self.database) as store:
            runner = Runner(self.plot.graph, store, services=[diary])
            for job in self.jobs:
                while (outcome := await _go_on(self.plot, runner, job)) is not None:
                    diary.write("ended" if isinstance(outcome, Cancelled) else "ran", job.thread_id, type(outcome).__name__)


async def _go_on(plot: Plot, runner: Runner[Any], job: Job) -> Outcome[Any] | None:
    """One call, the one that the thread needs; None if it needs none."""
    try:
        thread = await runner.thread(job.thread_id)
    except ThreadNotFound:
        return await runner.run(job.thread_id, plot.start(job), metadata={"tenant": "acme", "job": job.thread_id})
    return await _take(plot, runner, job, thread)


async def _take(plot: Plot, runner: Runner[Any], job: Job, thread: Thread[Any]) -> Outcome[Any] | None:
    match thread.state_name:
        case "running":
            return await runner.recover(job.thread_id)
        case "failed":
            return await runner.resume(job.thread_id, plot.mended)
        case "resumed":
            return await _take(plot, runner, job, await runner.reopen(job.thread_id))
        case "interrupted":
            return await plot.answer(runner, job, thread)
        case _:
            return None
