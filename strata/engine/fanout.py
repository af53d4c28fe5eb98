"""Running the parts of a group or a map at once, each in a task of its own, until their join is decided."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from strata.engine.decide.failure import judge
from strata.engine.decide.joining import PartResult, Tally, Verdict
from strata.engine.interrupt import Interrupt, Scope, StopReason
from strata.engine.level import Level
from strata.engine.run import Run
from strata.engine.watching import watched_part
from strata.errors import HandlerCancelled
from strata.graph.spec import Fanout
from strata.ports.events import BranchCompleted, JoinDecided

PartFunction = Callable[[int, Scope], Awaitable[PartResult]]
"""Runs the part of that index, in its own task; it stops when the scope does."""


async def fan_out(run: Run, level: Level, names: Sequence[str], part: PartFunction, fanout: Fanout) -> Tally:
    """Start the parts in declaration order while slots are free, and settle them as they end (strata-execution.md 9).

    A decided join stops the rest; every part that was started has ended when this returns.

    Raises:
        asyncio.CancelledError: the level is being stopped or its task was cancelled; the parts have ended.
    """
    crowd = _Crowd(run, level, part, names, fanout)
    try:
        await crowd.gather()
    except BaseException as error:
        await crowd.give_up()
        if level.interrupt.abandoned and not isinstance(error, asyncio.CancelledError):
            raise asyncio.CancelledError from error
        raise
    return crowd.tally


class _Crowd:
    def __init__(self, run: Run, level: Level, part: PartFunction, names: Sequence[str], fanout: Fanout) -> None:
        self._run = run
        self._level = level
        self._part = part
        self._names = names
        self._fanout = fanout
        self._next = 0
        self._is_over = False
        self._is_decided = False
        self._stopped: StopReason | None = None
        self._running: dict[asyncio.Task[None], int] = {}
        self._scopes: dict[int, Scope] = {}
        self._settled: deque[tuple[int, PartResult, BranchCompleted | None]] = deque()
        self._woken: asyncio.Future[None] | None = None
        self._fault: BaseException | None = None
        self.tally = Tally(fanout.join, names)

    async def gather(self) -> None:
        self._judge(self.tally.verdict)
        self._start_what_may()
        while self._running:
            if not self._settled:
                self._woken = asyncio.get_running_loop().create_future()
                await self._woken
            if self._fault is not None:
                raise self._fault
            while self._settled:
                index, result, ended = self._settled.popleft()
                if ended is not None:
                    self._tell_ended(ended)
                if (verdict := self.tally.settle(index, result)) != "open":
                    self._judge(verdict)
            self._start_what_may()

    async def give_up(self) -> None:
        """Let every part end: they have been told if the level was, and are told now if its task was cancelled or timed out.

        A part that has not stopped is told again by its own interrupt, and by us when our own task is cancelled once more.
        """
        self._stop_all("requested")
        self._pass_on()
        while self._running:
            try:
                await asyncio.wait(self._running)
            except asyncio.CancelledError:
                self._pass_on()
        for _, _, ended in self._settled:
            self._tell_ended(ended)

    def _pass_on(self) -> None:
        """Abandon the parts where the group itself is abandoned."""
        if self._level.interrupt.abandoned:
            for task in self._running:
                task.cancel()

    def _judge(self, verdict: Verdict) -> None:
        if verdict == "open" or self._is_over:
            return
        self._tell_decided(verdict)
        if verdict == "met":
            self._stop_all("lost_race")
        elif self._fanout.partial == "fail_group":
            self._is_over = True
            if self._fanout.cancel_siblings:
                self._stop_all("sibling_failed")

    def _tell_ended(self, ended: BranchCompleted | None) -> None:
        if self._run.watch is not None and ended is not None:
            self._run.watch.emit(ended)

    def _tell_decided(self, verdict: Verdict) -> None:
        policy = self._fanout.join.policy
        if self._is_decided or self._run.watch is None or policy == "all":
            return
        self._is_decided = True
        met = verdict == "met"
        deciding = tuple(self.tally.deciding) if met else ()
        path = self._level.path_of(self._level.at)
        self._run.watch.emit(JoinDecided(node_path=path, attempt=self._level.attempt, policy=policy, met=met, deciding=deciding))

    def _stop_all(self, reason: StopReason) -> None:
        self._is_over = True
        self._stopped = self._stopped or reason
        for scope in tuple(self._scopes.values()):
            scope.stop(reason)

    def _start_what_may(self) -> None:
        if self._is_over:
            return
        count, start = len(self._names), asyncio.get_running_loop().create_task
        most = self._fanout.max_concurrency or count
        while self._next < count and len(self._running) < most:
            index, self._next = self._next, self._next + 1
            task = start(self._run_part(index))
            self._running[task] = index
            task.add_done_callback(self._ended)

    async def _run_part(self, index: int) -> None:
        scope = Scope(Interrupt(self._run.clock), self._level.scope)
        self._scopes[index] = scope
        if self._stopped is not None:  # before its task had a turn
            scope.stop(self._stopped)
        timeout = self._fanout.part_timeout
        timer = None if timeout is None else self._run.clock.call_later(timeout, lambda: scope.stop("part_timeout"))
        try:
            if self._run.watch is None:
                self._settled.append((index, await self._part(index, scope), None))
            else:
                path = f"{self._level.path_of(self._level.at)}/{self._names[index]}"
                self._settled.append((index, *await watched_part(self._run.watch, path, self._level.attempt, scope, self._part(index, scope))))
        except (SystemExit, KeyboardInterrupt) as error:  # a task raises it out of its event loop; the group's own task is to have it first
            self._fault = error
        finally:
            del self._scopes[index]
            scope.close()
            if timer is not None:
                timer.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        index = self._running.pop(task)
        if task.cancelled():  # by its own handler, or by a stranger: nobody here did, or the group is leaving anyway
            fault = HandlerCancelled(self._names[index])
            self._settled.append((index, PartResult(status="failed", failure=judge(fault)), None))
        elif (error := task.exception()) is not None:  # no part's error, which would be its result: ours
            self._fault = error
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)
