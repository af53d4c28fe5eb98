"""What the statements of a module do to its names, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

from strata.analysis.evaluating import Evaluation
from strata.analysis.findings import Findings
from strata.analysis.graphs import escape
from strata.analysis.places import place_of
from strata.analysis.scopes import Scope
from strata.analysis.sources import Source
from strata.analysis.surface import BARE
from strata.analysis.values import UNKNOWN, Class, Function, Imported, Listed, Named, Value

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Importer(Protocol):
    """Where imports lead."""

    def module(self, name: str, level: int, importer: Source) -> Value: ...

    def member(self, module: str, level: int, name: str, importer: Source) -> Value: ...

    def all_names(self, module: str, level: int, importer: Source) -> Iterable[tuple[str, Value]] | None: ...


def follow(source: Source, importer: Importer, findings: Findings) -> Scope:
    """The names of a module when all of it has run; what was found on the way is added."""
    scope = Scope(source.tree.body)
    execution = _Execution(source, importer, findings)
    execution.run_body(source.tree.body, scope)
    return scope


class _Execution:
    """One source. The bodies of its functions are followed when what is around them is done, as they are called later."""

    def __init__(self, source: Source, importer: Importer, findings: Findings) -> None:
        self._source, self._importer, self._findings = source, importer, findings
        self._evaluation = Evaluation(source.shown, findings)
        self._later: list[Callable[[], None]] = []
        self._expected_to_fail = _used_where_faults_are_expected(source)

    def run_body(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """The statements of a module or function, and then the functions in them."""
        around, self._later = self._later, []
        scope.rebound |= self._source.bound_by_others
        scope.bound_by_others = self._source.bound_by_others
        self._run(body, scope)
        for function in self._later:
            function()
        self._later = around

    def _run(self, statements: Iterable[ast.stmt], scope: Scope) -> bool:
        """Whether the end of the statements is never reached."""
        return any(self._step(statement, scope) for statement in statements)

    def _step(self, statement: ast.stmt, scope: Scope) -> bool:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(statement, scope)
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, self._value(value, scope), scope)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign([target], self._value(value, scope), scope)
            case ast.Expr(value=value):
                self._value(value, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(statement, scope)
            case ast.ClassDef():
                self._define_class(statement, scope)
            case ast.Return(value=value):
                self._give_away(value, scope)
                return True
            case ast.Raise(exc=value):
                self._give_away(value, scope)
                return True
            case ast.Break() | ast.Continue():
                return True
            case ast.AugAssign(target=target, value=value):
                self._give_away(value, scope)
                self._assign([target], UNKNOWN, scope)
            case ast.Delete(targets=targets):
                self._assign(targets, UNKNOWN, scope)
            case _:
                return self._compound(statement, scope)
        return False

    def _compound(self, statement: ast.stmt, scope: Scope) -> bool:
        match statement:
            case ast.If(test=test, body=body, orelse=otherwise):
                if _is_for_checkers(test):
                    bound_before = set(scope.names)
                    ended = self._run(body, scope)
                    scope.for_checkers |= _bound_in(body) - bound_before
                    self._forget_all(_bound_in(otherwise), scope)  # what annotations mean is another than what they name
                    return ended
                self._give_away(test, scope)
                return self._branches([body, otherwise], scope)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(statement, scope)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, scope)
            case ast.Try() | ast.TryStar():
                return self._try(statement, scope)
            case ast.Match(subject=subject, cases=cases):
                self._give_away(subject, scope)
                for case in cases:
                    self._forget_all(_bound_in_pattern(case.pattern), scope)
                self._branches([*(case.body for case in cases), []], scope)
            case _:
                for name in _bound_in([statement]):  # type aliases, and what Python may yet have
                    scope.forget(name)
        return False

    # Branches and loops

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]], scope: Scope) -> bool:
        """Run each as if it were the only one; what they make different of a name cannot be told after."""
        before = dict(scope.names)
        ends: list[dict[str, Value]] = []
        self._evaluation.doubt += 1
        for body in bodies:
            scope.names = dict(before)
            if not self._run(body, scope):
                ends.append(scope.names)
        self._evaluation.doubt -= 1
        scope.names = before
        for name in dict.fromkeys(name for end in ends for name in end):
            values = {id(end.get(name)): end.get(name) for end in ends}
            value = next(iter(values.values()))
            if len(values) > 1 or value is None:
                scope.forget(name)
            else:
                scope.bind(name, value)
        return not ends

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        self._give_away(loop.test if isinstance(loop, ast.While) else loop.iter, scope)
        self._forget_all(_bound_in([loop]), scope)
        self._branches([loop.body, []], scope)
        self._forget_all(_bound_in([loop]), scope)
        self._branches([loop.orelse, []], scope)

    def _with(self, statement: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in statement.items:
            self._give_away(item.context_expr, scope)
            if item.optional_vars is not None:
                self._assign([item.optional_vars], UNKNOWN, scope)
        if not any(_expects_faults(item.context_expr) for item in statement.items):
            return self._run(statement.body, scope)
        with self._findings.expected():
            self._branches([statement.body, []], scope)
        return False

    def _try(self, statement: ast.Try | ast.TryStar, scope: Scope) -> bool:
        before = dict(scope.names)
        with ExitStack() as stack:
            if any(_takes_faults(handler) for handler in statement.handlers):
                stack.enter_context(self._findings.expected())
            self._evaluation.doubt += 1  # what stands behind a call that raises is not done
            ended = self._run([*statement.body, *statement.orelse], scope)
            self._evaluation.doubt -= 1
        if statement.handlers:
            done, scope.names = scope.names, before
            self._forget_all(_bound_in(statement.body), scope)
            handled = self._branches([handler.body for handler in statement.handlers], scope)
            if handled:
                scope.names = done
            elif not ended:
                self._merge(done, scope)
            ended = ended and handled
        return self._run(statement.finalbody, scope) or ended

    def _merge(self, other: dict[str, Value], scope: Scope) -> None:
        for name in {*other, *scope.names}:
            if other.get(name) is not scope.names.get(name):
                scope.forget(name)

    def _forget_all(self, names: Iterable[str], scope: Scope) -> None:
        for name in names:
            scope.forget(name)

    # Names

    def _value(self, expression: ast.expr, scope: Scope) -> Value:
        return self._evaluation.value_of(expression, scope)

    def _give_away(self, expression: ast.expr | None, scope: Scope) -> None:
        if expression is not None:
            escape(self._value(expression, scope))

    def _assign(self, targets: Iterable[ast.expr], value: Value, scope: Scope) -> None:
        for target in targets:
            match target:
                case ast.Name(id=name):
                    scope.bind(name, _kept(value))
                case ast.Tuple(elts=parts) | ast.List(elts=parts):
                    self._unpack(parts, value, scope)
                case ast.Starred(value=inner):
                    self._assign([inner], UNKNOWN, scope)
                case _:
                    escape(value)

    def _unpack(self, parts: Sequence[ast.expr], value: Value, scope: Scope) -> None:
        if isinstance(value, Listed) and len(value.items) == len(parts) and not any(isinstance(part, ast.Starred) for part in parts):
            for part, item in zip(parts, value.items, strict=True):
                self._assign([part], item, scope)
            return
        escape(value)
        for part in parts:
            self._assign([part], UNKNOWN, scope)

    def _import(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        source, importer = self._source, self._importer
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.name if alias.asname is not None else alias.name.partition(".")[0]
                scope.bind(alias.asname or name, importer.module(name, 0, source))
            return
        module, level = statement.module or "", statement.level
        for alias in statement.names:
            if alias.name == "*":
                self._import_all(module, level, scope)
            else:
                scope.bind(alias.asname or alias.name, _imported(importer, module, level, alias.name, source))

    def _import_all(self, module: str, level: int, scope: Scope) -> None:
        names = self._importer.all_names(module, level, self._source)
        if names is None:
            scope.taint()
            return
        for name, value in names:
            scope.bind(name, value)

    # Functions and classes

    def _define(self, definition: Definition, scope: Scope) -> None:
        decorators = [(self._decorator(decorator, scope), place_of(self._source.shown, decorator)) for decorator in definition.decorator_list]
        value: Value = Function(definition, scope, place_of(self._source.shown, definition))
        for decorator, place in reversed(decorators):
            value = self._evaluation.decorated(value, decorator, place)
        scope.bind(definition.name, value)
        if self._source.is_worth_following(definition):
            self._later.append(lambda: self._follow_function(definition, scope))

    def _decorator(self, expression: ast.expr, scope: Scope) -> Value:
        value = self._value(expression, scope)
        is_bare = not isinstance(value, Named) or value.path in BARE
        return value if is_bare else UNKNOWN

    def _follow_function(self, definition: Definition, scope: Scope) -> None:
        inner = Scope(definition.body, _outside_of_class(scope))
        given = definition.args
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs, *(one for one in (given.vararg, given.kwarg) if one is not None)]
        for parameter in names:
            inner.bind(parameter.arg, UNKNOWN)
        with ExitStack() as stack:
            if definition.name in self._expected_to_fail:
                stack.enter_context(self._findings.expected())
            self.run_body(definition.body, inner)

    def _define_class(self, definition: ast.ClassDef, scope: Scope) -> None:
        bases = tuple(self._value(base, scope) for base in definition.bases)
        is_plain = not any(isinstance(base, ast.Starred) for base in definition.bases)
        body = Scope(definition.body, scope, is_class=True)
        self._run(definition.body, body)
        place = place_of(self._source.shown, definition)
        scope.bind(definition.name, Class(definition, bases if is_plain else (*bases, UNKNOWN), body, place))


def _outside_of_class(scope: Scope) -> Scope:
    """The scope that functions in it see around them: the names of a class are none of theirs."""
    return _outside_of_class(scope.around) if scope.is_class and scope.around is not None else scope


def _kept(value: Value) -> Value:
    """What a name may be trusted to hold: a list may change, and nobody would see it."""
    if isinstance(value, Listed) and value.may_change:
        escape(value)
        return UNKNOWN
    return value


def _imported(importer: Importer, module: str, level: int, name: str, source: Source) -> Value:
    if not level and module.partition(".")[0] == "strata":
        return importer.member(module, level, name, source)
    return Imported(lambda: importer.member(module, level, name, source))


def _is_for_checkers(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`, whose names annotations mean."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING")


def _expects_faults(context: ast.expr) -> bool:
    """`pytest.raises(...)`, `suppress(...)` and the like: what stands in it is meant to be refused, or may be."""
    called = context.func if isinstance(context, ast.Call) else context
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return "raises" in name.lower() or name == "suppress"


def _used_where_faults_are_expected(source: Source) -> frozenset[str]:
    """The names used in `with pytest.raises(...)`: a function among them is called to be refused."""
    if "raises" not in source.text:
        return frozenset()
    contexts = [node for node in ast.walk(source.tree) if isinstance(node, ast.With | ast.AsyncWith)]
    expecting = [node for node in contexts if any(_expects_faults(item.context_expr) for item in node.items)]
    return frozenset(node.id for context in expecting for node in ast.walk(context) if isinstance(node, ast.Name))


def _takes_faults(handler: ast.ExceptHandler) -> bool:
    """Whether an `except` is for what `compile()` and the decorators raise."""
    if handler.type is None:
        return True
    words = (node for node in ast.walk(handler.type) if isinstance(node, ast.Attribute | ast.Name))
    names = {node.attr if isinstance(node, ast.Attribute) else node.id for node in words}
    return not names.isdisjoint({"GraphInvalid", "ToolInvalid", "ToolError", "StrataError", "Exception", "BaseException", "TypeError"})


def _bound_in(statements: Iterable[ast.stmt]) -> set[str]:
    """All names that the statements may bind, those of functions inside included."""
    return {name for statement in statements for node in ast.walk(statement) for name in _bound_by(node)}


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case ast.ExceptHandler(name=str() as name):
            yield name
        case ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
            yield from _bound_in_pattern(node)
        case _:
            return


def _bound_in_pattern(pattern: ast.pattern) -> set[str]:
    found: set[str | None] = set()
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar):
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest)
    return {name for name in found if name is not None}
