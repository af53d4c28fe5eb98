"""The walk: one node after another, until the level comes to an end."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from strata.engine.call import call, emit
from strata.engine.decide.failure import judge
from strata.engine.decide.routing import FINISH, Step, next_step
from strata.engine.endings import Ending, Finished, NodeFailedForGood, OverLimit, Paused, Stopped
from strata.engine.level import Level
from strata.engine.plan import NodePlan
from strata.engine.run import Run
from strata.engine.stream import Committed, NodeEnded, NodeFailed, NodeStarted
from strata.errors import HandlerCancelled

BREATH = 256  # hops; handlers that never suspend would else block the loop for ever


async def walk(run: Run, level: Level) -> Ending:
    """Run the level from `level.at` on, with `level.state` (strata-graph.md 6.1, strata-execution.md 4).

    Raises:
        asyncio.CancelledError: the task was cancelled from outside: the run is abandoned.
        Superseded, StoreError: from saving.
    """
    interrupt = run.interrupt
    while True:
        node = level.at
        if level.hops % BREATH == BREATH - 1:
            await asyncio.sleep(0)
        if interrupt.reason is not None:  # cancellation wins over the limit
            return Stopped(interrupt.reason)
        if level.hops >= level.limit:
            return OverLimit()
        if run.channel is not None and (stopped := await _announced(run, level, node)) is not None:
            return stopped
        level.hops += 1
        try:
            if node.is_bare:  # the call without its frame of bookkeeping: 0.3 us of the 1.5 that a hop costs
                interrupt.calling = True
                result = node.call(level.state) if node.manner == "inline" else await node.call(level.state)
                interrupt.calling = False
            else:
                result = await call(run, level, node)
            step = _commit(run, level, node, result)
        except (Exception, asyncio.CancelledError) as error:
            return await _gave_up(run, level, node, error)
        if step is FINISH or node.is_boundary:
            level.ending = _ending(node, step)
            if run.channel is not None:
                await _announce_end(run, level, node)
            return level.ending
        level.at = step
        if run.channel is not None:
            await _announce_end(run, level, node)
        if run.durable:
            await _record(run, level, node)


async def _announced(run: Run, level: Level, node: NodePlan) -> Stopped | None:
    """Tell the reader that the node starts; a stop that comes while the reader is waited for keeps it from starting."""
    await emit(run, NodeStarted(path=level.path_of(node), attempt=1, node=node.name))
    return None if run.interrupt.reason is None else Stopped(run.interrupt.reason)


async def _announce_end(run: Run, level: Level, node: NodePlan) -> None:
    """Tell the reader that the node has ended. The level has left it: a run that is abandoned here does not stand at the node."""
    await emit(run, NodeEnded(path=level.path_of(node), attempt=1, node=node.name))


def _commit(run: Run, level: Level, node: NodePlan, result: object) -> Step:
    """Judge what the node gave and choose the way out; only then is its state the level's.

    Raises:
        NodeError: the state cannot be stored, a guard failed, or no edge matched.
    """
    if run.interrupt.sent:  # the handler took a cancellation and gave a state all the same: it counts
        run.interrupt.settle()
    state = level.plan.codec.check_result(level.state, result, node.name)
    step = next_step(node, state)
    level.stored = _bytes_to_store(run, level, node, state) if run.durable or node.is_boundary else None
    level.state = state
    if level.recovering:
        level.recovering, level.recoveries = False, 0
    return step


async def _gave_up(run: Run, level: Level, node: NodePlan, error: Exception | asyncio.CancelledError) -> Stopped | NodeFailedForGood:
    """The level stays at the node, with the state and the hops from before it."""
    interrupt = run.interrupt
    interrupt.calling = False
    interrupt.settle()
    level.hops -= 1
    if isinstance(error, asyncio.CancelledError):
        if interrupt.abandoned:
            raise error
        error = HandlerCancelled(node.name)
    if interrupt.reason is not None:  # an error that comes while the run is being stopped is the handler's way of stopping
        return Stopped(interrupt.reason)
    failure = judge(error)
    if run.channel is not None:
        await emit(run, NodeFailed(path=level.path_of(node), attempt=1, node=node.name, message=failure.message))
    return NodeFailedForGood(failure)


def _ending(node: NodePlan, step: Step) -> Ending:
    next_node = None if step is FINISH else step
    return Paused(node, next_node) if node.is_boundary else Finished(node)


def _bytes_to_store(run: Run, level: Level, node: NodePlan, state: Any) -> msgspec.Raw:
    """The state's bytes, made before the node counts as committed: one that cannot be stored fails the node."""
    data = level.plan.codec.encode(state)
    if run.checks_stored:
        level.plan.codec.check_stored(state, data, node.name)
    return msgspec.Raw(data)


async def _record(run: Run, level: Level, node: NodePlan) -> None:
    await run.recorder.running(level, after=node.name)
    if run.channel is not None:
        await emit(run, Committed(path=level.path_of(node), attempt=1, record=run.recorder.sequence, status="running"))
