"""Where to tell a problem: at the decorator in the file that is checked, else where that file lists the node."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import AssignmentStmt, CallExpr, Context, Decorator, Expression, MemberExpr, MypyFile, NameExpr, SymbolNode

from strata.rules.facts import Place
from strata_mypy.facts import Declared
from strata_mypy.kept import declared_of
from strata_mypy.statements import statements_in


class Spot:
    """A place of the file that is checked; `origin` is where the thing itself is declared, if that is another file."""

    def __init__(self, context: Context, origin: str | None = None) -> None:
        self.context, self.origin = context, origin


class Locator:
    """Finds the spots of a graph's nodes and marks. Made when there is something to tell: it reads the whole file."""

    def __init__(self, listed: tuple[Declared, ...], call: Context, tree: MypyFile) -> None:
        self._listed, self._call, self._tree = listed, call, tree
        self._file = _File(tree)

    def spot_of(self, place: Place | None) -> Spot:
        """The spot of a place of `drafts`; the call itself for what is about the whole graph."""
        if place is None:
            return Spot(self._call)
        return self.spot_at(int(place.file), place.line - 1 if place.line else None)

    def spot_at(self, position: int, mark: int | None) -> Spot:
        declared = self._listed[position]
        decorator = self._decorator_of(declared)
        if decorator is not None:
            return Spot(_expression_of(decorator, declared, mark))
        listing = self._listing(position)
        is_ours = declared.origin.startswith(f"{self._tree.fullname}.")
        return Spot(listing, None if is_ours else declared.origin)

    def _decorator_of(self, declared: Declared) -> Decorator | None:
        """Functions of one name may stand in several scopes: the last above the graph that has these facts."""
        module, _, function = declared.origin.rpartition(".")
        if module != self._tree.fullname:
            return None
        alike = [found for found in self._file.named(function) if declared_of(found) == declared]
        above = [found for found in alike if found.line <= self._call.line]
        return next(reversed(above or alike), None)

    def _listing(self, position: int) -> Context:
        expressions = self._file.listed_in(self._call)
        return expressions[position] if len(expressions) == len(self._listed) else self._call


class _File:
    """The decorated functions and assignments of a file, from top to bottom."""

    def __init__(self, tree: MypyFile) -> None:
        self._decorators: dict[str, list[Decorator]] = {}
        self._values: dict[SymbolNode, Expression] = {}
        for statement in statements_in(tree.defs):
            if isinstance(statement, Decorator):
                self._decorators.setdefault(statement.func.name, []).append(statement)
            elif isinstance(statement, AssignmentStmt):
                for target in statement.lvalues:
                    if isinstance(target, NameExpr) and target.node is not None:
                        self._values[target.node] = statement.rvalue

    def named(self, function: str) -> list[Decorator]:
        return self._decorators.get(function, [])

    def listed_in(self, call: Context) -> list[Expression]:
        """What the calls of `start` and `nodes` behind this one list, in order."""
        return [expression for part in reversed(list(self._calls_behind(call))) for expression in part.args]

    def _calls_behind(self, call: Context) -> Iterator[CallExpr]:
        """From the last to the first, through the variables that hold what is between."""
        at: Context | None = call
        while isinstance(at, CallExpr) and isinstance(at.callee, MemberExpr):
            if at.callee.name in ("start", "nodes"):
                yield at
            receiver = at.callee.expr
            at = self._values.get(receiver.node) if isinstance(receiver, NameExpr) and receiver.node is not None else receiver


def _expression_of(decorator: Decorator, declared: Declared, mark: int | None) -> Context:
    """The decorator in the stack; the topmost for the node itself, and where others stand among ours."""
    stack = decorator.original_decorators
    if not stack:
        return decorator
    return stack[mark + 1] if mark is not None and len(stack) == len(declared.marks) + 1 else stack[0]
