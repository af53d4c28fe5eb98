"""Calling the user's function: awaited in the task of its level, in place, or on a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from strata.engine.context import NodeContext
from strata.engine.faults import NodeAsked
from strata.engine.interrupt import Interrupt
from strata.engine.level import Level
from strata.engine.plan import HandlerPlan, NodePlan
from strata.engine.run import Run
from strata.engine.stream import Channel, StreamEvent
from strata.errors import NodeTimedOut, Pause, PauseSwallowed

T = TypeVar("T")


async def call(run: Run, level: Level, node: NodePlan, handler: HandlerPlan) -> Any:
    """What the node's function gives for the level's state, within the node's timeout.

    Raises:
        NodeTimedOut: the attempt took longer. A state that arrives all the same counts, an error does not.
        NodeAsked: the function has asked a question that has no answer yet.
        asyncio.CancelledError: the level is being stopped, its task was cancelled, or the function raised it by itself.
        Exception: whatever the function raised.
    """
    context = NodeContext(run, level, node.name, in_place=handler.manner == "inline") if handler.takes_context else None
    try:
        if context is None:
            return await within(run, level, node, invoke(run, node.name, handler, level.state, None))
        return await within(run, level, node, _asking(context, invoke(run, node.name, handler, level.state, context)))
    finally:
        if context is not None:
            await context.leave()


async def invoke(run: Run, name: str, handler: HandlerPlan, state: object, context: NodeContext | None) -> Any:
    """The bare call. One on a thread that has been cancelled cannot be stopped: it is told, and waited for within the grace."""
    function = handler.call
    arguments = (state,) if context is None else (state, context)
    match handler.manner:
        case "async":
            return await function(*arguments)
        case "inline":
            return function(*arguments)
        case "thread":
            given_up = None if context is None else context.close
            return await run.threads.call(name, partial(_on_a_thread, context, function, arguments), given_up=given_up)


def _on_a_thread(context: NodeContext | None, function: Callable[..., Any], arguments: tuple[object, ...]) -> object:
    if context is not None:
        context.enter_thread()
    return function(*arguments)


async def _asking(context: NodeContext, work: Awaitable[T]) -> T:
    """Await a handler; the Pause with which a question stops it comes out as that question, and nothing else may.

    Raises:
        NodeAsked: it has asked.
        PauseSwallowed: it has asked, and went on.
    """
    try:
        result = await work
    except (Pause, BaseExceptionGroup) as error:
        if context.asking is None or context.asking.open is None:
            raise
        beside = None if isinstance(error, Pause) else error.split(Pause)[1]  # what other tasks of a group came to
        if isinstance(beside, Exception):
            raise beside from None
        if beside is not None:
            raise
        raise NodeAsked(context.asking.open) from None
    except Exception as error:
        if context.asking is None or context.asking.open is None:
            raise
        raise PauseSwallowed(context.node) from error
    if context.asking is not None and context.asking.open is not None:
        raise PauseSwallowed(context.node)
    return result


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
        if isinstance(error, Exception):
            await interrupt.outlived()
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
    """Hand an event to the run's reader, waiting for room until the level is stopped; then it goes past the limit."""
    (await room_for(run, level, event)).put_past_the_limit(event)


async def room_for(run: Run, level: Level, event: StreamEvent) -> Channel:
    """Where the event goes, as soon as there is room for it or the level is stopped."""
    channel = run.channel
    assert channel is not None
    if level.scope.reason is not None:
        return channel
    try:
        await interruptible(level.interrupt, channel.room_for(event))
    except asyncio.CancelledError:
        if level.interrupt.abandoned or level.scope.reason is None:
            raise
    finally:
        if level.interrupt.sent:
            level.interrupt.settle()
    return channel
