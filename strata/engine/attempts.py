"""Trying a node: once, and again where its policy says so."""

from __future__ import annotations

import asyncio
from typing import Any, assert_never

from strata.engine.call import call, emit, interruptible
from strata.engine.child import run_child
from strata.engine.decide.failure import Failure, delay_before, judge
from strata.engine.faults import CameToRest
from strata.engine.group import run_group
from strata.engine.level import Level
from strata.engine.mapping import run_map
from strata.engine.plan import GroupPlan, HandlerPlan, MapPlan, NodePlan, SubgraphPlan
from strata.engine.run import Run
from strata.engine.stream import Retried
from strata.engine.watching import watched_attempt
from strata.graph.spec import EventWaitBody, TimerBody


async def attempts(run: Run, level: Level, node: NodePlan) -> Any:
    """What the node gives, tried as often as its policy allows; every attempt starts from the same state (strata-execution.md 5).

    `level.attempt` is the attempt that the last error belongs to.
    """
    policy = node.recovery
    level.attempt = 1
    if node.keeps_entry:
        level.keep_entry()
    while True:
        try:
            if level.watch is None:
                return await _once(run, level, node)
            with watched_attempt(level, node):
                return await _once(run, level, node)
        except CameToRest:
            raise
        except Exception as error:
            if policy is None or level.scope.reason is not None or level.attempt > policy.retries or error is run.recorder.fault:
                raise
            failure = judge(error, policy)
            if failure.kind == "fatal":
                raise
            delay = delay_before(level.attempt, failure, policy, run.clock.random())
        level.leave_child()
        await _wait(run, level, node, failure, delay)
        level.restore()
        level.attempt += 1


async def _once(run: Run, level: Level, node: NodePlan) -> Any:
    match node.work:
        case HandlerPlan() as handler:
            return await call(run, level, node, handler)
        case SubgraphPlan() as subgraph:
            return await run_child(run, level, node, subgraph)
        case GroupPlan() as group:
            return await run_group(run, level, node, group)
        case MapPlan() as mapping:
            return await run_map(run, level, node, mapping)
        case EventWaitBody() | TimerBody():
            return level.state  # a wait passes the state through and pauses
        case _:
            assert_never(node.work)


async def _wait(run: Run, level: Level, node: NodePlan, failure: Failure, delay: float) -> None:
    """Between two attempts. A stop ends the wait, and the node with it."""
    if level.watch is not None:
        level.watch.retries(failure.message, timed_out=failure.timed_out, delay=delay)
    if run.channel is not None:
        path = level.path_of(node)
        await emit(run, level, Retried(path=path, attempt=level.attempt, node=node.name, message=failure.message, delay=delay))
    if delay > 0 and level.scope.reason is None:
        try:
            await interruptible(level.interrupt, run.clock.sleep(delay))
        finally:
            if level.interrupt.sent:
                level.interrupt.settle()
    if level.scope.reason is not None:
        raise asyncio.CancelledError
