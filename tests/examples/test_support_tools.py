"""The support desk as a package: what is made of its tools is fresh, and is what its wheel holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from strata.tools import canonical_json
from support_desk.desk import tools as registry
from tests.console import ROOT, assert_reads_as_shown

EXAMPLE = ROOT / "examples" / "support_tools"
MADE = ("tools.json", "openai.json", "anthropic.json", "mcp.json", "strictness.json", "dispatch.py")


def generate(project: Path, out: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "strata", "tools", "generate", "src", "--out", out, *options]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example, as it lies in git but for what is made."""
    folder = tmp_path / "support_tools"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "dist", *MADE))
    return folder


def test_what_is_kept_in_git_is_fresh() -> None:
    done = generate(EXAMPLE, "src/support_desk/made", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "8 files: 3 tools, 0 errors, 0 warnings; all that is made of them is current\n", "")


def test_the_manifest_is_that_of_the_registry_that_calls_the_tools() -> None:
    assert (EXAMPLE / "src" / "support_desk" / "made" / "tools.json").read_bytes() == canonical_json(registry.manifest())


def test_every_tool_has_a_strict_form_for_every_provider() -> None:
    strictness = json.loads((EXAMPLE / "src" / "support_desk" / "made" / "strictness.json").read_bytes())
    assert [tool["name"] for tool in strictness] == ["orders.find", "orders.refund", "tickets.escalate"]
    assert all(tool[provider]["strict"] for tool in strictness for provider in ("openai", "anthropic"))


@pytest.mark.slow
def test_its_wheel_holds_what_the_command_writes_and_runs_as_the_readme_shows(project: Path, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", str(tmp_path / "dist"), str(project)]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)  # an sdist, and of that the wheel
    assert done.returncode == 0, done.stdout + done.stderr
    assert generate(project, str(tmp_path / "out")).returncode == 0
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        held = {name: archive.read(f"support_desk/made/{name}") for name in MADE}
        archive.extractall(tmp_path / "installed")
    assert held == {name: (tmp_path / "out" / name).read_bytes() for name in MADE}
    (tmp_path / "desk").mkdir()
    assert_reads_as_shown(EXAMPLE / "README.md", tmp_path / "desk", installed=[tmp_path / "installed", ROOT])
