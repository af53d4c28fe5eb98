"""What a definition does not say of the threads that were written: the JSON Schemas of the states, and who takes over older versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from strata.errors import DefinitionUnreadable
from strata.graph.answer_schema import Schema, schema_of
from strata.graph.shapes import shape_of
from strata.graph.spec import NodeSpec, SubgraphBody
from strata.graph.time_formats import name_times

if TYPE_CHECKING:
    from strata.graph.compiled import CompiledGraph
    from strata.graph.state import State


class StateSchemas(msgspec.Struct, frozen=True, kw_only=True):
    """Of one level of a graph, with the levels inside it; kept in a file beside the definition, whose own bytes are the wire's.

    Attributes:
        state: the JSON Schema of the level's state, None where msgspec cannot tell one.
        migrates: whether `compile(migrate=...)` was given; None for a graph that is not compiled.
        inside: the levels of the subgraph nodes, by node. A map's items have no records of their own, and are not among them.
    """

    state: Mapping[str, Any] | None
    migrates: bool | None
    inside: Mapping[str, StateSchemas] = {}

    @classmethod
    def from_json(cls, data: bytes) -> StateSchemas:
        """Read what `to_json` wrote; unknown keys are ignored.

        Raises:
            DefinitionUnreadable: it is something else.
        """
        try:
            return msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise DefinitionUnreadable(f"not the schemas of a graph's states: {error}") from error

    def to_json(self) -> bytes:
        """As JSON that people read too: indented, fields in the order of the state."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def schemas_of_compiled(graph: CompiledGraph[Any]) -> StateSchemas:
    """The schemas of a compiled graph, and of the graphs inside it."""
    return schemas_of(graph.state, graph.specs.values(), migrates=graph.migrate is not None)


def schemas_of(state: type[State], specs: Iterable[NodeSpec], *, migrates: bool | None) -> StateSchemas:
    """The schemas of a level with these nodes."""
    inside = {spec.name: schemas_of_compiled(spec.body.child) for spec in specs if isinstance(spec.body, SubgraphBody)}
    return StateSchemas(state=schema_of_state(state), migrates=migrates, inside=inside)


def schema_of_state(state: type[msgspec.Struct]) -> Schema | None:
    """The JSON Schema of a state, times told from text; None where msgspec cannot tell one."""
    try:
        schema = schema_of(state)
    except TypeError:
        return None
    name_times(schema, shape_of(state))
    return schema
