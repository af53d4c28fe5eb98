"""What an expression gives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from strata.analysis import building
from strata.analysis.arguments import Arguments
from strata.analysis.drafts import Draft, draft_of
from strata.analysis.findings import Findings
from strata.analysis.graphs import Builder, Wiring, escape
from strata.analysis.judging import judge
from strata.analysis.marking import marked
from strata.analysis.nodes import Mark, Node, Top
from strata.analysis.places import place_of
from strata.analysis.scopes import Scope
from strata.analysis.surface import CALLS
from strata.analysis.tools import ToolTop, tool_of
from strata.analysis.tops import node_of
from strata.analysis.values import UNKNOWN, Constant, Function, Listed, Module, Named, Pairs, Value, named
from strata.rules.facts import SourcePlace


class Method(Value, frozen=True, eq=False):
    """A method of a graph, on its way to being called."""

    graph: Builder | Wiring
    name: str


class Evaluation:
    """Expressions of one source. `doubt` counts the loops and branches around: what is done in them may not be done at all."""

    def __init__(self, file: str, findings: Findings) -> None:
        self.file, self.findings, self.doubt = file, findings, 0

    def value_of(self, expression: ast.expr, scope: Scope) -> Value:
        """What the expression gives; what it does to a graph is done."""
        match expression:
            case ast.Name(id=name):
                return scope.look_up(name)
            case ast.Constant(value=literal):
                return Constant(literal)
            case ast.Attribute():
                return self._attribute(expression, scope)
            case ast.Call():
                return self._call(expression, scope)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self._listed(items, isinstance(expression, ast.List), scope)
            case ast.Dict():
                return self._pairs(expression, scope)
            case ast.Lambda():
                return Function(expression, scope, place_of(self.file, expression))
            case ast.Subscript(value=owner):
                value = self.value_of(owner, scope)
                self._let_go(expression.slice, scope)
                return value if isinstance(value, Named) else self._escaped(value)  # `StateGraph[Essay]`
            case ast.BinOp() | ast.UnaryOp():
                return self._number(expression, scope)
            case ast.NamedExpr(target=ast.Name(id=name), value=inner):
                value = self.value_of(inner, scope)
                scope.bind(name, value)
                return value
            case _:
                return self._let_go(expression, scope)

    def decorated(self, value: Value, decorator: Value, place: SourcePlace) -> Value:
        """What a decorator makes of the value under it."""
        match decorator:
            case Mark():
                return marked(value, decorator, self.findings)
            case Top():
                return node_of(value, decorator, place, self.findings)
            case ToolTop():
                return tool_of(value, decorator, place, self.findings)
            case Named(path=path) if path in CALLS:
                return CALLS[path](Arguments(place, (value,)), self.findings)
            case _:
                return UNKNOWN

    def _attribute(self, expression: ast.Attribute, scope: Scope) -> Value:
        owner = self.value_of(expression.value, scope)
        match owner:
            case Named(path=path):
                return named(f"{path}.{expression.attr}")
            case Module():
                return owner.member(expression.attr)
            case Builder() | Wiring():
                return Method(owner, expression.attr)
            case Node() if expression.attr == "name":
                return Constant(owner.name)
            case _:
                return UNKNOWN

    def _call(self, call: ast.Call, scope: Scope) -> Value:
        called = self.value_of(call.func, scope)
        arguments = self._arguments(call, scope)
        match called:
            case Named(path="strata.StateGraph"):
                return Builder(Draft(arguments.at(0) or UNKNOWN), self.doubt)
            case Named(path=path) if path in CALLS:
                return CALLS[path](arguments, self.findings)
            case Mark() | Top() | ToolTop() if len(arguments.positional) == 1:
                return self.decorated(arguments.positional[0], called, arguments.place)
            case Method():
                return self._method(called.graph, called.name, arguments, scope)
            case _:
                for value in (*arguments.positional, *arguments.named.values()):
                    escape(value)
                return UNKNOWN

    def _method(self, graph: Builder | Wiring, name: str, arguments: Arguments, scope: Scope) -> Value:
        if isinstance(graph, Wiring):
            return self._method_of_wiring(graph, name, arguments, scope)
        if name == "compile":
            if any(graph is scope.names.get(used) for used in scope.used_inside()):
                escape(graph)  # by functions that may be called at any time
            return judge(graph.draft, arguments, scope, self.findings)
        if name == "start":
            return building.start(graph, arguments, self.findings)
        if name == "nodes":
            return building.nodes_before_start(graph, arguments, self.findings)
        change = building.FROM_DATA.get(name)
        if change is None:
            return UNKNOWN  # it reads: validate(), definition(), ...
        if self.doubt > graph.doubt or arguments.star is not None or arguments.has_unknown_names:
            escape(graph)
        change(graph.draft, arguments, self.findings)
        return graph

    def _method_of_wiring(self, graph: Wiring, name: str, arguments: Arguments, scope: Scope) -> Value:
        if name == "compile":
            return judge(draft_of(graph.state, graph.listed), arguments, scope, self.findings)
        if name == "nodes":
            return building.nodes(graph, arguments, self.findings)
        return building.second_start(graph, arguments, self.findings) if name == "start" else UNKNOWN

    def _arguments(self, call: ast.Call, scope: Scope) -> Arguments:
        positional: list[Value] = []
        star: int | None = None
        for argument in call.args:
            if not isinstance(argument, ast.Starred):
                positional.append(self.value_of(argument, scope))
            elif isinstance(given := self.value_of(argument.value, scope), Listed):
                positional += given.items
            else:
                star = len(positional) if star is None else star
                positional.append(self._escaped(given))
        named = {keyword.arg: self.value_of(keyword.value, scope) for keyword in call.keywords if keyword.arg is not None}
        for keyword in call.keywords:
            if keyword.arg is None:
                self._let_go(keyword.value, scope)
        has_unknown_names = any(keyword.arg is None for keyword in call.keywords)
        return Arguments(place_of(self.file, call), tuple(positional), named, star, has_unknown_names)

    def _listed(self, items: list[ast.expr], may_change: bool, scope: Scope) -> Value:
        values: list[Value] = []
        for item in items:
            if not isinstance(item, ast.Starred):
                values.append(self.value_of(item, scope))
            elif isinstance(inner := self.value_of(item.value, scope), Listed):
                values += inner.items
            else:
                for value in values:
                    escape(value)
                return self._escaped(inner)
        return Listed(tuple(values), may_change)

    def _pairs(self, expression: ast.Dict, scope: Scope) -> Value:
        found: dict[str, str] = {}
        for key, value in zip(expression.keys, expression.values, strict=True):
            match key, value:
                case ast.Constant(value=str() as name), ast.Constant(value=str() as text):
                    found[name] = text
                case _:
                    return self._let_go(expression, scope)
        return Pairs(found)

    def _number(self, expression: ast.BinOp | ast.UnaryOp, scope: Scope) -> Value:
        """Arithmetic of literals, as in `60 * 60` and `-1`."""
        sides = [expression.operand] if isinstance(expression, ast.UnaryOp) else [expression.left, expression.right]
        values = [self.value_of(side, scope) for side in sides]
        numbers = [value.value for value in values if isinstance(value, Constant) and isinstance(value.value, int | float | timedelta)]
        calculate = _OPERATORS.get(type(expression.op))
        if calculate is None or len(numbers) < len(sides):
            for value in values:
                escape(value)
            return UNKNOWN
        try:
            return Constant(calculate(*numbers))
        except (ArithmeticError, TypeError):
            return UNKNOWN

    def _let_go(self, expression: ast.expr, scope: Scope) -> Value:
        """Something that is not followed: what it names may be changed by it, and its parts may not be asked at all."""
        if isinstance(expression, _WITH_NAMES_OF_THEIR_OWN):
            self._let_names_go(expression, scope)
            return UNKNOWN
        self.doubt += 1
        for part in ast.iter_child_nodes(expression):
            if isinstance(part, ast.expr):
                escape(self.value_of(part, scope))
        self.doubt -= 1
        return UNKNOWN

    def _let_names_go(self, expression: ast.expr, scope: Scope) -> None:
        for node in ast.walk(expression):
            if isinstance(node, ast.NamedExpr):
                scope.forget(node.target.id)
            elif isinstance(node, ast.Name):
                escape(scope.look_up(node.id))

    @staticmethod
    def _escaped(value: Value) -> Value:
        escape(value)
        return UNKNOWN


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > 64:  # as in `2**32 - 1`; more would only cost memory
        raise OverflowError
    return base**exponent


_WITH_NAMES_OF_THEIR_OWN: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_OPERATORS: Final[dict[type[ast.operator] | type[ast.unaryop], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,  # pyright: ignore[reportUnknownMemberType]
    ast.FloorDiv: operator.floordiv,  # pyright: ignore[reportUnknownMemberType]
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
