"""Files in, problems out."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from strata.analysis.ignores import without_ignored
from strata.analysis.project import Project
from strata.analysis.sources import Source, parsed
from strata.project.collecting import without_collecting
from strata.project.texts import Unreadable, read_text
from strata.rules.problem import Problem


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, in the order of files and lines."""

    problems: Sequence[Problem]
    unreadable: Sequence[Unreadable]
    files: int
    """How many were looked at."""

    @property
    def has_errors(self) -> bool:
        return any(problem.severity == "error" for problem in self.problems)


def check(files: Iterable[Path], folder: Path, *, disable: Sequence[str] = ()) -> Report:
    """All that is wrong with the graphs that the files build, as far as source shows it.

    A graph that is never compiled is not looked at, nor is one of which something essential cannot be told.
    """
    with _at_ease():
        return _checked(files, folder, frozenset(disable))


def _checked(files: Iterable[Path], folder: Path, disable: frozenset[str]) -> Report:
    sources: list[Source] = []
    unreadable: list[Unreadable] = []
    count = 0
    for path in files:
        count += 1
        source = _source(path)
        if isinstance(source, Unreadable):
            unreadable.append(source)
        elif source is not None:
            sources.append(source)
    told = without_ignored(Project(folder.resolve(), sources).problems(), sources)
    problems = sorted((problem for problem in told if problem.code not in disable), key=_order)
    return Report(problems=problems, unreadable=unreadable, files=count)


@contextmanager
def _at_ease() -> Generator[None, None, None]:
    """As deep as an expression goes: a chain of a thousand `.add_node(...)` is four thousand calls."""
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, 50_000))
    try:
        with without_collecting():
            yield
    finally:
        sys.setrecursionlimit(depth)


def _source(path: Path) -> Source | Unreadable | None:
    """None for a file that never names strata, and so builds no graph."""
    text = read_text(path, str(path))
    if isinstance(text, Unreadable):
        return text
    return parsed(path.resolve(), str(path), text) if "strata" in text else None


def _order(problem: Problem) -> tuple[str, int]:
    return ("", 0) if problem.place is None else (problem.place.file, problem.place.line)
