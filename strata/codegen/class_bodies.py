"""What the body of a class says, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import libcst as cst

from strata.codegen.faults import not_read
from strata.codegen.modules import SourceModule

_SHAPING: Final = frozenset(
    {
        *("__doc__", "__annotations__", "__qualname__", "__class_getitem__", "__init_subclass__"),
        *("__new__", "__init__", "__post_init__"),
    }
)
"""Names that make another class of it when they are assigned."""


@dataclass(frozen=True, slots=True)
class Member:
    """A name that the body annotates, assigns, or both."""

    name: str
    node: cst.CSTNode
    annotation: cst.BaseExpression | None = None
    value: cst.BaseExpression | None = None


Part: TypeAlias = Member | cst.FunctionDef | cst.ClassDef


@dataclass(frozen=True, slots=True)
class ClassBody:
    """Its parts in their order; neither conditions nor loops are among them."""

    docstring: str | None
    parts: tuple[Part, ...]

    @property
    def members(self) -> Iterator[Member]:
        return (part for part in self.parts if isinstance(part, Member))

    @property
    def fields(self) -> dict[str, Member]:
        """The annotated members; of two with one name the last counts, in the place of the first."""
        return {member.name: member for member in self.members if member.annotation is not None}

    @property
    def methods(self) -> frozenset[str]:
        return frozenset(part.name.value for part in self.parts if isinstance(part, cst.FunctionDef))

    def part(self, name: str) -> Part | None:
        """The last one of that name."""
        return next((part for part in reversed(self.parts) if name_of(part) == name), None)


def name_of(part: Part) -> str:
    return part.name if isinstance(part, Member) else part.name.value


def body_of(node: cst.ClassDef, module: SourceModule) -> ClassBody:
    """The body of a class.

    Raises:
        NotRead: what it is depends on what runs: a condition, a loop, a call.
    """
    statements = (part for line in node.body.body for part in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,)))
    parts = tuple(part for statement in statements for part in _parts(statement, node, module))
    return ClassBody(node.get_docstring(clean=False), parts)


def _parts(statement: cst.BaseStatement | cst.BaseSmallStatement, node: cst.ClassDef, module: SourceModule) -> Iterator[Part]:
    match statement:
        case cst.AnnAssign(target=cst.Name(value=name), annotation=annotation, value=value):
            if name.startswith("__"):
                raise not_read(f"'{name}' is not read: Python gives it a meaning, or another name", module, statement)
            yield Member(name, statement, annotation.annotation, value)
        case cst.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target.target, value, statement, module)
        case cst.FunctionDef() | cst.ClassDef():
            yield statement
        case cst.Pass() | cst.Expr(value=cst.BaseString() | cst.Ellipsis()):
            pass
        case _:
            raise not_read(f"what this makes of class '{node.name.value}' can only be told by running it", module, statement)


def _assigned(target: cst.BaseExpression, value: cst.BaseExpression, statement: cst.CSTNode, module: SourceModule) -> Iterator[Member]:
    if not isinstance(target, cst.Name) or target.value in _SHAPING:
        raise not_read("what this changes can only be told by running it", module, statement)
    if not target.value.startswith("__"):  # it says how objects behave, or is nobody else's business
        yield Member(target.value, statement, value=value)
