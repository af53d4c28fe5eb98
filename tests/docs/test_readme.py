"""README does what it says: its programs run, print what is shown, and type-check; the commands that it names exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.console import ROOT, assert_reads_as_shown, blocks

README = ROOT / "README.md"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with the programs of README; the first line of each is its name."""
    for block in blocks(README, "python"):
        name = re.match(r"# (\w+\.py)\n", block)
        assert name is not None, f"the block has no name:\n{block}"
        (tmp_path / name[1]).write_text(block, encoding="utf-8")
    return tmp_path


def test_the_programs_print_what_readme_shows(written: Path) -> None:
    assert_reads_as_shown(README, written)


def test_every_program_of_readme_is_run(written: Path) -> None:
    commands = README.read_text(encoding="utf-8")
    programs = {path.stem for path in written.glob("*.py")}
    assert {name for name in programs if f"$ python {name}.py" in commands or f" {name}:{name}" in commands} == programs


@pytest.mark.checkers
def test_the_programs_of_readme_type_check(written: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *sorted(path.name for path in written.glob("*.py"))],
        cwd=written,
        env={"MYPYPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_graph_of_readme_has_some_twenty_lines() -> None:
    graph = next(block for block in blocks(README, "python") if block.startswith("# essays.py"))
    assert sum(1 for line in graph.splitlines() if line.strip() and not line.startswith("#")) <= 26


def test_the_commands_that_set_up_exist() -> None:
    shell = "\n".join(blocks(README, "sh"))
    targets = re.findall(r"^make (\w+)", shell, re.MULTILINE)
    assert targets == ["demo", "test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"\.\[(\w+)\]", shell)) <= extras.keys()


def test_the_links_of_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
