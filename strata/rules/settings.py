"""Faults of what is set on a graph and shows in no export: hop limit, identity, node timeouts, metadata, boundary marks, state.

The refusals of compile, with the texts that the engines share (strata-graph.md 2; its steps are named below), and ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strata.rules import codes
from strata.rules.facts import DraftFacts, NodeFacts, Place
from strata.rules.names import is_blank
from strata.rules.problem import Problem

MAX_NODE_HOPS = 2**32 - 1
RESERVED_PREFIX = "strata."


def hop_limit_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 1. Hop limits go from 1 to 2^32 - 1 (strata-graph.md 7)."""
    if draft.max_node_hops is None:
        return
    if draft.max_node_hops < 1:
        yield _fault(codes.HOP_LIMIT, "max_node_hops must be at least 1")
    elif draft.max_node_hops > MAX_NODE_HOPS:
        yield _fault(codes.HOP_LIMIT, f"max_node_hops must be at most {MAX_NODE_HOPS}")


def identity_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 2."""
    if draft.graph_id is None:
        if draft.graph_version is not None:
            yield _fault(codes.VERSION_WITHOUT_ID, "graph_version needs a graph_id")
        if draft.has_migration:
            yield _fault(codes.MIGRATION_WITHOUT_ID, "a migration needs a graph_id")
        return
    if is_blank(draft.graph_id):
        yield _fault(codes.BLANK_GRAPH_ID, "graph_id must not be blank")
    if draft.graph_version is not None and is_blank(draft.graph_version):
        yield _fault(codes.BLANK_GRAPH_VERSION, "graph_version must not be blank")


def timeout_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 8, names in byte order."""
    nodes = _nodes(draft)
    for name, seconds in sorted(draft.timeouts.items()):
        place = _place(nodes, name)
        if name not in nodes:
            yield _fault(codes.TIMEOUT_WITHOUT_NODE, f"timeout set for '{name}', which does not exist", name, place)
        if not seconds > 0:  # also NaN
            yield _fault(codes.TIMEOUT_NOT_POSITIVE, f"timeout for '{name}' must be greater than zero", name, place)
        if name in nodes and name in draft.inline:
            text = f"node '{name}' runs inline and can't be timed out: add it with add_node or add_fallible_node to have its timeout honoured"
            yield _fault(codes.TIMEOUT_ON_INLINE, text, name, place)


def metadata_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 9, names in byte order and then keys in byte order."""
    nodes = _nodes(draft)
    for name, metadata in sorted(draft.metadata.items()):
        place = _place(nodes, name)
        if name not in nodes:
            yield _fault(codes.METADATA_WITHOUT_NODE, f"metadata set for '{name}', which does not exist", name, place)
        for key in sorted(metadata):
            if not key:
                yield _fault(codes.METADATA_EMPTY_KEY, f"metadata on node '{name}' has an empty key", name, place)
            elif key.startswith(RESERVED_PREFIX):
                yield _fault(codes.METADATA_RESERVED_KEY, f"metadata key '{key}' on node '{name}' is reserved", name, place)


def unstorable_fields(draft: DraftFacts) -> Iterator[Problem]:
    """Fields of the state that could not be stored and read back."""
    for fault in draft.state_faults:
        yield _fault(codes.UNSTORABLE_FIELD, f"state field {fault.path} cannot be stored: {fault.reason}", place=draft.state_place)


def boundaries_without_node(draft: DraftFacts) -> Iterator[Problem]:
    """Boundaries on a name that is no node: accepted, as the other engines do, but nothing ever pauses there.

    One with a route is told as the dangling edge that the route is, and not here once more.
    """
    nodes = _nodes(draft)
    starts = {edge.source for edge in draft.graph.edges}
    for boundary in sorted(draft.boundaries, key=lambda boundary: boundary.node):
        if boundary.node not in nodes and boundary.node not in starts:
            text = f"boundary set on '{boundary.node}', which is not a node in the graph: nothing ever pauses there"
            yield _caution(codes.BOUNDARY_WITHOUT_NODE, text, boundary.node, boundary.place)


def timeouts_below_millisecond(draft: DraftFacts) -> Iterator[Problem]:
    """Timeouts that are 0 in the unit of the wire, whole milliseconds: most likely another unit was meant."""
    nodes = _nodes(draft)
    for name, seconds in sorted(draft.timeouts.items()):
        if 0 < seconds < 0.001:
            text = f"timeout for '{name}' is {seconds:g} s, below a millisecond: durations are seconds, and whole milliseconds in an export"
            yield _caution(codes.TIMEOUT_BELOW_MILLISECOND, text, name, _place(nodes, name))


def _nodes(draft: DraftFacts) -> Mapping[str, NodeFacts]:
    return {node.name: node for node in draft.graph.nodes}


def _place(nodes: Mapping[str, NodeFacts], name: str) -> Place | None:
    node = nodes.get(name)
    return None if node is None else node.place


def _fault(code: str, text: str, node: str | None = None, place: Place | None = None) -> Problem:
    return Problem(code=code, severity="error", text=text, node=node, place=place)


def _caution(code: str, text: str, node: str, place: Place | None) -> Problem:
    return Problem(code=code, severity="warning", text=text, node=node, place=place)
