"""Which types come back from JSON as they were: what `compile()` finds with the types themselves, of their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy.nodes import TypeInfo
from mypy.types import CallableType, Instance, Overloaded, TupleType, Type, TypedDictType, TypeType, UnionType, get_proper_type

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
VALUES: Final = frozenset({"builtins.dict", "typing.Mapping", "typing.MutableMapping"})
FIELDS: Final = ("dataclass", "dataclass_tag", "attrs", "attrs_tag", "namedtuple")

REPLACEMENTS: Final = {
    "collections.deque": "use list, and cut it where you append",
    "collections.Counter": "use dict[str, int]",
    "collections.defaultdict": "use dict, and setdefault where you write",
    "collections.OrderedDict": "use dict, which keeps its order",
    "pathlib.PurePath": "use str, and make the path where you need it",
    "fractions.Fraction": "use tuple[int, int], or Decimal",
    "builtins.BaseException": "keep its text as str",
    "builtins.type": "keep its name as str, or use an enum",
}
VIEWS: Final = {"msgspec.Raw": "msgspec.Raw", "msgspec._core.Raw": "msgspec.Raw", "builtins.memoryview": "memoryview"}
LIVE: Final = "functions and other live objects cannot be stored: keep a name, and look the object up with ctx.service(...)"
OBJECT: Final = "object does not say what comes back: name the type, or use Any for plain JSON values"


def unstorable_part(type_: Type) -> Unstorable | None:
    """The first part of a field's type that cannot be stored; the fields of classes inside it are not looked at."""
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
            return "", LIVE
        case TypeType():
            return "", f"type does not come back from JSON: {REPLACEMENTS['builtins.type']}"
        case Instance():
            return _unstorable_instance(proper)
        case _:
            return None


def _unstorable_instance(instance: Instance) -> Unstorable | None:
    name = instance.type.fullname
    if name in PLAIN or _has_fields(instance.type):
        return None
    if name in ITEMS:
        return _first(("[]", item) for item in instance.args)
    if name in VALUES:
        return _first(zip(("{key}", "{}"), instance.args, strict=True))
    return "", _reason(instance.type)


def _has_fields(info: TypeInfo) -> bool:
    """Whether msgspec knows how to make one: a struct, a dataclass, an attrs class, a named tuple, an enum."""
    return info.is_enum or info.is_named_tuple or info.has_base("msgspec.Struct") or any(tag in info.metadata for tag in FIELDS)


def _reason(info: TypeInfo) -> str:
    if info.fullname == "builtins.object":
        return OBJECT
    if info.fullname in VIEWS:
        return f"{VIEWS[info.fullname]} is a view of somebody's bytes: use bytes"
    if info.fullname.startswith("types.") or info.is_protocol:
        return LIVE
    for known, advice in REPLACEMENTS.items():
        if info.has_base(known):
            return f"{info.name} does not come back from JSON: {advice}"
    return f"{info.name} does not come back from JSON: make it a msgspec.Struct or a dataclass, or keep what it is made from"


def _first(parts: Iterable[tuple[str, Type]]) -> Unstorable | None:
    for step, part in parts:
        if (fault := unstorable_part(part)) is not None:
            path, reason = fault
            return step + path, reason
    return None
