"""docs/mypy.md is what the tables say, and each example is wrong in just the way that it shows, or right."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_mypy.examples import EXAMPLES, PRELUDE
from strata_mypy.page import codes_without_example, page
from tests.mypy_plugin.checking import ROOT, configuration, mypy, said


def test_the_page_is_what_the_tables_say() -> None:
    assert (ROOT / "docs" / "mypy.md").read_text(encoding="utf-8") == page(), "write it anew: python -m strata_mypy.page > docs/mypy.md"


def test_every_code_has_an_example() -> None:
    assert codes_without_example() == set()


@pytest.mark.checkers
@pytest.mark.slow
def test_each_example_is_wrong_as_it_says_or_right(tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"wrong{number}.py").write_text(f"{PRELUDE}\n\n{example.wrong}")
        (tmp_path / f"right{number}.py").write_text(f"{PRELUDE}\n\n{example.right}")
    files = sorted(file.name for file in tmp_path.glob("*.py"))
    report = said(mypy(["--config-file", str(configuration(tmp_path)), "--output=json", *files], cwd=tmp_path))
    found = {file: {one.code for one in report if one.file == file and one.severity == "error"} for file in files}
    told = {f"wrong{number}.py": {example.code} for number, example in enumerate(EXAMPLES)}
    assert {file: codes for file, codes in found.items() if codes} == told
