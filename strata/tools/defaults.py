"""The defaults of arguments, as JSON and for a call."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, is_dataclass
from typing import Any, Final, get_origin

import msgspec

from strata.graph.plain_json import plain_json

CONTAINERS: Final = (list, dict, set, frozenset, tuple, bytearray)
"""Factories that may be called to see what they give; those of others may count, ask the time, or fail."""


@dataclass(frozen=True, slots=True)
class Default:
    """Of a parameter or field: a value, or what makes one for each call; NODEFAULT where there is none."""

    value: Any = msgspec.NODEFAULT
    factory: Any = msgspec.NODEFAULT

    @classmethod
    def of(cls, given: Any) -> Default:
        """As it stands in a signature: a value, or a `msgspec.field` that has one of the two, or none."""
        return cls(given.default, given.default_factory) if isinstance(given, type(msgspec.field())) else cls(given)

    @property
    def is_there(self) -> bool:
        return self.value is not msgspec.NODEFAULT or self.factory is not msgspec.NODEFAULT

    def field(self, name: str | None) -> Any:
        """A field of a struct with this default, of that name in JSON. What could be changed is a copy for each call."""
        if self.factory is not msgspec.NODEFAULT:
            return msgspec.field(default_factory=self.factory, name=name)
        if self.value is msgspec.NODEFAULT:
            return msgspec.field(name=name)
        if _may_change(self.value):
            return msgspec.field(default_factory=_copier(self.value), name=name)
        return msgspec.field(default=self.value, name=name)

    def in_json(self, annotation: Any) -> Any:
        """As a model would give it; UNSET where there is none, none that JSON has, or none that fits its own type.

        null is not told: it means the same as nothing, or does not fit.
        """
        value = self.factory() if (get_origin(self.factory) or self.factory) in CONTAINERS else self.value
        if value is None or value is msgspec.NODEFAULT or value is msgspec.UNSET:
            return msgspec.UNSET
        try:
            told = plain_json(msgspec.to_builtins(value, str_keys=True, order="deterministic"))
            msgspec.convert(told, annotation)
        except Exception:  # a value of any class may stand there, and what it does when it is looked at is its own
            return msgspec.UNSET
        return told


def _may_change(value: object) -> bool:
    return isinstance(value, list | dict | set | bytearray | msgspec.Struct) or is_dataclass(value)


def _copier(value: Any) -> Callable[[], Any]:
    return lambda: deepcopy(value)
