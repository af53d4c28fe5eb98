"""`strata thread end`: end a thread for good."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.importing import import_compiled
from strata.cli.parameters import AsJson, StoreUrl, ThreadId
from strata.cli.shapes import EndedThread
from strata.cli.stores import opened
from strata.engine.outcomes import Cancelled
from strata.graph.compiled import CompiledGraph
from strata.runtime.runner import Runner


def thread_end(
    graph: Annotated[str, Parameter(help="The graph that the thread is of: module:graph.")],
    thread_id: ThreadId,
    /,
    *,
    store: StoreUrl,
    by: Annotated[str | None, Parameter(help="Who ends it; kept in its metadata.")] = None,
    force: Annotated[bool, Parameter(negative="", help="Also a thread that was resumed and left no further record.")] = False,
    as_json: AsJson = False,
) -> int:
    """End a thread for good, wherever it stands. One that was ended already gives the same answer again.

    Exit code 1: the thread refuses; nothing was written then.
    """
    ended = asyncio.run(_end(store, import_compiled(graph), thread_id, by=by, force=force))
    if as_json:
        terminal.show_json(EndedThread(thread_id=ended.thread_id, state_name="ended", stopped_at=ended.stopped_at))
    else:
        terminal.show(f"thread '{ended.thread_id}' is ended; it stood at {'/'.join(ended.stopped_at) or 'its start'}")
    return 0


async def _end(url: str, graph: CompiledGraph[Any], thread_id: str, *, by: str | None, force: bool) -> Cancelled[Any]:
    async with opened(url) as store:
        return await Runner(graph, store).end(thread_id, by=by, force=force)
