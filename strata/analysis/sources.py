"""Python files as syntax trees."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left
from functools import cached_property
from pathlib import Path

from strata.project.texts import Unreadable, read_text

_COMPILES = ".compile("


class Source:
    """A file that could be parsed; `shown` is what messages call it."""

    def __init__(self, path: Path, shown: str, text: str, tree: ast.Module) -> None:
        self.path, self.shown, self.text, self.tree = path, shown, text, tree

    def compiles_within(self, body: ast.stmt) -> bool:
        """Whether a graph may be compiled in the lines of a statement."""
        at = bisect_left(self._compiling_lines, body.lineno)
        return at < len(self._compiling_lines) and self._compiling_lines[at] <= (body.end_lineno or body.lineno)

    @cached_property
    def bound_by_others(self) -> frozenset[str]:
        """Names that functions bind in what is around them, at a time that nobody knows."""
        if "global " not in self.text and "nonlocal " not in self.text:
            return frozenset()
        return frozenset(name for node in ast.walk(self.tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)

    @cached_property
    def _compiling_lines(self) -> list[int]:
        return [number for number, line in enumerate(self.text.splitlines(), 1) if _COMPILES in line]


def read_source(path: Path, shown: str) -> Source | Unreadable:
    """The file, parsed."""
    text = read_text(path, shown)
    return text if isinstance(text, Unreadable) else parsed(path, shown, text)


def parsed(path: Path, shown: str, text: str) -> Source | Unreadable:
    """Text as a source, or its first syntax error."""
    try:
        return Source(path, shown, text, _tree(text))
    except SyntaxError as error:
        return Unreadable(file=shown, line=error.lineno, column=error.offset, reason=f"it is no Python that {_version()} reads: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # NUL in the text; nested too deep for the parser
        return Unreadable(file=shown, reason=f"it cannot be parsed: {str(error) or type(error).__name__}")


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes, which are no business of ours
        return ast.parse(text)


def _version() -> str:
    import sys

    return f"Python {sys.version_info.major}.{sys.version_info.minor}"
