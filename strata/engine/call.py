"""Calling the user's function: awaited in the task of its level, in place, or on a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from strata.engine.context import NodeContext
from strata.engine.interrupt import Interrupt
from strata.engine.level import Level
from strata.engine.plan import HandlerPlan, NodePlan
from strata.engine.run import Run
from strata.engine.stream import StreamEvent
from strata.errors import NodeTimedOut

T = TypeVar("T")


async def call(run: Run, level: Level, node: NodePlan, handler: HandlerPlan) -> Any:
    """What the node's function gives for the level's state, within the node's timeout.

    Raises:
        NodeTimedOut: the attempt took longer. A state that arrives all the same counts, an error does not.
        asyncio.CancelledError: the level is being stopped, its task was cancelled, or the function raised it by itself.
        Exception: whatever the function raised.
    """
    context = NodeContext(run, level, node.name) if handler.takes_context else None
    try:
        return await within(run, level, node, invoke(run, node.name, handler, level.state, context))
    finally:
        if context is not None:
            context.close()


async def invoke(run: Run, name: str, handler: HandlerPlan, state: object, context: NodeContext | None, *, grace: float = 0.0) -> Any:
    """The bare call. `grace` is how long one on a thread is waited for that has been cancelled."""
    function = handler.call
    arguments = (state,) if context is None else (state, context)
    match handler.manner:
        case "async":
            return await function(*arguments)
        case "inline":
            return function(*arguments)
        case "thread":
            return await run.threads.call(name, lambda: function(*arguments), grace=grace)


async def within(run: Run, level: Level, node: NodePlan, work: Awaitable[T]) -> T:
    """Await `work` for no longer than the node's timeout, stopping when the level is stopped.

    Raises:
        NodeTimedOut: it took longer, and its clean-up is over.
    """
    interrupt = level.interrupt
    timer = None if node.timeout is None else run.clock.call_later(node.timeout, interrupt.time_out)
    try:
        return await interruptible(interrupt, work)
    except (Exception, asyncio.CancelledError) as error:
        if interrupt.timed_out and level.scope.reason is None and not interrupt.abandoned:
            assert node.timeout is not None
            cause = None if isinstance(error, asyncio.CancelledError) else error
            raise NodeTimedOut(node.name, timeout=node.timeout) from cause
        raise
    finally:
        if timer is not None:
            timer.cancel()
        if interrupt.sent:
            interrupt.settle()


async def interruptible(interrupt: Interrupt, work: Awaitable[T]) -> T:
    """Await what may be cancelled from outside: user code, and waiting for other people. What was sent is left to settle."""
    interrupt.calling = True
    try:
        return await work
    finally:
        interrupt.calling = False


async def emit(run: Run, level: Level, event: StreamEvent) -> None:
    """Hand an event to the run's reader, waiting for room until the level is stopped; then it is dropped (strata-execution.md 8)."""
    assert run.channel is not None
    try:
        await interruptible(level.interrupt, run.channel.put(event))
    except asyncio.CancelledError:
        if level.interrupt.abandoned or level.scope.reason is None:
            raise
    finally:
        if level.interrupt.sent:
            level.interrupt.settle()
