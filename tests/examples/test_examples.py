"""Each example does what its README shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console import ROOT, assert_reads_as_shown, steps

EXAMPLES = ROOT / "examples"
NAMES = ("batch_enrich", "document_review", "essay", "order_approval", "payment", "pipeline", "support_agent", "support_tools")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_its_readme_shows(name: str, tmp_path: Path) -> None:
    assert_reads_as_shown(EXAMPLES / name / "README.md", tmp_path)


def test_every_example_is_run_and_shows_its_output() -> None:
    folders = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))
    assert folders == sorted(NAMES)
    assert all(step.output for name in NAMES for step in steps(EXAMPLES / name / "README.md"))
