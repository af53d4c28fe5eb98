"""Python files as syntax trees."""

from __future__ import annotations

import ast
from bisect import bisect_left
from functools import cached_property
from pathlib import Path

from strata.project.texts import Unreadable, read_text, tree_of

_WORTH_FOLLOWING = (".compile(", "strata_tool")


class Source:
    """A file that could be parsed; `shown` is what messages call it."""

    def __init__(self, path: Path, shown: str, text: str, tree: ast.Module) -> None:
        self.path, self.shown, self.text, self.tree = path, shown, text, tree

    def is_worth_following(self, body: ast.stmt) -> bool:
        """Whether a graph may be compiled, or a tool declared, in the lines of a statement."""
        at = bisect_left(self._lines_of_interest, body.lineno)
        return at < len(self._lines_of_interest) and self._lines_of_interest[at] <= (body.end_lineno or body.lineno)

    @cached_property
    def bound_by_others(self) -> frozenset[str]:
        """Names that functions bind in what is around them, at a time that nobody knows."""
        if "global " not in self.text and "nonlocal " not in self.text:
            return frozenset()
        return frozenset(name for node in ast.walk(self.tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)

    @cached_property
    def _lines_of_interest(self) -> list[int]:
        return [number for number, line in enumerate(self.text.splitlines(), 1) if any(word in line for word in _WORTH_FOLLOWING)]


def read_source(path: Path, shown: str) -> Source | Unreadable:
    """The file, parsed."""
    text = read_text(path, shown)
    return text if isinstance(text, Unreadable) else parsed(path, shown, text)


def parsed(path: Path, shown: str, text: str) -> Source | Unreadable:
    """Text as a source, or its first syntax error."""
    tree = tree_of(text, shown)
    return tree if isinstance(tree, Unreadable) else Source(path, shown, text, tree)
