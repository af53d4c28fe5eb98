"""What one process does until it is killed: it takes each of its threads as it finds it, and goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import msgspec

from strata import Cancelled, CompiledGraph, Outcome, Runner, Thread, ThreadNotFound
from strata.stores.sqlite import SqliteStore
from tests.crash.errand import DELIVERED, ENDED, TURNED_BACK, Diary, Errand

Way = Literal["approve", "reject", "end"]

TRAILS = {"approve": DELIVERED, "reject": TURNED_BACK, "end": ENDED}


class Job(msgspec.Struct, frozen=True):
    """A thread, and what the person says who is asked."""

    thread_id: str
    way: Way


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one process. `graph` was compiled before the fork."""

    graph: CompiledGraph[Errand]
    database: Path
    diary: Path
    jobs: tuple[Job, ...]

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        diary = Diary(self.diary)
        async with SqliteStore(self.database) as store:
            runner = Runner(self.graph, store, services=[diary])
            for job in self.jobs:
                while (outcome := await _go_on(self.graph, runner, job)) is not None:
                    diary.write("ended" if isinstance(outcome, Cancelled) else "ran", job.thread_id, type(outcome).__name__)


async def _go_on(graph: CompiledGraph[Errand], runner: Runner[Errand], job: Job) -> Outcome[Errand] | None:
    """One call, the one that the thread needs; None if it needs none."""
    try:
        thread = await runner.thread(job.thread_id)
    except ThreadNotFound:
        thread = None
    if thread is None:
        return await runner.run(job.thread_id, Errand(), metadata={"tenant": "acme"})
    return await _take(graph, runner, job, thread)


async def _take(graph: CompiledGraph[Errand], runner: Runner[Errand], job: Job, thread: Thread[Errand]) -> Outcome[Errand] | None:
    match thread.state_name:
        case "running":
            return await runner.recover(job.thread_id)
        case "failed":
            return await runner.resume(job.thread_id, graph.amend().override(is_mended=True))
        case "resumed":
            return await _take(graph, runner, job, await runner.reopen(job.thread_id))
        case "interrupted" if job.way == "end":
            return await runner.end(job.thread_id, by="ops")
        case "interrupted":
            return await runner.resume(job.thread_id, graph.approve("ann") if job.way == "approve" else graph.reject("ann"))
        case _:
            return None
