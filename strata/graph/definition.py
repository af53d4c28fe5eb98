"""The definition of a graph as all engines export and read it: its nodes and edges, without the code behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from strata.errors import DefinitionUnreadable
from strata.graph.definition_facts import facts_of
from strata.graph.definition_keys import doubled_key
from strata.graph.definition_shape import shape_fault
from strata.graph.identity import Identity
from strata.rules.facts import GraphFacts, JoinPolicy
from strata.rules.problem import Problem
from strata.rules.refusals import definition_problems

Kind = Literal["parallel_group", "subgraph", "map", "wait"]
WaitKind = Literal["event", "timer", "human"]
Partial = Literal["fail_group", "keep_succeeded"]
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""Milliseconds or a count; the wire has no negative or fractional ones."""


def _no_metadata() -> None:
    # A factory, because omit_defaults would leave a plain default out, and `metadata` is always written.
    return None


class BranchDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A branch of a parallel group."""

    name: str
    metadata: Mapping[str, str] | None = None


class JoinDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """When a group or map is done; written only where it is not the default, `all` with `fail_group`.

    `count` is a quorum's; `condition` is the description of a first-matching predicate.
    """

    policy: JoinPolicy
    count: Whole | None = None
    condition: str | None = None
    partial: Partial


class WaitDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """What a wait node waits for: an event, at most `timeout_ms`; or a timer, `delay_ms` long unless its state says when."""

    kind: WaitKind
    event_type: str | None = None
    delay_ms: Whole | None = None
    timeout_ms: Whole | None = None


class InterruptDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """The thread pauses after the node for a person, at most `timeout_ms`."""

    timeout_ms: Whole | None = None


class EdgeDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """An edge; a route is a guarded one whose `condition` is `on_failure`, `on_reject` or `on_timeout`."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    guarded: bool
    condition: str | None = None


class NodeDefinition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node; `kind` is None for all that is no group, subgraph, map or wait, whatever it is in code."""

    name: str
    metadata: Mapping[str, str] | None = msgspec.field(default_factory=_no_metadata)
    kind: Kind | None = None
    branches: tuple[BranchDefinition, ...] | None = None
    graph: Definition | None = None
    join: JoinDefinition | None = None
    wait: WaitDefinition | None = None
    interrupt: InterruptDefinition | None = None


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One level of a graph, with the levels inside its nodes. Make one with `Definition.of`.

    Attributes:
        schema_version: the lowest that expresses this level; of a definition that was read, what its file said.
        identity: of a compiled graph that has an id.
        entry_point: where every run starts; `""` if a builder has no node.
        nodes: in the order of declaration.
        edges: ordinary ones in the order added, then the routes (strata-graph.md 4.1).
    """

    schema_version: str
    identity: Identity | None = None
    entry_point: str
    nodes: tuple[NodeDefinition, ...]
    edges: tuple[EdgeDefinition, ...]

    @classmethod
    def of(
        cls,
        *,
        entry_point: str,
        nodes: tuple[NodeDefinition, ...],
        edges: tuple[EdgeDefinition, ...],
        identity: Identity | None = None,
    ) -> Definition:
        """A definition with the schema version that its own content asks for; nothing is checked (strata-graph.md 4.2)."""
        version = _lowest_version(nodes, identity)
        return cls(schema_version=version, identity=identity, entry_point=entry_point, nodes=nodes, edges=edges)

    @classmethod
    def from_json(cls, data: bytes | str) -> Definition:
        """Read a definition of any version and check its shape, at every level (strata-graph.md 4.5).

        Unknown keys are ignored, and lost when it is written again. What the shape does not say, `problems` does.

        Raises:
            DefinitionUnreadable: it is no definition at all, or its shape is not sound; the text says what and where.
            TypeError: the data is neither bytes nor text.
        """
        definition = decode_definition(data)
        fault = shape_fault(definition)
        if fault is not None:
            raise DefinitionUnreadable(fault)
        return definition

    def to_json(self) -> bytes:
        """The bytes that every engine writes for this definition: compact, keys in the wire's order, metadata keys sorted."""
        return _ENCODER.encode(self)

    def facts(self) -> GraphFacts:
        """This definition as the rules see it, routes among the edges."""
        return facts_of(self)

    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with it: the errors of every engine, in their order, then our own findings as warnings."""
        return definition_problems(self.facts())


def decode_definition(data: bytes | str) -> Definition:
    """Read a definition without checking its shape.

    Raises:
        DefinitionUnreadable: the text is not JSON, lacks a required key, has a known key twice, or a value of the wrong type.
        TypeError: the data is neither bytes nor text.
    """
    if not isinstance(data, (bytes, bytearray, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"the data of a definition is JSON, as bytes or text, not {data!r:.80}")
    try:
        text = data if isinstance(data, str) else data.decode()
        definition = _DECODER.decode(text)
        doubled = doubled_key(text, Definition, _INSIDE)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise DefinitionUnreadable(f"not a definition: {error}") from error
    except RecursionError as error:
        raise DefinitionUnreadable("not a definition: it is nested too deep to be read") from error
    if doubled is not None:
        raise DefinitionUnreadable(f"not a definition: the key '{doubled}' stands twice in one object")
    return definition


def _lowest_version(nodes: tuple[NodeDefinition, ...], identity: Identity | None) -> str:
    if any(node.interrupt is not None for node in nodes):
        return "1.6.0"
    if identity is not None:
        return "1.5.0"
    kinds = {node.kind for node in nodes}
    if "wait" in kinds:
        return "1.4.0"
    if "map" in kinds:
        return "1.3.0"
    if any(node.join is not None for node in nodes):
        return "1.2.0"
    return "1.1.0" if kinds - {None} else "1.0.0"


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Definition)
_INSIDE: Mapping[type[msgspec.Struct], Mapping[str, type[msgspec.Struct]]] = {
    Definition: {"identity": Identity, "nodes": NodeDefinition, "edges": EdgeDefinition},
    NodeDefinition: {
        "branches": BranchDefinition,
        "graph": Definition,
        "join": JoinDefinition,
        "wait": WaitDefinition,
        "interrupt": InterruptDefinition,
    },
}
