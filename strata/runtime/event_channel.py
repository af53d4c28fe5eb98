"""One run's events, to be read as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from strata.ports.events import RunCompleted, RunEvent


class EventChannel:
    """An observer that a reader takes the events of one run from; the reader ends behind `RunCompleted`.

        events = EventChannel()
        running = asyncio.create_task(runner.run("essay-1", essay, observers=[events]))
        async for event in events: ...

    It is for the run that it hears of first. Another run's events are refused, which counts as an observer's error there
    and does that run no harm (strata-observability.md 2.1).
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[RunEvent] = asyncio.Queue()
        self._run_id: str | None = None

    def __call__(self, event: RunEvent) -> None:
        if self._run_id not in (None, event.run_id):
            raise ValueError(f"this channel is for run '{self._run_id}': use another one for run '{event.run_id}'")
        self._run_id = event.run_id
        self._queue.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[RunEvent]:
        while True:
            event = await self._queue.get()
            yield event
            if isinstance(event, RunCompleted):
                return
