"""What the rules find in a graph, without what they cannot know."""

from __future__ import annotations

from typing import Final

import msgspec

from strata.analysis.arguments import Arguments
from strata.analysis.drafts import Draft, Lost, facts_of
from strata.analysis.findings import Findings
from strata.analysis.graphs import Compiled
from strata.analysis.nodes import Node
from strata.analysis.scopes import Scope
from strata.analysis.values import UNKNOWN, Constant, Value, is_given, text, whole_number
from strata.rules import codes
from strata.rules.facts import DraftFacts
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems

NEEDED: Final[dict[Lost, frozenset[str]]] = {
    "nodes": frozenset(
        {
            *(codes.MISSING_ENTRY, codes.DANGLING_EDGE, codes.ORPHAN, codes.NO_TERMINAL),
            *(codes.TIMEOUT_WITHOUT_NODE, codes.METADATA_WITHOUT_NODE, codes.POLICY_NOT_FALLIBLE, codes.BOUNDARY_WITHOUT_NODE),
        }
    ),
    "edges": frozenset({codes.ORPHAN, codes.NO_TERMINAL, codes.NO_WAY_OUT, codes.BOUNDARY_WITHOUT_NODE}),
    "pauses": frozenset({codes.NO_TERMINAL}),
}
"""The problems that what is not known might take away."""


def judge(draft: Draft, options: Arguments, scope: Scope, findings: Findings) -> Value:
    """Add what `compile()` would find, and give what it would; UNKNOWN where it would raise."""
    if draft.is_lost:
        return Compiled(None, None)
    facts = _with_options(facts_of(draft), options)
    silent = frozenset[str]().union(*(NEEDED[lost] for lost in draft.lost), _of_open_groups(draft))
    problems = [problem for problem in compile_problems(facts) if problem.code not in silent]
    for problem in problems:
        findings.add(_told(problem, draft, options, scope))
    if any(problem.severity == "error" for problem in problems):
        return UNKNOWN
    return Compiled(None if draft.lost else facts.graph, _durability(options))


def _durability(options: Arguments) -> bool | None:
    durable = options.get("durable")
    if durable is None:
        return True
    return durable.value if isinstance(durable, Constant) and isinstance(durable.value, bool) else None


def _with_options(facts: DraftFacts, options: Arguments) -> DraftFacts:
    durable = _durability(options)
    return msgspec.structs.replace(
        facts,
        graph_id=_some_text(options.get("id")),
        graph_version=text(options.get("version")) if options.get("id") is not UNKNOWN else None,
        has_migration=is_given(options.get("migrate")) and options.get("migrate") is not UNKNOWN,
        max_node_hops=whole_number(options.get("max_node_hops")),
        durable=bool(durable),
        children=() if durable is None else facts.children,
    )


def _some_text(value: Value | None) -> str | None:
    """The text; one that no rule objects to where it cannot be told."""
    if not is_given(value):
        return None
    return "unknown" if (known := text(value)) is None else known


def _of_open_groups(draft: Draft) -> frozenset[str]:
    has_all = all(node.body.has_all_branches for node in draft.nodes.values())
    return frozenset() if has_all else frozenset({codes.METADATA_WITHOUT_BRANCH})


def _told(problem: Problem, draft: Draft, options: Arguments, scope: Scope) -> Problem:
    """The problem with a place, which `compile()` does not have for what is wrong with the graph as a whole."""
    hint = _stands_unlisted(problem, draft, scope) if problem.code == codes.DANGLING_EDGE else None
    return msgspec.structs.replace(problem, place=problem.place or options.place, hint=hint or problem.hint)


def _stands_unlisted(problem: Problem, draft: Draft, scope: Scope) -> str | None:
    """Whether the node that an edge looks for is there, and the graph does not list it."""
    for name in (problem.related, problem.node):
        if name is not None and name not in draft.nodes and (node := _node_named(name, scope)) is not None:
            return f"'{name}' is a node ({node.place}), and this graph does not list it: add it to .nodes(...)"
    return None


def _node_named(name: str, scope: Scope | None) -> Node | None:
    while scope is not None:
        for value in scope.names.values():
            if isinstance(value, Node) and value.name == name:
                return value
        scope = scope.around
    return None
