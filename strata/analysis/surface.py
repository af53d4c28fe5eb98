"""What the names of `strata` do when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from strata.analysis import marking, parts, tools, tops
from strata.analysis.arguments import Arguments
from strata.analysis.findings import Findings
from strata.analysis.values import Value

CALLS: Final[dict[str, Callable[[Arguments, Findings], Value]]] = {
    "strata.edge": marking.edge,
    "strata.when": marking.when,
    "strata.boundary": marking.boundary,
    "strata.on_reject": marking.on_reject,
    "strata.on_timeout": marking.on_timeout,
    "strata.on_failure": marking.on_failure,
    "strata.retry": marking.retry,
    "strata.node": tops.node,
    "strata.parallel": tops.parallel,
    "strata.subgraph": tops.subgraph,
    "strata.map_each": tops.map_each,
    "strata.wait_for_event": tops.wait_for_event,
    "strata.timer": tops.timer,
    "strata.branch": parts.branch,
    "strata.all_of": parts.all_of,
    "strata.first_success": parts.first_success,
    "strata.first_matching": parts.first_matching,
    "strata.quorum": parts.quorum,
    "strata.Backoff": parts.backoff,
    "strata.strata_tool": tools.strata_tool,
    "datetime.timedelta": parts.duration,
}

BARE: Final = frozenset({"strata.node", "strata.boundary", "strata.strata_tool"})
"""Those that may decorate a function without being called."""
