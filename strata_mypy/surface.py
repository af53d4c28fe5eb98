"""Which hook is asked for which name of the surface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Type

from strata_mypy import graphs, marks, replacing, states, tools, tops
from strata_mypy.guarded import carrying_faults, telling_faults, telling_faults_of_classes, telling_faults_of_signatures, telling_faults_of_trials
from strata_mypy.names import STATE_GRAPH, TOOL_DECORATOR, WIRING

FUNCTIONS: Final[dict[str, Callable[[FunctionContext], Type]]] = {
    name: carrying_faults(hook)
    for name, hook in {
        "strata.graph.marking.edge": marks.edge,
        "strata.graph.marking.when": marks.when,
        "strata.graph.marking.boundary": marks.boundary,
        "strata.graph.marking.on_reject": marks.on_reject,
        "strata.graph.marking.on_timeout": marks.on_timeout,
        "strata.graph.recovery_marks.retry": marks.retry,
        "strata.graph.recovery_marks.on_failure": marks.on_failure,
        "strata.graph.decorators.node": tops.node,
        "strata.graph.fanout_decorators.parallel": tops.parallel,
        "strata.graph.fanout_decorators.map_each": tops.map_each,
        "strata.graph.fanout_decorators.branch": tops.branch,
        "strata.graph.subgraph_decorator.subgraph": tops.subgraph,
        "strata.graph.wait_decorators.wait_for_event": tops.wait_for_event,
        "strata.graph.wait_decorators.timer": tops.timer,
        "strata.graph.joins.all_of": tops.all_of,
        "strata.graph.joins.first_success": tops.first_success,
        "strata.graph.joins.first_matching": tops.first_matching,
        "strata.graph.joins.quorum": tops.quorum,
    }.items()
} | {"strata.tools.declaration.strata_tool": telling_faults_of_trials(tools.strata_tool)}

MARKS: Final = ("strata.graph.marking.Route", "strata.graph.marking.Guarded", "strata.graph.marking.Modifier")
TOPS: Final = (
    "strata.graph.decorators.NodeDecorator",
    "strata.graph.fanout_decorators.MergeDecorator",
    "strata.graph.subgraph_decorator.FoldDecorator",
    "strata.graph.wait_decorators.WaitDecorator",
    "strata.graph.wait_decorators.TimerDecorator",
    "strata.graph.wait_decorators.UntilDecorator",
)

METHODS: Final[dict[str, Callable[[MethodContext], Type]]] = {
    **{f"{decorator}.__call__": carrying_faults(marks.applied) for decorator in MARKS},
    **{f"{decorator}.__call__": carrying_faults(tops.applied) for decorator in TOPS},
    f"{TOOL_DECORATOR}.__call__": telling_faults(tools.applied),
    f"{STATE_GRAPH}.start": telling_faults(graphs.start),
    f"{WIRING}.nodes": telling_faults(graphs.nodes),
    f"{WIRING}.compile": telling_faults(graphs.compile_),
    f"{WIRING}.validate": telling_faults(graphs.validate),
}

REPLACE: Final = telling_faults_of_signatures(replacing.replace)
OVERRIDE: Final = telling_faults_of_signatures(replacing.override)
FIELDS: Final = telling_faults_of_classes(states.check_fields)
