"""What each name of a module is bound to, without evaluating any of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import libcst as cst

from strata.codegen.conditions import condition_of
from strata.codegen.trees import dotted, nodes_in

_CHANGING: Final = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "remove", "discard", "pop", "clear", "sort", "reverse"})


@dataclass(frozen=True, slots=True)
class Import:
    """`from module import name`; without a name the module itself."""

    module: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Assigned:
    """An expression, evaluated where it stands."""

    value: cst.BaseExpression


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What `try: import ... except ImportError: ...` binds: the first that is there."""

    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Unclear:
    """It depends on what only running tells."""

    why: str


Bound: TypeAlias = Import | Assigned | Alternatives | Unclear | cst.ClassDef | cst.FunctionDef | cst.TypeAlias


@dataclass(frozen=True, slots=True)
class Binding:
    """One of a name's.

    Attributes:
        order: of the statement among those of the module; what is evaluated as it is imported sees only what stands above.
        for_checkers: it stands under `if TYPE_CHECKING:`.
    """

    name: str
    bound: Bound
    node: cst.CSTNode
    order: int
    for_checkers: bool = False


@dataclass(frozen=True, slots=True)
class Star:
    """`from module import *`."""

    module: str
    node: cst.CSTNode
    order: int
    for_checkers: bool = False


@dataclass(frozen=True, slots=True)
class Bindings:
    """Those of a module, or of the body of a class.

    Attributes:
        all: in the order of the source.
        postpones_annotations: `from __future__ import annotations` stands at the top.
        makes_names: a module's `__getattr__` may give names that are bound nowhere.
    """

    all: tuple[Binding, ...]
    stars: tuple[Star, ...] = ()
    postpones_annotations: bool = False
    _by_name: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])

    def __post_init__(self) -> None:
        for binding in self.all:
            self._by_name.setdefault(binding.name, []).append(binding)

    @property
    def makes_names(self) -> bool:
        return "__getattr__" in self._by_name

    def of(self, name: str, *, before: int | None) -> Binding | None:
        """The last binding of a name, of those above a statement."""
        found = self._by_name.get(name, ())
        return next((binding for binding in reversed(found) if before is None or binding.order < before), None)

    def stars_after(self, binding: Binding | None, *, before: int | None) -> Iterator[Star]:
        """The last first: each may bind the name once more."""
        for star in reversed(self.stars):
            if (before is None or star.order < before) and (binding is None or star.order > binding.order):
                yield star


def bindings_of(tree: cst.Module, name: str, *, is_package: bool, has_globals: bool) -> Bindings:
    """What the statements of a module bind; `has_globals`: some function may say `global`, which takes a walk to find."""
    found = _Statements(package=name if is_package else name.rpartition(".")[0])
    found.read(tree.body)
    rebound = {item.name.value for said in nodes_in(tree, cst.Global) for item in said.names} if has_globals else set[str]()
    bindings = [_rebound(binding) if binding.name in rebound else binding for binding in found.bindings]
    return Bindings(tuple(bindings), tuple(found.stars), found.postpones_annotations)


def _rebound(binding: Binding) -> Binding:
    return replace(binding, bound=Unclear("a function binds it anew"))


