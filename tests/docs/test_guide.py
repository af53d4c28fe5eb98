"""docs/guide.md: its programs run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.console import ROOT, assert_runs, programs

PAGE = ROOT / "docs" / "guide.md"
PROGRAMS = programs(PAGE)


def test_every_concept_has_a_program() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(PROGRAMS) == len(headings)


def test_the_links_of_the_guide_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (PAGE.parent / link).exists()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_guide_runs(name: str, tmp_path: Path) -> None:
    assert_runs(PROGRAMS[name], tmp_path)
