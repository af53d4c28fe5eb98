"""docs/static-analysis.md: its commands find what is shown, its settings are read, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from strata.project.settings import settings_for
from tests.console import ROOT, assert_reads_as_shown, blocks

PAGE = ROOT / "docs" / "static-analysis.md"


def test_the_command_finds_what_is_shown(tmp_path: Path) -> None:
    for block in blocks(PAGE, "python"):
        name = re.match(r"# (\w+\.py)\n", block)
        assert name is not None, f"the block has no name:\n{block}"
        (tmp_path / name[1]).write_text(block, encoding="utf-8")
    assert_reads_as_shown(PAGE, tmp_path)


def test_the_settings_are_read(tmp_path: Path) -> None:
    [shown] = blocks(PAGE, "toml")
    (tmp_path / "pyproject.toml").write_text(shown, encoding="utf-8")
    settings = settings_for(tmp_path)
    assert (settings.exclude, settings.disable) == (("build", "tests/broken_*.py"), ("STRATA_PY_CHANGED_IN_PLACE",))


def test_the_hook_is_there() -> None:
    [shown] = blocks(PAGE, "yaml")
    [hook] = re.findall(r"- id: (\S+)", shown)
    assert f"- id: {hook}\n" in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def test_the_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (PAGE.parent / link).exists()]
