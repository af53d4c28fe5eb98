"""docs/type-checkers.md: under each configuration the right program is clean, and each mistake is found at its line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console import ROOT, blocks

PAGE = ROOT / "docs" / "type-checkers.md"
PLACE = re.compile(r"(?P<file>\w+\.py):(?P<line>\d+):")

pytestmark = [pytest.mark.checkers, pytest.mark.slow]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for block in blocks(PAGE, "python"):
        (tmp_path / _name_of(block)).write_text(block, encoding="utf-8")
    return tmp_path


def _name_of(block: str) -> str:
    name = re.match(r"# (\w+\.\w+)\n", block)
    assert name is not None, f"the block has no name:\n{block}"
    return name[1]


def mypy(project: Path) -> str:
    return checked(["mypy", "--cache-dir", str(project / "cache"), "."], project)


def pyright(project: Path) -> str:
    report = json.loads(checked(["pyright", "--outputjson", "--pythonpath", sys.executable, "."], project))
    return "\n".join(f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: {one['message']}" for one in report["generalDiagnostics"])


def pyrefly(project: Path) -> str:
    return checked(["pyrefly", "check", "--python-interpreter-path", sys.executable, "--output-format", "min-text"], project)


def ty(project: Path) -> str:
    return checked(["ty", "check", "--python", sys.prefix, "--output-format", "concise"], project)


def checked(command: list[str], project: Path) -> str:
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


CHECKERS: dict[str, Callable[[Path], str]] = {"mypy": mypy, "pyright": pyright, "pyrefly": pyrefly, "ty": ty}
CONFIGURATIONS = {_name_of(block).removesuffix(".toml"): block for block in blocks(PAGE, "toml")}


def test_each_checker_has_a_configuration() -> None:
    assert CONFIGURATIONS.keys() == CHECKERS.keys()


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_mistakes_are_found_and_nothing_else(checker: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(CONFIGURATIONS[checker], encoding="utf-8")
    report = CHECKERS[checker](project)
    found = {(place["file"], int(place["line"])) for place in PLACE.finditer(report)}
    lines = (project / "mistakes.py").read_text(encoding="utf-8").splitlines()
    assert found == {("mistakes.py", number) for number, line in enumerate(lines, start=1) if "  # " in line}, report
