"""Whether what stands in a definition goes together, and is what its version allows (strata-graph.md 4.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from strata.rules.names import is_blank

if TYPE_CHECKING:
    from strata.graph.definition import Definition, JoinDefinition, NodeDefinition

VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0")

_Path = tuple[str, ...]
_Step = str | tuple["Definition", _Path]
_PARTS = {None: (False, False), "parallel_group": (True, False), "subgraph": (False, True), "map": (False, True), "wait": (False, False)}
"""Per kind, whether it has branches and whether it has a graph."""


def shape_fault(definition: Definition) -> str | None:
    """The first fault of the definition's shape, with the text that all engines give it, or None.

    A level's own head, then its nodes in order, each with what is inside it, then its edges. Paths have no `*` here.
    """
    walks = [_walk(definition, ())]
    while walks:
        step = next(walks[-1], None)
        if step is None:
            walks.pop()
        elif isinstance(step, str):
            return step
        else:
            walks.append(_walk(*step))
    return None


def _walk(level: Definition, path: _Path) -> Iterator[_Step]:
    """The faults of a level, with the levels inside it where they stand among them."""
    yield from _head_faults(level, f" (in '{'/'.join(path)}')" if path else "")
    for node in level.nodes:
        here = (*path, node.name)
        subject = f"node '{'/'.join(here)}'"
        for fault in _node_faults(node, level.schema_version):
            yield f"{subject} {fault}"
        if node.graph is not None:
            yield node.graph, here
    if level.schema_version == "1.6.0":
        yield from _route_faults(level, path)


def _head_faults(level: Definition, at: str) -> Iterator[str]:
    version = level.schema_version
    if version not in VERSIONS:
        yield f"unsupported schema_version '{version}'{at}: this build reads {', '.join(VERSIONS[:-1])} and {VERSIONS[-1]}"
    elif level.identity is not None:
        if _lacks(version, "1.5.0"):
            yield f"the definition{at} has an identity, which schema_version {version} doesn't have"
        if is_blank(level.identity.id):
            yield f"the definition{at} has an identity with an empty id"


def _node_faults(node: NodeDefinition, version: str) -> Iterator[str]:
    yield from _kind_faults(node, version)
    yield from _wait_faults(node)
    if node.interrupt is not None:
        if _lacks(version, "1.6.0"):
            yield f"has an interrupt, which schema_version {version} doesn't have"
        if node.kind == "wait":
            yield "is a wait and can't also have an interrupt"
    yield from _part_faults(node)
    if node.join is not None:
        yield from _join_faults(node, node.join, version)


def _kind_faults(node: NodeDefinition, version: str) -> Iterator[str]:
    if node.kind is not None and _lacks(version, "1.1.0"):
        yield f"has a kind, which schema_version {version} doesn't have"
    if node.kind == "map" and _lacks(version, "1.3.0"):
        yield f"is a map, which schema_version {version} doesn't have"
    if node.kind == "wait" and _lacks(version, "1.4.0"):
        yield f"is a wait, which schema_version {version} doesn't have"


def _wait_faults(node: NodeDefinition) -> Iterator[str]:
    if node.kind == "wait" and node.wait is None:
        yield "is a wait but has no wait"
    if node.wait is not None:
        if node.kind != "wait":
            yield "has a wait but is not a wait node"
        if node.wait.kind == "human":  # a checkpoint's kind of wait, which no node of a definition has
            yield "has a wait of kind 'human', which is neither event nor timer"


def _part_faults(node: NodeDefinition) -> Iterator[str]:
    has = (node.branches is not None, node.graph is not None)
    if has != _PARTS[node.kind]:
        what = "a plain node" if node.kind is None else f"a {node.kind}"
        fields = {
            (False, False): "neither branches nor graph",
            (True, False): "branches",
            (False, True): "graph",
            (True, True): "both branches and graph",
        }
        yield f"is {what} but has {fields[has]}"


def _join_faults(node: NodeDefinition, join: JoinDefinition, version: str) -> Iterator[str]:
    if _lacks(version, "1.2.0"):
        yield f"has a join, which schema_version {version} doesn't have"
    if node.kind not in ("parallel_group", "map"):
        yield "has a join but is neither a parallel_group nor a map"
    if join.count is not None and join.policy != "quorum":
        yield "has a join with a count, which only a quorum has"
    if join.condition is not None and join.policy != "first_matching":
        yield "has a join with a condition, which only first_matching has"


def _route_faults(level: Definition, path: _Path) -> Iterator[str]:
    nodes: dict[str, NodeDefinition] = {}
    for node in level.nodes:
        nodes.setdefault(node.name, node)
    for edge in level.edges:
        source = nodes.get(edge.source)
        if source is None:  # a dangling edge, which is for validation to say
            continue
        subject = f"node '{'/'.join((*path, source.name))}'"
        if edge.condition == "on_reject" and source.interrupt is None:
            yield f"{subject} has an on_reject edge but is not an interrupt boundary"
        if edge.condition == "on_timeout" and not _has_timeout(source):
            yield f"{subject} has an on_timeout edge but no timeout"


def _has_timeout(node: NodeDefinition) -> bool:
    return any(pause is not None and pause.timeout_ms is not None for pause in (node.interrupt, node.wait))


def _lacks(version: str, since: str) -> bool:
    """Whether a known version is older than the one that brought something."""
    return VERSIONS.index(version) < VERSIONS.index(since)
