"""The runs of a runner that are under way or wait for a slot, so that they can be told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager


class ActiveRuns:
    """By thread id. Runs of one thread are rare and may be on several event loops."""

    def __init__(self) -> None:
        self._runs: dict[object, tuple[str, asyncio.AbstractEventLoop, Callable[[], object]]] = {}

    @contextmanager
    def listed(self, thread_id: str, stop: Callable[[], object]) -> Generator[None]:
        """While in the block, the run can be told to stop by calling `stop` on its loop."""
        key = object()
        self._runs[key] = (thread_id, asyncio.get_running_loop(), stop)
        try:
            yield
        finally:
            del self._runs[key]

    def stop(self, thread_id: str) -> bool:
        """Tell the thread's runs to stop, from whatever thread; whether there was one."""
        found = [(loop, stop) for of, loop, stop in list(self._runs.values()) if of == thread_id]
        for loop, stop in found:
            if _is_running_here(loop):
                stop()
            else:
                loop.call_soon_threadsafe(stop)
        return bool(found)


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
