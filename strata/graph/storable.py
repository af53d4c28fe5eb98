"""Which fields of a state cannot be stored, found before anything runs."""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import PurePath
from types import UnionType
from typing import Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from strata.graph.meanings import has_fields
from strata.graph.shapes import Fields, Shape, class_of, describe, name_of, parts_of, shape_of
from strata.graph.unheld import unheld_unions
from strata.rules import unstorable
from strata.rules.facts import StateFieldFault


def storable_faults(state: type[Any]) -> tuple[StateFieldFault, ...]:
    """The fields of a state, at any depth, whose values would not come back from JSON as they were; none is good.

    Paths are in Python names: `Order.lines[].shipped`, `Order.by_id{}.when`. A type that stands in several places is
    reported at the first. What can only be seen in a value (NaN, a named zone) is found when a node returns it.
    """
    if unheld := tuple(unheld_unions(state, name_of(state))):
        return unheld
    try:
        shape = shape_of(state)
        faults = tuple(_faults_in(shape, name_of(state), set()))
        if not faults:
            msgspec.json.Decoder(state)
    except (TypeError, NameError, AttributeError) as error:
        return _located(state, name_of(state), error, set())
    return faults


def _faults_in(shape: Shape, path: str, seen: set[int]) -> Iterator[StateFieldFault]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    reason = _reason(shape)
    if reason is not None:
        yield StateFieldFault(path=path, reason=reason)
        return
    if isinstance(shape, inspect.StructType):
        yield from _variable_fields(shape, path)
    if isinstance(shape, inspect.DataclassType):
        yield from _private_fields(shape, path)
    for step, part in parts_of(shape):
        yield from _faults_in(part, path + step, seen)


def _reason(shape: Shape) -> str | None:
    """Why a value of this shape cannot be stored, its parts aside."""
    match shape:
        case inspect.CustomType():
            return _reason_of_class(shape.cls)
        case inspect.RawType() | inspect.ExtType() | inspect.MemoryViewType():
            return unstorable.of_view(describe(shape))
        case inspect.EnumType():
            return _reason_of_enum(shape.cls)
        case inspect.DictType() if not _can_be_key(shape.key_type):
            return unstorable.of_key(describe(shape.key_type))
        case inspect.SetType() | inspect.FrozenSetType() if not _is_hashable(shape.item_type):
            return unstorable.of_member(describe(shape.item_type))
        case _:
            return None


ADVISED: Mapping[type[Any], str] = {
    deque: "collections.deque",
    Counter: "collections.Counter",
    defaultdict: "collections.defaultdict",
    OrderedDict: "collections.OrderedDict",
    PurePath: "pathlib.PurePath",
    Fraction: "fractions.Fraction",
    BaseException: "builtins.BaseException",
    type: "builtins.type",
}
"""Where the advice on a class, and on those that derive from it, is found."""


def _reason_of_class(cls: Any) -> str:
    origin = getattr(cls, "__origin__", cls)
    if origin is object:
        return unstorable.OBJECT
    if origin is Callable or (isinstance(origin, type) and origin.__module__ == "types"):
        return unstorable.LIVE
    known = next((name for advised, name in ADVISED.items() if isinstance(origin, type) and issubclass(origin, advised)), None)
    return unstorable.of_class(name_of(origin), known)


def _reason_of_enum(cls: type[enum.Enum]) -> str | None:
    values = [member.value for member in cls]
    if all(isinstance(value, str) for value in values) or all(isinstance(value, int) for value in values):
        return None
    return f"the values of enum {cls.__name__} are neither all str nor all int"


def _can_be_key(shape: Shape) -> bool:
    match shape:
        case inspect.LiteralType():
            return len({type(value) for value in shape.values}) == 1 and isinstance(shape.values[0], str | int)
        case inspect.Metadata():
            return _can_be_key(shape.type)
        case _:
            return isinstance(shape, KEYS)


KEYS = (
    inspect.AnyType,
    inspect.StrType,
    inspect.IntType,
    inspect.FloatType,
    inspect.EnumType,
    inspect.BytesType,
    inspect.UUIDType,
    inspect.DecimalType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.TimeType,
    inspect.TimeDeltaType,
)


