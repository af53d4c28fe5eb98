"""What stands in for the things of a module that are not made again as real objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from strata.codegen.modules import SourceModule


@dataclass(frozen=True, slots=True)
class Frame:
    """Where an expression stands.

    Attributes:
        before: of the names of the module only those above this statement are there; None where it is read later, as postponed
            annotations are.
        variables: type parameters, which go before all other names.
        body: what the body of a class has bound so far; it goes before the names of the module.
        made: what a class has once it is made. Text in quotes is read then, and Python looks there behind the names of the module.
        for_checkers: it is never evaluated when the module runs.
        keeps_text: nobody reads text there as a type, as nobody does in a `type` statement.
    """

    module: SourceModule
    before: int | None = None
    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    made: Mapping[str, Any] = field(default_factory=dict[str, Any])
    for_checkers: bool = False
    keeps_text: bool = False

    def postponed(self) -> Frame:
        """The same place, read when all that the module binds is there."""
        return replace(self, before=None, body={})

    def as_annotation(self) -> Frame:
        """The same place for what stands there as an annotation."""
        return self.postponed() if self.module.bindings.postpones_annotations else self


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module, by its dotted name; it need not be there until something of it is asked for."""

    name: str


@dataclass(frozen=True, eq=False)
class Opaque:
    """A live object that no schema looks into: a function, a lambda, an instance of a class without fields."""

    what: str


@dataclass(frozen=True, eq=False)
class SourceFunction(Opaque):
    """A function of a module, which is not called."""

    module: SourceModule
    node: cst.FunctionDef


@dataclass(frozen=True, eq=False)
class CalledTool(Opaque):
    """What `strata_tool(function)` makes, which is a tool that no source shows."""


@dataclass(frozen=True, slots=True)
class ToolDecorator:
    """`strata_tool`, or `strata_tool(...)` with its options, of which only those that a schema shows are evaluated."""

    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_called: bool = False


@dataclass(frozen=True, slots=True)
class Hidden:
    """A name that means something else where it stands, as that of a field does in the body of its class."""

    by: str


def factory_unknown() -> Any:
    """Stands for the factory of a default that only running can call."""
    raise NotImplementedError("this factory is a stand-in for one that is not run")
