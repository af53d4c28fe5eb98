"""The classes that an annotation speaks of, and those that their fields speak of, at any depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import get_annotations
from typing import Any, get_args, get_origin


def classes_in(annotations: Iterable[Any]) -> Iterator[type[Any]]:
    """Each once; those without fields and those of the standard library are among them."""
    seen: set[int] = set()
    left = list(annotations)
    while left:
        annotation = left.pop()
        if id(annotation) in seen:
            continue
        seen.add(id(annotation))
        left += (get_origin(annotation), *get_args(annotation), getattr(annotation, "__value__", None))  # the last: of an alias
        if isinstance(annotation, type):
            yield annotation
            left += (found for base in annotation.__mro__ for found in get_annotations(base).values())
