"""What `ctx.once` still does when its run is over, on a thread that could not be stopped: for the run that goes on with the thread."""

from __future__ import annotations

import os
from typing import Any, Final

from strata.engine.doing import Doings
from strata.engine.kept import ONCE
from strata.engine.level import Level
from strata.engine.run import Run

_OUTLIVING: Final[dict[tuple[int, str], tuple[object, Doings[Any, Any]]]] = {}
"""By store and thread, in this process; the store is held so that no other gets its id."""

os.register_at_fork(after_in_child=_OUTLIVING.clear)  # a forked child has none of its parent's threads


def outlive(store: object, run: Run, level: Level) -> None:
    """The run is over: what it still does is left to whoever goes on with the thread."""
    if not level.kept.is_used:
        return
    place, doings = (id(store), run.thread_id), level.kept.doings
    if doings.outlive(whenever_idle=lambda: _forget(place, doings)):
        _OUTLIVING[place] = (store, doings)


async def take_over(store: object, run: Run, level: Level) -> None:
    """The run goes on with the thread, or has started it over: what an earlier run still does is done for it, or for nobody."""
    _, doings = _OUTLIVING.pop((id(store), run.thread_id), (store, None))
    if doings is None or not level.has_entered:
        return
    level.keeps()
    late = level.kept.doings.take_over(doings)
    if run.progress is not None:
        await run.progress.keep({(place, f"{ONCE}{key}"): record for (place, key), record in late.items()})


def _forget(place: tuple[int, str], doings: Doings[Any, Any]) -> None:
    if _OUTLIVING.get(place, (None, None))[1] is doings:
        del _OUTLIVING[place]
