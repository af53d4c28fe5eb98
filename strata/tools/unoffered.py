"""Fields that a class gives itself (`field(init=False)`): a model learns of none, and what it sends for one is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NewType, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from strata.graph.meanings import ALIASES, has_fields
from strata.graph.shapes import Fields, class_of, name_of, shapes_within
from strata.tools.kinds import Again, Kind, Listing, Named, Noted, OneOf, Record, Row, Table
from strata.tools.signature import ToolParameter


def own_fields(shape: Fields) -> frozenset[str]:
    """The fields that no constructor takes; msgspec would read them all the same."""
    cls: Any = class_of(shape)
    fields = getattr(cls, "__dataclass_fields__", None)
    found = fields.values() if fields is not None else getattr(cls, "__attrs_attrs__", ())
    return frozenset(field.name for field in found if not field.init)


def unreadable_own_fields(parameters: Iterable[ToolParameter]) -> Iterator[tuple[str, str]]:
    """Those that msgspec asks for, since they have no default: their path, and what to do."""
    for path, field, cls in _all_own_fields(parameters):
        if field.required:
            yield f"{path}.{field.name}", f"{cls} gives it to itself, and msgspec asks for it: give it a default, or make it a property"


def has_own_fields(parameters: Iterable[ToolParameter]) -> bool:
    """Whether there is one of them anywhere inside."""
    return any(True for _ in _all_own_fields(parameters))


def _all_own_fields(parameters: Iterable[ToolParameter]) -> Iterator[tuple[str, inspect.Field, str]]:
    for parameter in parameters:
        if not _mentions_fields(parameter.type):  # 2 us; most types do not, and to describe one takes 100
            continue
        for path, shape in shapes_within(inspect.type_info(parameter.type), parameter.name):
            if isinstance(shape, inspect.DataclassType):
                own = own_fields(shape)
                yield from ((path, field, name_of(class_of(shape))) for field in shape.fields if field.name in own)


def _mentions_fields(annotation: Any) -> bool:
    kind = get_origin(annotation) or annotation
    return has_fields(kind) or isinstance(kind, (*ALIASES, NewType, TypeVar)) or any(map(_mentions_fields, get_args(annotation)))


def without_own_fields(raw: str, arguments: Record) -> str:
    """The arguments without what was sent for such fields. What is no JSON is left for the decoder to tell."""
    try:
        value = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return raw
    return msgspec.json.encode(value).decode() if leave_out_own_fields(value, arguments) else raw


def leave_out_own_fields(value: object, kind: Kind) -> bool:
    """Take them out of plain JSON, in place. Gives whether there were any."""
    own = list(_own_fields_sent(value, kind, {}))
    for sent, name in own:
        del sent[name]
    return bool(own)


def _own_fields_sent(value: object, kind: Kind, named: Mapping[str, Kind]) -> Iterator[tuple[dict[str, object], str]]:
    """Each with the object that it stands in."""
    if isinstance(kind, Named):
        named = {**named, kind.name: kind.kind}
    if isinstance(kind, Record):
        yield from _own_fields_of(value, kind)
    for part, inside in _parts(value, kind, named):
        yield from _own_fields_sent(part, inside, named)


def _own_fields_of(value: object, record: Record) -> Iterable[tuple[dict[str, object], str]]:
    if not isinstance(value, dict):
        return []
    sent = cast("dict[str, object]", value)
    return [(sent, name) for name in record.own if name in sent]


def _parts(value: object, kind: Kind, named: Mapping[str, Kind]) -> Iterable[tuple[object, Kind]]:
    """What is inside the value, each with its kind; or the value itself with the kind that it may be."""
    match kind, value:
        case Noted() | Named(), _:
            return [(value, kind.kind)]
        case Again(name), _ if name in named:
            return [(value, named[name])]
        case OneOf(members), _:
            return [(value, member) for member in members if _may_be(member, value)]
        case Listing(inside), list():
            return [(item, inside) for item in cast("list[object]", value)]
        case Row(places), list():
            return zip(cast("list[object]", value), places, strict=False)
        case Table(_, inside), dict():
            return [(item, inside) for item in cast("dict[str, object]", value).values()]
        case Record(fields), dict():
            return [(cast("dict[str, object]", value).get(field.name), field.kind) for field in fields]
        case _:
            return []


def _may_be(kind: Kind, value: object) -> bool:
    """Of several objects in a union a tag says which is meant."""
    while isinstance(kind, Noted | Named):
        kind = kind.kind
    tag = kind.tag if isinstance(kind, Record) else None
    return tag is None or (isinstance(value, dict) and cast("dict[str, object]", value).get(tag[0]) == tag[1])
