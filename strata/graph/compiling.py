"""From a draft to a compiled graph: facts, then rules, then the graph.

The builder loads this module when it is first asked to compile, so that importing a graph's names stays cheap.
"""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any, TypeVar, get_args

import msgspec

from strata.errors import GraphInvalid, GraphWarning
from strata.graph.arguments import is_whole, one_of, true_or_false
from strata.graph.codec import StateCodec
from strata.graph.compiled import Check, CompiledGraph, Migration
from strata.graph.draft import Draft, specs_of
from strata.graph.draft_facts import facts_of
from strata.graph.export import definition_of
from strata.graph.identity import Identity
from strata.graph.payloads import payload_faults, with_payload
from strata.graph.state import State
from strata.graph.storable import storable_faults
from strata.graph.texts import text_of
from strata.rules.facts import DraftFacts, Place
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems

S = TypeVar("S", bound=State)


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
        specs=MappingProxyType({name: with_payload(spec) for name, spec in specs_of(draft).items()}),
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
        durable=options.durable,
        payload_faults=payload_faults(draft),
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
    if limit is not None and not is_whole(limit):
        raise TypeError(f"max_node_hops is a whole number or None, not {limit!r}")
    for name, text in (("id", options.id), ("version", options.version)):
        if text is not None and not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{name}= is text, not {text!r}: write {name}={str(text)!r}")
        if text is not None:
            text_of(text, f"the {name}= of a graph")
    true_or_false(options.durable, "durable=")
    one_of(options.check, get_args(Check), "check=")
    if options.migrate is not None and not callable(options.migrate):
        raise TypeError(f"migrate= is a function of a StoredLevel, not {options.migrate!r}")
