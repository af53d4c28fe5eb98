"""Calling the user's function: awaited in the run's own task, in place, or on a worker thread."""

from __future__ import annotations

import asyncio
from typing import Any

from strata.engine.context import NodeContext
from strata.engine.level import Level
from strata.engine.plan import NodePlan
from strata.engine.run import Run
from strata.engine.stream import StreamEvent
from strata.errors import NodeTimedOut


async def call(run: Run, level: Level, node: NodePlan) -> Any:
    """What the node's function gives for the level's state.

    Raises:
        NodeTimedOut: the attempt took longer than the node's timeout. A state that arrives all the same counts, an error does not.
        asyncio.CancelledError: the run is being stopped, its task was cancelled, or the function raised it by itself.
        Exception: whatever the function raised.
    """
    if node.manner == "inline":
        return _in_place(run, level, node)
    interrupt = run.interrupt
    timer = None if node.timeout is None else run.clock.call_later(node.timeout, interrupt.time_out)
    context = NodeContext(run, level, node) if node.takes_context else None
    interrupt.calling = True
    try:
        if node.manner == "thread":
            return await _on_thread(run, level, node, context)
        return await (node.call(level.state) if context is None else node.call(level.state, context))
    except (Exception, asyncio.CancelledError) as error:
        if interrupt.timed_out and interrupt.reason is None and not interrupt.abandoned:
            assert node.timeout is not None
            cause = None if isinstance(error, asyncio.CancelledError) else error
            raise NodeTimedOut(node.name, timeout=node.timeout) from cause
        raise
    finally:
        interrupt.calling = False
        if interrupt.sent:
            interrupt.settle()
        if timer is not None:
            timer.cancel()
        if context is not None:
            context.close()


async def emit(run: Run, event: StreamEvent) -> None:
    """Hand an event to the run's reader, waiting for room until the run is stopped; then it is dropped (strata-execution.md 8)."""
    assert run.channel is not None
    run.interrupt.calling = True
    try:
        await run.channel.put(event)
    except asyncio.CancelledError:
        if run.interrupt.abandoned or run.interrupt.reason is None:
            raise
    finally:
        run.interrupt.calling = False
        if run.interrupt.sent:
            run.interrupt.settle()


def _in_place(run: Run, level: Level, node: NodePlan) -> Any:
    if not node.takes_context:
        return node.call(level.state)
    context = NodeContext(run, level, node)
    try:
        return node.call(level.state, context)
    finally:
        context.close()


async def _on_thread(run: Run, level: Level, node: NodePlan, context: NodeContext | None) -> Any:
    state, function = level.state, node.call
    if context is None:
        return await run.threads.call(node.name, lambda: function(state))
    return await run.threads.call(node.name, lambda: function(state, context))
