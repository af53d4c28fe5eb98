"""The place in a run that a call is made from."""

from __future__ import annotations

import asyncio

from strata.engine.calling import CallSite
from strata.engine.context import NodeContext
from strata.tools.context import ToolContext


def site_of(context: ToolContext | None) -> CallSite | None:
    """None for a call outside of runs, and for one whose context was made by hand.

    Raises:
        RuntimeError: this is another event loop than that of the run.
    """
    if context is None or not isinstance(context.node, NodeContext):
        return None
    site = context.node.site
    if asyncio.get_running_loop() is not site.loop:
        raise RuntimeError(
            f"node '{site.node}' calls a tool in another event loop than its run's, which keeps what is told of calls in order: "
            f"make the node async, or hand the call over with asyncio.run_coroutine_threadsafe"
        )
    return site
