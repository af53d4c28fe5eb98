"""The token with which the calls that hold it are cancelled."""

from __future__ import annotations

import asyncio
import contextlib


class Cancellation:
    """Fired once, from any thread, by whoever made it; calls see it in their context.

    It only tells: a tool that takes no notice of it is waited for. A call of a node needs none, since whoever stops the node
    cancels the task that the call runs in.
    """

    __slots__ = ("_has_fired", "_waiters")

    def __init__(self) -> None:
        self._has_fired = False
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def has_fired(self) -> bool:
        return self._has_fired

    def fire(self) -> None:
        self._has_fired = True
        for waiter in tuple(self._waiters):
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits there any more
                waiter.get_loop().call_soon_threadsafe(_wake, waiter)

    async def wait(self) -> None:
        """Return once it has fired."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            if not self._has_fired:  # looked at behind the line above: another thread may fire in between
                await waiter
        finally:
            self._waiters.remove(waiter)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
