"""What `strata check` prints for programs: its own JSON, GitHub's annotations, SARIF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from strata.analysis.checking import Report
from strata.project.texts import Unreadable
from strata.rules.facts import SourcePlace
from strata.rules.problem import Problem, Severity


class SourceFault(msgspec.Struct, frozen=True, kw_only=True):
    """A problem, and where."""

    code: str
    severity: Severity
    text: str
    node: str | None
    related: str | None
    file: str | None
    line: int | None
    column: int | None
    hint: str | None


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`strata check --json`; `ok`: there are no errors, and every file could be checked."""

    ok: bool
    files: int
    problems: Sequence[SourceFault]
    unreadable: Sequence[Unreadable]


def checked(report: Report) -> Checked:
    return Checked(
        ok=not report.has_errors and not report.unreadable,
        files=report.files,
        problems=[source_fault(problem) for problem in report.problems],
        unreadable=report.unreadable,
    )


def github(report: Report) -> Iterator[str]:
    """A workflow command of GitHub Actions for each, which shows at the line of a pull request."""
    for fault in checked(report).problems:
        where = f"file={_property(fault.file or '')},line={fault.line or 1},col={fault.column or 1}"
        yield f"::{fault.severity} {where},title={_property(fault.code)}::{_message(_words(fault))}"
    for file in report.unreadable:
        yield f"::error file={_property(file.file)},line={file.line or 1},col={file.column or 1},title=unreadable::{_message(file.reason)}"


def sarif(report: Report) -> dict[str, Any]:
    """The static analysis results interchange format, 2.1.0."""
    faults = checked(report).problems
    codes = sorted({fault.code for fault in faults})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "strata check", "rules": [{"id": code} for code in codes]}},
                "invocations": [
                    {
                        "executionSuccessful": not report.unreadable,
                        "toolExecutionNotifications": [
                            {"level": "error", "message": {"text": file.reason}, "locations": [_location(file.file, file.line, file.column)]}
                            for file in report.unreadable
                        ],
                    }
                ],
                "results": [_result(fault, codes) for fault in faults],
            }
        ],
    }


def source_fault(problem: Problem) -> SourceFault:
    """As programs are told it."""
    place = problem.place
    return SourceFault(
        code=problem.code,
        severity=problem.severity,
        text=problem.text,
        node=problem.node,
        related=problem.related,
        file=None if place is None else place.file,
        line=None if place is None else place.line,
        column=place.column if isinstance(place, SourcePlace) else None,
        hint=problem.hint,
    )


def _words(fault: SourceFault) -> str:
    return fault.text if fault.hint is None else f"{fault.text} {fault.hint}"


def _result(fault: SourceFault, codes: list[str]) -> dict[str, Any]:
    return {
        "ruleId": fault.code,
        "ruleIndex": codes.index(fault.code),
        "level": fault.severity,
        "message": {"text": _words(fault)},
        "locations": [_location(fault.file or "", fault.line, fault.column)],
    }


def _location(file: str, line: int | None, column: int | None) -> dict[str, Any]:
    from pathlib import Path
    from urllib.parse import quote

    region = {} if line is None else {"region": {"startLine": line, "startColumn": column or 1}}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(Path(file).as_posix())}, **region}}


def _message(text: str) -> str:
    """GitHub's escapes of what would end the message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
