"""The runs of a runner that are under way, so that they can be told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from strata.engine.run import Run


class ActiveRuns:
    """By thread id. Runs of one thread are rare and may be on several event loops."""

    def __init__(self) -> None:
        self._runs: dict[Run, asyncio.AbstractEventLoop] = {}

    def add(self, run: Run) -> None:
        self._runs[run] = asyncio.get_running_loop()

    def remove(self, run: Run) -> None:
        del self._runs[run]

    def stop(self, thread_id: str) -> bool:
        """Tell the thread's runs to stop, from whatever thread; whether there was one."""
        told = False
        for run, loop in list(self._of(thread_id)):
            told = True
            if _is_running_here(loop):
                run.scope.stop("requested")
            else:
                loop.call_soon_threadsafe(run.scope.stop, "requested")
        return told

    def _of(self, thread_id: str) -> Iterable[tuple[Run, asyncio.AbstractEventLoop]]:
        return ((run, loop) for run, loop in list(self._runs.items()) if run.thread_id == thread_id)


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
