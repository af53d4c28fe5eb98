"""The place in a run that a call is made from."""

from __future__ import annotations

from strata.engine.calling import CallSite
from strata.engine.context import NodeContext
from strata.tools.context import ToolContext


def site_of(context: ToolContext | None) -> CallSite | None:
    """None for a call outside of runs, and for one whose context was made by hand."""
    if context is None or not isinstance(context.node, NodeContext):
        return None
    return context.node.site
