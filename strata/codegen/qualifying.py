"""Annotations and defaults as they read in another module: every name by the module that defines it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst
from typing_extensions import override

from strata.codegen.expressions import expression_in, text_of
from strata.codegen.homes import Home, Homes
from strata.codegen.modules import SourceModule
from strata.codegen.trees import nodes_in

_TYPING: Final = frozenset({"typing", "typing_extensions"})


class Imports:
    """The modules that a generated module imports, each under a name that is nobody else's.

    Fields of a class hide the names of its module, and one may be called `datetime`: what is imported is called `_datetime`.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self._taken, self._aliases = frozenset(taken), dict[str, str]()

    def alias(self, module: str) -> str:
        """What the module is called."""
        if module not in self._aliases:
            name = f"_{module.replace('.', '_')}"
            used = self._taken | set(self._aliases.values())
            while name in used:
                name += "_"
            self._aliases[module] = name
        return self._aliases[module]

    def lines(self) -> list[str]:
        """The statements, sorted."""
        return [f"import {module} as {alias}" for module, alias in sorted(self._aliases.items())]


class Qualifier:
    """Writes the expressions of a source for the module that has these imports.

    Args:
        hidden: names of fields, which in the body of their class are not those of Python.
    """

    def __init__(self, homes: Homes, imports: Imports, hidden: Collection[str] = ()) -> None:
        self._homes, self._imports, self._hidden = homes, imports, hidden

    def annotation(self, node: cst.BaseExpression, source: SourceModule) -> str:
        """An annotation; text in it is written as the types that it names."""
        match node:
            case cst.SimpleString() | cst.ConcatenatedString():
                quoted = expression_in(text_of(node) or "")
                return source.code(node) if quoted is None else self.annotation(quoted, source)
            case cst.Subscript(value=base, slice=elements):
                return f"{self.annotation(base, source)}[{', '.join(self._arguments(base, elements, source))}]"
            case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
                return f"{self.annotation(left, source)} | {self.annotation(right, source)}"
            case cst.Name() | cst.Attribute() if (home := self._home(node, source)) is not None:
                return self._by_name(home)
            case _:
                return self.value(node, source)

    def value(self, node: cst.BaseExpression, source: SourceModule) -> str:
        """A default."""
        if isinstance(node, cst.SimpleString | cst.Integer | cst.Float):
            return node.value
        qualified = node.visit(_Qualifying(self, source))
        return source.code(qualified if isinstance(qualified, cst.CSTNode) else node)

    def name_of(self, home: Home) -> str:
        """How the module names something."""
        if home.module == "builtins" and home.name is not None and home.name not in self._hidden:
            return home.name
        alias = self._imports.alias(home.module)
        return alias if home.name is None else f"{alias}.{home.name}"

    def expression(self, node: cst.Name | cst.Attribute, source: SourceModule) -> cst.BaseExpression:
        """A name, or a chain of attributes that begins with one."""
        home = self._home(node, source)
        if home is not None:
            return cst.parse_expression(self.name_of(home))
        return node.with_changes(value=node.value.visit(_Qualifying(self, source))) if isinstance(node, cst.Attribute) else node

    def _by_name(self, home: Home) -> str:
        """An alias that is text is written out: nobody else could tell which names it means."""
        match self._homes.text(home):
            case (cst.SimpleString() | cst.ConcatenatedString() as text, source):
                return self.annotation(text, source)
            case _:
                return self.name_of(home)

    def _home(self, node: cst.BaseExpression, source: SourceModule) -> Home | None:
        """That of a name, and of an attribute of a module; None for attributes of anything else."""
        match node:
            case cst.Name(value="None" | "True" | "False"):
                return None
            case cst.Name(value=name):
                return self._homes.of(name, source)
            case cst.Attribute(value=inner, attr=attr):
                home = self._home(inner, source)
                return None if home is None or home.name is not None else self._homes.member(home.module, attr.value, source)
            case _:
                return None

    def _arguments(self, base: cst.BaseExpression, elements: Collection[cst.SubscriptElement], source: SourceModule) -> list[str]:
        home = self._home(base, source)
        special = home.name if home is not None and home.module in _TYPING else None
        values = [element.slice.value for element in elements if isinstance(element.slice, cst.Index)]
        match special:
            case "Literal":
                return [self._starred(element, source) for element in elements]
            case "Annotated":
                first, *beside = values
                return [self.annotation(first, source), *(self.value(note, source) for note in beside if not _is_computed(note))]
            case _:
                return [self._argument(value, source) for value in values]

    def _starred(self, element: cst.SubscriptElement, source: SourceModule) -> str:
        index = cst.ensure_type(element.slice, cst.Index)
        return f"{index.star or ''}{self.value(index.value, source)}"

    def _argument(self, node: cst.BaseExpression, source: SourceModule) -> str:
        match node:
            case cst.Tuple(elements=elements):
                return ", ".join(self.annotation(element.value, source) for element in elements) or "()"
            case cst.List(elements=elements):
                return f"[{', '.join(self.annotation(element.value, source) for element in elements)}]"
            case _:
                return self.annotation(node, source)


def _is_computed(note: cst.BaseExpression) -> bool:
    """Whether names in it may be its own: such a mark says nothing to a schema."""
    return isinstance(note, cst.Lambda) or any(nodes_in(note, cst.Lambda))


class _Qualifying(cst.CSTTransformer):
    """Of an expression whose names are values."""

    def __init__(self, qualifier: Qualifier, source: SourceModule) -> None:
        super().__init__()
        self._qualifier, self._source = qualifier, source

    @override
    def visit_Attribute(self, node: cst.Attribute) -> bool:
        return False

    @override
    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._qualifier.expression(original_node, self._source)

    @override
    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._qualifier.expression(original_node, self._source)

    @override
    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """The word of a keyword argument is no name."""
        return updated_node.with_changes(keyword=original_node.keyword)
