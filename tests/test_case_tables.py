"""The tables in `tests/cases` map each case of the sheets to the test that shows it, or to the reason why none does.

Two sheets number cases alike: those of strata-waits stand as `waits-LS1`, those of strata-stores as `LS1`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests" / "cases"
NO_TEST = "-"


class Row(NamedTuple):
    """A line of a table: the test is `path::name` (or `path::Class::name`) from the root, or `-` with a reason."""

    place: str
    case: str
    test: str
    reason: str


def test_every_row_names_an_existing_test_or_says_why_there_is_none() -> None:
    wrong = [f"{row.place}: {row.case}: {fault}" for row in rows() if (fault := fault_of(row)) is not None]
    assert not wrong, "\n".join(wrong)


def test_no_row_stands_twice() -> None:
    counts = Counter((row.case, row.test) for row in rows())
    twice = [f"{case}: {test}" for (case, test), count in counts.items() if count > 1]
    assert not twice, "\n".join(twice)


def test_no_case_is_both_shown_and_excused() -> None:
    shown = {row.case for row in rows() if row.test != NO_TEST}
    both = [f"{row.place}: {row.case}" for row in rows() if row.test == NO_TEST and row.case in shown]
    assert not both, "\n".join(both)


def test_every_case_in_a_table_stands_on_a_sheet() -> None:
    known = {case for sheet in sheets() for case in cases_of(sheet)}
    unknown = [f"{row.place}: {row.case}" for row in rows() if row.case not in known]
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize("sheet", [path.stem for path in sorted(CASES.glob("*.ids"))])
def test_every_case_of_the_sheet_stands_in_a_table(sheet: str) -> None:
    listed = {row.case for row in rows()}
    missing = [case for case in cases_of(CASES / f"{sheet}.ids") if case not in listed]
    assert not missing, f"{len(missing)} cases of {sheet} stand in no table: {' '.join(missing)}"


def fault_of(row: Row) -> str | None:
    if row.test == NO_TEST:
        return None if row.reason else "no test and no reason"
    path, _, name = row.test.partition("::")
    if not (ROOT / path).is_file():
        return f"no file {path}"
    if name.partition("[")[0] not in names_in(path):
        return f"no test {name} in {path}"
    return None


def sheets() -> list[Path]:
    return sorted(CASES.glob("*.ids"))


def cases_of(sheet: Path) -> list[str]:
    return sheet.read_text(encoding="utf-8").split()


def rows() -> Iterator[Row]:
    for table in sorted(CASES.glob("*.tsv")):
        for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip() or line.startswith(("#", "case\t")):
                continue
            case, test, reason = (*line.split("\t"), "", "")[:3]
            yield Row(f"{table.name}:{number}", case.strip(), test.strip(), reason.strip())


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of the test functions of a file, those of classes as `Class::name`."""
    names: set[str] = set()
    for item in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(item.name)
        elif isinstance(item, ast.ClassDef):
            names.update(f"{item.name}::{method.name}" for method in item.body if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in names if name.rpartition("::")[2].startswith("test"))
