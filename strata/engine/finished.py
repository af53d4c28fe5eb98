"""Branches and items that have finished while their group or map has not: kept, so that a recovery runs only the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from strata.engine.decide.joining import PartResult
from strata.engine.fanout import PartFunction
from strata.engine.interrupt import Scope
from strata.engine.level import Level
from strata.engine.place import place_of
from strata.engine.plan import NodePlan
from strata.engine.progress import Progress
from strata.engine.run import Run
from strata.errors import StateRefused, StateUnreadable
from strata.graph.codec import StateCodec
from strata.graph.spec import Fanout

WITHIN = 0.005  # seconds of the loop's own clock: how long a part that has finished may stay unwritten


@asynccontextmanager
async def keeping_finished(
    run: Run, level: Level, node: NodePlan, names: Sequence[str], part: PartFunction, codec: StateCodec[Any], fanout: Fanout
) -> AsyncGenerator[PartFunction]:
    """`part`, but what has finished before a resume or recovery is not run again, and what finishes now is kept.

    Only in durable runs, and not for a retry of the node, which runs all of them (design section 3, point 6).
    """
    if run.progress is None or not fanout.keep_progress:
        yield part
        return
    if (place := _place_of(level, node)) is None:
        yield part
        return
    finished = _Finished(run.progress, level, place, codec)
    if level.attempt > 1:
        finished.forget(names)

    async def run_unless_finished(index: int, scope: Scope) -> PartResult:
        name = names[index]
        if (state := finished.state_of(name)) is not None:
            return PartResult(status="succeeded", state=state)
        result = await part(index, scope)
        if result.status == "succeeded":
            finished.add(name, result.state)
        return result

    try:
        yield run_unless_finished
    except BaseException:
        await finished.write_all()
        raise
    await finished.stop()  # the node's own record is next, and says it all


def _place_of(level: Level, node: NodePlan) -> str | None:
    """Names this execution of the node, and inside another node the state that its parts start from too.

    The nodes before it in there may run again, with a retry of the node around it or a recovery, and give another state:
    parts of two states are never merged. None where the state cannot be told.
    """
    place = place_of(level.path_of(node), level.hop_chain)
    if level.parent is None:  # its state is that of the record on which the progress lies
        return place
    try:
        return f"{place}@{sha256(level.plan.codec.encode(level.state)).hexdigest()}"
    except StateRefused:
        return None


class _Finished:
    """What ends within a few milliseconds is written together; nobody waits for it but the end of the group.

    A thousand quick items would spend a third of their time on writing what their own group's record makes needless.
    """

    def __init__(self, progress: Progress, level: Level, place: str, codec: StateCodec[Any]) -> None:
        self._progress = progress
        self._level = level
        self._place = place
        self._codec = codec
        self._unwritten: dict[str, Any] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def state_of(self, name: str) -> Any | None:
        record = self._level.kept.parts.get((self._place, name))
        if record is None:
            return None
        try:
            return self._codec.decode(record)
        except StateUnreadable:  # of an older version of the graph: it runs again
            return None

    def forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._level.kept.parts.pop((self._place, name), None)

    def add(self, name: str, state: Any) -> None:
        self._unwritten[name] = state
        if self._timer is None and (self._writing is None or self._writing.done()):
            self._timer = asyncio.get_running_loop().call_later(WITHIN, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._writing = asyncio.get_running_loop().create_task(self._write())

    async def stop(self) -> None:
        """Let what is being written come to its end, and write nothing more."""
        self._unwritten.clear()
        await self._rest()

    async def write_all(self) -> None:
        """The group has failed, or is being left: what has finished is worth keeping."""
        await self._rest()
        await self._write()

    async def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is not None:
            await asyncio.wait((self._writing,))

    async def _write(self) -> None:
        while self._unwritten:
            states, self._unwritten = self._unwritten, {}
            items = {(self._place, name): record for name, state in states.items() if (record := self._encoded(state)) is not None}
            self._level.kept.parts.update(items)
            self._level.keeps()
            await self._progress.keep(items)

    def _encoded(self, state: Any) -> bytes | None:
        try:
            return bytes(self._codec.encode(state))
        except StateRefused:  # it cannot be stored, and so is not
            return None
