"""The typed surface: right code is clean in mypy, pyright, pyrefly and ty, and wrong code is found at its line, without a plugin.

In `tests/typing` a line that is wrong ends in `error: mypy, pyright`, or `error: pyright 3.13` where only that checker
finds it, at that target; a checker must find those lines and no other. A line with `reveal_type(...)` ends in the type; `; ty: int` behind
it is what one checker shows, and `; mypy: str` says that it shows `str` for each literal.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest

from tests.console import ROOT, SOURCES

SAMPLES = ROOT / "tests" / "typing"
EXPECTED = re.compile(r"# .*\berror: (?P<finders>[\w., ]+)$")
REVEALED = re.compile(r"reveal_type\(.*\)  # (?P<type>.+)$")
LITERAL = re.compile(r"Literal\[[^\]]*\]|LiteralString")
TARGETS = ["3.11", "3.13"]

pytestmark = [pytest.mark.checkers, pytest.mark.slow]


class Shown(NamedTuple):
    """What a checker says of a line: an error, or a type that it was asked for."""

    file: str
    line: int
    text: str
    is_error: bool


def by_mypy(target: str, *options: str) -> Iterator[Shown]:
    with TemporaryDirectory() as folder:
        command = ["mypy", "--config-file=", "--strict", "--output=json", "--cache-dir", folder, "--python-version", target, *options]
        lines = [json.loads(line) for line in run([*command, *map(str, samples())]).splitlines()]
    for line in lines:
        yield Shown(Path(line["file"]).name, line["line"], line["message"], line["severity"] == "error")


def by_pyright(target: str) -> Iterator[Shown]:
    command = ["pyright", "--outputjson", "--project", str(SAMPLES), "--pythonpath", sys.executable, "--pythonversion", target]
    for report in json.loads(run(command))["generalDiagnostics"]:
        yield Shown(Path(report["file"]).name, line_of(report), report["message"], report["severity"] != "information")


def by_pyrefly(target: str) -> Iterator[Shown]:
    report = run([*pyrefly(target), *map(str, samples())])
    return places(report, r"^ *(?P<kind>ERROR|INFO) (?P<file>[^:\s]+):(?P<line>\d+):\S+ (?P<text>.*)$", error="ERROR")


def by_ty(target: str) -> Iterator[Shown]:
    report = run([*ty(target), *map(str, samples())])
    return places(report, r"^(?P<file>[^:\s]+):(?P<line>\d+):\d+: (?P<kind>\w+)(?P<text>.*)$", error="error")


def pyrefly(target: str) -> list[str]:
    options = ["--preset", "strict", "--python-version", target, "--python-interpreter-path", sys.executable, "--output-format", "min-text"]
    return ["pyrefly", "check", *options]


def ty(target: str) -> list[str]:
    return ["ty", "check", "--python", sys.prefix, "--python-version", target, "--output-format", "concise"]


def searching(option: str) -> list[str]:
    """That examples which are packages of their own are found."""
    return [word for folder in SOURCES for word in (option, str(folder))]


CHECKERS: dict[str, Callable[[str], Iterator[Shown]]] = {"mypy": by_mypy, "pyright": by_pyright, "pyrefly": by_pyrefly, "ty": by_ty}


@cache
def shown(checker: str, target: str) -> tuple[Shown, ...]:
    """Each checker runs once for a target."""
    return tuple(CHECKERS[checker](target))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_finds_what_is_wrong_and_nothing_else(checker: str, target: str) -> None:
    errors = [one for one in shown(checker, target) if one.is_error]
    assert {(error.file, error.line) for error in errors} == expected(checker, target), errors


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_shows_the_types_that_users_count_on(checker: str, target: str) -> None:
    assert revealed(shown(checker, target)) == types_expected(checker)


def test_the_plugin_shows_nothing_of_what_types_carry() -> None:
    with TemporaryDirectory() as folder:
        config = Path(folder, "mypy.ini")
        config.write_text("[mypy]\nplugins = strata_mypy\n")
        assert revealed(by_mypy("3.11", "--config-file", str(config))) == types_expected("mypy")


@pytest.mark.parametrize(
    "command",
    [[*pyrefly("3.11"), *searching("--search-path")], [*ty("3.11"), *searching("--extra-search-path")]],
    ids=["pyrefly", "ty"],
)
def test_the_examples_are_clean_in_the_checkers_that_the_project_itself_does_not_use(command: list[str]) -> None:
    report = run([*command, *map(str, (ROOT / "examples").rglob("*.py"))])
    assert "error" not in report.lower().replace("0 errors", ""), report


# What the samples say


def samples() -> list[Path]:
    return sorted(SAMPLES.glob("*.py"))


def lines_of(pattern: re.Pattern[str]) -> Iterator[tuple[str, int, re.Match[str]]]:
    for sample in samples():
        for number, line in enumerate(sample.read_text().splitlines(), start=1):
            if (match := pattern.search(line)) is not None:
                yield sample.name, number, match


def expected(checker: str, target: str) -> set[tuple[str, int]]:
    """The lines that this checker is said to find."""
    wanted = {checker, f"{checker} {target}"}
    return {(name, number) for name, number, match in lines_of(EXPECTED) if wanted & set(match["finders"].split(", "))}


def types_expected(checker: str) -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for name, number, match in lines_of(REVEALED):
        common, *others = match["type"].split("; ")
        own = dict(other.split(": ", maxsplit=1) for other in others)
        found[name, number] = LITERAL.sub("str", common) if own.get(checker) == "str" else own.get(checker, common)
    return found


# What the checkers say


def revealed(lines: Iterator[Shown] | tuple[Shown, ...]) -> dict[tuple[str, int], str]:
    """The types, in one spelling for all checkers."""
    shown_types = ((one, re.search(r'(?:evealed type(?: is|:)|Type of ".*" is) ["`]?(.*?)["`]?(?: \[reveal-type\])?$', one.text)) for one in lines)
    return {(one.file, one.line): spelt(match[1]) for one, match in shown_types if match is not None and not one.is_error}


def spelt(type_: str) -> str:
    """Without modules, names of functions and marks of positions; unions in the order of the alphabet."""
    bare = re.sub(r"\b(?:[a-z_]\w*\.)+", "", type_.replace('"', "'"))
    bare = re.sub(r"\bdef \w* ?\(", "(", bare).replace(", /", "").replace("'] | Literal['", "', '")
    bare = re.sub(r"(?<=Literal\[)[^\]]*", lambda literals: ", ".join(sorted(literals[0].split(", "))), bare)
    return " | ".join(sorted(bare.split(" | ")))


def places(report: str, pattern: str, *, error: str) -> Iterator[Shown]:
    for place in re.finditer(pattern, report, re.MULTILINE):
        yield Shown(Path(place["file"]).name, int(place["line"]), place["text"], place["kind"] == error)


def line_of(report: Any) -> int:
    line: int = report["range"]["start"]["line"]
    return line + 1


def run(command: list[str]) -> str:
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout
