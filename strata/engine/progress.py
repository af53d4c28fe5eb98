"""Keeping in the store what a node has done before it commits."""

from __future__ import annotations

import logging

from strata.engine.recorder import Recorder
from strata.errors import StoreError
from strata.ports.progress import Items, ProgressStore

logger = logging.getLogger("strata")


class Progress:
    """Of one durable run. It lies on the run's newest record, and goes with the next one."""

    __slots__ = ("_recorder", "_store", "_thread_id")

    def __init__(self, store: ProgressStore, thread_id: str, recorder: Recorder) -> None:
        self._store, self._thread_id, self._recorder = store, thread_id, recorder

    async def keep(self, items: Items) -> None:
        """Raises nothing: work that was done is not thrown away because it could not be kept."""
        base = self._recorder.sequence
        if base is None or not items:
            return
        try:
            await self._store.keep_progress(self._thread_id, base, items)
        except StoreError as error:
            logger.warning("thread '%s': what its node has done so far could not be kept: %s", self._thread_id, error)
