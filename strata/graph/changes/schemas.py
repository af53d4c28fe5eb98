"""Whether all that one JSON Schema describes can be read as another: for the schemas that msgspec makes of types, read as msgspec reads.

Unknown keys are dropped where they are not forbidden, an integer is read as a number. Keys of a dict are told apart as far as
they are text: schemas do not say which are numbers or times.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from strata.graph.answer_schema import Schema, misfit, referred_to
from strata.graph.schema_words import in_words
from strata.graph.time_formats import ANY_DATE_TIME, ANY_TIME

Kind: TypeAlias = Literal["added", "added_without_default", "removed", "refused", "retyped", "widened", "default_removed"]
Seen: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of named types that are being compared already: a type may hold itself."""


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field that is not what it was, by its path (`lines[].shipped`); `was` and `now` say its type in words.

    `refused` is a removed field where the new type forbids unknown ones; `default_removed` one that every value had to have
    only since.
    """

    path: str
    kind: Kind
    was: str = ""
    now: str = ""

    @property
    def is_readable(self) -> bool:
        """Whether every value of the old type is still read, with all that it holds."""
        return self.kind in ("added", "widened", "default_removed")


def field_changes(old: Schema, new: Schema) -> tuple[FieldChange, ...]:
    """The fields of a state that changed, at any depth, in the order of the old schema, then of the new one."""
    return tuple(dict.fromkeys(_changes(_Typed(old, old.get("$defs", {})), _Typed(new, new.get("$defs", {})), "", frozenset())))


class _Typed(msgspec.Struct, frozen=True):
    """A part of a schema, and the named types that it may refer to."""

    schema: Schema
    named: Mapping[str, Schema]

    @property
    def reference(self) -> str | None:
        return self.schema.get("$ref")

    @property
    def is_anything(self) -> bool:
        return not self.schema.keys() & {"$ref", "anyOf", "enum", "type"}

    @property
    def kind(self) -> str | None:
        return self.schema.get("type")

    @property
    def words(self) -> str:
        return in_words({**self.schema, "$defs": self.named})

    def resolved(self) -> _Typed:
        return self if self.reference is None else self.part(referred_to(self.reference, self.named)).resolved()

    def part(self, schema: Schema) -> _Typed:
        return _Typed(schema, self.named)

    def choices(self) -> Iterator[_Typed]:
        """What a union is one of, unions inside it taken apart; itself where it is none."""
        here = self.resolved()
        if "anyOf" not in here.schema:
            yield self
        for choice in here.schema.get("anyOf", ()):
            yield from self.part(choice).choices()

    def fields(self) -> Mapping[str, Schema]:
        fields: Mapping[str, Schema] = self.schema.get("properties", {})
        return fields

    def values(self) -> _Typed | None:
        """What a dict holds; None for an object with fields."""
        others: Any = self.schema.get("additionalProperties", None if "properties" in self.schema else {})
        return self.part(others) if isinstance(others, Mapping) else None  # pyright: ignore[reportUnknownArgumentType]

    def keys(self) -> _Typed:
        """What the keys of a dict are: texts, of a form where that is said."""
        return self.part({"type": "string", **self.schema.get("propertyNames", {})})

    def places(self) -> Sequence[Schema]:
        places: Sequence[Schema] = self.schema.get("prefixItems", ())
        return places

    def item(self, index: int) -> _Typed | None:
        """What stands at a place of an array; None where that is not said."""
        places = self.places()
        found: Any = places[index] if index < len(places) else self.schema.get("items")
        return self.part(found) if isinstance(found, Mapping) else None  # pyright: ignore[reportUnknownArgumentType]


def _changes(old: _Typed, new: _Typed, path: str, seen: Seen) -> Iterator[FieldChange]:
    if old.reference is not None and new.reference is not None:
        pair = (old.reference, new.reference)
        if pair in seen:
            return
        seen |= {pair}
    was, now = old.resolved(), new.resolved()
    if now.is_anything:
        if not was.is_anything:
            yield _widened(old, new, path)
    elif "anyOf" in was.schema or "anyOf" in now.schema:
        yield from _changes_of_union(old, new, path, seen)
    elif was.kind == now.kind == "object" and now.values() is None:
        yield from _changes_of_object(was, now, path, seen)
    elif was.kind == now.kind == "array":
        yield from _changes_of_array(was, now, path, seen)
    elif was.kind == now.kind == "object" and (values := was.values()) is not None and (others := now.values()) is not None:
        if all(change.is_readable for change in _changes(was.keys(), now.keys(), path, seen)):
            yield from _changes_of_value(was, now, path)
        else:
            yield _retyped(old, new, path)
        yield from _changes(values, others, f"{path}{{}}", seen)
    else:
        yield from _changes_of_value(was, now, path)


def _changes_of_union(old: _Typed, new: _Typed, path: str, seen: Seen) -> Iterator[FieldChange]:
    before, after = list(old.choices()), list(new.choices())
    found = [change for choice in before for change in _changes_of_choice(choice, after, path, seen)]
    whole = (change for change in found if change.path != path)
    if any(change.path == path and not change.is_readable for change in found):
        yield _retyped(old, new, path)  # said once, of the union and not of each choice
    elif len(after) > len(before):
        yield _widened(old, new, path)
    yield from whole


def _changes_of_choice(old: _Typed, choices: Iterable[_Typed], path: str, seen: Seen) -> Sequence[FieldChange]:
    """What one choice of a union comes to: where nothing takes it as it is, what changed in the one that it must be."""
    found = [(choice, list(_changes(old, choice, path, seen))) for choice in choices]
    for _, changes in sorted(found, key=lambda one: len(one[1])):
        if all(change.is_readable for change in changes):
            return changes
    meant = _meant(old.resolved(), found)
    return [FieldChange(path=path, kind="retyped")] if meant is None else meant


def _meant(old: _Typed, found: Sequence[tuple[_Typed, Sequence[FieldChange]]]) -> Sequence[FieldChange] | None:
    """The changes of the one object that an object must have become: of its name, or the only one; None where that is not clear."""
    if not old.fields():
        return None
    objects = [(choice.resolved(), changes) for choice, changes in found if choice.resolved().fields()]
    namesakes = [(choice, changes) for choice, changes in objects if choice.schema.get("title") == old.schema.get("title")]
    meant = namesakes or objects
    return meant[0][1] if len(meant) == 1 else None


def _changes_of_object(old: _Typed, new: _Typed, path: str, seen: Seen) -> Iterator[FieldChange]:
    before, after = old.fields(), new.fields()
    if old.values() is not None:  # a dict, whose keys nobody knows
        yield _retyped(old, new, path)
        return
    required_before, required = old.schema.get("required", ()), new.schema.get("required", ())
    for name, field in before.items():
        inside = f"{path}.{name}" if path else name
        if name not in after:
            yield FieldChange(path=inside, kind="refused" if new.schema.get("additionalProperties") is False else "removed")
            continue
        yield from _changes(old.part(field), new.part(after[name]), inside, seen)
        if name in required and name not in required_before:
            yield FieldChange(path=inside, kind="default_removed")
    for name in after:
        if name not in before:
            inside = f"{path}.{name}" if path else name
            yield FieldChange(path=inside, kind="added_without_default" if name in required else "added")


def _changes_of_array(old: _Typed, new: _Typed, path: str, seen: Seen) -> Iterator[FieldChange]:
    yield from _changes_of_value(old, new, path)
    places = max(len(old.places()), len(new.places()))
    steps = [(index, f"[{index}]") for index in range(places)] + [(places, "[]")]
    for index, step in steps:
        before, after = old.item(index), new.item(index)
        if after is not None and not after.is_anything and (before is not None or index == places):
            yield from _changes(before or old.part({}), after, path + step, seen)


def _changes_of_value(old: _Typed, new: _Typed, path: str) -> Iterator[FieldChange]:
    if not _is_read_as(old, new):
        yield _retyped(old, new, path)
    elif _told(old.schema) != _told(new.schema):
        yield _widened(old, new, path)


def _is_read_as(old: _Typed, new: _Typed) -> bool:
    if (values := old.schema.get("enum")) is not None:
        return new.schema.get("format") not in _WITHIN and all(misfit(value, {**new.schema, "$defs": new.named}) is None for value in values)
    if old.kind != new.kind and (old.kind, new.kind) != ("integer", "number"):
        return False
    if "enum" in new.schema or (old.fields() and new.values() is not None and not _is_open(new)):
        return False
    if any(not _is_of_form(old.schema, new.schema, keyword) for keyword in _FORMS):
        return False
    return all(_is_no_narrower(old.schema, new.schema, keyword, holds) for keyword, holds in _BOUNDS.items())


def _is_of_form(old: Schema, new: Schema, keyword: str) -> bool:
    was, now = old.get(keyword), new.get(keyword)
    return now in (None, was) or was in _WITHIN.get(now, ())


def _is_open(mapping: _Typed) -> bool:
    values = mapping.values()
    return values is not None and values.is_anything


def _is_no_narrower(old: Schema, new: Schema, bound: str, holds: Callable[[float, float], bool]) -> bool:
    return bound not in new or (bound in old and holds(old[bound], new[bound]))


def _told(schema: Schema) -> Mapping[str, Any]:
    """What of a value's schema decides which values it takes."""
    return {keyword: schema[keyword] for keyword in ("type", "enum", *_FORMS, *_BOUNDS) if keyword in schema}


def _retyped(old: _Typed, new: _Typed, path: str) -> FieldChange:
    return FieldChange(path=path, kind="retyped", was=old.words, now=new.words)


def _widened(old: _Typed, new: _Typed, path: str) -> FieldChange:
    return FieldChange(path=path, kind="widened", was=old.words, now=new.words)


_FORMS: Final = ("format", "contentEncoding", "pattern", "multipleOf")
_WITHIN: Final[Mapping[Any, Sequence[str]]] = {ANY_DATE_TIME: ("date-time", "partial-date-time"), ANY_TIME: ("time", "partial-time")}
"""Formats whose every text is one of another format too."""
_BOUNDS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), operator.ge),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), operator.le),
}
