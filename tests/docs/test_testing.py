"""docs/testing.md: its tests pass as they stand there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import ROOT, programs

PAGE = ROOT / "docs" / "testing.md"
FILES = programs(PAGE)


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
