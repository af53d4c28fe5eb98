"""The two sides of a comparison, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from strata.graph.definition import Definition, NodeDefinition
from strata.graph.state_schemas import StateSchemas


class Described(msgspec.Struct, frozen=True):
    """A graph as it can be compared: its definition, and its states where their schemas are known."""

    definition: Definition
    states: StateSchemas | None = None


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One level as it was and as it is; `path` are the subgraph nodes that lead to it."""

    path: tuple[str, ...]
    old: Described
    new: Described

    def qualified(self, node: str) -> str:
        """The node's name with those of the nodes around it."""
        return "/".join((*self.path, node))

    def kept_nodes(self) -> Iterator[tuple[NodeDefinition, NodeDefinition]]:
        """The nodes that both have, each as it was and as it is."""
        now = nodes_by_name(self.new.definition)
        for name, node in nodes_by_name(self.old.definition).items():
            if name in now:
                yield node, now[name]

    def inner(self) -> Iterator[Pair]:
        """The levels inside the nodes that were and are subgraphs. A map's items start anew and have no stored level."""
        for old, new in self.kept_nodes():
            if old.kind == new.kind == "subgraph" and old.graph is not None and new.graph is not None:
                yield Pair(
                    path=(*self.path, old.name),
                    old=Described(old.graph, _inside(self.old.states, old.name)),
                    new=Described(new.graph, _inside(self.new.states, old.name)),
                )


def nodes_by_name(definition: Definition) -> Mapping[str, NodeDefinition]:
    return {node.name: node for node in definition.nodes}


def _inside(states: StateSchemas | None, node: str) -> StateSchemas | None:
    return None if states is None else states.inside.get(node)
