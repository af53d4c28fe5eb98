"""A module of a graph, told twice: by `compile()`, which runs it, and by `strata check`, which reads it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from strata import GraphInvalid, GraphWarning, Problem
from strata.analysis.checking import check
from tests.analysis.running import known_as, run


class Told(NamedTuple):
    """A problem as both must tell it; `line` is None where `compile()` names none."""

    code: str
    severity: str
    text: str
    node: str | None
    related: str | None
    line: int | None


def by_compile(file: Path) -> list[Told]:
    """What is wrong with `graph`, which the module makes by `builder.compile(...)`; of one that is refused, `validate()` knows the warnings."""
    with warnings.catch_warnings(), known_as("broken") as module:
        warnings.simplefilter("ignore", GraphWarning)
        try:
            run(file, module)
        except GraphInvalid as error:
            cautions = [problem for problem in module.builder.validate() if problem.severity == "warning"]
            return _told([*error.problems, *cautions])
        return _told(module.graph.warnings)


def by_check(file: Path) -> list[Told]:
    """What `strata check` finds in the module."""
    report = check([file], file.parent)
    assert not report.unreadable
    assert all(problem.place is not None and problem.place.file == str(file) for problem in report.problems)
    return _told(report.problems)


def assert_told_alike(file: Path) -> list[Told]:
    """Both tell the same problems, at the same lines where `compile()` has one. Gives those of `compile()`.

    What `compile()` tells twice in the same words, as of two routes to one node, is told once by `strata check`.
    """
    compiled, checked = by_compile(file), by_check(file)
    assert {problem._replace(line=None) for problem in checked} == {problem._replace(line=None) for problem in compiled}
    for ours in compiled:
        assert ours.line is None or ours in checked, f"{ours} is told elsewhere: {[other.line for other in checked if other.text == ours.text]}"
    return compiled


def _told(problems: Iterable[Problem]) -> list[Told]:
    return [
        Told(problem.code, problem.severity, problem.text, problem.node, problem.related, None if problem.place is None else problem.place.line)
        for problem in problems
    ]
