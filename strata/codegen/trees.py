"""What is asked of syntax trees; libcst's own matchers take longer to import than most projects to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import libcst as cst

N = TypeVar("N", bound=cst.CSTNode)


def nodes_in(node: cst.CSTNode, kind: type[N]) -> Iterator[N]:
    """The nodes of a kind, at any depth, in the order of the source."""
    for child in node.children:
        if isinstance(child, kind):
            yield child
        yield from nodes_in(child, kind)


def dotted(node: cst.BaseExpression) -> str:
    """`a.b.c` as it is written; empty for anything else."""
    match node:
        case cst.Name(value=name):
            return name
        case cst.Attribute(value=inner, attr=cst.Name(value=name)):
            before = dotted(inner)
            return f"{before}.{name}" if before else ""
        case _:
            return ""
