"""Awaiting what must not be cut short by whatever has cancelled the task already."""

from __future__ import annotations

import sys
from collections.abc import Awaitable


async def shielded(work: Awaitable[object]) -> None:
    """Await `work` in a task that was cancelled: a scope of anyio around the call goes on cancelling it, at each turn of the loop.

    Whoever cancels the task once more does not wait any longer.
    """
    if "anyio" not in sys.modules:  # then there is no such scope, and the 20 ms of its import are saved
        await work
        return
    from anyio import CancelScope

    with CancelScope(shield=True):
        await work
