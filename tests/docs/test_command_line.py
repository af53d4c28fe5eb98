"""docs/command-line.md: its programs and commands do what it shows."""

from __future__ import annotations

import re
from pathlib import Path

from tests.console import ROOT, assert_reads_as_shown, blocks

PAGE = ROOT / "docs" / "command-line.md"


def test_the_commands_print_what_is_shown(tmp_path: Path) -> None:
    for block in blocks(PAGE, "python"):
        name = re.match(r"# (\w+\.py)\n", block)
        assert name is not None, f"the block has no name:\n{block}"
        (tmp_path / name[1]).write_text(block, encoding="utf-8")
    assert_reads_as_shown(PAGE, tmp_path)
