"""The types of what events carry, where the name of one is there for checkers only."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from strata.analysis.annotations import parsed
from strata.analysis.nodes import Node
from strata.analysis.scopes import Scope
from strata.analysis.signatures import parameters_of
from strata.analysis.values import Function
from strata.rules.facts import PayloadFault


def payload_faults(nodes: Iterable[Node]) -> Iterator[PayloadFault]:
    """The waits whose function names a type that no run finds, and that `compile()` refuses."""
    for node in nodes:
        function = node.function
        if not node.body.is_event_wait or node.body.names_payload or not isinstance(function, Function):
            continue
        positional = [parameter for parameter in parameters_of(function) if parameter.is_positional]
        if len(positional) > 1 and (written := _kept_as_text(positional[1].annotation, function.scope)) is not None:
            for name in _names_in(parsed(written)):
                if function.scope.is_for_checkers(name):
                    reason = f"its annotation cannot be resolved (NameError: name '{name}' is not defined); import it at run time too"
                    yield PayloadFault(node=node.name, type=written, reason=reason, place=node.place)
                    break


def _kept_as_text(annotation: ast.expr | None, scope: Scope) -> str | None:
    """The text of an annotation that Python does not read as the module is imported; None for all others."""
    is_text = isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
    if annotation is None or is_text == _reads_none(scope):
        return None  # where all are text, one in quotes is text in text
    return str(annotation.value) if isinstance(annotation, ast.Constant) else ast.unparse(annotation)


def _reads_none(scope: Scope) -> bool:
    """Whether the module keeps all of its annotations as text."""
    outermost = scope
    while outermost.around is not None:
        outermost = outermost.around
    imports = (statement for statement in outermost.body if isinstance(statement, ast.ImportFrom) and statement.module == "__future__")
    return any(alias.name == "annotations" for statement in imports for alias in statement.names)


def _names_in(node: ast.AST | None) -> Iterator[str]:
    """In the order in which Python looks them up."""
    if isinstance(node, ast.Name):
        yield node.id
    elif node is not None:
        for part in ast.iter_child_nodes(node):
            yield from _names_in(part)
