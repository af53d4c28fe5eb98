"""Which fields of a state can surely not be stored, as far as their annotations are written out."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from strata.analysis.annotations import is_well_known, parsed, value_of
from strata.analysis.scopes import Scope
from strata.analysis.values import Class, Named, Value
from strata.rules import unstorable
from strata.rules.facts import StateFieldFault

_FIRST: Final = frozenset({"Optional", "Annotated", "Final"})
_TUPLES: Final = frozenset({"tuple", "Tuple"})
_SETS: Final = frozenset({"set", "Set", "frozenset", "FrozenSet", "MutableSet", "AbstractSet"})
_ITEMS: Final = frozenset({*_SETS, "list", "List", "Sequence", "MutableSequence", "Collection"})
_VALUES: Final = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_NO_KEYS: Final = frozenset({*_TUPLES, *_ITEMS, *_VALUES, "bool"})
_NO_MEMBERS: Final = frozenset({"list", "dict", "set", "bytearray"})

_STRUCTS: Final = frozenset({"msgspec.Struct", "strata.State"})
_VIEWS: Final = frozenset({"builtins.memoryview", "msgspec.Raw"})
_LIVE: Final = frozenset({"collections.abc.Callable", "typing.Callable", "types.SimpleNamespace"})
_PATHS: Final = frozenset(f"pathlib.{name}" for name in ("Path", "PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"))

_STREAMS: Final = ("Iterator", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Awaitable", "Coroutine")
LIVE_CLASSES: Final = frozenset(
    f"{module}.{name}"
    for module, names in {
        "array": ("array",),
        "asyncio": ("AbstractEventLoop", "Condition", "Event", "Future", "Lock", "Queue", "Semaphore", "StreamReader", "StreamWriter", "Task"),
        "builtins": ("complex", "range", "slice"),
        "collections": ("ChainMap",),
        "collections.abc": _STREAMS,
        "concurrent.futures": ("Future", "ProcessPoolExecutor", "ThreadPoolExecutor"),
        "contextvars": ("Context", "ContextVar"),
        "datetime": ("timezone", "tzinfo"),
        "io": ("BufferedReader", "BytesIO", "StringIO", "TextIOWrapper"),
        "ipaddress": ("IPv4Address", "IPv4Network", "IPv6Address", "IPv6Network"),
        "logging": ("Logger", "LoggerAdapter"),
        "queue": ("Queue",),
        "random": ("Random",),
        "re": ("Match", "Pattern"),
        "socket": ("socket",),
        "sqlite3": ("Connection", "Cursor"),
        "subprocess": ("Popen",),
        "threading": ("Condition", "Event", "Semaphore", "Thread"),
        "typing": ("BinaryIO", "IO", "TextIO", *_STREAMS),
        "zoneinfo": ("ZoneInfo",),
    }.items()
    for name in names
)
"""Of the standard library, without those that there is advice on."""


class Written(NamedTuple):
    """An annotation, and where its names are looked up."""

    expression: ast.expr
    scope: Scope


def field_faults(state: Class) -> Iterator[StateFieldFault]:
    """The fields of a state, at any depth, that `compile()` refuses; a class in several places is told at the first."""
    yield from _faults_of_class(state, state.name, {state})


def faults_of_annotation(annotation: ast.expr, scope: Scope, path: str) -> Iterator[StateFieldFault]:
    """The parts of what is annotated, at any depth, that do not come back from JSON."""
    yield from _faults_in(Written(annotation, scope), path, set())


def _faults_of_class(owner: Class, path: str, seen: set[Class]) -> Iterator[StateFieldFault]:
    for field, written in _fields(owner).items():
        yield from _faults_in(written, f"{path}.{field}", seen)


def _fields(owner: Class) -> dict[str, Written]:
    """Fields by name, inherited ones first; of several bases it cannot be told whose field counts."""
    inner = [base for base in owner.bases if isinstance(base, Class)]
    is_plain = len(inner) == 1 and all(isinstance(base, Class) or is_well_known(base) for base in owner.bases)
    fields = _fields(inner[0]) if is_plain else {}
    for statement in owner.definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            fields[statement.target.id] = Written(statement.annotation, owner.scope)
    return fields


def _faults_in(written: Written, path: str, seen: set[Class]) -> Iterator[StateFieldFault]:
    expression, scope = written
    match expression:
        case ast.Constant(value=str() as text):
            if (inner := parsed(text)) is not None:
                yield from _faults_in(Written(inner, scope), path, seen)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            for side in (left, right):
                yield from _faults_in(Written(side, scope), path, seen)
        case ast.Subscript(value=owner, slice=inside):
            yield from _faults_of_parametrised(value_of(owner, scope), _parts(inside), written, path, seen)
        case _:
            yield from _faults_of_value(value_of(expression, scope), path, seen)


def _faults_of_parametrised(origin: Value, parts: list[ast.expr], written: Written, path: str, seen: set[Class]) -> Iterator[StateFieldFault]:
    name = _name_in_typing(origin)
    if name in _FIRST:
        steps = [("", parts[0])]
    elif name == "Union":
        steps = [("", part) for part in parts]
    elif name in _TUPLES:
        is_variable = len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...
        steps = [("[]", parts[0])] if is_variable else [(f"[{at}]", part) for at, part in enumerate(parts)]
    elif name in _ITEMS:
        steps = [("[]", parts[0])]
    elif name in _VALUES and len(parts) == 2:
        steps = [("{key}", parts[0]), ("{}", parts[1])]
    else:
        yield from _faults_of_value(origin, path, seen)
        return
    if (reason := _reason_of_container(name, Written(parts[0], written.scope))) is not None:
        yield StateFieldFault(path=path, reason=reason)
        return
    for step, part in steps:
        yield from _faults_in(Written(part, written.scope), path + step, seen)


def _reason_of_container(name: str, first: Written) -> str | None:
    """Why nothing of the kind `first` can be a key, or stand in a set."""
    value = value_of(_unsubscripted(first.expression), first.scope)
    kind = _name_in_typing(value)
    if name in _VALUES and (kind in _NO_KEYS or (isinstance(value, Class) and _has_fields(value))):
        return unstorable.of_key(_described(first.expression))
    if name in _SETS and kind in _NO_MEMBERS:
        return unstorable.of_member(_described(first.expression))
    return None


def _faults_of_value(value: Value, path: str, seen: set[Class]) -> Iterator[StateFieldFault]:
    if isinstance(value, Class) and _has_fields(value):
        if value not in seen:
            seen.add(value)
            yield from _faults_of_class(value, path, seen)
    elif (reason := _reason(value)) is not None:
        yield StateFieldFault(path=path, reason=reason)


def _reason(value: Value) -> str | None:
    """Why a value of that class cannot be stored; None where it can, or it cannot be told."""
    if isinstance(value, Class):
        return unstorable.of_class(value.name, _advised_base(value)) if _is_plain(value) else None
    if not isinstance(value, Named):
        return None
    path = value.path
    if path in _LIVE:
        return unstorable.LIVE
    if path == "builtins.object":
        return unstorable.OBJECT
    if path in _VIEWS:
        return unstorable.of_view(path.removeprefix("builtins."))
    advised = _advised(path)
    return unstorable.of_class(path.rpartition(".")[2], advised) if advised is not None or path in LIVE_CLASSES else None


def _is_plain(value: Class) -> bool:
    """Whether nothing has made it a class with fields that msgspec knows: no decorator, no metaclass, no base of another kind."""
    definition = value.definition
    if definition.decorator_list or definition.keywords:
        return False
    return all(_is_plain(base) if isinstance(base, Class) else _is_plain_base(base) for base in value.bases)


def _is_plain_base(base: Value) -> bool:
    return isinstance(base, Named) and (_name_in_typing(base) in {"object", "ABC", "Generic", "Protocol"} or _advised(base.path) is not None)


def _advised_base(value: Class) -> str | None:
    for base in value.bases:
        known = _advised_base(base) if isinstance(base, Class) else _advised(base.path) if isinstance(base, Named) else None
        if known is not None:
            return known
    return None


def _advised(path: str) -> str | None:
    """The class with advice that the named one is, or derives from."""
    module, _, name = path.rpartition(".")
    if path in unstorable.ADVICE:
        return path
    if path in _PATHS:
        return "pathlib.PurePath"
    is_error = module == "builtins" and isinstance(found := getattr(builtins, name, None), type) and issubclass(found, BaseException)
    return "builtins.BaseException" if is_error else None


def _has_fields(value: Class) -> bool:
    """Whether it is a struct, as every state is; dataclasses and others are not looked into."""
    return any(_has_fields(base) if isinstance(base, Class) else isinstance(base, Named) and base.path in _STRUCTS for base in value.bases)


def _name_in_typing(value: Value) -> str:
    """`list`, `Union`, `Mapping`: the name of what Python itself has; empty for all else."""
    module, _, name = value.path.rpartition(".") if isinstance(value, Named) else ("", "", "")
    return name if module in {"builtins", "typing", "typing_extensions", "collections.abc", "abc"} else ""


def _parts(inside: ast.expr) -> list[ast.expr]:
    return inside.elts if isinstance(inside, ast.Tuple) and inside.elts else [inside]


def _unsubscripted(expression: ast.expr) -> ast.expr:
    return expression.value if isinstance(expression, ast.Subscript) else expression


def _described(expression: ast.expr) -> str:
    """As `compile()` names types: `tuple[date, int]`."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", ast.unparse(expression))
