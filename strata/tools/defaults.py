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
        value = self.value if self.factory is msgspec.NODEFAULT or not gives_the_same(self.factory) else self.factory()
        if value is None or value is msgspec.NODEFAULT or value is msgspec.UNSET:
            return msgspec.UNSET
        try:
            told = plain_json(msgspec.to_builtins(value, str_keys=True, order="deterministic"))
            msgspec.convert(told, annotation)
            msgspec.msgpack.encode(told)  # an integer of more than 64 bits is refused in a call
        except Exception:  # a value of any class may stand there, and what it does when it is looked at is its own
            return msgspec.UNSET
        return told


def gives_the_same(factory: Any) -> bool:
    """Whether what a factory makes is alike each time; NODEFAULT is none at all."""
    return factory is msgspec.NODEFAULT or (get_origin(factory) or factory) in CONTAINERS


def _may_change(value: object) -> bool:
    return isinstance(value, list | dict | set | bytearray | msgspec.Struct) or is_dataclass(value)


def _copier(value: Any) -> Callable[[], Any]:
    return lambda: deepcopy(value)
