"""What `compile()` gives: a graph that was found sound, and cannot change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar

from strata.graph.answers import Signal
from strata.graph.state import State

if TYPE_CHECKING:
    from strata.graph.answers import StoredLevel
    from strata.graph.codec import StateCodec
    from strata.graph.definition import Definition
    from strata.graph.identity import Identity
    from strata.graph.spec import NodeSpec
    from strata.graph.state_schemas import StateSchemas
    from strata.rules.facts import GraphFacts
    from strata.rules.problem import Problem

S = TypeVar("S", bound=State)

Check: TypeAlias = Literal["full", "fields", "type"]
Migration: TypeAlias = "Callable[[StoredLevel], StoredLevel | None]"


class CompiledGraph(Generic[S]):
    """A graph that was found sound, for any number of runs at once. Immutable; made by `compile()` only.

    Attributes:
        state: the type of the graph's state.
        codec: writes, reads and checks that state.
        entry: the node that every run starts at.
        specs: the nodes in order, each with its edges and policies.
        identity: the id and version given to `compile`, or None.
        max_node_hops: the compiled hop limit, or None.
        durable: whether a run records every node.
        check: how closely a returned state is looked at.
        migrate: takes over threads of other versions, or None.
        warnings: what compiles and may surprise.
        facts: what the rules looked at, places in the source included.
    """

    __slots__ = (
        "__weakref__",
        "check",
        "codec",
        "durable",
        "entry",
        "exported",
        "facts",
        "identity",
        "max_node_hops",
        "migrate",
        "specs",
        "state",
        "warnings",
    )

    state: type[S]  # not Final: mypy takes no type variables there
    codec: StateCodec[S]
    entry: Final[str]
    specs: Final[Mapping[str, NodeSpec]]
    identity: Final[Identity | None]
    max_node_hops: Final[int | None]
    durable: Final[bool]
    check: Final[Check]
    migrate: Final[Migration | None]
    warnings: Final[tuple[Problem, ...]]
    exported: Final[Definition]
    facts: Final[GraphFacts]

    def __init__(
        self,
        *,
        state: type[S],
        codec: StateCodec[S],
        entry: str,
        specs: Mapping[str, NodeSpec],
        identity: Identity | None,
        max_node_hops: int | None,
        durable: bool,
        check: Check,
        migrate: Migration | None,
        warnings: tuple[Problem, ...],
        exported: Definition,
        facts: GraphFacts,
    ) -> None:
        self.state = state
        self.codec = codec
        self.entry = entry
        self.specs = specs
        self.identity = identity
        self.max_node_hops = max_node_hops
        self.durable = durable
        self.check = check
        self.migrate = migrate
        self.warnings = warnings
        self.exported = exported
        self.facts = facts

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"a compiled graph cannot change: compile another one instead of setting '{name}'")
        super().__setattr__(name, value)

    def definition(self) -> Definition:
        """The exported graph, with its identity (strata-graph.md 4.3)."""
        return self.exported

    def state_schemas(self) -> StateSchemas:
        """The JSON Schemas of the states, level by level: what a definition does not say."""
        from strata.graph.state_schemas import schemas_of_compiled

        return schemas_of_compiled(self)

    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart, with the names of its guards."""
        from strata.graph.drawing import mermaid

        return mermaid(self.exported, self.facts)

    def approve(self, reviewer: str = "", /) -> Signal[S]:
        """An approval for a thread whose innermost level is this graph's; `.override(...)` adds changes to its state."""
        return Signal("approve", reviewer, self.state, {}, {})

    def reject(self, reviewer: str = "", /) -> Signal[S]:
        """A rejection for a thread whose innermost level is this graph's.

        It goes where the boundary's `@on_reject` says; without one it goes on as an approval does, and the nodes behind see
        `ctx.decision.is_approved` false.
        """
        return Signal("reject", reviewer, self.state, {}, {})

    def amend(self, who: str = "", /) -> Signal[S]:
        """An answer to a failed or cancelled thread: only its overrides count, no decision is recorded."""
        return Signal("amend", who, self.state, {}, {})

    def __repr__(self) -> str:
        return f"<graph {self.identity or 'without an id'} over {self.state.__name__}: {', '.join(self.specs)}>"
