"""What the names of a module, class or function stand for."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from strata.analysis.values import UNKNOWN, Imported, Named, Value

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_BUILTINS = {name: Named(f"builtins.{name}") for name in vars(builtins)}


class Scope:
    """The names of one body of statements, and the scope around it.

    Outside of its own body a name counts only if it is bound once: which of two values a function sees when it is called
    cannot be told.
    """

    def __init__(self, body: Sequence[ast.stmt], around: Scope | None = None, *, is_class: bool = False) -> None:
        self.body, self.around, self.is_class = body, around, is_class
        self.names: dict[str, Value] = {}
        self.rebound: set[str] = set()
        self.for_checkers: set[str] = set()
        """Those bound under `if TYPE_CHECKING:`."""
        self.bound_by_others: frozenset[str] = frozenset()
        self.is_tainted = False
        """Whether names may have come in that are not known, over those that are."""

    def bind(self, name: str, value: Value) -> None:
        if name in self.names and not _is_same(self.names[name], value):
            self.rebound.add(name)
        self.names[name] = value

    def forget(self, name: str) -> None:
        """The name may stand for anything from here on."""
        self.bind(name, UNKNOWN)
        self.rebound.add(name)

    def taint(self) -> None:
        """A star import of a module that is not known: each name bound so far may be another."""
        self.is_tainted = True
        for name in self.names:
            self.forget(name)

    def look_up(self, name: str) -> Value:
        """What the name stands for in this body, as far as it has been followed."""
        if name in self.bound_by_others:
            return UNKNOWN
        if (value := self.names.get(name)) is not None:
            return value.found() if isinstance(value, Imported) else value
        around = self.around
        while around is not None:
            if name in around.names:
                return around.settled(name)
            around = around.around
        return UNKNOWN if self._may_hide_builtins() else _BUILTINS.get(name, UNKNOWN)

    def settled(self, name: str) -> Value:
        """What the name stands for when the body is done, if it never stood for anything else."""
        value = UNKNOWN if name in self.rebound else self.names.get(name, UNKNOWN)
        return value.found() if isinstance(value, Imported) else value

    def is_for_checkers(self, name: str) -> bool:
        """Whether a run surely does not find the name: only checkers do."""
        scope: Scope | None = self
        while scope is not None:
            if scope.is_tainted or name in scope.bound_by_others:
                return False
            if name in scope.names:
                return name in scope.for_checkers and name not in scope.rebound
            scope = scope.around
        return False

    def used_inside(self) -> set[str]:
        """The names that functions of this body use; they may be called at any time."""
        functions = (node for statement in self.body for node in ast.walk(statement) if isinstance(node, _FUNCTIONS))
        return {node.id for function in functions for node in ast.walk(function) if isinstance(node, ast.Name)}

    def _may_hide_builtins(self) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if scope.is_tainted:
                return True
            scope = scope.around
        return False


def _is_same(before: Value, value: Value) -> bool:
    """Whether it is one object; `import concurrent` and `import concurrent.futures` bind the same module."""
    return before is value or (isinstance(before, Named) and isinstance(value, Named) and before.path == value.path)
