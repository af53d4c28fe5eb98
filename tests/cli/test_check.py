"""`strata check`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.console import ROOT

MISSPELT = "broken.py:10: error: Edge 'draft' -> 'publsh' points at 'publsh', which is not a node in the graph. Did you mean 'publish'?"


@pytest.fixture(autouse=True)
def compiled(folder: Path) -> None:
    """The broken graph of the folder, compiled."""
    module = folder / "broken.py"
    module.write_text(module.read_text(encoding="utf-8").rstrip() + ".compile()\n", encoding="utf-8")


def test_faults_are_shown_with_their_place_and_counted(call: Call) -> None:
    answer = call("check", "broken.py", "essays.py")
    assert answer.code == 1
    assert answer.err == ""
    first, second, total = answer.out.splitlines()
    assert first == f"{MISSPELT} [STRATA_ERR_DANGLING_EDGE] (node draft)"
    assert second.startswith("broken.py:15: error: Node 'publish' is isolated")
    assert total == "2 files: 2 errors, 0 warnings"


def test_sound_files_are_fine(call: Call) -> None:
    answer = call("check", "essays.py")
    assert (answer.code, answer.out) == (0, "1 file: 0 errors, 0 warnings\n")


def test_a_folder_is_looked_through_without_environments_and_hidden_folders(call: Call, folder: Path) -> None:
    for inner in (".hidden", "environment", "__pycache__", "shop"):
        (folder / inner).mkdir()
        (folder / inner / "graphs.py").write_text((folder / "broken.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "environment" / "pyvenv.cfg").touch()
    report = json.loads(call("check", "--json", ".").out)
    assert report["files"] == 3
    assert {problem["file"] for problem in report["problems"]} == {"broken.py", "shop/graphs.py"}


def test_json_has_all_of_a_problem(call: Call) -> None:
    report = json.loads(call("check", "--json", "broken.py").out)
    assert report["problems"][0] == {
        "code": "STRATA_ERR_DANGLING_EDGE",
        "severity": "error",
        "text": "Edge 'draft' -> 'publsh' points at 'publsh', which is not a node in the graph.",
        "node": "draft",
        "related": "publsh",
        "file": "broken.py",
        "line": 10,
        "column": 2,
        "hint": "Did you mean 'publish'?",
    }
    assert (report["ok"], report["files"], report["unreadable"]) == (False, 1, [])


def test_github_shows_it_at_the_line(call: Call) -> None:
    first, *_ = call("check", "--format", "github", "broken.py").out.splitlines()
    assert first == (
        "::error file=broken.py,line=10,col=2,title=STRATA_ERR_DANGLING_EDGE::"
        "Edge 'draft' -> 'publsh' points at 'publsh', which is not a node in the graph. Did you mean 'publish'?"
    )


def test_sarif_has_rules_results_and_files_that_could_not_be_checked(call: Call, folder: Path) -> None:
    (folder / "odd name.py").write_text("import strata\ndef (", encoding="utf-8")
    answer = call("check", "--format", "sarif", "broken.py", "odd name.py")
    log = json.loads(answer.out)
    [run] = log["runs"]
    [unreadable] = run["invocations"][0]["toolExecutionNotifications"]
    assert (answer.code, log["version"]) == (2, "2.1.0")
    assert [result["ruleId"] for result in run["results"]] == ["STRATA_ERR_DANGLING_EDGE", "STRATA_ERR_ORPHAN"]
    assert [run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    assert run["results"][0]["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "broken.py"}, "region": {"startLine": 10, "startColumn": 2}}}
    ]
    assert unreadable["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "odd%20name.py"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"import strata\nx = (\n", "wrong.py:2:5: it is no Python that Python "),
        (b"import strata\n\xff\n", "wrong.py: it is no text in the encoding that it declares: "),
        (b"# coding: nonsense\nimport strata\n", "wrong.py: unknown encoding for "),
        (b"import strata\nx = '\0'\n", "wrong.py: it is no Python that Python "),
    ],
)
def test_a_file_that_is_no_python_could_not_be_checked(content: bytes, told: str, call: Call, folder: Path) -> None:
    (folder / "wrong.py").write_bytes(content)
    answer = call("check", "wrong.py", "broken.py")
    assert answer.code == 2
    assert answer.err.startswith(f"error: {told}")
    assert MISSPELT in answer.out


def test_what_is_not_there_is_said(call: Call) -> None:
    answer = call("check", "nowhere.py")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: there is no 'nowhere.py'")


# Settings


def settle(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.strata]\n{text}\n", encoding="utf-8")


def test_codes_are_disabled(call: Call, folder: Path) -> None:
    settle(folder, 'disable = ["STRATA_ERR_DANGLING_EDGE", "STRATA_ERR_ORPHAN"]')
    assert call("check", "broken.py").code == 0


def test_files_and_folders_are_excluded(call: Call, folder: Path) -> None:
    settle(folder, 'exclude = ["brok*.py", "old"]')
    (folder / "old").mkdir()
    (folder / "old" / "graphs.py").write_text((folder / "broken.py").read_text(encoding="utf-8"), encoding="utf-8")
    answer = call("check", ".", "broken.py", "old/graphs.py")
    assert (answer.code, answer.out) == (0, "1 file: 0 errors, 0 warnings\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('excluded = ["x"]', "[tool.strata] has the unknown key 'excluded'"),
        ('disable = ["STRATA_ERR_ORPHANS"]', "[tool.strata] disables 'STRATA_ERR_ORPHANS', which is no code"),
        ('exclude = "x"', "[tool.strata]: Expected `array`, got `str` - at `$.exclude`"),
        ("exclude = [", "it is not TOML: "),
        ('folder = "x"', "[tool.strata] has the unknown key 'folder'"),
    ],
)
def test_settings_that_are_not_known_are_errors(text: str, told: str, call: Call, folder: Path) -> None:
    settle(folder, text)
    answer = call("check", "essays.py")
    assert answer.code == 2
    assert told in answer.err


def test_it_loads_no_engine_runtime_store_or_parser_of_others() -> None:
    rooms = ("strata.engine", "strata.runtime", "strata.stores", "strata.wire", "libcst", "mypy")
    program = (
        f"import sys; from strata.cli import run; run(['check', 'examples/essay']); print([name for name in sys.modules if name.startswith({rooms})])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
