"""What `compile()` gives: facts, then rules, then a graph that cannot change."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from strata.errors import GraphInvalid, GraphWarning
from strata.graph import drawing
from strata.graph.answers import Signal, StoredLevel
from strata.graph.codec import StateCodec
from strata.graph.definition import Definition
from strata.graph.draft import Draft, facts_of, specs_of
from strata.graph.export import definition_of
from strata.graph.identity import Identity
from strata.graph.spec import NodeSpec
from strata.graph.state import State
from strata.graph.storable import storable_faults
from strata.rules.facts import DraftFacts, GraphFacts, Place
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems

S = TypeVar("S", bound=State)

Check: TypeAlias = Literal["full", "fields", "type"]
Migration: TypeAlias = Callable[[StoredLevel], StoredLevel | None]


class CompiledGraph(msgspec.Struct, Generic[S], frozen=True, kw_only=True, eq=False, weakref=True):
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

    state: type[S]
    codec: StateCodec[S]
    entry: str
    specs: Mapping[str, NodeSpec]
    identity: Identity | None
    max_node_hops: int | None
    durable: bool
    check: Check
    migrate: Migration | None
    warnings: tuple[Problem, ...]
    exported: Definition
    facts: GraphFacts

    def definition(self) -> Definition:
        """The exported graph, with its identity (strata-graph.md 4.3)."""
        return self.exported

    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart, with the names of its guards."""
        return drawing.mermaid(self.exported, self.facts)

    def approve(self, reviewer: str = "", /) -> Signal[S]:
        """An approval for a thread whose innermost level is this graph's; `.override(...)` adds changes to its state."""
        return Signal("approve", reviewer, self.state, {}, {})

    def reject(self, reviewer: str = "", /) -> Signal[S]:
        """A rejection for a thread whose innermost level is this graph's."""
        return Signal("reject", reviewer, self.state, {}, {})

    def amend(self, who: str = "", /) -> Signal[S]:
        """An answer to a failed or cancelled thread: only its overrides count, no decision is recorded."""
        return Signal("amend", who, self.state, {}, {})

    def __repr__(self) -> str:
        return f"<graph {self.identity or 'without an id'} over {self.state.__name__}: {', '.join(self.specs)}>"


class CompileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of `compile()`, as they were given."""

    id: str | None = None
    version: str | None = None
    max_node_hops: int | None = None
    durable: bool = True
    migrate: Migration | None = None
    check: Check = "full"


def compile_draft(state: type[S], draft: Draft, options: CompileOptions) -> CompiledGraph[S]:
    """The compiled graph, or all that is wrong with the draft.

    Raises:
        GraphInvalid: the draft has errors.
        TypeError, ValueError: an option is no value of its type.
    """
    _refuse_options(options)
    problems = problems_of(draft, options)
    if errors := tuple(problem for problem in problems if problem.severity == "error"):
        raise GraphInvalid(errors)
    for problem in problems:
        warnings.warn(GraphWarning(str(problem)), stacklevel=3)
    identity = None if options.id is None else Identity(options.id, options.version)
    return CompiledGraph(
        state=state,
        codec=StateCodec(state, check=options.check),
        entry=draft.entry,
        specs=MappingProxyType(specs_of(draft)),
        identity=identity,
        max_node_hops=options.max_node_hops,
        durable=options.durable,
        check=options.check,
        migrate=options.migrate,
        warnings=problems,
        exported=definition_of(draft, identity),
        facts=facts_of(draft).graph,
    )


def problems_of(draft: Draft, options: CompileOptions | None = None) -> tuple[Problem, ...]:
    """All errors and warnings of a draft, in the order of strata-graph.md section 2."""
    return compile_problems(_with_options(facts_of(draft), draft, options or CompileOptions()))


def _with_options(facts: DraftFacts, draft: Draft, options: CompileOptions) -> DraftFacts:
    faults = storable_faults(draft.state)
    return msgspec.structs.replace(
        facts,
        graph_id=options.id,
        graph_version=options.version,
        has_migration=options.migrate is not None,
        max_node_hops=options.max_node_hops,
        state_faults=faults,
        state_place=_class_place(draft.state) or facts.state_place if faults else facts.state_place,
    )


def _class_place(state: type[Any]) -> Place | None:
    """Where the state class stands, if Python can find its source; asked only when one of its fields is wrong."""
    from inspect import getsourcefile, getsourcelines

    try:
        return Place(getsourcefile(state) or "", getsourcelines(state)[1])
    except (OSError, TypeError):
        return None


def _refuse_options(options: CompileOptions) -> None:
    limit = options.max_node_hops
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"max_node_hops is a whole number or None, not {limit!r}")
    for name, text in (("id", options.id), ("version", options.version)):
        if text is not None and not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{name}= is text, not {text!r}: write {name}={str(text)!r}")
    if options.check not in {"full", "fields", "type"}:
        raise ValueError(f'check= is "full", "fields" or "type", not {options.check!r}')
    if options.migrate is not None and not callable(options.migrate):
        raise TypeError(f"migrate= is a function of a StoredLevel, not {options.migrate!r}")
