"""Comparisons written for one state type: "certainly the same, types and all", faster than the bytes were decoded.

As in `strata.graph.quick_fit`, whatever they do not call the same goes to the walk in `strata.graph.unfit`, which is the
rule. A state of 1 KB with 20 messages takes 3 us of processor time; decoding it takes 5, encoding 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, time
from decimal import Decimal
from itertools import repeat
from math import copysign
from operator import eq
from typing import Any, TypeAlias

from msgspec import inspect

from strata.graph.quick_source import KINDS, Source, are_texts, bulk_kind, can_be_written, item_of, key_of, none_first, not_certain
from strata.graph.shapes import HIGHEST_INTEGER, LOWEST_INTEGER, RECORD_DEPTH, Shape, class_of, may_be_unset
from strata.graph.unfit import SCALARS, first_difference, first_unfit

Same: TypeAlias = Callable[[Any, Any], bool]


def comes_back(shape: inspect.StructType) -> Same:
    """A function `(state, back)`: is `back`, decoded from what was written, certainly the same, types and all?"""
    if not can_be_written(shape):
        return not_certain
    source = _Same(**_CALLED)
    function: Same = source.compiled(source.function_of(shape))
    return function


class _Same(Source):
    """`name` is the value, `first` what to write where it is used first, `back` what was decoded; `sure`: its type can be no other."""

    def test(self, shape: Shape, name: str, back: str, first: str | None = None, *, sure: bool = True) -> str:
        head = first or name
        match shape:
            case inspect.Metadata():
                return self.test(shape.type, name, back, first, sure=sure)
            case inspect.AnyType():
                return f"json_same({head}, {back})"
            case inspect.NoneType():
                return f"{head} is None is {back}"
            case inspect.UnionType():
                firsts = [first, *repeat(None, len(shape.types) - 1)]
                sure = sum(not isinstance(member, inspect.NoneType) for member in shape.types) < 2
                members = zip(none_first(shape), firsts, strict=True)
                return f"({' or '.join(self.test(member, name, back, one, sure=sure) for member, one in members)})"
            case inspect.EnumType():
                return f"type({head}) is {self.value(shape.cls)}{self.same_type(name, back, sure)} and ({name} is {back} or {name} == {back})"
            case _ if type(shape) in SCALARS:
                kind = SCALARS[type(shape)]
                equal = _EQUAL.get(kind, " and {a} == {b}").format(a=name, b=back, slow=self.slow(shape))
                return f"type({head}) is {kind.__name__}{self.same_type(name, back, sure)}{equal}"
            case inspect.LiteralType():
                known = self.value(frozenset((type(one), one) for one in shape.values))
                return f"(type({head}), {name}) in {known} and type({name}) is type({back}) and {name} == {back}"
            case inspect.SetType() | inspect.FrozenSetType() if bulk_kind(shape.item_type) is None:
                return f"{self.slow(shape)}({head}, {back})"
            case inspect.StructType() | inspect.DataclassType() if not can_be_written(shape):
                return f"{self.slow(shape)}({head}, {back})"
            case _:
                call = f"{self.function_of(shape)}({head}, {back})"
                return call if sure else f"{call}{self.same_type(name, back, sure)}"

    def same_type(self, name: str, back: str, sure: bool) -> str:
        return "" if sure else f" and type({name}) is type({back})"

    def slow(self, shape: Shape) -> str:
        def same(value: Any, back: Any) -> bool:
            return first_unfit(shape, value, "", RECORD_DEPTH) is None and first_difference(shape, value, back, "") is None

        return self.value(same)

    def each(self, shape: Shape, name: str, back: str) -> str:
        if isinstance(shape, inspect.StructType) and id(shape) not in self.names and can_be_written(shape):
            return self.struct(shape, name, back)
        return self.test(shape, name, back)

    def struct(self, shape: inspect.StructType | inspect.DataclassType, name: str, back: str) -> str:
        tests = [f"type({name}) is {self.value(class_of(shape))}"]
        for field in shape.fields:
            part, other = self.fresh("t"), f"{back}.{field.name}"
            if may_be_unset(field):
                tests.append(f"(({part} := {name}.{field.name}) is UNSET is {other} or {self.test(field.type, part, other)})")
            else:
                tests.append(self.test(field.type, part, other, f"({part} := {name}.{field.name})"))
        return " and ".join(tests)

    def write(self, shape: Shape, name: str) -> str:
        head = f"def {name}(a, b):\n"
        match shape:
            case inspect.StructType() | inspect.DataclassType():
                return f"{head}    return {self.struct(shape, 'a', 'b')}"
            case inspect.NamedTupleType():
                parts = [f" and {self.test(field.type, f'a[{index}]', f'b[{index}]')}" for index, field in enumerate(shape.fields)]
                return f"{head}    return type(a) is {self.value(class_of(shape))}{''.join(parts)}"
            case inspect.TupleType():
                parts = [f" and {self.test(item, f'a[{index}]', f'b[{index}]')}" for index, item in enumerate(shape.item_types)]
                return f"{head}    return type(a) is tuple and len(a) == {len(parts)} == len(b){''.join(parts)}"
            case inspect.TypedDictType():
                return f"{head}{_ALIKE.format(kind='dict')}{self.typed_dict(shape)}    return True"
            case inspect.DictType():
                return f"{head}{_ALIKE.format(kind='dict')}{self.entries(shape)}    return True"
            case _:
                return f"{head}{_ALIKE.format(kind=KINDS[type(shape)])}{self.items(item_of(shape))}    return True"

    def typed_dict(self, shape: inspect.TypedDictType) -> str:
        tests: list[str] = []
        for key, part in ((repr(field.name), field.type) for field in shape.fields):
            tests.append(f"    if {key} in a and not ({key} in b and {self.test(part, f'a[{key}]', f'b[{key}]')}): return False")
        keys = self.value({field.name for field in shape.fields})
        return "\n".join([f"    if not a.keys() <= {keys}: return False", *tests, ""])

    def items(self, shape: Shape) -> str:
        kind = bulk_kind(shape)
        if kind is not None:
            return self.bulk(kind, "a", "b")
        return f"    for x, y in zip(a, b):\n        if not ({self.each(shape, 'x', 'y')}): return False\n"

    def bulk(self, kind: type[Any], ours: str, back: str) -> str:
        exact = _BULK_SAME.get(kind, "").format(a=ours, b=back)
        equal = "a != b or " if ours == "a" else ""
        return f"    if {equal}not (set(map(type, {ours})) <= {self.value({kind})}{exact}): return False\n"

    def entries(self, shape: inspect.DictType) -> str:
        kind = bulk_kind(key_of(shape)), bulk_kind(shape.value_type)
        if kind[0] is not None and kind[1] is not None:
            return self.bulk(kind[0], "a", "b") + self.bulk(kind[1], "a.values()", "b.values()")
        key, value = self.test(key_of(shape), "k", "j"), self.each(shape.value_type, "x", "y")
        return f"    for (k, x), (j, y) in zip(a.items(), b.items()):\n        if not ({key} and {value}): return False\n"


def json_same(value: Any, back: Any) -> bool:
    kind: object = value.__class__
    if kind is not type(back):
        return False
    if kind is dict:
        return list(value) == list(back) and are_texts(value) and all(map(json_same, value.values(), back.values()))
    if kind is list:
        return len(value) == len(back) and all(map(json_same, value, back))
    if kind is int:
        return bool(value == back) and LOWEST_INTEGER <= value <= HIGHEST_INTEGER
    return bool(value == back) and (kind is str or kind is bool or value is None or (kind is float and (value != 0.0 or str(value) == str(back))))


def same_zeros(values: Iterable[float], back: Iterable[float]) -> bool:
    """Equal floats differ only where 0.0 became -0.0."""
    return all(map(eq, map(copysign, repeat(1.0), values), map(copysign, repeat(1.0), back)))


_ALIKE = "    if type(a) is not {kind} or len(a) != len(b): return False\n"

_EQUAL: dict[type[Any], str] = {
    int: f" and {{a}} == {{b}} and {LOWEST_INTEGER} <= {{a}} <= {HIGHEST_INTEGER}",
    float: " and {a} == {b} and ({a} != 0.0 or str({a}) == str({b}))",
    Decimal: " and str({a}) == str({b})",
    datetime: " and {a} == {b} and not {a}.fold and ({a}.tzinfo is {b}.tzinfo or {slow}({a}, {b}))",
    time: " and {a} == {b} and not {a}.fold and ({a}.tzinfo is {b}.tzinfo or {slow}({a}, {b}))",
}

_BULK_SAME: dict[type[Any], str] = {
    int: f" and (not {{a}} or {LOWEST_INTEGER} <= min({{a}}) and max({{a}}) <= {HIGHEST_INTEGER})",
    float: " and (0.0 not in {a} or same_zeros({a}, {b}))",
}

_CALLED: dict[str, Any] = {"json_same": json_same, "same_zeros": same_zeros}