def _is_hashable(shape: Shape) -> bool:
    match shape:
        case inspect.ListType() | inspect.DictType() | inspect.SetType() | inspect.TypedDictType() | inspect.ByteArrayType():
            return False
        case inspect.StructType():
            options = shape.cls.__struct_config__
            return options.frozen or not options.eq
        case inspect.DataclassType():
            return getattr(shape.cls, "__hash__", None) is not None
        case inspect.FrozenSetType():
            return True
        case _:
            return all(_is_hashable(part) for _, part in parts_of(shape))


def _variable_fields(shape: Fields, path: str) -> Iterator[StateFieldFault]:
    """Fields of a generic class that was named without its arguments: msgspec takes their variables for Any."""
    if not getattr(shape.cls, "__parameters__", ()) or hasattr(shape.cls, "__origin__"):
        return
    for field, hint in get_type_hints(shape.cls).items():
        for variable in _variables_in(hint):
            reason = f"its type is the variable {variable.__name__}: say what it stands for, as in {name_of(shape.cls)}[int]"
            yield StateFieldFault(path=f"{path}.{field}", reason=reason)


def _private_fields(shape: inspect.DataclassType, path: str) -> Iterator[StateFieldFault]:
    """Fields of an attrs class that start with `_`: msgspec writes none of them. It writes those of a dataclass."""
    if not hasattr(class_of(shape), "__attrs_attrs__"):
        return
    for field in shape.fields:
        if field.name.startswith("_"):
            reason = f"private fields of attrs classes are not written: name it without the '_', or make {name_of(shape.cls)} a dataclass"
            yield StateFieldFault(path=f"{path}.{field.name}", reason=reason)


def _variables_in(hint: Any) -> Iterator[TypeVar]:
    if isinstance(hint, TypeVar):
        yield hint
    for part in get_args(hint):
        yield from _variables_in(part)


def _located(cls: type[Any], path: str, error: Exception, seen: set[Any]) -> tuple[StateFieldFault, ...]:
    """The fields at which msgspec stumbled: it names the type that it cannot take, not where it stands."""
    seen.add(cls)
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError as unknown:
        return _unresolved(cls, path, unknown)
    except (TypeError, AttributeError, SyntaxError) as broken:
        return (StateFieldFault(path=path, reason=f"its annotations cannot be read: {broken}"),)
    fields = {field: hint for field, hint in hints.items() if get_origin(hint) is not ClassVar}
    found = [fault for field, hint in fields.items() for fault in _located_in_field(hint, f"{path}.{field}", seen)]
    return tuple(found) or (StateFieldFault(path=path, reason=_plain(error)),)


def _located_in_field(hint: Any, path: str, seen: set[Any]) -> Iterator[StateFieldFault]:
    try:
        faults = tuple(_faults_in(inspect.type_info(hint), path, set()))
        if not faults:
            msgspec.json.Decoder(hint)
        yield from faults
    except (TypeError, NameError, AttributeError) as error:
        for inner, step in _classes_in(hint):
            if inner not in seen and not _is_fine(inner):
                yield from _located(inner, path + step, error, seen)
                return
        yield StateFieldFault(path=path, reason=_plain(error))


def _is_fine(cls: type[Any]) -> bool:
    try:
        msgspec.json.Decoder(cls)
    except (TypeError, NameError, AttributeError):
        return False
    return True


def _classes_in(hint: Any, step: str = "") -> Iterator[tuple[type[Any], str]]:
    """The classes with fields that an annotation mentions, each with its step of the path."""
    if isinstance(hint, type):
        cls = cast("type[Any]", hint)
        if has_fields(cls):
            yield cls, step
    origin = get_origin(hint)
    inside = "" if not isinstance(origin, type) or origin is UnionType else "{}" if issubclass(origin, Mapping) else "[]"
    for part in get_args(hint):
        yield from _classes_in(part, step + inside)


def _unresolved(cls: type[Any], path: str, unknown: NameError) -> tuple[StateFieldFault, ...]:
    name = unknown.name or str(unknown)
    reason = f"its annotation names '{name}', which is not found in module {cls.__module__}: define it there, outside of functions"
    written = {field: str(text) for field, text in getattr(cls, "__annotations__", {}).items()}
    blamed = [field for field, text in written.items() if name in text]
    return tuple(StateFieldFault(path=f"{path}.{field}", reason=reason) for field in blamed) or (StateFieldFault(path=path, reason=reason),)


def _plain(error: Exception) -> str:
    """msgspec's reason without its repetition of the type."""
    return str(error).split(" - type `", 1)[0] if isinstance(error, TypeError) else str(error)
