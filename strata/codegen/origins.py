"""Which classes were made again, and from what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_origin

import libcst as cst

from strata.codegen.class_bodies import ClassBody
from strata.codegen.values import Frame

Kind: TypeAlias = Literal["struct", "enum", "typed dict", "named tuple", "other"]
"""By the bases; a dataclass is one of the others."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a class.

    Attributes:
        frame: what the names in its header mean.
    """

    node: cst.ClassDef
    body: ClassBody
    frame: Frame
    kind: Kind
    bases: tuple[Any, ...] = ()


class Origins:
    """The classes that were made again."""

    def __init__(self) -> None:
        self._by_class: dict[type[Any], Origin] = {}

    def add(self, cls: type[Any], origin: Origin) -> None:
        self._by_class[cls] = origin

    def of(self, value: Any) -> Origin | None:
        """That of a class, or of a generic one with its arguments; None for anything else."""
        cls = get_origin(value) or value
        return self._by_class.get(cls) if isinstance(cls, type) else None

    def lineage(self, value: Any) -> Iterator[tuple[type[Any], Origin]]:
        """Those of a class and of its bases, where they were made again."""
        for base in (get_origin(value) or value).__mro__:
            if (origin := self._by_class.get(base)) is not None:
                yield base, origin
