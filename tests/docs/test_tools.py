"""docs/tools.md: its programs run as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console import ROOT, assert_runs, programs

PROGRAMS = programs(ROOT / "docs" / "tools.md")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_page_runs(name: str, tmp_path: Path) -> None:
    assert_runs(PROGRAMS[name], tmp_path)
