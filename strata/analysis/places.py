"""Lines of the files that are checked."""

from __future__ import annotations

import ast

from strata.rules.facts import SourcePlace


def place_of(file: str, node: ast.expr | ast.stmt | ast.arg) -> SourcePlace:
    """Where `node` begins: the line that Python gives a decorator, too."""
    return SourcePlace(file, node.lineno, node.col_offset + 1)
