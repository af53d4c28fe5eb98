"""What may be imported and called for real while source is read: it makes types and plain values, and does nothing else."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import textwrap
import typing
import uuid
from collections.abc import Callable, Collection
from types import BuiltinMethodType
from typing import Any, Final, NewType

import msgspec
import typing_extensions

from strata.tools.naming import NamingRule, rename_fields, rename_members

MODULES: Final = frozenset(
    {
        *("abc", "builtins", "collections", "collections.abc", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
        *("inspect", "ipaddress", "math", "numbers", "pathlib", "re", "string", "textwrap", "types", "typing", "uuid", "zoneinfo"),
        *("msgspec", "msgspec.json", "msgspec.structs", "typing_extensions", "annotated_doc"),
    }
)

_CALLS: Final[frozenset[Callable[..., Any]]] = frozenset(
    {
        *(msgspec.Meta, msgspec.field, dataclasses.field, enum.auto, NewType),
        *(typing.TypeVar, typing_extensions.TypeVar, typing_extensions.Doc, typing.get_args, typing_extensions.get_args),
        *(list, dict, set, frozenset, tuple, str, bytes, bytearray, int, float, bool, len, min, max, abs, round, sorted, sum, range),
        *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
        *(decimal.Decimal, uuid.UUID, textwrap.dedent, inspect.cleandoc),
        *(enum.nonmember, enum.member),
        *(rename_fields, rename_members),
        *(rename(rule) for rule in typing.get_args(NamingRule) for rename in (rename_fields, rename_members)),
    }
)

TEXT_METHODS: Final = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "replace", "join", "split", "format"})


def is_own(module: str) -> bool:
    """Strata itself."""
    return module.partition(".")[0] == "strata"


def may_import(module: str, trusted: Collection[str]) -> bool:
    """Whether a module may be imported for real; `trusted` are packages that the project says so of."""
    return module in MODULES or is_own(module) or is_trusted(module, trusted)


def is_trusted(module: str, trusted: Collection[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in trusted)


def may_call(fn: Any, trusted: Collection[str]) -> bool:
    """Whether a real callable may be called."""
    if isinstance(fn, NewType):
        return True
    if isinstance(fn, BuiltinMethodType) and isinstance(fn.__self__, str):
        return fn.__name__ in TEXT_METHODS
    try:
        return fn in _CALLS or is_trusted(str(getattr(fn, "__module__", "")), (*trusted, "annotated_doc"))
    except TypeError:  # it has no hash
        return False
