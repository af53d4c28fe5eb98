"""Runs mypy with the plugin on files, in a process of its own, and reads what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.console import ROOT as ROOT
from tests.console import SOURCES

CASES = Path(__file__).parent / "cases"

WORKER_IS_LATE = "Failed to establish connection with worker"
"""mypy gives its workers three seconds to start, which is little on a busy machine."""

EXPECTATION = re.compile(r"# (?P<severity>[EN]): (?P<text>.*?)(?: \[(?P<code>[\w-]+)\])?(?=\s# [EN]:|$)")


class Said(NamedTuple):
    """One line of mypy's."""

    file: str
    line: int
    severity: str
    text: str
    code: str | None

    def fits(self, expected: Said) -> bool:
        """Whether an expectation, which has a part of the text, means this."""
        same = (self.file, self.line, self.severity) == (expected.file, expected.line, expected.severity)
        return same and expected.text in self.text and expected.code in {None, self.code}

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.text} [{self.code}]"


def configuration(folder: Path, *, plugins: str = "strata_mypy") -> Path:
    """A configuration with the plugin, or with others, and a cache of its own."""
    file = folder / "mypy.ini"
    file.write_text(f"[mypy]\nplugins = {plugins}\nstrict = true\ncache_dir = {folder / 'cache'}\n")
    return file


def environment(*, first: Path | None = None) -> dict[str, str]:
    """In which mypy finds the library and the plugin where they stand; packages in `first` go before those that are installed."""
    path = [str(folder) for folder in (first, ROOT) if folder is not None]
    return {**os.environ, "MYPYPATH": os.pathsep.join(map(str, SOURCES)), "PYTHONPATH": os.pathsep.join(path)}


def mypy(arguments: Iterable[str], *, cwd: Path = ROOT, first: Path | None = None) -> str:
    """What mypy prints on these arguments; faults that it finds are no failure."""
    command = [sys.executable, "-m", "mypy", *arguments]
    done = _run(command, cwd, first)
    tries = 1
    while WORKER_IS_LATE in done.stdout + done.stderr and tries < 10:
        done = _run(command, cwd, first)
        tries += 1
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert "INTERNAL ERROR" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done.stdout


def _run(command: list[str], cwd: Path, first: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, env=environment(first=first), cwd=cwd, check=False)


def said(output: str) -> list[Said]:
    """The lines of `--output=json`."""
    lines = [json.loads(line) for line in output.splitlines()]
    found = [Said(Path(line["file"]).name, line["line"], line["severity"], line["message"], line["code"]) for line in lines]
    return [*found, *(note for one, line in zip(found, lines, strict=True) for note in _notes(one, line["hint"]))]


def _notes(error: Said, hint: str | None) -> list[Said]:
    return [error._replace(severity="note", text=text) for text in (hint or "").splitlines()]


def expected(file: Path) -> list[Said]:
    """What the comments of a file say that mypy says of it."""
    return [
        Said(file.name, number, "error" if match["severity"] == "E" else "note", match["text"].strip(), match["code"])
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        for match in EXPECTATION.finditer(line)
    ]
