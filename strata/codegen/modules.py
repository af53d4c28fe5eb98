"""The modules of a project as syntax trees, by their dotted names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from strata.codegen.bindings import Bindings, bindings_of
from strata.codegen.finding import shown
from strata.codegen.outline import without_bodies
from strata.project.texts import Unreadable, read_text, tree_of
from strata.rules.facts import SourcePlace


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """Where a module lies; `shown` is what messages call the file."""

    name: str
    path: Path
    shown: str

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


class SourceModule:
    """A module that could be parsed; what its functions do is not among it."""

    def __init__(self, file: ModuleFile, text: str, tree: cst.Module) -> None:
        self.file, self.text, self.tree = file, text, tree
        self.name = file.name

    def __repr__(self) -> str:
        return f"SourceModule({self.name!r})"

    @cached_property
    def bindings(self) -> Bindings:
        return bindings_of(self.tree, self.name, is_package=self.file.is_package, has_globals="global " in self.text)

    def place(self, node: cst.CSTNode) -> SourcePlace:
        """Where a node begins; the first line for one that is not of this tree."""
        found = self._positions.get(node)
        return SourcePlace(self.file.shown, 1, 1) if found is None else SourcePlace(self.file.shown, found.start.line, found.start.column + 1)

    def code(self, node: cst.CSTNode) -> str:
        """The node as it is written, on one line."""
        return " ".join(self.tree.code_for_node(node).split())

    @cached_property
    def _positions(self) -> dict[cst.CSTNode, CodeRange]:
        return dict(MetadataWrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider))


class Modules:
    """The modules below the folders that imports start from, each read once."""

    def __init__(self, roots: Sequence[Path], folder: Path) -> None:
        self._roots, self._folder = roots, folder
        self._read: dict[str, SourceModule | None] = {}
        self._unreadable: dict[str, Unreadable] = {}

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The files that were asked for in vain."""
        return tuple(self._unreadable.values())

    def module(self, name: str) -> SourceModule | None:
        """The module of that name; None where there is no such file, or none that can be read."""
        if name not in self._read:
            file = self._file(name)
            self._read[name] = None if file is None else self._parsed(file)
        return self._read[name]

    def has(self, name: str) -> bool:
        """Whether the sources have such a module, or a folder of modules."""
        return self._file(name) is not None or any((root / _path(name)).is_dir() for root in self._roots)

    def _file(self, name: str) -> ModuleFile | None:
        for root in self._roots:
            for path in (root / _path(name) / "__init__.py", root / _path(name).with_suffix(".py")):
                if path.is_file():
                    return ModuleFile(name, path, shown(path, self._folder))
        return None

    def _parsed(self, file: ModuleFile) -> SourceModule | None:
        text = read_text(file.path, file.shown)
        found = text if isinstance(text, Unreadable) else _parsed(file, text)
        if isinstance(found, Unreadable):
            self._unreadable[file.name] = found
            return None
        return found


def _path(name: str) -> Path:
    return Path(*name.split("."))


def _parsed(file: ModuleFile, text: str) -> SourceModule | Unreadable:
    tree = tree_of(text, file.shown)  # first: of what is nested deeper than Python allows, libcst ends the process
    if isinstance(tree, Unreadable):
        return tree
    try:
        return SourceModule(file, text, cst.parse_module(without_bodies(text, tree)))
    except cst.ParserSyntaxError as error:
        return Unreadable(file=file.shown, line=error.raw_line, column=error.raw_column + 1, reason=f"libcst cannot parse it: {error.message}")
