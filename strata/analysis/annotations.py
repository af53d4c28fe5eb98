"""Which class an annotation names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from strata.analysis.scopes import Scope
from strata.analysis.values import UNKNOWN, Class, Module, Named, Value, named

_WELL_KNOWN = frozenset({"strata", "builtins", "typing", "typing_extensions", "msgspec", "abc", "datetime", "decimal", "uuid"})


def value_of(annotation: ast.expr | None, scope: Scope) -> Value:
    """The class or the foreign name that an annotation is; UNKNOWN for all that is not a plain name, or stood for two things."""
    match annotation:
        case ast.Constant(value=str() as text):
            return value_of(parsed(text), scope)
        case ast.Name(id=name):
            return _settled(name, scope)
        case ast.Attribute(value=owner, attr=name):
            holder = value_of(owner, scope)
            if isinstance(holder, Named):
                return named(f"{holder.path}.{name}")
            return holder.member(name) if isinstance(holder, Module) else UNKNOWN
        case _:
            return UNKNOWN


def state_class(annotation: ast.expr | None, scope: Scope) -> Class | None:
    """The class, if it surely is a state."""
    value = value_of(annotation, scope)
    return value if isinstance(value, Class) and is_state(value) else None


def is_state(value: Class) -> bool:
    """Whether the class derives from `State`, as far as its bases are known."""
    return any(isinstance(base, Named) and base.path == "strata.State" for base in all_bases(value))


def may_be(value: Class, other: Class) -> bool:
    """Whether an instance of `value` may be one of `other`: it derives from it, or from something that is not known."""
    return any(base is other or not (isinstance(base, Class) or is_well_known(base)) for base in with_bases(value))


def is_well_known(base: Value) -> bool:
    """Whether it is a class of a library that knows nothing of the user's classes, nor of contexts."""
    return isinstance(base, Named) and base.path != "strata.Context" and base.path.partition(".")[0] in _WELL_KNOWN


def all_bases(value: Class) -> Iterator[Value]:
    """Of the class, at any depth."""
    for base in value.bases:
        yield base
        if isinstance(base, Class):
            yield from all_bases(base)


def with_bases(value: Value) -> Iterator[Value]:
    """The value, and if it is a class all its bases."""
    yield value
    if isinstance(value, Class):
        yield from all_bases(value)


def parsed(text: str) -> ast.expr | None:
    """What an annotation in quotes says; None where that is no expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _settled(name: str, scope: Scope) -> Value:
    around: Scope | None = scope
    while around is not None:
        if name in around.names:
            return around.settled(name)
        around = around.around
    return scope.look_up(name)  # of Python itself
