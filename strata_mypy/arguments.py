"""What a call was given, by the parameter that takes it."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from mypy.nodes import CallExpr, DictExpr, Expression, FloatExpr, FuncDef, IntExpr, NameExpr, RefExpr, StrExpr, UnaryExpr
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import AnyType, Instance, LiteralType, NoneType, Type, UnionType, get_proper_type

from strata_mypy.settled import is_settled, tree_of

L = TypeVar("L", str, int, bool)

SOME_SECONDS = 1.0
"""What stands for a duration that is given, and whose value only the run knows."""


class Arguments:
    """The arguments of one call: `Arguments(context).of("timeout")`, or by position for parameters without a name."""

    def __init__(self, context: FunctionContext | MethodContext) -> None:
        self._names, self._types, self._expressions = context.callee_arg_names, context.arg_types, context.args
        self._tree = tree_of(context)

    def type_at(self, position: int) -> Type | None:
        """None too where the type does not say which value it is."""
        expression = self.expression_at(position)
        is_known = expression is not None and self._tree is not None and is_settled(expression, self._tree)
        return self._types[position][0] if is_known else None

    def expression_at(self, position: int) -> Expression | None:
        return self._expressions[position][0] if position < len(self._expressions) and self._expressions[position] else None

    def type_of(self, name: str) -> Type | None:
        return self.type_at(self._names.index(name)) if name in self._names else None

    def expression_of(self, name: str) -> Expression | None:
        return self.expression_at(self._names.index(name)) if name in self._names else None

    def may_be_given(self, name: str) -> bool:
        """Whether the argument stands there, and is not the word None."""
        expression = self.expression_of(name)
        return expression is not None and not (isinstance(expression, NameExpr) and expression.fullname == "builtins.None")

    def is_given(self, name: str) -> bool:
        """Whether it surely is not None."""
        return self.may_be_given(name) and not _may_be_none(self._types[self._names.index(name)][0])

    def seconds_of(self, name: str) -> float | None:
        return seconds(self.expression_of(name)) if self.may_be_given(name) else None

    def count_of(self, name: str) -> int | None:
        return count(self.expression_of(name))

    def keys_of(self, name: str) -> tuple[str, ...]:
        """The keys of a dict that is written out."""
        pairs = self.expression_of(name)
        if not isinstance(pairs, DictExpr):
            return ()
        return tuple(key.value for key, _ in pairs.items if isinstance(key, StrExpr))


def _may_be_none(type_: Type) -> bool:
    proper = get_proper_type(type_)
    return isinstance(proper, NoneType | AnyType) or (isinstance(proper, UnionType) and any(_may_be_none(item) for item in proper.items))


def text_of(type_: Type | None) -> str | None:
    """The text that a value of this type has; None where it is not known before the run."""
    return _literal(type_, str)


def truth_of(type_: Type | None) -> bool | None:
    return _literal(type_, bool)


def count(expression: Expression | None) -> int | None:
    """A whole number; None if it is not given, or not known."""
    number = _number(expression)
    return None if number is None else int(number)


def seconds(expression: Expression | None) -> float | None:
    """A duration in seconds: a number, or a `timedelta` of numbers, else one of which only is known that it is given."""
    if expression is None:
        return None
    if (number := _number(expression)) is not None:
        return number
    return _timedelta(expression) if _calls(expression, "datetime.timedelta") else SOME_SECONDS


def backoff_of(expression: Expression | None) -> tuple[float, float] | None:
    """First and longest delay of a `Backoff(initial=..., maximum=...)` that is written out."""
    if not isinstance(expression, CallExpr) or not _calls(expression, "strata.graph.recovery.Backoff"):
        return None
    delays = dict(zip(expression.arg_names, expression.args, strict=True))
    if {"initial", "maximum"} - delays.keys() or not all(_is_known(delays[name]) for name in ("initial", "maximum")):
        return None
    return seconds(delays["initial"]) or 0.0, seconds(delays["maximum"]) or 0.0


def function_name(expression: Expression | None) -> str | None:
    """The name that the function has at run time, where a function of ours or of another module is named."""
    if isinstance(expression, RefExpr) and isinstance(expression.node, FuncDef):
        return expression.node.name
    return None


def _literal(type_: Type | None, kind: type[L]) -> L | None:
    proper = get_proper_type(type_)
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        proper = proper.last_known_value
    return proper.value if isinstance(proper, LiteralType) and isinstance(proper.value, kind) else None


def _number(expression: Expression | None) -> float | None:
    match expression:
        case IntExpr(value=value) | FloatExpr(value=value):
            return value
        case UnaryExpr(op="-", expr=inner):
            number = _number(inner)
            return None if number is None else -number
        case _:
            return None


def _is_known(expression: Expression) -> bool:
    return _number(expression) is not None or _calls(expression, "datetime.timedelta")


def _calls(expression: Expression, fullname: str) -> bool:
    return isinstance(expression, CallExpr) and isinstance(expression.callee, RefExpr) and expression.callee.fullname == fullname


def _timedelta(expression: Expression) -> float:
    assert isinstance(expression, CallExpr)
    parts = {name or "days": _number(part) for name, part in zip(expression.arg_names, expression.args, strict=True)}
    known = {name: part for name, part in parts.items() if part is not None}
    return timedelta(**known).total_seconds() if len(known) == len(expression.args) else SOME_SECONDS
