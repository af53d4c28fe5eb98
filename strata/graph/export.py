"""A draft as a definition: what of it other engines and people are told."""

from __future__ import annotations

from collections.abc import Iterator

from strata.graph.definition import Definition, EdgeDefinition, InterruptDefinition, NodeDefinition
from strata.graph.draft import Draft, edges_and_routes
from strata.graph.identity import Identity


def definition_of(draft: Draft, identity: Identity | None = None) -> Definition:
    """The exported graph, sound or not; what was set on names that are no node is left out, but for routes (strata-graph.md 4.3)."""
    return Definition.of(
        entry_point=draft.entry,
        nodes=tuple(_nodes(draft)),
        edges=tuple(
            EdgeDefinition(source=edge.source, target=edge.target, guarded=edge.guarded, condition=edge.condition) for edge in edges_and_routes(draft)
        ),
        identity=identity,
    )


def _nodes(draft: Draft) -> Iterator[NodeDefinition]:
    for name in draft.nodes:
        interrupt = InterruptDefinition() if name in draft.boundaries else None
        yield NodeDefinition(name=name, metadata=draft.metadata.get(name), interrupt=interrupt)
