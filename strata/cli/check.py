"""`strata check`: find the faults of graphs in source, without importing it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from strata.analysis.checking import Report, check
from strata.cli import check_formats, terminal
from strata.cli.parameters import AsJson
from strata.cli.sources import count, project_settings, require_sources
from strata.project.files import files_in

Format = Annotated[
    Literal["text", "json", "github", "sarif"],
    Parameter(name="--format", help="How to print: for people, for programs, as annotations of GitHub, or as SARIF."),
]


def check_sources(
    paths: Annotated[list[Path], Parameter(name="PATH", help="Python files, and folders of them.", negative_iterable="")],
    /,
    *,
    as_json: AsJson = False,
    output: Format = "text",
) -> int:
    """Find the faults of graphs in source, without importing it.

    Exit code 0: there are no errors (there may be warnings). 1: there are. 2: a file could not be checked.
    """
    report = _report(paths)
    match "json" if as_json else output:
        case "json":
            terminal.show_json(check_formats.checked(report))
        case "github":
            for line in check_formats.github(report):
                terminal.show(line)
        case "sarif":
            terminal.show_json(check_formats.sarif(report))
        case "text":
            _show(report)
    return 2 if report.unreadable else int(report.has_errors)


def _report(paths: list[Path]) -> Report:
    require_sources(paths)
    settings = project_settings()
    files = files_in(paths, settings.exclude, settings.folder)
    return check(files, Path.cwd(), disable=settings.disable)


def _show(report: Report) -> None:
    for problem in report.problems:
        node = "" if problem.node is None else f" (node {problem.node})"
        terminal.show(f"{problem}{node}")
    for file in report.unreadable:
        terminal.complain(str(file))
    errors = sum(problem.severity == "error" for problem in report.problems)
    warnings = len(report.problems) - errors
    terminal.show(f"{count(report.files, 'file')}: {count(errors, 'error')}, {count(warnings, 'warning')}")
