"""`strata tools generate`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.console import ROOT

TOOLS = """
from strata import strata_tool

@strata_tool("k8s.pods")
async def pods(namespace: str, labels: dict[str, str] = {}) -> str:
    "List pods."
    return namespace
"""
FILES = ["tools.json", "openai.json", "anthropic.json", "mcp.json", "strictness.json", "dispatch.py"]


@pytest.fixture
def src(folder: Path) -> Path:
    """A folder with one tool."""
    (folder / "src").mkdir()
    (folder / "src" / "ops.py").write_text(TOOLS, encoding="utf-8")
    return folder / "src"


def change(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_the_files_are_written_once(call: Call, src: Path, folder: Path) -> None:
    answer = call("tools", "generate", "src", "--out", "made")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"1 file: 1 tool, 0 errors, 0 warnings; {', '.join(FILES)} written\n"
    assert sorted(path.name for path in (folder / "made").iterdir()) == sorted(FILES)
    written = {path: path.stat().st_mtime_ns for path in (folder / "made").iterdir()}
    again = call("tools", "generate", "src", "--out", "made")
    assert again.out == "1 file: 1 tool, 0 errors, 0 warnings; nothing has changed\n"
    assert {path: path.stat().st_mtime_ns for path in (folder / "made").iterdir()} == written


def test_the_manifest_is_canonical(call: Call, src: Path, folder: Path) -> None:
    call("tools", "generate", "src", "--out", "made")
    assert (folder / "made" / "tools.json").read_bytes() == (
        b'[{"name":"k8s.pods","description":"List pods.","parameters":{"type":"object","properties":{"namespace":{"type":"string"},'
        b'"labels":{"type":"object","additionalProperties":{"type":"string"},"default":{}}},"required":["namespace"]}}]'
    )


def test_check_is_silent_of_what_is_current_and_writes_nothing(call: Call, src: Path, folder: Path) -> None:
    call("tools", "generate", "src", "--out", "made")
    answer = call("tools", "generate", "src", "--out", "made", "--check")
    assert (answer.code, answer.out) == (0, "1 file: 1 tool, 0 errors, 0 warnings; all that is made of them is current\n")


def test_check_shows_what_would_change_as_a_diff(call: Call, src: Path, folder: Path) -> None:
    call("tools", "generate", "src", "--out", "made")
    before = {path: path.read_bytes() for path in (folder / "made").iterdir()}
    change(src / "ops.py", "List pods.", "List all pods.")
    answer = call("tools", "generate", "src", "--out", "made", "--check")
    assert answer.code == 1
    assert answer.out.startswith(
        "--- made/tools.json (found)\n+++ made/tools.json (generated)\n@@ -1,7 +1,7 @@\n [\n   {\n"
        '     "name": "k8s.pods",\n-    "description": "List pods.",\n+    "description": "List all pods.",\n'
    )
    assert answer.out.endswith("1 file: 1 tool, 0 errors, 0 warnings; 5 files of 6 would be written\n")
    assert {path: path.read_bytes() for path in (folder / "made").iterdir()} == before


def test_check_finds_files_that_are_missing_and_json_in_other_bytes(call: Call, src: Path, folder: Path) -> None:
    call("tools", "generate", "src", "--out", "made")
    (folder / "made" / "mcp.json").unlink()
    manifest = folder / "made" / "tools.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    answer = call("tools", "generate", "src", "--out", "made", "--check")
    assert answer.code == 1
    assert "made/tools.json: the same JSON in other bytes\n" in answer.out
    assert "--- made/mcp.json (found)\n+++ made/mcp.json (generated)\n@@ -0,0 +1," in answer.out
    assert not (folder / "made" / "mcp.json").exists()


def test_json_has_the_files_the_tools_and_the_problems(call: Call, src: Path) -> None:
    told = json.loads(call("tools", "generate", "src", "--out", "made", "--json").out)
    assert told["ok"] is True
    assert told["files"] == [{"path": f"made/{name}", "state": "missing"} for name in FILES]
    (tool,) = told["tools"]
    assert (tool["name"], tool["place"]) == ("k8s.pods", "src/ops.py:4")
    assert tool["not_strict"].keys() == {"openai", "anthropic"}
    assert tool["not_strict"]["openai"].startswith("argument 'labels' is an object with any names")
    checked = json.loads(call("tools", "generate", "src", "--out", "other", "--json", "--check").out)
    assert checked["ok"] is False


def test_errors_are_told_with_their_places_and_nothing_is_written(call: Call, src: Path, folder: Path) -> None:
    change(src / "ops.py", "namespace: str", "namespace: Namespace")
    answer = call("tools", "generate", "src", "--out", "made")
    assert answer.code == 1
    assert answer.out == (
        "src/ops.py:5: error: 'Namespace' is bound nowhere in 'ops' [STRATA_PY_TOOL_UNRESOLVED]\n"
        "1 file: 0 tools, 1 error, 0 warnings; nothing was written\n"
    )
    assert not (folder / "made").exists()
    assert call("tools", "generate", "src", "--out", "made", "--check").code == 1
    (problem,) = json.loads(call("tools", "generate", "src", "--out", "made", "--json").out)["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("src/ops.py", 5, 27)


def test_what_cannot_be_read_ends_with_two(call: Call, src: Path, folder: Path) -> None:
    (src / "bad.py").write_text("from strata import strata_tool\ndef f(:\n", encoding="utf-8")
    answer = call("tools", "generate", "src", "--out", "made")
    assert answer.code == 2
    assert answer.err.startswith("error: src/bad.py:2:7: it is no Python that Python 3.")
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "text", "hint"),
    [
        (["nowhere", "--out", "made"], "there is no 'nowhere'", "name Python files, and folders of them"),
        (["essays.py", "--out", "made"], "no tool is declared in 1 file", "a tool is a function under @strata_tool"),
    ],
)
def test_a_source_without_tools_is_told(arguments: list[str], text: str, hint: str, call: Call) -> None:
    answer = call("tools", "generate", *arguments)
    assert (answer.code, answer.err) == (2, f"error: {text}\nhint: {hint}\n")


def test_a_module_of_somebody_else_is_not_overwritten(call: Call, src: Path, folder: Path) -> None:
    (src / "dispatch.py").write_text("MINE = 1\n", encoding="utf-8")
    answer = call("tools", "generate", "src", "--out", "src")
    assert answer.code == 2
    assert answer.err.startswith("error: 'src/dispatch.py' was not made by this command, and would be lost\n")
    assert sorted(path.name for path in src.iterdir()) == ["dispatch.py", "ops.py"]


def test_a_folder_that_cannot_be_written_is_told(call: Call, src: Path, folder: Path) -> None:
    (folder / "made").write_text("a file", encoding="utf-8")
    answer = call("tools", "generate", "src", "--out", "made")
    assert answer.code == 2
    assert answer.err.startswith("error: 'made")


def test_the_settings_of_the_project_are_read(call: Call, src: Path, folder: Path) -> None:
    (src / "broken.py").write_text("from strata import strata_tool\n@strata_tool\ndef f(n): ...\n", encoding="utf-8")
    change(src / "ops.py", "from strata import", "from packaging.version import Version\nfrom strata import")
    change(src / "ops.py", "labels: dict[str, str] = {}", "version: str = str(Version('1.0'))")
    refused = call("tools", "generate", "src", "--out", "made")
    assert "src/broken.py:2: error" in refused.out
    assert "'Version' comes from 'packaging.version', which is not among the sources" in refused.out
    assert 'say trusted-imports = ["packaging"] under [tool.strata] in pyproject.toml' in refused.out
    (folder / "pyproject.toml").write_text('[tool.strata]\nexclude = ["src/broken.py"]\ntrusted-imports = ["packaging"]\n', encoding="utf-8")
    assert call("tools", "generate", "src", "--out", "made").code == 0
    assert '"default":"1.0"' in (folder / "made" / "tools.json").read_text(encoding="utf-8")


def test_without_libcst_the_command_says_what_to_install(src: Path, folder: Path) -> None:
    program = "import sys; sys.modules['libcst'] = None; from strata.cli import main; main(['tools', 'generate', 'src', '--out', 'made'])"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "error: tools are read from source with libcst, which is not installed\nhint: install strata with its extra `codegen`\n",
    )


@pytest.mark.slow
def test_300_tools_in_10_000_lines_take_two_seconds(folder: Path) -> None:
    from bench.generating import many_tools

    many_tools(folder / "many", tools=300, lines=10_000)
    command = [sys.executable, "-m", "strata", "tools", "generate", "many", "--out", "made"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = os.times().children_user
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "300 tools, 0 errors" in done.stdout, done.stdout + done.stderr
    assert os.times().children_user - before < 6  # on a machine that does other work too; `python -m bench.generating` has the figure
