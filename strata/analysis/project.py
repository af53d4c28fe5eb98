"""The sources that are checked, and those that they import, each followed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from strata.analysis.executing import follow
from strata.analysis.findings import Findings
from strata.analysis.modules import Found, Modules
from strata.analysis.scopes import Scope
from strata.analysis.sources import Source, read_source
from strata.analysis.values import UNKNOWN, Constant, Imported, Listed, Module, Named, Value, named
from strata.rules.problem import Problem


class Project:
    """Modules by their files, from the folder where the command was called."""

    def __init__(self, folder: Path, checked: Iterable[Source]) -> None:
        self._folder = folder
        self._checked = {source.path: source for source in checked}
        self._modules = Modules(folder)
        self._scopes: dict[Path, Scope | None] = {}
        self._findings = Findings()
        self._asked: set[tuple[Path | None, str]] = set()
        """Names that are being looked up."""

    def problems(self) -> Iterable[Problem]:
        """What is wrong in the sources that are checked; of those that they import, nothing is told."""
        for path in self._checked:
            self._scope(path)
        return self._findings

    # What executing asks

    def module(self, name: str, level: int, importer: Source) -> Value:
        if _is_foreign(name, level):
            return Named(name)
        found = self._found(name, level, importer)
        return Named(name) if found is None else self._as_module(name, found)

    def member(self, module: str, level: int, name: str, importer: Source) -> Value:
        if _is_foreign(module, level):
            return named(f"{module}.{name}")
        found = self._found(module, level, importer)
        if found is None:
            return named(f"{module}.{name}") if not level else UNKNOWN
        return self._member(module, found, name)

    def all_names(self, module: str, level: int, importer: Source) -> Iterable[tuple[str, Value]] | None:
        found = None if _is_foreign(module, level) else self._found(module, level, importer)
        scope = None if found is None or found.file is None else self._scope(found.file)
        return None if scope is None or scope.is_tainted else _public(scope)

    def _found(self, name: str, level: int, importer: Source) -> Found | None:
        return self._modules.relative(level, name, importer.path) if level else self._modules.absolute(name, importer.path)

    def _as_module(self, name: str, found: Found) -> Module:
        return Module(lambda member: self._member(name, found, member))

    def _member(self, module: str, found: Found, name: str) -> Value:
        """A name that the module binds, or a module of that name in the package."""
        scope = None if found.file is None else self._scope(found.file)
        asked = found.file, name
        if scope is not None and name in scope.names and asked not in self._asked:
            self._asked.add(asked)  # `from . import steps` in a package asks the package itself, and then means its module
            try:
                return scope.settled(name)
            finally:
                self._asked.discard(asked)
        inner = None if found.folder is None else self._modules.below(found.folder, [name])
        return UNKNOWN if inner is None else self._as_module(f"{module}.{name}", inner)

    def _scope(self, path: Path) -> Scope | None:
        """The names of a module; None while it is being followed, and where it cannot be read."""
        if path not in self._scopes:
            self._scopes[path] = None
            if (source := self._checked.get(path)) is not None:
                self._scopes[path] = follow(source, self, self._findings)
            elif isinstance(imported := read_source(path, _shown(path, self._folder)), Source):
                self._scopes[path] = follow(imported, self, Findings())
        return self._scopes[path]


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _is_foreign(name: str, level: int) -> bool:
    """Strata itself is known by its names, also in its own repository."""
    return not level and name.partition(".")[0] == "strata"


def _public(scope: Scope) -> Iterator[tuple[str, Value]]:
    """What `import *` gives."""
    listed = scope.settled("__all__")
    names = [item.value for item in listed.items if isinstance(item, Constant)] if isinstance(listed, Listed) else list(scope.names)
    for name in names:
        if isinstance(name, str) and (isinstance(listed, Listed) or not name.startswith("_")):
            yield name, _member_of(scope, name)


def _member_of(scope: Scope, name: str) -> Value:
    return Imported(lambda: scope.settled(name))
