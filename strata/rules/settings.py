"""Faults of what is set on a graph or a node and shows in no export: hop limit, identity, node timeouts, metadata, state.

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
        yield from _key_faults(metadata, f"node '{name}'", name, place)


def branch_metadata_faults(draft: DraftFacts) -> Iterator[Problem]:
    """Step 10, groups in node order, branch names in byte order and then keys in byte order."""
    for node in draft.graph.nodes:
        if node.kind != "parallel_group":
            continue
        places = {branch.name: branch.place for branch in node.branches}
        for name, metadata in sorted(draft.branch_metadata.get(node.name, {}).items()):
            place = places.get(name) or node.place
            branch = f"branch '{name}' of parallel group '{node.name}'"
            if name not in places:
                yield _fault(codes.METADATA_WITHOUT_BRANCH, f"metadata set for {branch}, which does not exist", node.name, place)
            yield from _key_faults(metadata, branch, node.name, place)


def unstorable_fields(draft: DraftFacts) -> Iterator[Problem]:
    """Fields of the state that could not be stored and read back."""
    for fault in draft.state_faults:
        yield _fault(codes.UNSTORABLE_FIELD, f"state field {fault.path} cannot be stored: {fault.reason}", place=draft.state_place)


def unreadable_payloads(draft: DraftFacts) -> Iterator[Problem]:
    """Payload types of waits that no event could be read as."""
    for fault in draft.payload_faults:
        text = f"the payload of wait '{fault.node}' is a {fault.type}, which no event can be read as: {fault.reason}"
        yield _fault(codes.PAYLOAD_TYPE, text, fault.node, fault.place)


def children_of_other_durability(draft: DraftFacts) -> Iterator[Problem]:
    """Graphs inside nodes that were compiled with another `durable`, which has no effect there."""
    for child in draft.children:
        if child.durable != draft.durable:
            text = (
                f"the graph inside '{child.node}' was compiled with durable={child.durable}, and this one with durable={draft.durable}: "
                f"the outermost graph rules all levels; compile both alike"
            )
            yield _caution(codes.CHILD_DURABILITY, text, child.node, child.place)


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
    """Times that are 0 in the unit of the wire, whole milliseconds: most likely another unit was meant."""
    for what, name, seconds, place in _times(draft):
        if seconds is not None and 0 < seconds < 0.001:
            text = f"{what} '{name}' is {seconds:g} s, below a millisecond: durations are seconds, and whole milliseconds in an export"
            yield _caution(codes.TIMEOUT_BELOW_MILLISECOND, text, name, place)


def _times(draft: DraftFacts) -> Iterator[tuple[str, str, float | None, Place | None]]:
    nodes = _nodes(draft)
    for name, seconds in sorted(draft.timeouts.items()):
        yield "timeout for", name, seconds, _place(nodes, name)
    for fanout in draft.fanouts:
        part = "item" if _is_map(nodes, fanout.node) else "branch"
        yield f"the {part} timeout of", fanout.node, fanout.part_timeout, fanout.place
    for wait in draft.waits:
        yield "the delay of timer", wait.node, wait.delay, wait.place
        yield "the timeout of wait", wait.node, wait.timeout, wait.place
    for boundary in draft.boundaries:
        yield "the timeout of interrupt boundary", boundary.node, boundary.timeout, boundary.place


def _key_faults(metadata: Mapping[str, str], where: str, node: str, place: Place | None) -> Iterator[Problem]:
    for key in sorted(metadata):
        if not key:
            yield _fault(codes.METADATA_EMPTY_KEY, f"metadata on {where} has an empty key", node, place)
        elif key.startswith(RESERVED_PREFIX):
            yield _fault(codes.METADATA_RESERVED_KEY, f"metadata key '{key}' on {where} is reserved", node, place)


def _nodes(draft: DraftFacts) -> Mapping[str, NodeFacts]:
    return {node.name: node for node in draft.graph.nodes}


def _is_map(nodes: Mapping[str, NodeFacts], name: str) -> bool:
    return name in nodes and nodes[name].kind == "map"


def _place(nodes: Mapping[str, NodeFacts], name: str) -> Place | None:
    node = nodes.get(name)
    return None if node is None else node.place


def _fault(code: str, text: str, node: str | None = None, place: Place | None = None) -> Problem:
    return Problem(code=code, severity="error", text=text, node=node, place=place)


def _caution(code: str, text: str, node: str, place: Place | None) -> Problem:
    return Problem(code=code, severity="warning", text=text, node=node, place=place)
