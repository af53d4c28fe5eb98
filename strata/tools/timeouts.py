"""How long the function of a tool may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from strata.errors import ToolCallFailed
from strata.graph.clock import Clock

T = TypeVar("T")


async def within(tool: str, timeout: float, clock: Clock, work: Awaitable[T]) -> T:
    """Await `work`, which is cancelled after `timeout` seconds. A result that comes all the same counts, an error does not.

    Raises:
        ToolCallFailed: it took longer, and its clean-up is over.
    """
    now = asyncio.get_running_loop().time
    limit = asyncio.timeout(None)
    timer = clock.call_later(timeout, lambda: limit.reschedule(now()))  # a clock that a test moves has its own idea of later
    try:
        async with limit:
            return await work
    except Exception as error:
        if not limit.expired():
            raise
        raise ToolCallFailed(tool, f"timed out after {round(timeout * 1_000_000) // 1000} ms") from error
    finally:
        timer.cancel()
