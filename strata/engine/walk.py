"""The walk: one node after another, until the level comes to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.engine.attempts import attempts
from strata.engine.call import emit, room_for
from strata.engine.decide.failure import Failure, judge_at_end
from strata.engine.decide.routing import FINISH, Step, next_step
from strata.engine.decide.waiting import wait_of
from strata.engine.endings import Asked, Ending, Finished, OverLimit, Paused, PausedInside, Stopped
from strata.engine.faults import CameToRest, ChildPaused, ChildStopped, NodeAsked
from strata.engine.inside import failed, stopped
from strata.engine.interrupt import Interrupt
from strata.engine.level import BREATH, Level
from strata.engine.plan import NodePlan
from strata.engine.records import running_record
from strata.engine.run import Run
from strata.engine.stream import Committed, NodeEnded, NodeFailed, NodeStarted
from strata.engine.watching import over_limit, watched_hop
from strata.errors import HandlerCancelled
from strata.graph.context import LastFailure


async def walk(run: Run, level: Level) -> Ending:
    """Run the level from `level.at` on, with `level.state` (strata-graph.md 6.1, strata-execution.md 4).

    Raises:
        asyncio.CancelledError: the task was cancelled from outside: the run is abandoned.
        Superseded, StoreError: from saving.
    """
    scope, interrupt = level.scope, level.interrupt
    cancelling, baseline = interrupt.cancelling, interrupt.baseline
    while True:
        node = level.at
        if (level.hops >= level.horizon or scope.reason is not None) and (ending := await _may_not_start(run, level)) is not None:
            return ending
        if run.channel is not None and (stopped := await _announced(run, level, node)) is not None:
            return stopped
        level.hops += 1
        try:
            if node.inline is not None and run.watch is None:  # the calls without their frames of bookkeeping: 0.3 us of the 1.5 that a hop costs
                _commit(run, level, node, node.inline(level.state))
            elif node.bare is not None and run.watch is None:
                interrupt.calling = True
                result = await node.bare(level.state)
                interrupt.calling = False
                _commit(run, level, node, result)
            else:
                await _hop(run, level, node)
        except BaseException as error:
            if (ending := await _left(run, level, node, error)) is not None:
                return ending
            continue
        if run.channel is not None:
            await _announce_end(run, level, node)
        if level.ending is not None:
            await interrupt.outlived()
            return level.ending
        if level.stores:
            await _record(run, level, node)
        if node.inline is None and cancelling() > baseline:
            await _outlived(interrupt)


async def _outlived(interrupt: Interrupt) -> None:
    """Raises asyncio.CancelledError: somebody cancelled the task, and the handler swallowed it; what it returned has been kept."""
    await interrupt.outlived()
    if interrupt.abandoned:
        raise asyncio.CancelledError


async def _hop(run: Run, level: Level, node: NodePlan) -> None:
    if run.watch is None:
        _commit(run, level, node, await attempts(run, level, node))
    else:
        await watched_hop(run, level, node, attempts, _commit)


async def _may_not_start(run: Run, level: Level) -> Ending | None:
    """The look around that is due every 256 hops, at the limit, and when the level is stopped.

    Cancellation wins over the limit, but for a child that has just been answered: it is entered first, so that nobody is
    asked twice.
    """
    if level.hops >= level.horizon:
        await asyncio.sleep(0)
        level.horizon = min(level.hops + BREATH, level.limit)
    if level.scope.reason is not None and level.inside is None:
        return Stopped(level.scope.reason)
    if level.hops >= level.limit:
        over_limit(run, level)
        return OverLimit(None if level.inside is None else level.inside.checkpoint)
    return None


async def _announced(run: Run, level: Level, node: NodePlan) -> Stopped | None:
    """Tell the reader that the node starts; a stop that comes while the reader is waited for keeps it from starting."""
    event = NodeStarted(path=level.path_of(node), attempt=1, node=node.name)
    channel = await room_for(run, level, event)
    if level.scope.reason is not None and level.inside is None:
        return Stopped(level.scope.reason)
    channel.put_past_the_limit(event)
    return None


async def _announce_end(run: Run, level: Level, node: NodePlan) -> None:
    """Tell the reader that the node has ended. The level has left it: a run that is abandoned here does not stand at the node."""
    await emit(run, level, NodeEnded(path=level.path_of(node), attempt=level.attempt_at(node), node=node.name))


def _commit(run: Run, level: Level, node: NodePlan, result: object) -> None:
    """Judge what the node gave and choose the way out; only then is its state the level's, and the level leaves the node.

    Raises:
        NodeError: the state cannot be stored, a guard failed, no edge matched, or a timer gave no time.
    """
    if level.interrupt.sent:  # the handler took a cancellation and gave a state all the same: it counts
        level.interrupt.settle()
    if level.stores or node.pauses:  # stored before the node counts as committed: what cannot be fails it
        state: Any = result
        stored = msgspec.Raw(level.storable(level.state, result, node.name, level=level.depth))
    else:
        state, stored = level.check_result(level.state, result, node.name), None
    step = next_step(node, state)
    if step is FINISH or node.pauses:
        level.ending, level.last_entry = _ending(run, node, state, step), (level.state, level.stored)
    else:
        level.at = step
    level.state, level.stored = state, stored
    if level.has_entered:
        level.leave_entry()


def _ending(run: Run, node: NodePlan, state: object, step: Step) -> Ending:
    if not node.pauses:
        return Finished(node)
    return Paused(node=node, next_node=None if step is FINISH else step, wait=wait_of(node, state, run.clock.time()))


def _record(run: Run, level: Level, node: NodePlan) -> Awaitable[None]:
    """Appends the record between this node and the next; a coroutine of its own would cost 0.1 us of each hop."""
    record = running_record(level, run.stamp(), after=node.name, behind=run.recorder.readable)
    return _record_and_tell(run, level, node, record) if run.is_followed else run.recorder.append(record)


async def _record_and_tell(run: Run, level: Level, node: NodePlan, record: Checkpoint) -> None:
    await run.recorder.append(record)
    if run.watch is not None:
        run.watch.followed(level.path_of(node), level.path_of(level.at))
    if run.channel is not None:
        await emit(run, level, Committed(path=level.path_of(node), attempt=level.attempt_at(node), record=run.recorder.sequence, status="running"))


async def _left(run: Run, level: Level, node: NodePlan, error: BaseException) -> Ending | None:
    """Where an error leaves the level: at the node, with the state and the hops from before it; or (None) at the node's fallback."""
    interrupt, scope = level.interrupt, level.scope
    interrupt.calling = False
    interrupt.settle()
    if isinstance(error, Exception):
        await interrupt.outlived()
    if isinstance(error, asyncio.CancelledError) and not interrupt.abandoned:
        error = HandlerCancelled(node.name)
    if not isinstance(error, Exception):  # the run is abandoned
        level.hops -= 1  # the node will start again, under the same number
        raise error
    if error is run.recorder.fault:
        raise error
    if isinstance(error, CameToRest):
        level.hops -= 1
        return _at_rest(error)
    level.restore()
    if scope.reason is not None:  # an error that comes while the level is being stopped is the handler's way of stopping
        level.hops -= 1
        return Stopped(scope.reason, error.nested) if isinstance(error, ChildStopped) else stopped(level, scope.reason, run.stamp())
    failure, falls_back = judge_at_end(error, node.recovery, attempts=level.attempt_at(node))
    if run.channel is not None:
        await emit(run, level, NodeFailed(path=level.path_of(node), attempt=level.attempt_at(node), node=node.name, message=failure.message))
    if node.fallback is not None and falls_back:
        level.take_fallback(node.fallback, _last_failure(level, node, failure))
        return None
    level.hops -= 1
    return failed(level, failure, run.stamp())


def _at_rest(error: CameToRest) -> Ending:
    if isinstance(error, NodeAsked):
        return Asked(error.question)
    assert isinstance(error, ChildPaused)
    return PausedInside(nested=error.nested)


def _last_failure(level: Level, node: NodePlan, failure: Failure) -> LastFailure:
    return LastFailure(
        node=node.name,
        node_path=level.path_of(node),
        message=failure.message,
        kind=failure.kind,
        retry_after=failure.retry_after,
        attempts=failure.attempts,
        timed_out=failure.timed_out,
        error=failure.error,
    )
