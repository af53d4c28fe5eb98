"""The walk: one node after another, until the level comes to an end."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

import msgspec

from strata.engine.call import call, emit
from strata.engine.decide.failure import Failure, judge
from strata.engine.decide.routing import Step, next_step
from strata.engine.interrupt import StopReason
from strata.engine.level import Level
from strata.engine.plan import NodePlan
from strata.engine.run import Run
from strata.engine.stream import Committed, NodeEnded, NodeFailed, NodeStarted
from strata.errors import HandlerCancelled

BREATH = 256  # hops; handlers that never suspend would else block the loop for ever


class Finished(msgspec.Struct, frozen=True):
    """The node had no way out."""

    last: NodePlan


class Paused(msgspec.Struct, frozen=True):
    """The node is a boundary; the way out of it is chosen already (strata-graph.md 6.1 step 8)."""

    node: NodePlan
    next_node: NodePlan | None


class NodeFailedForGood(msgspec.Struct, frozen=True):
    failure: Failure


class OverLimit(msgspec.Struct, frozen=True):
    """The level may make no more hops; its node was not started."""


class Stopped(msgspec.Struct, frozen=True):
    """The run was told to stop, at the level's node."""

    reason: StopReason


Ending: TypeAlias = Finished | Paused | NodeFailedForGood | OverLimit | Stopped


async def walk(run: Run, level: Level) -> Ending:
    """Run the level from `level.at` on, with `level.state` (strata-graph.md 6.1, strata-execution.md 4).

    Raises:
        asyncio.CancelledError: the task was cancelled from outside: the run is abandoned.
        Superseded, StoreError: from saving.
    """
    while True:
        node = level.at
        if run.interrupt.reason is not None:  # cancellation wins over the limit
            return Stopped(run.interrupt.reason)
        if level.hops >= level.limit:
            return OverLimit()
        if not level.hops % BREATH:
            await asyncio.sleep(0)
        if run.channel is not None:
            await emit(run, NodeStarted(path=level.path_of(node), attempt=1, node=node.name))
        step = await _hop(run, level, node)
        if isinstance(step, Stopped | NodeFailedForGood):
            return step
        if run.channel is not None:
            await emit(run, NodeEnded(path=level.path_of(node), attempt=1, node=node.name))
        if step == "finish" or node.is_boundary:
            return _ending(node, step)
        level.at = step
        if run.durable:
            await _record(run, level, node)


async def _hop(run: Run, level: Level, node: NodePlan) -> Step | Stopped | NodeFailedForGood:
    """Call the node, judge what it gave and choose the way out; only then is its state the level's.

    A node's error, a routing gap, a state that cannot be stored leave the level at that node, with the state and the
    hops from before it.
    """
    interrupt = run.interrupt
    if interrupt.reason is not None:  # it came while the reader was waited for
        return Stopped(interrupt.reason)
    level.hops += 1
    try:
        state = level.plan.codec.check_result(level.state, await call(run, level, node), node.name)
        step = next_step(node, state)
        stored = _bytes_to_store(run, level, node, state) if run.durable or node.is_boundary else None
    except asyncio.CancelledError:
        if interrupt.abandoned:
            raise
        level.hops -= 1
        return _stopped(run) or await _failed(run, level, node, HandlerCancelled(node.name))
    except Exception as error:
        level.hops -= 1  # an error that comes while the run is being stopped is the handler's way of stopping
        return _stopped(run) or await _failed(run, level, node, error)
    level.state, level.stored = state, stored
    level.recovering, level.recoveries = False, 0
    return step


def _ending(node: NodePlan, step: Step) -> Ending:
    next_node = None if step == "finish" else step
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


def _stopped(run: Run) -> Stopped | None:
    return None if run.interrupt.reason is None else Stopped(run.interrupt.reason)


async def _failed(run: Run, level: Level, node: NodePlan, error: Exception) -> NodeFailedForGood:
    failure = judge(error)
    if run.channel is not None:
        await emit(run, NodeFailed(path=level.path_of(node), attempt=1, node=node.name, message=failure.message))
    return NodeFailedForGood(failure)
