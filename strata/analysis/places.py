"""Lines of the files that are checked."""

from __future__ import annotations

import ast

from strata.rules.facts import Place


class SourcePlace(Place, frozen=True):
    """A line, and the column where what is meant begins, from 1."""

    column: int = 1


def place_of(file: str, node: ast.expr | ast.stmt) -> SourcePlace:
    """Where `node` begins: the line that Python gives a decorator, too."""
    return SourcePlace(file, node.lineno, node.col_offset + 1)
