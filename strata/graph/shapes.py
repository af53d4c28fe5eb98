"""What the type of a state looks like to the codec: a tree of msgspec's type descriptions, and the words for it."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import inspect

Shape: TypeAlias = inspect.Type
Fields: TypeAlias = "inspect.StructType | inspect.DataclassType | inspect.NamedTupleType | inspect.TypedDictType"

LOWEST_INTEGER = -(2**63)
HIGHEST_INTEGER = 2**64 - 1
"""Integers outside are read by no other engine (strata-checkpoint.md 1.2)."""

RECORD_DEPTH = 127
"""Levels of nesting in one JSON text; the Rust reader refuses the 128th (strata-checkpoint.md 1.2)."""

JSON_VALUE = "a JSON value (dict with str keys, list, str, int, float, bool, None)"


def shape_of(state: Any) -> inspect.StructType:
    """The shape of a state type.

    Raises:
        TypeError, NameError: msgspec cannot describe it; `storable_faults` says which field is to blame.
    """
    return cast("inspect.StructType", inspect.type_info(state))


def class_of(shape: Fields) -> type[Any]:
    """The class that instances have: the origin of a generic one."""
    return cast("type[Any]", getattr(shape.cls, "__origin__", shape.cls))


def parts_of(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The shapes directly inside, each with its step of a path: `.name`, `[]` for items, `{}` for values, `{key}` for keys."""
    match shape:
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType() | inspect.TypedDictType():
            yield from ((f".{field.name}", field.type) for field in shape.fields)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield "[]", shape.item_type
        case inspect.TupleType():
            yield from ((f"[{index}]", item) for index, item in enumerate(shape.item_types))
        case inspect.DictType():
            yield "{key}", shape.key_type
            yield "{}", shape.value_type
        case inspect.UnionType():
            yield from (("", member) for member in shape.types)
        case inspect.Metadata():
            yield "", shape.type
        case _:
            return


def shapes_within(shape: Shape, path: str = "") -> Iterator[tuple[str, Shape]]:
    """The shape and those inside it, at any depth, each once with the first path that leads to it."""
    yield from _shapes_within(shape, path, set())


def _shapes_within(shape: Shape, path: str, seen: set[int]) -> Iterator[tuple[str, Shape]]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    yield path, shape
    for step, part in parts_of(shape):
        yield from _shapes_within(part, path + step, seen)


def may_be_unset(field: inspect.Field) -> bool:
    """The field is declared with `UnsetType` and starts as UNSET: msgspec's description leaves both out."""
    return not field.required and field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT


def depth_bound(shape: Shape) -> int | None:
    """How deep the JSON of a value can be (a scalar is 0); None if the type sets no bound: `Any`, or a type inside itself."""
    return _depth_bound(shape, ())


def _depth_bound(shape: Shape, above: tuple[int, ...]) -> int | None:
    if id(shape) in above or isinstance(shape, inspect.AnyType):
        return None
    deepest = 0
    for _, part in parts_of(shape):
        below = _depth_bound(part, (*above, id(shape)))
        if below is None:
            return None
        deepest = max(deepest, below)
    return deepest + _levels(shape)


def _levels(shape: Shape) -> int:
    return 0 if isinstance(shape, inspect.UnionType | inspect.Metadata) or not any(True for _ in parts_of(shape)) else 1


NAMES: dict[type[Shape], str] = {
    inspect.NoneType: "None",
    inspect.BoolType: "bool",
    inspect.IntType: "int",
    inspect.FloatType: "float",
    inspect.StrType: "str",
    inspect.BytesType: "bytes",
    inspect.ByteArrayType: "bytearray",
    inspect.DateTimeType: "datetime",
    inspect.DateType: "date",
    inspect.TimeType: "time",
    inspect.TimeDeltaType: "timedelta",
    inspect.UUIDType: "UUID",
    inspect.DecimalType: "Decimal",
    inspect.RawType: "msgspec.Raw",
    inspect.ExtType: "msgspec.msgpack.Ext",
    inspect.MemoryViewType: "memoryview",
    inspect.AnyType: JSON_VALUE,
}


def describe(shape: Shape) -> str:
    """The type in a reader's words: `int`, `list[Line]`, `str | None`."""
    match shape:
        case inspect.ListType():
            return f"list[{describe(shape.item_type)}]"
        case inspect.SetType():
            return f"set[{describe(shape.item_type)}]"
        case inspect.FrozenSetType():
            return f"frozenset[{describe(shape.item_type)}]"
        case inspect.VarTupleType():
            return f"tuple[{describe(shape.item_type)}, ...]"
        case inspect.TupleType():
            return f"tuple[{', '.join(map(describe, shape.item_types))}]"
        case inspect.DictType():
            return f"dict[{describe(shape.key_type)}, {describe(shape.value_type)}]"
        case inspect.UnionType():
            return " | ".join(map(describe, shape.types))
        case inspect.LiteralType():
            return f"one of {', '.join(map(repr, shape.values))}"
        case inspect.Metadata():
            return describe(shape.type)
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType() | inspect.TypedDictType() | inspect.EnumType():
            return name_of(shape.cls)
        case _:
            return NAMES.get(type(shape), name_of(getattr(shape, "cls", type(shape))))


def name_of(cls: Any) -> str:
    """A class by its own name, a generic alias as it is written."""
    if isinstance(cls, types.GenericAlias) or not isinstance(cls, type):
        return str(cls).rsplit(".", 1)[-1]
    return cls.__name__
