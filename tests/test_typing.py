"""The typed surface: right code is clean in mypy, pyright, pyrefly and ty, and wrong code is found at its line, without a plugin.

In `tests/typing` a line that is wrong ends in `error: mypy, pyright`, or `error: pyright 3.13` where only that checker
finds it, at that target. A checker must find those lines and no other.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "typing"
EXPECTED = re.compile(r"# .*\berror: (?P<finders>[\w., ]+)$")
PLACE = re.compile(r"^(?:ERROR )?(?P<file>[^:\s]+):(?P<line>\d+):.*$", re.MULTILINE)

Found = dict[str, set[int]]

pytestmark = [pytest.mark.checkers, pytest.mark.slow]


@pytest.mark.parametrize("target", ["3.11", "3.13"])
def test_mypy_finds_what_is_wrong_and_nothing_else(target: str, tmp_path: Path) -> None:
    command = ["mypy", "--config-file=", "--strict", "--output=json", "--cache-dir", str(tmp_path), "--python-version", target, *map(str, samples())]
    lines = [json.loads(line) for line in run(command).splitlines()]
    found = sorted_by_file((Path(line["file"]).name, line["line"]) for line in lines if line["severity"] == "error")
    assert found == expected("mypy", target), "\n".join(f"{line['file']}:{line['line']}: {line['message']}" for line in lines)


@pytest.mark.parametrize("target", ["3.11", "3.13"])
def test_pyright_finds_what_is_wrong_and_nothing_else(target: str) -> None:
    command = ["pyright", "--outputjson", "--project", str(SAMPLES), "--pythonpath", sys.executable, "--pythonversion", target]
    reports = json.loads(run(command))["generalDiagnostics"]
    found = sorted_by_file((Path(report["file"]).name, line_of(report)) for report in reports)
    assert found == expected("pyright", target), "\n".join(f"{report['file']}:{line_of(report)}: {report['message']}" for report in reports)


@pytest.mark.parametrize("target", ["3.11", "3.13"])
def test_pyrefly_finds_what_is_wrong_and_nothing_else(target: str) -> None:
    command = ["pyrefly", "check", "--preset", "strict", "--python-version", target, "--python-interpreter-path", sys.executable]
    report = run([*command, "--output-format", "min-text", *map(str, samples())])
    assert places(report) == expected("pyrefly", target), report


@pytest.mark.parametrize("target", ["3.11", "3.13"])
def test_ty_finds_what_is_wrong_and_nothing_else(target: str) -> None:
    report = run(["ty", "check", "--python", sys.prefix, "--python-version", target, "--output-format", "concise", *map(str, samples())])
    assert places(report) == expected("ty", target), report


def places(report: str) -> Found:
    """The lines that a checker's report begins a line with."""
    return sorted_by_file((Path(place["file"]).name, int(place["line"])) for place in PLACE.finditer(report))


def line_of(report: Any) -> int:
    line: int = report["range"]["start"]["line"]
    return line + 1


def samples() -> list[Path]:
    return sorted(SAMPLES.glob("*.py"))


def expected(checker: str, target: str) -> Found:
    """The lines that this checker is said to find."""
    found: Found = {}
    for sample in samples():
        for number, line in enumerate(sample.read_text().splitlines(), start=1):
            match = EXPECTED.search(line)
            if match and {checker, f"{checker} {target}"} & set(match["finders"].split(", ")):
                found.setdefault(sample.name, set()).add(number)
    return found


def sorted_by_file(errors: Iterable[tuple[str, int]]) -> Found:
    found: Found = {}
    for name, line in errors:
        found.setdefault(name, set()).add(line)
    return found


def run(command: list[str]) -> str:
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout
