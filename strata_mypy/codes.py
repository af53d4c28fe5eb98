"""The codes under which mypy tells a problem: those of the rules, and those that only the plugin has.

`# type: ignore[strata-dead-edge]` and `disable_error_code` take each, and `strata`, their parent, for all of them.
"""

from __future__ import annotations

from typing import Final

from mypy.errorcodes import ErrorCode

from strata.rules import codes

INTERNAL: Final = "strata-internal"
REDUCER: Final = "strata-reducer"

OF_THE_RULES: Final = {
    codes.WRONG_FUNCTION: "A node takes the state, and perhaps a Context, and gives back the state",
    codes.NOTHING_RETURNED: "A node gives back a state",
    codes.MISPLACED_DECORATOR: "A decorator stands where it means something",
    codes.UNSTORABLE_FIELD: "A field of a state can be stored and read back",
    codes.DANGLING_EDGE: "An edge or a route leads to a node that the graph lists",
    codes.ORPHAN: "A way leads from the start to every node",
    codes.UNGUARDED_CYCLE: "A loop has a guarded edge",
    codes.NO_TERMINAL: "An end, or a pause, can be reached from everywhere",
    codes.EMPTY_GROUP: "A group has branches",
    codes.DUPLICATE_BRANCH: "The branches of a group have names of their own",
    codes.INVALID_QUORUM: "A quorum is between 1 and the number of branches",
    codes.WAIT_IN_MAP: "The graph that a map runs for each item has no wait",
    codes.BOUNDARY_IN_MAP: "The graph that a map runs for each item has no boundary",
    codes.HOP_LIMIT: "A hop limit is between 1 and 2^32 - 1",
    codes.VERSION_WITHOUT_ID: "A version is that of an id",
    codes.MIGRATION_WITHOUT_ID: "A migration is that of a graph with an id",
    codes.BLANK_GRAPH_ID: "The id of a graph is not blank",
    codes.BLANK_GRAPH_VERSION: "The version of a graph is not blank",
    codes.TIMEOUT_NOT_POSITIVE: "A timeout is above zero",
    codes.TIMEOUT_ON_INLINE: "An inline node has no timeout",
    codes.CONCURRENCY_NOT_POSITIVE: "At least one part runs at a time",
    codes.MAX_ITEMS_NOT_POSITIVE: "A map may have at least one item",
    codes.DELAY_NOT_POSITIVE: "The delay of a timer is above zero",
    codes.ROUTE_WITHOUT_TIMEOUT: "What has @on_timeout has a timeout",
    codes.WAIT_IS_BOUNDARY: "A wait is no boundary too",
    codes.BACKOFF_BELOW_INITIAL: "The longest delay of a backoff is not below its first",
    codes.METADATA_EMPTY_KEY: "The keys of metadata are not empty",
    codes.METADATA_RESERVED_KEY: "The keys of metadata do not begin with 'strata.'",
    codes.BLANK_NAME: "A name is not blank",
    codes.SLASH_IN_NAME: "A name has no '/'",
    codes.STAR_IN_NAME: "A name has no '*'",
    codes.DOUBLED_NODE: "A node has one place in a graph",
    codes.GUARD_BEHIND_WAIT: "The edges out of a wait have no guards",
    codes.BLANK_EVENT_TYPE: "A type of event is not blank",
    codes.GUARD_BEHIND_BOUNDARY: "The edges out of a boundary have no guards",
    codes.NO_WAY_OUT: "A node that pauses has an edge",
    codes.DEAD_EDGE: "No edge stands behind a plain one",
    codes.DOUBLED_EDGE: "No edge stands twice",
    codes.FALLBACK_LOOP: "Fallbacks do not lead back to where they began",
    codes.TOOL_INVALID: "A tool has a description, and parameters that a model can name",
    codes.CHILD_DURABILITY: "Graphs inside graphs are compiled with the same durable=",
    codes.TIMEOUT_BELOW_MILLISECOND: "A duration is at least a millisecond",
}
"""What each demands; docs/problems.md explains the codes themselves."""


def mypy_name(code: str) -> str:
    """A code of the rules as mypy's users write it: `strata-dead-edge` for `STRATA_PY_DEAD_EDGE`."""
    return "strata-" + code.split("_", 2)[2].lower().replace("_", "-")


DEMANDS: Final = {
    REDUCER: "A reducer merges two values of its field",
    INTERNAL: "The plugin itself has no fault",
    **{mypy_name(code): demand for code, demand in OF_THE_RULES.items()},
}
"""What a problem of each code offends against, by its name in mypy."""

PARENT: Final = ErrorCode("strata", "What is wrong with a graph", "Strata")
ERROR_CODES: Final = {name: ErrorCode(name, demand, "Strata", sub_code_of=PARENT) for name, demand in DEMANDS.items()}


def error_code(name: str) -> ErrorCode:
    return ERROR_CODES.get(name, PARENT)
