"""The syntax nodes of a function's body."""

from __future__ import annotations

import ast
from typing import cast

_OF_THEIR_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def own_nodes(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    """All nodes of the body, without those inside the functions and classes in it."""
    waiting: list[ast.AST] = [definition.body] if isinstance(definition, ast.Lambda) else [*definition.body]
    found: list[ast.AST] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, _OF_THEIR_OWN):
            for name in node._fields:  # `ast.iter_child_nodes` takes three times as long: 60 ms for 300 handlers
                part: object = getattr(node, name, None)
                if isinstance(part, list):
                    waiting += _nodes_among(cast("list[object]", part))
                elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
                    waiting.append(part)
    return found


def _nodes_among(parts: list[object]) -> list[ast.AST]:
    return [part for part in parts if isinstance(part, ast.AST)]  # `global a, b` holds text
