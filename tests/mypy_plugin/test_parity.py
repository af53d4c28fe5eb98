"""What the plugin says of a module is what `validate()` says of its graphs when they run: the same codes at the same lines."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from strata import Problem
from strata.analysis.checking import check
from strata_mypy.codes import DEMANDS, mypy_name
from tests.mypy_plugin.checking import CASES, expected


def module_of(file: Path) -> ModuleType:
    spec = util.spec_from_file_location(f"mypy_case_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["structure", "pauses", "kinds"])
def test_a_run_says_the_same(name: str) -> None:
    file = CASES / f"{name}.py"
    problems: list[Problem] = module_of(file).problems
    ran = {(problem.place.line, mypy_name(problem.code)) for problem in problems if problem.place is not None and not is_ignored(file, problem)}
    checked = {(one.line, one.code) for one in expected(file) if one.severity == "error" and one.code in DEMANDS}
    assert ran == checked


def is_ignored(file: Path, problem: Problem) -> bool:
    assert problem.place is not None
    return "# type: ignore[" in file.read_text().splitlines()[problem.place.line - 1]


@pytest.mark.parametrize("name", ["structure", "pauses", "kinds"])
def test_the_texts_are_those_of_the_run(name: str) -> None:
    """Up to the hint of what exists and is not listed, which a run cannot know."""
    file = CASES / f"{name}.py"
    texts = {" ".join(part for part in (problem.text, problem.hint) if part) for problem in module_of(file).problems}
    strange = [one.text for one in expected(file) if one.code in DEMANDS and one.severity == "error" and not any(one.text in text for text in texts)]
    assert [text for text in strange if "exists, but is not listed" not in text] == []


def test_tools_are_refused_by_the_plugin_as_by_strata_check() -> None:
    file = CASES / "refused_tools.py"
    problems = [problem for problem in check([file], file.parent).problems if problem.place is not None and not is_ignored(file, problem)]
    told = {(problem.place.line, mypy_name(problem.code)): problem.text for problem in problems if problem.place is not None}
    wanted = {(one.line, one.code): one.text for one in expected(file) if one.code is not None}
    assert told.keys() == wanted.keys()
    assert [text for at, text in wanted.items() if text not in told[at]] == []
