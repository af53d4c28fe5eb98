"""From the sources of tools to the files that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.codegen.artifacts import NOTHING, artifacts
from strata.codegen.catalogue import Catalogue, catalogue
from strata.codegen.finding import sources_in
from strata.project.collecting import without_collecting
from strata.project.settings import Settings


@dataclass(frozen=True, slots=True)
class Generated:
    """What was read, and the files by their names: none where something is wrong, or there is no tool."""

    read: Catalogue
    files: Mapping[str, bytes]
    not_strict: Mapping[str, Mapping[str, str]]
    """Why a tool has no strict form, by its name and the provider's."""


def generate(paths: Sequence[Path], settings: Settings, *, shown_from: Path) -> Generated:
    """Read the tools below paths: folders that imports start from, packages, or files. Nothing is imported or written."""
    with without_collecting():
        return _generated(paths, settings, shown_from)


def _generated(paths: Sequence[Path], settings: Settings, shown_from: Path) -> Generated:
    sources = sources_in(paths, settings.exclude, settings.folder, shown_from=shown_from)
    read = catalogue(sources, shown_from=shown_from, trusted=settings.trusted_imports, disable=settings.disable)
    is_whole = bool(read.tools) and not read.has_errors and not read.unreadable
    made = artifacts(read.tools, read.interpreter) if is_whole else NOTHING
    return Generated(read, made.files, made.not_strict)
