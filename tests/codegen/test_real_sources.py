"""Packages that many people use, with tools made of their functions: nothing crashes, none is lost, and what is read is what an import says.

`python -m tests.codegen.test_real_sources FOLDER...` does the same with the functions of other packages, and `make others` with some that it
downloads; of every `STRATA_EVERY` of them with one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from strata.codegen.faults import Fault
from strata.codegen.finding import sources_in
from strata.codegen.interpreter import Interpreter
from strata.codegen.modules import Modules
from strata.codegen.reading import ToolReader
from strata.tools import canonical_json
from tests.codegen.marking import MILESTONE, Sketches, sketches_of, to_import, to_read, written
from tests.console import ROOT

IMPORTER = """
import json, sys, warnings
from importlib import import_module
warnings.simplefilter("ignore")
from strata.tools import Tool, canonical_json

def entry(tool):
    try:
        return canonical_json(tool.manifest).decode()
    except Exception as error:
        return repr(error)

found = {}
for name in json.load(sys.stdin):
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:
        print(f"{name} cannot be imported: {error!r}", file=sys.stderr)
        continue
    found |= module._refused_tools
    tools = [value for name, value in vars(module).items() if name.startswith("_tool_") and isinstance(value, Tool)]
    found |= {json.loads(told)["name"]: told for told in map(entry, tools) if told.startswith("{")}
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
"""


@dataclass
class Reading:
    """What became of each tool.

    Attributes:
        entries: of those that could be read, as JSON.
        refused: why the others could not be.
        lost: tools that are neither.
    """

    entries: dict[str, str] = field(default_factory=dict[str, str])
    refused: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    lost: list[str] = field(default_factory=list[str])


def read(folder: Path) -> Reading:
    """All tools below a folder; each ends in an entry or in errors."""
    sources = sources_in([folder], (), folder, shown_from=folder)
    modules = Modules(sources.roots, folder)
    reader = ToolReader(Interpreter(modules))
    reading = Reading()
    for module in map(modules.module, sources.declaring):
        assert module is not None, modules.unreadable
        since = len(reader.faults)
        for tool in reader.tools_of(module):
            name = tool.signature.name
            if not name.startswith(MILESTONE):
                reading.entries[name] = canonical_json(tool.entry).decode()
                continue
            name = name.removeprefix(MILESTONE)
            if errors := [fault for fault in reader.faults[since:] if fault.severity == "error"]:
                reading.refused[name] = errors
            elif name not in reading.entries:
                reading.lost.append(name)
            since = len(reader.faults)
    return reading


def imported(folder: Path, modules: Sequence[str]) -> tuple[Mapping[str, str], str]:
    """The entries as those modules have them that can be imported, and what the others said."""
    paths = filter(None, [os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT), *paths))}
    command = [sys.executable, "-c", IMPORTER, "found.json"]
    done = subprocess.run(command, cwd=folder, env=environment, input=json.dumps(modules), capture_output=True, text=True, timeout=300, check=True)
    return json.loads((folder / "found.json").read_bytes()), done.stderr


def modules_with_tools(package: str, sketches: Sketches) -> Iterator[str]:
    for path, tools in sketches.items():
        if tools and path.name != "__main__.py":
            parts = (package, *path.with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True, slots=True)
class Report:
    """A package, read and imported.

    Attributes:
        compared: how many tools were read both ways.
        different: name, source and import of those that say something else.
        seconds: what reading took.
    """

    tools: int
    reading: Reading
    compared: int
    different: list[tuple[str, str, str]]
    seconds: float
    said: str


def report(package: Path, folder: Path, *, every: int) -> Report:
    """What becomes of a package's functions as tools."""
    sketches = sketches_of(package, every=every)
    written(package, folder / "read" / package.name, sketches, to_read)
    since = time.process_time()
    reading = read(folder / "read")
    seconds = time.process_time() - since
    entered = {path: [sketch for sketch in tools if sketch.name in reading.entries] for path, tools in sketches.items()}
    written(package, folder / "import" / package.name, entered, to_import)
    live, said = imported(folder / "import", list(modules_with_tools(package.name, entered)))
    different = [(name, reading.entries[name], told) for name, told in live.items() if told != reading.entries[name]]
    return Report(sum(map(len, sketches.values())), reading, len(live), different, seconds, said)


@pytest.mark.slow
@pytest.mark.parametrize(("package", "every", "least"), [("mcp", 4, 150), ("anthropic", 60, 30)])
def test_each_function_of_a_package_ends_in_what_an_import_says_or_in_an_error(package: str, every: int, least: int, tmp_path: Path) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    found = report(Path(spec.origin).parent, tmp_path, every=every)
    assert found.reading.lost == []
    assert found.different == []
    assert found.compared >= least, found.said
    assert len(found.reading.entries.keys() | found.reading.refused.keys()) == found.tools
    assert found.seconds < 60
    for errors in list(found.reading.refused.values())[:5]:  # a place costs a walk through its file
        assert all(error.problem().place is not None for error in errors)


def main(packages: Sequence[str]) -> int:
    """Tell of each package; 1 if anything is wrong with one."""
    wrong = False
    for package in map(Path, packages):
        with TemporaryDirectory() as folder:
            found = report(package, Path(folder), every=int(os.environ.get("STRATA_EVERY", "1")))
        reading = found.reading
        read_of_them = f"{len(reading.entries)} read in {found.seconds:.1f} s, {len(reading.refused)} refused, {len(reading.lost)} lost"
        lines = [
            f"{package.name}: {found.tools} tools, {read_of_them}; {found.compared} imported, {len(found.different)} different",
            *(f"  lost: {name}" for name in reading.lost),
            *(f"  {name}\n    source: {source}\n    import: {live}" for name, source, live in found.different),
        ]
        sys.stdout.write("\n".join(lines) + "\n")
        wrong |= bool(reading.lost or found.different)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
