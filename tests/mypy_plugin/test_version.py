"""A cache of mypy that was written under other rules, or another plugin, is stale."""

from __future__ import annotations

from pathlib import Path

import strata_mypy
from strata_mypy.version import rules_version, version_of


def test_a_changed_rule_changes_the_version(tmp_path: Path) -> None:
    (tmp_path / "reach.py").write_text("LIMIT = 1\n")
    before = version_of(tmp_path)
    (tmp_path / "reach.py").write_text("LIMIT = 2\n")
    assert version_of(tmp_path) != before


def test_mypy_is_told_the_version_as_the_files_are_now() -> None:
    assert strata_mypy.__version__ == rules_version()
