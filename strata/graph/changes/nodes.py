"""Nodes that are gone, renamed, new, or no longer hold a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from strata.graph.changes.finding import Finding
from strata.graph.changes.pair import Pair, nodes_by_name
from strata.graph.definition import Definition, NodeDefinition


def node_changes(pair: Pair) -> Iterator[Finding]:
    """A resume needs the node that a level stands at and the one that it goes on with, and a subgraph for what is stored inside one."""
    old, new = nodes_by_name(pair.old.definition), nodes_by_name(pair.new.definition)
    removed, added = [name for name in old if name not in new], [name for name in new if name not in old]
    renamed = {name: now for name in removed if (now := _new_name(name, pair, added)) is not None}
    for name in removed:
        yield _renamed(pair, name, renamed[name]) if name in renamed else _removed(pair, name)
    yield from _graphs_removed(pair)
    for name in added:
        if name not in renamed.values():
            text = f"node '{pair.qualified(name)}' is new"
            yield Finding(code="node_added", effect="harmless", reach="node", level=pair.path, node=name, text=text)


def _removed(pair: Pair, name: str) -> Finding:
    text = f"node '{pair.qualified(name)}' is gone: {_who_is_refused(pair, name)}"
    hint = "keep the node until no thread needs it, or let a migration of a new version name its successor: compile(migrate=...)"
    return Finding(code="node_removed", effect="breaks", reach="node", level=pair.path, node=name, text=text, hint=hint)


def _renamed(pair: Pair, name: str, now: str) -> Finding:
    text = f"node '{pair.qualified(name)}' seems to be called '{now}' now: {_who_is_refused(pair, name)}"
    hint = f"threads know a node by its name: let the decorator say '{name}', whatever the function is called"
    return Finding(code="node_renamed", effect="breaks", reach="node", level=pair.path, node=name, text=text, hint=hint)


def _who_is_refused(pair: Pair, name: str) -> str:
    text = "a thread that stands at it is refused"
    waiting = [f"'{pair.qualified(node)}'" for node in _pausing_before(pair.old.definition, name)]
    return f"{text}, and one that goes on with it from {' or '.join(waiting)}" if waiting else text


def _pausing_before(definition: Definition, name: str) -> list[str]:
    """The pausing nodes with an edge to it: what they have paused has stored it as the next node."""
    pausing = {node.name for node in definition.nodes if node.wait is not None or node.interrupt is not None}
    sources = [edge.source for edge in definition.edges if edge.target == name and edge.condition is None]
    return [source for source in dict.fromkeys(sources) if source in pausing and source != name]


def _graphs_removed(pair: Pair) -> Iterator[Finding]:
    for old, new in pair.kept_nodes():
        if old.kind == "subgraph" and new.kind != "subgraph":
            text = f"node '{pair.qualified(old.name)}' is no subgraph any more: a thread that stands in the graph inside it is refused"
            hint = "keep the subgraph until no thread stands in it, and put the new work under another name"
            yield Finding(code="subgraph_removed", effect="breaks", reach="inside", level=pair.path, node=old.name, text=text, hint=hint)


def _new_name(name: str, pair: Pair, added: list[str]) -> str | None:
    """The one added node that is the removed one in all but its name: the same in itself, and joined to the same nodes."""
    old, new = pair.old.definition, pair.new.definition
    was = nodes_by_name(old)[name]
    alike = [candidate for candidate in added if _is_alike(was, nodes_by_name(new)[candidate]) and _ways(old, name) == _ways(new, candidate)]
    return alike[0] if len(alike) == 1 else None


def _is_alike(old: NodeDefinition, new: NodeDefinition) -> bool:
    return msgspec.structs.replace(old, name=new.name) == new


def _ways(definition: Definition, name: str) -> tuple[bool, Mapping[tuple[str, str, str | None], int]]:
    """How a node is joined to the others, its own name left out of it, and whether runs start there."""
    ways: dict[tuple[str, str, str | None], int] = {}
    for edge in definition.edges:
        if name in (edge.source, edge.target):
            ends = ("" if edge.source == name else edge.source, "" if edge.target == name else edge.target)
            ways[(*ends, edge.condition)] = ways.get((*ends, edge.condition), 0) + 1
    return definition.entry_point == name, ways
