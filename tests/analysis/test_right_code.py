"""Nothing is told of right code: the project's own, the programs of its pages, and its tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from strata.analysis.checking import check
from strata.project.files import files_in
from tests.console import ROOT, blocks

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*/README.md")])
BROKEN_PAGES = {"static-analysis.md", "mypy.md"}
BROKEN_PROGRAM = "# mistakes.py"
"""What shows mistakes."""

BROKEN_ON_PURPOSE = ("tests/typing", "tests/mypy_plugin", "tests/mistakes/test_ten_mistakes.py", "bench/venvs")
"""Code that only checkers read, and graphs that are refused."""


def test_the_examples_and_the_package_have_no_problems() -> None:
    report = check(files_in([ROOT / "examples", ROOT / "strata"], (), ROOT), ROOT)
    assert (list(report.problems), list(report.unreadable)) == ([], [])
    assert report.files > 250


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in BROKEN_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_programs_of_a_page_have_no_problems(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(block for block in blocks(page, "python") if not block.startswith(BROKEN_PROGRAM)):
        name = re.match(r"# (\w+\.py)\n", block)
        (tmp_path / (name[1] if name is not None else f"block_{number}.py")).write_text(block, encoding="utf-8")
    report = check(sorted(tmp_path.glob("*.py")), tmp_path)
    assert (list(report.problems), list(report.unreadable)) == ([], [])


@pytest.mark.slow
def test_the_tests_have_no_errors() -> None:
    report = check(files_in([ROOT / "tests", ROOT / "bench"], BROKEN_ON_PURPOSE, ROOT), ROOT)
    assert [problem for problem in report.problems if problem.severity == "error"] == []
    assert not report.unreadable


def test_a_chain_of_a_thousand_calls_is_followed(tmp_path: Path) -> None:
    calls = "".join(f'.add_node("{at}", same).add_edge("{at}", "{at + 1}")' for at in range(1000))
    module = tmp_path / "chain.py"
    text = f"from strata import StateGraph\nfrom states import Count, same\n\nStateGraph(Count){calls}.compile()\n"
    module.write_text(text, encoding="utf-8")
    report = check([module], tmp_path)
    if sys.version_info[:2] == (3, 12):  # whose own depth is fixed, below that of such a chain: the file is told, and none passed over
        [file] = report.unreadable
        assert "maximum recursion depth" in file.reason
        return
    [problem] = report.problems
    assert (problem.node, problem.related) == ("999", "1000")
