"""Where the sources of tools lie, and which of them may declare some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path

from strata.codegen.declaring import declaring
from strata.project.files import files_in
from strata.project.texts import Unreadable, read_text


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found below the folders and files that were named.

    Attributes:
        roots: the folders that imports start from.
        declaring: the dotted names of modules that may declare tools, in the order of their files.
        nameless: files that may declare tools, and have names that no module could be imported by.
        files: how many were looked at.
    """

    roots: tuple[Path, ...]
    declaring: tuple[str, ...]
    nameless: tuple[str, ...]
    files: int
    unreadable: tuple[Unreadable, ...] = ()


def sources_in(paths: Sequence[Path], exclude: Sequence[str], folder: Path, *, shown_from: Path) -> Sources:
    """The sources below paths: each a folder that imports start from, a package, or a file."""
    found = [path.resolve() for path in files_in(paths, exclude, folder)]
    roots = tuple(dict.fromkeys(root for path in paths for root in _roots_of(path.resolve())))
    texts = {path: read_text(path, shown(path, shown_from)) for path in found}
    readable = {path: text for path, text in texts.items() if isinstance(text, str)}
    names = {path: _name_of(path, roots) for path in declaring(readable)}
    nameless = tuple(shown(path, shown_from) for path, name in names.items() if name is None)
    unreadable = tuple(text for text in texts.values() if isinstance(text, Unreadable))
    return Sources(roots, tuple(dict.fromkeys(filter(None, names.values()))), nameless, len(found), unreadable)


def shown(path: Path, folder: Path) -> str:
    """A path as messages have it: from the folder where the command was called, if it lies there."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def _roots_of(path: Path) -> Iterator[Path]:
    """Of a package, or a file in one, the folder above the outermost; of another folder that folder, and its `src`."""
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and not _is_package(folder) and _is_layout(folder / "src"):
        yield folder / "src"
    while _is_package(folder) and folder != folder.parent:
        folder = folder.parent
    yield folder


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _is_layout(folder: Path) -> bool:
    return folder.is_dir() and not _is_package(folder)


def _name_of(path: Path, roots: Iterable[Path]) -> str | None:
    """The dotted name that a file is imported by, from the innermost of the roots that it lies in; None where no statement could."""
    root = max((root for root in roots if path.is_relative_to(root)), key=lambda root: len(root.parts))
    parts = path.relative_to(root).with_suffix("").parts
    names = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(names) if all(name.isidentifier() and not iskeyword(name) for name in names) else None
