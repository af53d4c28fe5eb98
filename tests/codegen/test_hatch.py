"""The build hook `strata-tools`, as hatchling calls it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.plugin.manager import PluginManager

from strata.codegen.generating import generate
from strata.project.settings import Settings
from tests.codegen.projects import written

PROJECT = """\
[build-system]
requires = ["hatchling", "strata[codegen]"]
build-backend = "hatchling.build"

[project]
name = "desk"
version = "1.0"

[tool.hatch.build.targets.wheel]
packages = ["src/desk"]
dev-mode-dirs = ["src"]

[tool.hatch.build.hooks.strata-tools]
"""
OPTIONS = 'source = "src"\nout = "src/desk/made"\n'
TOOLS = """\
from strata.tools import strata_tool


@strata_tool("orders.find")
async def find(order_id: str, limit: int = 10) -> list[str]:
    "Find orders."
    return [order_id]
"""
NAMES = ("tools.json", "openai.json", "anthropic.json", "mcp.json", "strictness.json", "dispatch.py")


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hatch listens to the environment too."""
    for name in [name for name in os.environ if name.startswith("HATCH_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A project with one tool, whose hook is set up."""
    return project(tmp_path, OPTIONS)


def project(folder: Path, options: str, tools: str = TOOLS) -> Path:
    written(folder, {"src/desk/tools.py": tools})
    (folder / "src" / "__init__.py").unlink()
    (folder / "pyproject.toml").write_text(PROJECT + options, encoding="utf-8")
    return folder


def wheel(folder: Path, version: str = "standard") -> Path:
    (path,) = WheelBuilder(str(folder), plugin_manager=PluginManager()).build(directory=str(folder / "dist"), versions=[version])
    return Path(path)


def sdist(folder: Path) -> Path:
    (path,) = SdistBuilder(str(folder), plugin_manager=PluginManager()).build(directory=str(folder / "dist"))
    return Path(path)


def content(wheel: Path, below: str) -> dict[str, bytes]:
    """The files of a wheel below a folder."""
    with ZipFile(wheel) as archive:
        return {name.removeprefix(below): archive.read(name) for name in archive.namelist() if name.startswith(below)}


def generated(folder: Path) -> Mapping[str, bytes]:
    """What the command writes of the same sources."""
    return generate([folder / "src"], Settings(folder=folder), shown_from=folder).files


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a build that ends without a wheel says on stderr."""
    with pytest.raises(SystemExit) as ended:
        wheel(folder)
    assert ended.value.code == 1
    assert not list((folder / "dist").iterdir())
    return capsys.readouterr().err


def test_a_wheel_has_what_the_command_writes(desk: Path) -> None:
    assert content(wheel(desk), "desk/made/") == generated(desk)


def test_an_sdist_has_it_too_although_git_ignores_it(desk: Path) -> None:
    (desk / ".gitignore").write_text("made/\ndist/\n", encoding="utf-8")
    with tarfile.open(sdist(desk)) as archive:
        names = archive.getnames()
    assert {f"desk-1.0/src/desk/made/{name}" for name in NAMES} <= set(names)
    assert content(wheel(desk), "desk/made/").keys() == set(NAMES)


def test_a_folder_with_a_name_that_patterns_would_read_is_built_in(tmp_path: Path) -> None:
    project(tmp_path, 'source = "src"\nout = "src/desk/ma[d]e"\n')
    (tmp_path / ".gitignore").write_text("ma*\n", encoding="utf-8")
    assert content(wheel(tmp_path), "desk/ma[d]e/").keys() == set(NAMES)


def test_an_editable_install_finds_what_is_made_beside_the_sources(desk: Path) -> None:
    path = wheel(desk, "editable")
    assert {path.name: path.read_bytes() for path in (desk / "src" / "desk" / "made").iterdir()} == generated(desk)
    assert content(path, "desk/made/") == {}


def test_nothing_is_written_outside_of_out(desk: Path) -> None:
    before = {path for path in desk.rglob("*") if path.is_file()}
    wheel(desk)
    after = {path for path in desk.rglob("*") if path.is_file()} - set((desk / "dist").iterdir())
    assert {path.relative_to(desk / "src" / "desk" / "made").as_posix() for path in after - before} == set(NAMES)


def test_what_is_current_is_not_touched(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(desk)
    assert capsys.readouterr().err == f"strata-tools: {', '.join(f'src/desk/made/{name}' for name in NAMES)} written\n"
    times = {path: path.stat().st_mtime_ns for path in (desk / "src" / "desk" / "made").iterdir()}
    wheel(desk)
    assert capsys.readouterr().err == "strata-tools: all that is made of the tools is current\n"
    assert {path: path.stat().st_mtime_ns for path in (desk / "src" / "desk" / "made").iterdir()} == times


def test_several_sources_are_read(tmp_path: Path) -> None:
    project(tmp_path, 'source = ["src", "more/extra.py"]\nout = "src/desk/made"\n')
    written(tmp_path, {"more/extra.py": TOOLS.replace("orders.find", "orders.count")})
    (tmp_path / "more" / "__init__.py").unlink()
    assert b'"orders.count"' in content(wheel(tmp_path), "desk/made/")["tools.json"]


def test_paths_may_be_absolute_or_take_turns(tmp_path: Path) -> None:
    project(tmp_path, f'source = "{tmp_path}/src"\nout = "src/../src/desk/made"\n')
    (tmp_path / ".gitignore").write_text("made\n", encoding="utf-8")
    assert content(wheel(tmp_path), "desk/made/").keys() == set(NAMES)


def test_the_settings_of_the_project_hold_for_the_build_too(tmp_path: Path) -> None:
    project(tmp_path, OPTIONS + '[tool.strata]\nexclude = ["src/desk/broken.py"]\n')
    (tmp_path / "src" / "desk" / "broken.py").write_text(TOOLS.replace("order_id: str", "order_id"), encoding="utf-8")
    assert content(wheel(tmp_path), "desk/made/").keys() == set(NAMES)


def test_faults_of_tools_end_the_build_with_the_texts_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, OPTIONS, TOOLS.replace("order_id: str", "order_id: Order").replace("limit: int", "limit: Limit"))
    assert refusal(tmp_path, capsys) == (
        "strata-tools: src/desk/tools.py:5: error: 'Order' is bound nowhere in 'desk.tools' [STRATA_PY_TOOL_UNRESOLVED]\n"
        "strata-tools: src/desk/tools.py:5: error: 'Limit' is bound nowhere in 'desk.tools' [STRATA_PY_TOOL_UNRESOLVED]\n"
    )
    assert not (tmp_path / "src" / "desk" / "made").exists()


def test_a_warning_is_told_and_ends_no_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, OPTIONS, TOOLS + '\n\nclass Desk:\n    @strata_tool\n    def close(self) -> None:\n        "Close it."\n')
    assert content(wheel(tmp_path), "desk/made/") == generated(tmp_path)
    assert capsys.readouterr().err.startswith("strata-tools: src/desk/tools.py:11: warning: the tool 'close' stands inside of class 'Desk'")


def test_a_file_that_is_no_python_ends_the_build(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "src" / "desk" / "bad.py").write_text("from strata import strata_tool\ndef f(:\n", encoding="utf-8")
    assert refusal(desk, capsys).startswith("strata-tools: src/desk/bad.py:2:7: it is no Python that Python 3.")


def test_with_check_a_stale_file_ends_the_build_and_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, OPTIONS)
    wheel(tmp_path)
    (tmp_path / "dist" / "desk-1.0-py2.py3-none-any.whl").unlink()
    project(tmp_path, f"{OPTIONS}check = true\n", TOOLS.replace("Find orders.", "Find all orders."))
    capsys.readouterr()
    before = (tmp_path / "src" / "desk" / "made" / "tools.json").read_bytes()
    told = refusal(tmp_path, capsys)
    assert told.startswith("strata-tools: --- src/desk/made/tools.json (found)\nstrata-tools: +++ src/desk/made/tools.json (generated)\n")
    assert 'strata-tools: +    "description": "Find all orders.",\n' in told
    assert told.endswith("strata-tools: 5 of 6 files are stale, and 'check' forbids to write them\n")
    assert (tmp_path / "src" / "desk" / "made" / "tools.json").read_bytes() == before


def test_with_check_what_is_current_is_built(desk: Path) -> None:
    wheel(desk)
    project(desk, f"{OPTIONS}check = true\n")
    assert content(wheel(desk), "desk/made/") == generated(desk)


WRONG = {
    'source = "src"\nout = "made"\nsources = "src"\n': "has the unknown key 'sources': its keys are source, out and check",
    'out = "made"\n': "lacks the key 'source': where the tools lie, as in source = \"src\"",
    'source = "src"\n': "lacks the key 'out': the folder for what is made, as in out = \"src/desk/made\"",
    'source = 5\nout = "made"\n': "'source' is a path or a list of paths, not 5",
    'source = []\nout = "made"\n': "'source' is a path or a list of paths, not []",
    'source = ["src", 5]\nout = "made"\n': "'source' is a path or a list of paths, not ['src', 5]",
    'source = "nowhere"\nout = "made"\n': "'source' names 'nowhere', which is not there",
    'source = "src"\nout = ["made"]\n': "'out' is the path of a folder, not ['made']",
    'source = "src"\nout = "../made"\n': "'out' is '../made', which lies outside of the project",
    'source = "src"\nout = "made"\ncheck = "yes"\n': "'check' is true or false, not 'yes'",
}


@pytest.mark.parametrize("options", WRONG)
def test_what_is_wrong_in_the_table_is_told_with_its_key(options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = refusal(project(tmp_path, options), capsys)
    assert told.removeprefix("strata-tools: [tool.hatch.build.hooks.strata-tools]").lstrip(": ").startswith(WRONG[options])


def test_keys_that_hatch_has_for_every_hook_are_left_to_it(tmp_path: Path) -> None:
    project(tmp_path, f"{OPTIONS}enable-by-default = true\ndependencies = []\n")
    assert content(wheel(tmp_path), "desk/made/").keys() == set(NAMES)


def test_settings_that_are_wrong_end_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, f"{OPTIONS}[tool.strata]\nexclud = []\n")
    assert "[tool.strata] has the unknown key 'exclud': its keys are exclude, disable and trusted-imports\n" in refusal(tmp_path, capsys)


def test_a_source_without_tools_ends_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, OPTIONS, "LIMIT = 10\n")
    assert refusal(tmp_path, capsys) == "strata-tools: no tool is declared in what 'source' names, src\n"


def test_a_module_of_somebody_else_is_not_overwritten(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(desk, {"src/desk/made/dispatch.py": "MINE = 1\n"})
    assert "'src/desk/made/dispatch.py' was not made by" in refusal(desk, capsys)
    assert (desk / "src" / "desk" / "made" / "dispatch.py").read_text(encoding="utf-8") == "MINE = 1\n"


def test_without_libcst_the_build_says_what_to_require(desk: Path) -> None:
    program = "import sys; sys.modules['libcst'] = None; from hatchling.build import build_wheel; build_wheel('dist')"
    done = subprocess.run([sys.executable, "-c", program], cwd=desk, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        'strata-tools: libcst is not installed: say "strata[codegen]" in requires under [build-system]\n',
    )


def test_finding_the_hook_loads_no_parser(desk: Path) -> None:
    program = """
import sys
from hatchling.plugin.manager import PluginManager
print(PluginManager().build_hook.get("strata-tools"))
print("libcst" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=desk, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "<class 'strata.codegen.hatch.StrataToolsHook'>\nFalse\n"
