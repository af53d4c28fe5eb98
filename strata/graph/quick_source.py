"""Python source that is written for one state type, and what its functions call.

Only names of fields that are identifiers, and numbers, get into the source that is compiled; values and classes are
passed beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from keyword import iskeyword
from typing import Any, cast
from uuid import UUID

import msgspec
from msgspec import inspect

from strata.graph.shapes import Shape
from strata.graph.texts import is_utf8
from strata.graph.unfit import SCALARS


class Source:
    """Python source under construction: functions, and the values that they name."""

    def __init__(self, **called: Any) -> None:
        self.functions: list[str] = []
        self.values: dict[str, Any] = {**_VALUES, **called}
        self.names: dict[int, str] = {}
        self.shapes: list[Shape] = []
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def value(self, thing: Any) -> str:
        name = self.fresh("k")
        self.values[name] = thing
        return name

    def compiled(self, name: str) -> Any:
        exec("\n".join(self.functions), self.values)  # noqa: S102 (see the module: nothing but field names gets in)
        return self.values[name]

    def function_of(self, shape: Shape) -> str:
        """The function for a shape; one for each, so that types inside themselves end."""
        if id(shape) not in self.names:
            self.names[id(shape)] = self.fresh("f")
            self.shapes.append(shape)  # keeps the id from being given to another
            self.functions.append(self.write(shape, self.names[id(shape)]))
        return self.names[id(shape)]

    def write(self, shape: Shape, name: str) -> str:
        raise NotImplementedError


def not_certain(*_: Any) -> bool:
    return False


def can_be_written(shape: inspect.StructType | inspect.DataclassType) -> bool:
    """Class bodies have no other names, but classes made by a program may."""
    return all(field.name.isidentifier() and not iskeyword(field.name) for field in shape.fields)


def are_texts(keys: Iterable[Any]) -> bool:
    return set(map(type, keys)) <= {str} and is_utf8("".join(keys))


def bulk_kind(shape: Shape) -> type[Any] | None:
    """The class of the items, where one test in C does for all of them."""
    kind = SCALARS.get(type(shape))
    return kind if kind in _BULK_KINDS and not is_bounded(shape) else None


def is_bounded(shape: Shape) -> bool:
    return any(getattr(shape, name) is not None for name in shape.__struct_fields__)


def item_of(shape: Shape) -> Shape:
    return cast("inspect.ListType", shape).item_type


def key_of(shape: inspect.DictType) -> Shape:
    return inspect.StrType() if isinstance(shape.key_type, inspect.AnyType) else shape.key_type


def none_first(shape: inspect.UnionType) -> list[Shape]:
    return sorted(shape.types, key=lambda member: not isinstance(member, inspect.NoneType))


KINDS: dict[type[Shape], str] = {
    inspect.ListType: "list",
    inspect.VarTupleType: "tuple",
    inspect.SetType: "set",
    inspect.FrozenSetType: "frozenset",
    inspect.DictType: "dict",
}

_BULK_KINDS = frozenset({bool, int, float, str, bytes, UUID, date, timedelta})

_VALUES: dict[str, Any] = {
    "UNSET": msgspec.UNSET,
    "UTC": UTC,
    "UUID": UUID,
    "Decimal": Decimal,
    "date": date,
    "datetime": datetime,
    "time": time,
    "timedelta": timedelta,
}
