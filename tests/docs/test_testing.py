"""docs/testing.md: its tests pass as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import ROOT, blocks

PAGE = ROOT / "docs" / "testing.md"
FILES = {match[1]: block for block in blocks(PAGE, "python") if (match := re.match(r"# (\w+\.py)\n", block)) is not None}


def test_every_block_has_a_name() -> None:
    assert len(FILES) == len(blocks(PAGE, "python"))


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("test_")])
def test_the_example_passes(name: str, tmp_path: Path) -> None:
    for file, block in FILES.items():
        (tmp_path / file).write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
