"""`strata graph validate`: check graphs for faults."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from strata.cli import terminal
from strata.cli.faults import CannotDo
from strata.cli.parameters import AsJson
from strata.cli.shapes import Checked, Validation, checked, unreadable
from strata.cli.targets import graph_named, problems_of, targets_in
from strata.errors import GraphInvalid


def graph_validate(
    targets: Annotated[list[str], Parameter(help="Definitions (JSON), folders of them, or module:graph.", negative_iterable="")],
    /,
    *,
    as_json: AsJson = False,
) -> int:
    """Check graphs for faults.

    Exit code 0: all are valid (there may be warnings). 1: at least one has errors. 2: at least one could not be checked.
    """
    results = [_check(target) for target in targets_in(targets)]
    if as_json:
        terminal.show_json(Validation(ok=all(result.status == "valid" for result in results), graphs=results))
    else:
        for result in results:
            _show(result)
    found = {result.status for result in results}
    return 2 if "unreadable" in found else int("invalid" in found)


def _check(target: str) -> Checked:
    try:
        return checked(target, problems_of(graph_named(target)))
    except GraphInvalid as error:
        return checked(target, error.problems)
    except CannotDo as error:
        return unreadable(target, error.text, error.hint)


def _show(result: Checked) -> None:
    if result.status == "unreadable":
        terminal.complain(result.error or "", hint=result.hint)
        return
    for problem in result.problems:
        where = result.target if problem.file is None else f"{problem.file}:{problem.line}"
        node = "" if problem.node is None else f" (node {problem.node})"
        advice = "" if problem.hint is None else f" {problem.hint}"
        terminal.show(f"{where}: {problem.severity}: {problem.text}{advice} [{problem.code}]{node}")
    terminal.show(f"{result.target}: {result.status}")
