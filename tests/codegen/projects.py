"""Projects of tools in a folder, read from their source and imported."""

from __future__ import annotations

import sys
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from strata.codegen.catalogue import Catalogue, catalogue
from strata.codegen.finding import sources_in
from strata.errors import StrataError
from strata.tools import Tool, canonical_json
from tests.importing import forget_modules_of


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """The folder, with these files and an `__init__.py` in each package that has none."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        for package in path.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.py").touch()
    return folder


def read(folder: Path, *, trusted: Collection[str] = ()) -> Catalogue:
    """What the sources say."""
    return catalogue(sources_in([folder], (), folder, shown_from=folder), shown_from=folder, trusted=trusted)


def read_text(text: str, folder: Path, *, trusted: Collection[str] = ()) -> Catalogue:
    """What one module says, `tools.py`."""
    return read(written(folder, {"tools.py": text}), trusted=trusted)


def from_source(found: Catalogue) -> list[bytes]:
    """The manifest entry of each tool, as bytes."""
    return [canonical_json(tool.entry) for tool in found.tools]


@contextmanager
def imported(folder: Path, name: str) -> Generator[ModuleType]:
    """A module below the folder; neither it nor what it imported from there is left behind."""
    sys.path.insert(0, str(folder))
    invalidate_caches()
    try:
        yield import_module(name)
    finally:
        sys.path.remove(str(folder))
        forget_modules_of(folder)


def from_import(folder: Path, name: str) -> list[bytes]:
    """The same of the module as a running program has it."""
    with imported(folder, name) as module:
        return [canonical_json(value.manifest) for value in vars(module).values() if isinstance(value, Tool)]


def is_refused(folder: Path, name: str) -> bool:
    """Whether importing the module, or using one of its tools, fails."""
    try:
        from_import(folder, name)
    except (StrataError, Exception):
        return True
    return False


def told(found: Catalogue) -> list[str]:
    """The problems as `line:column code text`."""
    return [
        f"{problem.place.line}:{getattr(problem.place, 'column', '?')} {problem.code.removeprefix('STRATA_PY_')} {problem.text}"
        for problem in found.problems
        if problem.place is not None
    ]
