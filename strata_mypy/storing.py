"""Which types come back from JSON as they were: what `compile()` finds with the types themselves, of their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy.nodes import TypeInfo
from mypy.types import (
    CallableType,
    Instance,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypeAliasType,
    TypedDictType,
    TypeType,
    UnionType,
    get_proper_type,
)

from strata.rules import unstorable

Unstorable = tuple[str, str]
"""The path of a part inside a field, as `[]`, and why it cannot be stored."""

PLAIN: Final = frozenset(
    {
        *(f"builtins.{name}" for name in ("int", "float", "bool", "str", "bytes", "bytearray", "ellipsis")),
        *(f"datetime.{name}" for name in ("datetime", "date", "time", "timedelta")),
        "uuid.UUID",
        "decimal.Decimal",
        "_decimal.Decimal",
        "msgspec.UnsetType",
        "msgspec._core.UnsetType",
    }
)
ITEMS: Final = frozenset(
    {
        *(f"builtins.{name}" for name in ("list", "set", "frozenset", "tuple")),
        *(f"typing.{name}" for name in ("Collection", "Sequence", "MutableSequence", "AbstractSet", "MutableSet")),
    }
)
SETS: Final = frozenset({"builtins.set", "builtins.frozenset", "typing.AbstractSet", "typing.MutableSet"})
VALUES: Final = frozenset({"builtins.dict", "typing.Mapping", "typing.MutableMapping"})
NO_MEMBERS: Final = frozenset({"builtins.list", "builtins.dict", "builtins.set", "builtins.bytearray"})
FIELDS: Final = ("dataclass", "dataclass_tag", "attrs", "attrs_tag", "namedtuple")

VIEWS: Final = {"msgspec.Raw": "msgspec.Raw", "msgspec._core.Raw": "msgspec.Raw", "builtins.memoryview": "memoryview"}


def unstorable_part(type_: Type) -> Unstorable | None:
    """The first part of a field's type that cannot be stored; the fields of classes inside it are not looked at."""
    if isinstance(type_, TypeAliasType) and type_.is_recursive:
        return None
    proper = get_proper_type(type_)
    match proper:
        case UnionType(items=items):
            return _first(("", item) for item in items)
        case TupleType(items=items, partial_fallback=fallback):
            is_named = fallback.type.fullname != "builtins.tuple"
            return None if is_named else _first((f"[{at}]", item) for at, item in enumerate(items))
        case TypedDictType():
            return None
        case CallableType() | Overloaded():
            return "", unstorable.LIVE
        case TypeType():
            return "", unstorable.of_class("type", "builtins.type")
        case Instance():
            return _unstorable_instance(proper)
        case _:
            return None


def _unstorable_instance(instance: Instance) -> Unstorable | None:
    if instance.type.is_newtype:  # which is at run time what it is made of
        return unstorable_part(instance.type.tuple_type or instance.type.bases[0]) if instance.type.bases else None
    name = instance.type.fullname
    if name in PLAIN or _has_fields(instance.type):
        return None
    if name in ITEMS:
        member = get_proper_type(instance.args[0]) if name in SETS else None
        if isinstance(member, Instance) and member.type.fullname in NO_MEMBERS:
            return "", unstorable.of_member(_described(member))
        return _first(("[]", item) for item in instance.args)
    if name in VALUES:
        key = get_proper_type(instance.args[0])
        if _is_no_key(key):
            return "", unstorable.of_key(_described(key))
        return _first(zip(("{key}", "{}"), instance.args, strict=True))
    return "", _reason(instance.type)


def _is_no_key(key: ProperType) -> bool:
    if isinstance(key, TupleType):
        return True
    if not isinstance(key, Instance):
        return False
    name = key.type.fullname
    return name in ITEMS or name in VALUES or name == "builtins.bool" or (_has_fields(key.type) and not key.type.is_enum)


def _described(type_: Type) -> str:
    """As `compile()` names types: `tuple[date, int]`."""
    proper = get_proper_type(type_)
    if isinstance(proper, TupleType) and proper.partial_fallback.type.fullname == "builtins.tuple":
        return f"tuple[{', '.join(map(_described, proper.items))}]"
    instance = proper.partial_fallback if isinstance(proper, TupleType) else proper
    if not isinstance(instance, Instance):
        return str(proper)
    parts = f"[{', '.join(map(_described, instance.args))}]" if instance.args else ""
    return f"{instance.type.name}{parts}"


def _has_fields(info: TypeInfo) -> bool:
    """Whether msgspec knows how to make one: a struct, a dataclass, an attrs class, a named tuple, an enum."""
    return info.is_enum or info.is_named_tuple or info.has_base("msgspec.Struct") or any(tag in info.metadata for tag in FIELDS)


def _reason(info: TypeInfo) -> str:
    if info.fullname == "builtins.object":
        return unstorable.OBJECT
    if info.fullname in VIEWS:
        return unstorable.of_view(VIEWS[info.fullname])
    if info.fullname.startswith("types."):
        return unstorable.LIVE
    return unstorable.of_class(info.name, next((known for known in unstorable.ADVICE if info.has_base(known)), None))


def _first(parts: Iterable[tuple[str, Type]]) -> Unstorable | None:
    for step, part in parts:
        if (fault := unstorable_part(part)) is not None:
            path, reason = fault
            return step + path, reason
    return None
