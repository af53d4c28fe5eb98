"""Says in a state's JSON Schema where times stand: msgspec calls them plain text where neither a zone nor its absence is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import inspect

from strata.graph.answer_schema import referred_to
from strata.graph.shapes import Fields, Shape, parts_of

Tree: TypeAlias = dict[str, Any]
"""A part of a schema, to be changed in place."""

ANY_DATE_TIME: Final = "any-date-time"
ANY_TIME: Final = "any-time"
"""Formats of our own, of a time with or without a zone; whoever does not know a format lets every text pass."""


def name_times(schema: Tree, shape: Shape) -> None:
    """Give every time in the schema of that shape a format."""
    _name(schema, shape, schema.get("$defs", {}), set())


def _name(schema: Tree, shape: Shape, named: Mapping[str, Tree], seen: set[int]) -> None:
    here = _resolved(schema, named)
    match shape:
        case inspect.DateTimeType():
            here.setdefault("format", ANY_DATE_TIME)
        case inspect.TimeType():
            here.setdefault("format", ANY_TIME)
        case inspect.Metadata():
            _name(here, shape.type, named, seen)
        case inspect.UnionType():
            for member in shape.types:
                for choice in _choices(here, member, named):
                    _name(choice, member, named, seen)
        case inspect.StructType() | inspect.DataclassType() | inspect.NamedTupleType() | inspect.TypedDictType():
            if id(here) in seen:  # a type may hold itself
                return
            seen.add(id(here))
            for field, part in _fields(here, shape):
                _name(field, part, named, seen)
        case _:
            for step, part in parts_of(shape):
                for inside in _inside(here, step):
                    _name(inside, part, named, seen)


def _resolved(schema: Tree, named: Mapping[str, Tree]) -> Tree:
    while (reference := schema.get("$ref")) is not None:
        schema = referred_to(reference, named)
    return schema


def _choices(schema: Tree, member: Shape, named: Mapping[str, Tree]) -> Iterator[Tree]:
    """What describes the member of a union: of texts, arrays and objects there is one each, but for tagged ones."""
    while isinstance(member, inspect.Metadata):
        member = member.type
    discriminator = schema.get("discriminator")
    if discriminator is not None:
        if isinstance(member, inspect.StructType) and member.tag in discriminator["mapping"]:
            yield {"$ref": discriminator["mapping"][member.tag]}
        return
    for choice in schema.get("anyOf", ()):
        here = _resolved(choice, named)
        if "anyOf" in here:
            yield from _choices(here, member, named)
        elif here.get("type") == _kind(member):
            yield here


def _kind(shape: Shape) -> str | None:
    match shape:
        case inspect.DateTimeType() | inspect.TimeType():
            return "string"
        case inspect.StructType(array_like=True) | inspect.NamedTupleType():
            return "array"
        case inspect.StructType() | inspect.DataclassType() | inspect.TypedDictType() | inspect.DictType():
            return "object"
        case inspect.ListType() | inspect.SetType() | inspect.FrozenSetType() | inspect.VarTupleType() | inspect.TupleType():
            return "array"
        case _:
            return None


def _fields(schema: Tree, shape: Fields) -> Iterator[tuple[Tree, Shape]]:
    """The fields by their stored names, or by their places, where the tag of an array stands before them."""
    if (properties := schema.get("properties")) is not None:
        for field in shape.fields:
            if field.encode_name in properties:
                yield properties[field.encode_name], field.type
    elif (places := schema.get("prefixItems")) is not None:
        yield from zip(reversed(places), (field.type for field in reversed(shape.fields)), strict=False)


def _inside(schema: Tree, step: str) -> Iterator[Tree]:
    """What the schema says of a part, by the step of its path; nothing where it says nothing."""
    match step:
        case "[]":
            inside = schema.get("items")
        case "{}":
            inside = schema.get("additionalProperties")
        case "{key}":
            return
        case _:
            places = schema.get("prefixItems", ())
            inside = places[int(step[1:-1])] if int(step[1:-1]) < len(places) else None
    if isinstance(inside, dict):
        yield inside  # pyright: ignore[reportUnknownVariableType]
