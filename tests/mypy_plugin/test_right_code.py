"""Right code is clean with the plugin, and as clean without it: the plugin adds nothing that it needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from subprocess import run

import pytest

from tests.mypy_plugin.checking import CASES, ROOT, configuration, mypy, said
from tests.tools.random_tools import Author

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

RIGHT = CASES / "right.py"
PACKAGES = ["--namespace-packages", "--explicit-package-bases"]


@pytest.mark.parametrize("target", ["3.11", "3.13"])
def test_all_examples_and_graphs_are_clean_with_the_plugin(target: str, tmp_path: Path) -> None:
    report = mypy(["--config-file", str(configuration(tmp_path)), f"--python-version={target}", *PACKAGES, "examples", "tests/graphs"])
    assert report.startswith("Success"), report


def test_the_plugin_says_nothing_of_random_tools_that_are_right(tmp_path: Path) -> None:
    """mypy itself does: their bodies are empty, and some defaults are of another type."""
    for seed in range(30):
        (tmp_path / f"random_{seed}.py").write_text(Author(Random(seed)).module())
    files = sorted(file.name for file in tmp_path.glob("*.py"))
    report = said(mypy(["--config-file", str(configuration(tmp_path)), "--output=json", *files], cwd=tmp_path))
    assert [str(one) for one in report if (one.code or "").startswith("strata")] == []
    assert {one.code for one in report} >= {"empty-body"}


def test_right_code_needs_no_plugin_in_mypy(tmp_path: Path) -> None:
    report = mypy(["--config-file=", "--strict", "--cache-dir", str(tmp_path), str(RIGHT)])
    assert report.startswith("Success"), report


def test_right_code_needs_no_plugin_in_pyright(tmp_path: Path) -> None:
    project = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": [str(RIGHT)], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(project))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_plugin_is_clean_under_the_lint_of_mypy_for_plugins(tmp_path: Path) -> None:
    lint = configuration(tmp_path, plugins="mypy.plugins.proper_plugin")
    report = mypy(["--config-file", str(lint), *PACKAGES, "strata_mypy"])
    assert report.startswith("Success"), report