class _Statements:
    """The bindings of statements, collected in their order."""

    def __init__(self, package: str, *, order: int = 0, for_checkers: bool = False) -> None:
        self._package, self._order, self._for_checkers = package, order, for_checkers
        self.bindings: list[Binding] = []
        self.stars: list[Star] = []
        self.postpones_annotations = False

    def read(self, statements: Iterable[cst.BaseStatement | cst.BaseSmallStatement]) -> None:
        for statement in statements:
            self._order += 1
            match statement:
                case cst.SimpleStatementLine(body=parts):
                    self.read(parts)
                case cst.ClassDef() | cst.FunctionDef():
                    self._bind(statement.name.value, statement, statement)
                case cst.If():
                    self._if(statement)
                case cst.Try() | cst.TryStar():
                    self._try(statement)
                case cst.With(items=items, body=body):
                    for item in items:
                        if item.asname is not None:
                            self._change(item.asname.name, statement)
                    self.read(body.body)
                case cst.For() | cst.While() | cst.Match():
                    self._absorb(self._inside(statement), unclear="it is bound in a loop or a match")
                case _:
                    self._small(statement)

    def _small(self, statement: cst.BaseStatement | cst.BaseSmallStatement) -> None:
        match statement:
            case cst.Import(names=names):
                for alias in names:
                    self._import(alias, statement)
            case cst.ImportFrom():
                self._import_from(statement)
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target.target, value, statement)
            case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                self._assign(target, value, statement)
            case cst.TypeAlias(name=name):
                self._bind(name.value, statement, statement)
            case cst.AugAssign(target=target):
                self._change(target, statement)
            case cst.Del(target=target):
                self._change(target, statement)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name() as name, attr=cst.Name(value=method)))) if method in _CHANGING:
                self._change(name, statement)
            case _:
                pass

    def _import(self, alias: cst.ImportAlias, statement: cst.CSTNode) -> None:
        full = dotted(alias.name)
        if alias.asname is not None:
            self._assign_import(alias.asname, Import(full), statement)
        else:
            top = full.partition(".")[0]
            self._bind(top, Import(top), statement)

    def _import_from(self, statement: cst.ImportFrom) -> None:
        module = self._absolute(statement)
        if isinstance(statement.names, cst.ImportStar):
            self.stars.append(Star(module, statement, self._order, self._for_checkers))
            return
        for alias in statement.names:
            name = dotted(alias.name)
            if module == "__future__" and name == "annotations":
                self.postpones_annotations = True
            elif alias.asname is not None:
                self._assign_import(alias.asname, Import(module, name), statement)
            else:
                self._bind(name, Import(module, name), statement)

    def _absolute(self, statement: cst.ImportFrom) -> str:
        named = "" if statement.module is None else dotted(statement.module)
        if not statement.relative:
            return named
        parts = self._package.split(".") if self._package else []
        kept = parts[: len(parts) - (len(statement.relative) - 1)]
        return ".".join([*kept, *([named] if named else [])])

    def _assign_import(self, asname: cst.AsName, bound: Import, statement: cst.CSTNode) -> None:
        if isinstance(asname.name, cst.Name):
            self._bind(asname.name.value, bound, statement)

    def _assign(self, target: cst.BaseExpression, value: cst.BaseExpression, statement: cst.CSTNode) -> None:
        match target, value:
            case cst.Name(value=name), _:
                self._bind(name, Assigned(value), statement)
            case ((cst.Tuple(elements=targets) | cst.List(elements=targets)), (cst.Tuple(elements=values) | cst.List(elements=values))) if len(
                targets
            ) == len(values) and not _has_star((*targets, *values)):
                for inner, item in zip(targets, values, strict=True):
                    self._assign(inner.value, item.value, statement)
            case _:
                self._change(target, statement)

    def _change(self, target: cst.BaseExpression, statement: cst.CSTNode) -> None:
        """A name that something happens to: its item or attribute is set, it is taken apart, added to or deleted."""
        for name in _names_in(target):
            self._bind(name, Unclear("it is changed after it was bound"), statement)

    def _if(self, statement: cst.If) -> None:
        match condition_of(statement.test):
            case "true":
                self.read(statement.body.body)
            case "false":
                self._else(statement.orelse)
            case "for checkers":
                self._absorb(self._branch(statement.body.body, for_checkers=True))
                self._else(statement.orelse)
            case "for no checkers":
                self.read(statement.body.body)
            case "unknown":
                self._absorb(self._inside(statement), unclear="it depends on a condition")

    def _else(self, orelse: cst.If | cst.Else | None) -> None:
        match orelse:
            case cst.If():
                self._if(orelse)
            case cst.Else(body=body):
                self.read(body.body)
            case None:
                pass

    def _try(self, statement: cst.Try | cst.TryStar) -> None:
        body = self._branch(statement.body.body)
        otherwise = [self._branch(handler.body.body) for handler in statement.handlers]
        fallbacks = {binding.name: binding for branch in otherwise for binding in branch.bindings}
        for binding in body.bindings:
            if (fallback := fallbacks.pop(binding.name, None)) is not None:
                binding = replace(binding, bound=_first_there(binding, fallback))
            self._add(binding)
        for binding in fallbacks.values():
            self._add(replace(binding, bound=Unclear("it is bound only where something failed")))
        self.stars += [star for branch in (body, *otherwise) for star in branch.stars]
        for part in (statement.orelse, statement.finalbody):
            if part is not None:
                self.read(part.body.body)

    def _branch(self, statements: Sequence[cst.BaseStatement | cst.BaseSmallStatement], *, for_checkers: bool = False) -> _Statements:
        inner = _Statements(self._package, order=self._order, for_checkers=for_checkers or self._for_checkers)
        inner.read(statements)
        self._order = inner._order
        return inner

    def _inside(self, statement: cst.If | cst.For | cst.While | cst.Match) -> _Statements:
        """All that any of its branches binds."""
        inner = _Statements(self._package, order=self._order, for_checkers=self._for_checkers)
        if isinstance(statement, cst.For):
            inner._change(statement.target, statement)
        for block in _blocks_of(statement):
            inner.read(block.body)
        self._order = inner._order
        return inner

    def _absorb(self, inner: _Statements, *, unclear: str | None = None) -> None:
        for binding in inner.bindings:
            self._add(binding if unclear is None else replace(binding, bound=Unclear(unclear)))
        self.stars += inner.stars

    def _bind(self, name: str, bound: Bound, node: cst.CSTNode) -> None:
        self._add(Binding(name, bound, node, self._order, self._for_checkers))

    def _add(self, binding: Binding) -> None:
        self.bindings.append(binding)


def _first_there(tried: Binding, fallback: Binding) -> Bound:
    return Alternatives((tried, fallback)) if isinstance(tried.bound, Import) else Unclear("it depends on whether something failed")


def _blocks_of(statement: cst.If | cst.Else | cst.For | cst.While | cst.Match) -> Iterator[cst.BaseSuite]:
    if isinstance(statement, cst.Match):
        yield from (case.body for case in statement.cases)
        return
    yield statement.body
    if not isinstance(statement, cst.Else) and statement.orelse is not None:
        yield from _blocks_of(statement.orelse)


def _has_star(elements: Iterable[cst.BaseElement]) -> bool:
    return any(isinstance(element, cst.StarredElement) for element in elements)


def _names_in(target: cst.BaseExpression) -> Iterator[str]:
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Attribute(value=inner) | cst.Subscript(value=inner):
            yield from _names_in(inner)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _names_in(element.value)
        case _:
            pass
