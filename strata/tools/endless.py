"""An alias that stands inside itself (`type Tree = dict[str, Tree] | int`): Python takes it, and no reader of JSON does."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from strata.graph.meanings import ALIASES, has_fields, hints_of


def endless_alias(annotation: Any) -> str | None:
    """The name of the first one in an annotation, in the fields of its classes too."""
    return _within(annotation, (), set())


def _within(annotation: Any, aliases: tuple[Any, ...], seen: set[Any]) -> str | None:
    origin = get_origin(annotation)
    kind = annotation if origin is None else origin
    parts = list(get_args(annotation))
    if isinstance(kind, ALIASES):
        if kind in aliases:
            return str(kind.__name__)
        aliases, parts = (*aliases, kind), [*parts, kind.__value__]
    elif has_fields(kind) and kind not in seen:
        seen.add(kind)
        parts += hints_of(annotation).values()
    return next((name for part in parts if (name := _within(part, aliases, seen)) is not None), None)
