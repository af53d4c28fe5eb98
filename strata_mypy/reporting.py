"""Tells mypy what is wrong with a graph, each problem at its spot under its code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mypy.checker import TypeChecker
from mypy.nodes import Context, Decorator, Expression, MypyFile

from strata.rules import codes
from strata.rules.facts import DraftFacts
from strata.rules.problem import Problem
from strata.rules.refusals import compile_problems
from strata_mypy.codes import error_code, mypy_name
from strata_mypy.facts import Declared
from strata_mypy.kept import declared_of
from strata_mypy.locating import Locator, Spot
from strata_mypy.loops import way_around


def tell_problems(draft: DraftFacts, listed: tuple[Declared, ...], call: Context, api: TypeChecker) -> None:
    """All that the rules find in the graph which this call compiles; warnings too, each has a code that can be switched off."""
    problems = [problem for problem in compile_problems(draft) if _is_ours(problem, draft)]
    if not problems:
        return
    locator = Locator(listed, call, api.tree)
    for problem in problems:
        spot = locator.spot_of(problem.place)
        name = mypy_name(problem.code)
        _tell(_text_of(problem, draft, call, api.tree), spot, name, api)
        if problem.code == codes.UNGUARDED_CYCLE and problem.node is not None and problem.related is not None:
            way = " -> ".join(way_around(draft.graph, problem.node, problem.related))
            api.msg.note(f"The loop is {way}", spot.context, code=error_code(name))


def tell_faults(given: Iterable[tuple[Declared | None, Expression]], api: TypeChecker) -> None:
    """What is wrong with the listed nodes by themselves."""
    for declared, expression in given:
        if declared is not None and declared.faults:
            locator = Locator((declared,), expression, api.tree)
            for fault in declared.faults:
                spot = locator.spot_at(0, fault.mark)
                _tell(fault.text, spot, mypy_name(fault.code), api)


def _tell(text: str, spot: Spot, name: str, api: TypeChecker) -> None:
    declared = "" if spot.origin is None else f' (declared in "{spot.origin}")'
    api.fail(f"{text}{declared}", spot.context, code=error_code(name))


def _text_of(problem: Problem, draft: DraftFacts, call: Context, tree: MypyFile) -> str:
    """With what to do: a target that is a node, and no node of this graph, is most likely forgotten."""
    hint = problem.hint
    if problem.code == codes.DANGLING_EDGE and problem.related in set(_unlisted_nodes(draft, call, tree)):
        hint = f"'{problem.related}' exists, but is not listed in this graph: add it to .nodes(...)."
    return problem.text if hint is None else f"{problem.text} {hint}"


def _unlisted_nodes(draft: DraftFacts, call: Context, tree: MypyFile) -> Iterator[str]:
    """Names of the nodes that the module has above the call, and of those that it imports."""
    for symbol in tree.names.values():
        node = symbol.node
        if isinstance(node, Decorator) and (node.func.fullname.rpartition(".")[0] != tree.fullname or node.line < call.line):
            declared = declared_of(node)
            if declared is not None:
                yield declared.name


def _is_ours(problem: Problem, draft: DraftFacts) -> bool:
    """Not what is wrong inside a child, whose own `compile` tells it, and nothing that an unknown child may put right.

    A thread may pause in a child of which nothing is known, and a set of nodes around it then has an end.
    """
    if problem.place is None and problem.node is not None:
        return False
    has_unknown_child = any(node.kind == "subgraph" and node.graph is None for node in draft.graph.nodes)
    return problem.code != codes.NO_TERMINAL or not has_unknown_child
