"""What an annotation means, taken apart: the type itself, its arguments, and what stands beside it in `Annotated`."""

from __future__ import annotations

import sys
import typing
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Generic, NewType, NotRequired, Required, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from typing_extensions import ReadOnly, TypeAliasType

ALIASES: Final = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
"""Those of `type X = ...`, and their twins for Python 3.11, which are of another class up to 3.13."""
_WRAPPERS: Final = (Final, ClassVar, Required, NotRequired, ReadOnly)


@dataclass(frozen=True, slots=True)
class Meaning:
    """`Annotated[list[int], "how many"]` is `list` of `int`, with the text `how many`.

    Attributes:
        kind: the type, or the origin of a generic one.
        written: the type as it is annotated, with its arguments and without what stands beside it.
        arguments: those of a generic type; None where none are given.
        beside: what `Annotated` holds, the innermost first. Of two things that contradict each other the last one counts.
    """

    kind: Any
    written: Any
    arguments: tuple[Any, ...] | None
    beside: tuple[object, ...]

    @property
    def is_union(self) -> bool:
        return self.kind is Union or self.kind is UnionType

    @property
    def text(self) -> str | None:
        """What the annotation says of the value in words: plain text or `Doc`, else the description of a `Meta`."""
        said = [text for note in self.beside if (text := _plain_text(note)) is not None]
        described = [note.description for note in self.limits if note.description is not None]
        return next(iter([*reversed(said), *reversed(described)]), None)

    @property
    def limits(self) -> tuple[msgspec.Meta, ...]:
        """What msgspec knows of; the marks of others are left alone."""
        return tuple(note for note in self.beside if isinstance(note, msgspec.Meta))


def meaning_of(annotation: Any) -> Meaning:
    """An annotation whose names are all resolved, through aliases, new types and `Annotated`."""
    beside: tuple[object, ...] = ()
    while True:
        origin = get_origin(annotation)
        if isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif isinstance(annotation, ALIASES):
            annotation = annotation.__value__
        elif isinstance(origin, ALIASES):
            annotation = substituted(origin.__value__, dict(zip(origin.__type_params__, get_args(annotation), strict=False)))
        elif origin is Annotated:
            annotation, beside = annotation.__origin__, (*annotation.__metadata__, *beside)
        elif origin in _WRAPPERS:
            (annotation,) = get_args(annotation)
        else:
            break
    return Meaning(origin or annotation, annotation, None if origin is None else get_args(annotation), beside)


def substituted(annotation: Any, bound: Mapping[Any, Any]) -> Any:
    """The annotation with what its type variables stand for."""
    if isinstance(annotation, TypeVar):
        return bound.get(annotation, annotation)
    variables: tuple[Any, ...] = getattr(annotation, "__parameters__", ())
    if not variables or isinstance(annotation, type):  # a generic class without its arguments stands for itself
        return annotation
    return annotation[tuple(bound.get(variable, variable) for variable in variables)]


def hints_of(written: Any) -> dict[str, Any]:
    """The annotations of a class with fields, in the order of declaration, those of its bases first; it may be generic (`Page[int]`)."""
    cls = get_origin(written) or written
    bound = dict(_bindings(written))
    hints: dict[str, Any] = {field.name: field.type or Any for field in getattr(cls, "__attrs_attrs__", ())}  # attrs needs no annotations
    for base in reversed(cls.__mro__):
        if own := _own_annotations(base):
            resolved = get_type_hints(base, localns=_names_in(base), include_extras=True)
            hints |= {name: substituted(resolved[name], bound.get(base, {})) for name in own}
    return hints


def has_fields(kind: Any) -> bool:
    """Whether it is a class of one of the sorts that msgspec reads into fields."""
    return any(hasattr(kind, mark) for mark in ("__struct_fields__", "__dataclass_fields__", "__attrs_attrs__", "__total__", "_fields"))


def _names_in(cls: type[Any]) -> dict[str, Any] | None:
    """For annotations of a class with type parameters, which Python 3.12 does not find by itself."""
    parameters: tuple[Any, ...] = getattr(cls, "__type_params__", ())
    return {**vars(cls), **{parameter.__name__: parameter for parameter in parameters}} if parameters else None


def _own_annotations(cls: type[Any]) -> tuple[str, ...]:
    if sys.version_info >= (3, 14):
        from annotationlib import Format, get_annotations

        return tuple(get_annotations(cls, format=Format.FORWARDREF))
    return tuple(vars(cls).get("__annotations__", ()))


def _bindings(written: Any) -> Iterator[tuple[Hashable, Mapping[Any, Any]]]:
    """What the type variables of the class and of each of its bases stand for."""
    cls = get_origin(written) or written
    bound = dict(zip(getattr(cls, "__parameters__", ()), get_args(written), strict=False))
    yield cls, bound
    for base in getattr(cls, "__orig_bases__", ()):
        if get_origin(base) not in {None, Generic}:
            yield from _bindings(substituted(base, bound))


def _plain_text(note: object) -> str | None:
    if isinstance(note, str):
        return note
    documented = getattr(note, "documentation", None)  # Doc, of PEP 727
    return documented if isinstance(documented, str) else None
