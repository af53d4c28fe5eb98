"""What an expression gives, as far as its source tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from strata.rules.facts import JoinPolicy

if TYPE_CHECKING:
    from strata.analysis.scopes import Scope
    from strata.rules.facts import SourcePlace


class Value(msgspec.Struct, frozen=True, eq=False):
    """What a name or an expression stands for. Two values are the same if they are one object."""


class Unknown(Value, frozen=True, eq=False):
    """It may be anything."""


UNKNOWN: Final = Unknown()

SOME_TIME: Final = 1.0
"""Stands for a duration that is given and cannot be told: no rule objects to a second."""


class Constant(Value, frozen=True, eq=False):
    """A literal, or a timedelta of literals."""

    value: object


class Listed(Value, frozen=True, eq=False):
    """A tuple or list that is written out."""

    items: tuple[Value, ...]
    may_change: bool
    """Whether it is a list."""


class Pairs(Value, frozen=True, eq=False):
    """A dict of text to text that is written out."""

    pairs: Mapping[str, str]


class Named(Value, frozen=True, eq=False):
    """Something of a module that is not looked into: `strata.node`, `datetime.timedelta`."""

    path: str


def named(path: str) -> Named:
    """A foreign name; all rooms of strata give on its names, so where one is imported from says nothing."""
    return Named(f"strata.{path.rpartition('.')[2]}") if path.startswith("strata.") else Named(path)


class Module(Value, frozen=True, eq=False):
    """A module, of which a member can be asked by its name."""

    member: Callable[[str], Value]


class Imported(Value, frozen=True, eq=False):
    """What an import binds: the module is followed when the name is first asked for."""

    found: Callable[[], Value]


class Function(Value, frozen=True, eq=False):
    """A function as it is written: nothing has wrapped it."""

    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    place: SourcePlace

    @property
    def name(self) -> str | None:
        return None if isinstance(self.definition, ast.Lambda) else self.definition.name

    @property
    def is_async(self) -> bool:
        return isinstance(self.definition, ast.AsyncFunctionDef)


class Class(Value, frozen=True, eq=False):
    """A class statement; its scope is that of its body."""

    definition: ast.ClassDef
    bases: tuple[Value, ...]
    scope: Scope
    place: SourcePlace

    @property
    def name(self) -> str:
        return self.definition.name


class Branch(Value, frozen=True, eq=False):
    """A branch of a parallel group."""

    name: str
    function: Value
    place: SourcePlace | None
    metadata: Mapping[str, str] | None = None


class Join(Value, frozen=True, eq=False):
    """When enough parts have succeeded."""

    policy: JoinPolicy
    count: int | None = None
    predicate: Value | None = None


class Backoff(Value, frozen=True, eq=False):
    """How long a retry waits: first, and at most."""

    initial: float
    maximum: float


def text(value: Value | None) -> str | None:
    """The text, if it is one and known."""
    return value.value if isinstance(value, Constant) and isinstance(value.value, str) else None


def whole_number(value: Value | None) -> int | None:
    """The number, if it is one and known."""
    known = value.value if isinstance(value, Constant) else None
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def is_true(value: Value | None) -> bool:
    """Whether it is known to be the word `True`."""
    return isinstance(value, Constant) and value.value is True


def is_given(value: Value | None) -> bool:
    """Whether an argument stands there that is not the word `None`."""
    return value is not None and not (isinstance(value, Constant) and value.value is None)


def seconds(value: Value | None) -> float | None:
    """A duration in seconds; `SOME_TIME` where one is given and cannot be told."""
    if not is_given(value):
        return None
    known = known_seconds(value)
    return SOME_TIME if known is None else known


def known_seconds(value: Value | None) -> float | None:
    """A duration in seconds, if it is known."""
    known = value.value if isinstance(value, Constant) else None
    if isinstance(known, timedelta):
        return known.total_seconds()
    return float(known) if isinstance(known, int | float) and not isinstance(known, bool) else None


def pairs(value: Value | None) -> Mapping[str, str] | None:
    """A dict of text to text, if it is known."""
    return value.pairs if isinstance(value, Pairs) else None
