"""Where the modules lie that a source imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class Found(NamedTuple):
    """A module among the sources: its file, and for a package the folder of its submodules."""

    file: Path | None
    folder: Path | None


class Modules:
    """Modules as the sources' own folders have them; what is installed is not looked into.

    An import may start from any folder above the file, up to the one where the command was called, or from that folder's
    `src`. If two of them have such a module, it cannot be told which is meant, and none is found.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[tuple[str, Path], Found | None] = {}
        self._at: dict[Path, Found | None] = {}

    def absolute(self, name: str, importer: Path) -> Found | None:
        """The module of that dotted name, as the file `importer` would get it."""
        key = name, importer.parent
        if key not in self._found:
            here = [found for root in self._roots(importer) if (found := self.below(root, name.split("."))) is not None]
            files = {found.file or found.folder for found in here}
            self._found[key] = here[0] if len(files) == 1 else None
        return self._found[key]

    def relative(self, level: int, name: str, importer: Path) -> Found | None:
        """The module of `from ..name import`, with `level` dots."""
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        return self.below(folder, name.split(".") if name else [])

    def below(self, folder: Path, parts: Sequence[str]) -> Found | None:
        """The module of those names in a folder."""
        path = folder.joinpath(*parts)
        if path not in self._at:
            self._at[path] = _found_at(path, is_folder=not parts)
        return self._at[path]

    def _roots(self, importer: Path) -> Iterator[Path]:
        seen: set[Path] = set()
        for folder in (*_up_to(importer.parent, self._folder), self._folder, self._folder / "src"):
            if folder not in seen and not (folder / "__init__.py").is_file():  # a package is imported by its name
                seen.add(folder)
                yield folder


def _found_at(path: Path, *, is_folder: bool) -> Found | None:
    if (package := path / "__init__.py").is_file():
        return Found(package, path)
    if not is_folder and (module := path.parent / f"{path.name}.py").is_file():
        return Found(module, None)
    return Found(None, path) if path.is_dir() else None


def _up_to(folder: Path, last: Path) -> Iterator[Path]:
    """The folder and those above it, to `last`; of one that lies elsewhere, to the first that is no package."""
    is_below = folder.is_relative_to(last)
    while True:
        yield folder
        if folder == last or folder == folder.parent or not (is_below or (folder / "__init__.py").is_file()):
            return
        folder = folder.parent
