"""docs/guide.md: its programs run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import ROOT, blocks

PAGE = ROOT / "docs" / "guide.md"
PROGRAMS = {match[1]: block for block in blocks(PAGE, "python") if (match := re.match(r"# (\w+\.py)\n", block)) is not None}


def test_every_concept_has_a_program() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(PROGRAMS) == len(blocks(PAGE, "python")) == len(headings)


def test_the_links_of_the_guide_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (PAGE.parent / link).exists()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_guide_runs(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PROGRAMS[name], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", name],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
