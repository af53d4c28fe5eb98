"""Which files are checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

_LEFT_OUT = frozenset({"__pycache__", "node_modules", "site-packages"})


def files_in(paths: Iterable[Path], exclude: Sequence[str], folder: Path) -> Iterator[Path]:
    """Each file once; of a folder the Python files at any depth, without hidden folders, environments and what is excluded.

    A file that is named itself is checked, unless it is excluded. Patterns are relative to `folder`.
    """
    seen: set[Path] = set()
    for path in paths:
        for file in _below(path, exclude, folder) if path.is_dir() else [path]:
            if file.resolve() not in seen and not _is_excluded(file, exclude, folder):
                seen.add(file.resolve())
                yield file


def _below(path: Path, exclude: Sequence[str], folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(path):
        place = Path(here)
        folders[:] = sorted(name for name in folders if not _is_left_out(place / name) and not _is_excluded(place / name, exclude, folder))
        yield from (place / name for name in sorted(files) if name.endswith(".py"))


def _is_left_out(folder: Path) -> bool:
    return folder.name in _LEFT_OUT or folder.name.startswith(".") or (folder / "pyvenv.cfg").exists()


def _is_excluded(path: Path, exclude: Sequence[str], folder: Path) -> bool:
    """Whether a pattern fits the path, or one of the folders that it lies in."""
    if not exclude or not path.resolve().is_relative_to(folder.resolve()):
        return False
    parts = path.resolve().relative_to(folder.resolve()).parts
    ways = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(fnmatch(way, pattern.rstrip("/")) for pattern in exclude for way in ways)
