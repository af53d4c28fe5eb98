"""A small interpreter of modules: it evaluates types, constants and classes with fields, and calls no code of theirs."""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Final, cast

import libcst as cst
import typing_extensions

from strata.codegen.bindings import Assigned, Binding
from strata.codegen.classes import Classes
from strata.codegen.expressions import Expressions
from strata.codegen.faults import Fault, not_read
from strata.codegen.homes import Homes
from strata.codegen.modules import Modules, SourceModule
from strata.codegen.names import Names
from strata.codegen.values import Frame

TypeAliasType: Final = cast("Callable[..., Any]", getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))
"""That of the `type` statement, where this Python has one."""


class Interpreter:
    """Names, expressions and classes, which ask each other.

    `trusted` are packages that may be imported for real. Of everything else beside the sources only the standard library's
    types, msgspec and Strata are.
    """

    def __init__(self, modules: Modules, trusted: Collection[str] = ()) -> None:
        self._names = Names(modules, trusted, self._make)
        self.homes = Homes(modules, self._names)
        self._classes = Classes(self, trusted)
        self._expressions = Expressions(self._names, self._classes, trusted)

    def value(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an expression gives.

        Raises:
            NotRead: it cannot be told without running the module.
        """
        return self._expressions.value(node, frame)

    def annotation(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation means; `NotRead` as for a value."""
        return self._expressions.annotation(node, frame)

    def default(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """The value of a default; `NotRead` where it is a live object too."""
        return self._expressions.default(node, frame)

    def head(self, node: cst.BaseExpression, frame: Frame) -> Any:
        """What an annotation begins with; None where that cannot be told."""
        return self._expressions.head(node, frame)

    def finish(self) -> list[Fault]:
        """Read what is still open of the classes that were made."""
        return self._classes.finish()

    def faults_within(self, annotations: Iterable[Any]) -> list[Fault]:
        """What could not be read of the classes that annotations speak of, at any depth."""
        return self._classes.faults_within(annotations)

    def warnings(self) -> list[Fault]:
        """What was noticed since the last time that somebody asked."""
        noticed, self._names.warnings = self._names.warnings, []
        return noticed

    def _make(self, binding: Binding, module: SourceModule) -> Any:
        frame = Frame(module, before=binding.order, for_checkers=binding.for_checkers)
        match binding.bound:
            case cst.ClassDef() as node:
                return self._classes.made(node, frame, node.name.value)
            case Assigned(value):
                return self.value(value, frame)
            case cst.TypeAlias() as alias:
                return self._alias(alias, frame)
            case _:
                raise not_read(f"'{binding.name}' is nothing that could be told", module, binding.node)

    def _alias(self, alias: cst.TypeAlias, frame: Frame) -> Any:
        """`type Pages[T] = list[Page[T]]`; its value is read later, as Python does, but may not be made of itself."""
        variables = self._classes.variables(alias, frame)
        value = self.annotation(alias.value, replace(frame, variables=variables, keeps_text=True).postponed())
        return TypeAliasType(alias.name.value, value, type_params=tuple(variables.values()))
