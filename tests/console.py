"""The console blocks of a document, run as a reader would run them, and what they print compared with what is shown.

A block holds lines `$ command`, each followed by its output, stdout and stderr as they come. In it a line `...` stands for any
lines, and `...` within a line for any text. Blank ends of lines do not count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT, *sorted((ROOT / "examples").glob("*/src")))
"""The checkout, and the examples that are packages of their own, as if they were installed."""


class Step(NamedTuple):
    command: str
    output: str


def blocks(document: Path, language: str) -> list[str]:
    """The fenced blocks of that language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def programs(document: Path) -> dict[str, str]:
    """The blocks of Python by the names of their files, which are in their first lines (`# desk.py`).

    Raises:
        ValueError: a block has no name, or two have the same.
    """
    found: dict[str, str] = {}
    for block in blocks(document, "python"):
        name = re.match(r"# (\w+\.py)\n", block)
        if name is None or name[1] in found:
            raise ValueError(f"{document.name}: the block has no name of its own:\n{block}")
        found[name[1]] = block
    return found


def assert_runs(program: str, folder: Path) -> None:
    """Run a program that needs nothing but the library, in a process of its own; what it warns of is an error."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-W", "error", "program.py"]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def steps(document: Path) -> Iterator[Step]:
    for block in blocks(document, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Step(command, output)


def assert_reads_as_shown(document: Path, folder: Path, *, installed: Sequence[Path] = SOURCES) -> None:
    """Run all commands of the document in `folder`, one after the other; `installed` are the folders of what they import."""
    for step in steps(document):
        printed = run(step.command, folder, installed=installed)
        assert pattern(step.output).fullmatch(trimmed(printed)), f"$ {step.command}\n--- shown\n{step.output}\n--- printed\n{printed}"


def run(command: str, folder: Path, *, installed: Sequence[Path] = SOURCES) -> str:
    """What a shell prints in which this environment is active, and the checkout is where modules are looked for."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(map(str, (folder, *installed))), "PYTHONWARNINGS": "default"}
    environment.pop("STRATA_STORE", None)
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False
    )
    return done.stdout


def pattern(shown: str) -> re.Pattern[str]:
    lines = [r"(?:.*\n)*?" if line.strip() == "..." else f"{_line_pattern(line)}\n" for line in trimmed(shown).splitlines()]
    return re.compile("".join(lines))


def trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _line_pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("..."))
