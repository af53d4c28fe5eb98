"""Strict forms: closed to any depth, unchanged by the vendors' own SDKs, or refused with the reason (strata-tools.md 12.3)."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import msgspec
import pytest
from msgspec import Meta

from strata.tools import NotStrict, Strict, ToolParameter, ToolSignature, anthropic_strict, input_schema, openai_strict
from tests.tools.json_schema import assert_is_schema
from tests.tools.sdk_normalisers import made_by_anthropic, made_by_openai

NULL = {"type": "null"}
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


class Line(msgspec.Struct):
    sku: str
    quantity: Annotated[int, Meta(ge=1), "how many"] = 1
    note: str | None = None


class Filter(TypedDict):
    since: NotRequired[datetime.date]


class Round(msgspec.Struct, tag=True):
    radius: float


class Square(msgspec.Struct, tag=True):
    side: float
    name: str = ""


class Tree(msgspec.Struct):
    label: str
    inside: list[Tree] = []
    above: Annotated[Tree | None, "above it"] = None


class Span(NamedTuple):
    start: int
    stop: int


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required or properties), "additionalProperties": False}


def schema_of(**parameters: Any) -> dict[str, Any]:
    """The schema of a tool with these parameters, each a type or one with a default."""
    typed: dict[str, tuple[Any, Any]] = {name: one if isinstance(one, tuple) else (one, msgspec.NODEFAULT) for name, one in parameters.items()}
    return input_schema(ToolSignature("tool", "Takes them.", tuple(ToolParameter(name, kind, default) for name, (kind, default) in typed.items())))


def openai(schema: dict[str, Any]) -> dict[str, Any]:
    form = openai_strict(schema)
    assert isinstance(form, Strict), form
    assert_is_schema(form.schema)
    assert made_by_openai(form.schema) == form.schema
    return form.schema


def anthropic(schema: dict[str, Any]) -> dict[str, Any]:
    form = anthropic_strict(schema)
    assert isinstance(form, Strict), form
    assert_is_schema(form.schema)
    assert made_by_anthropic(form.schema) == form.schema
    return form.schema


def test_tp7_an_optional_field_is_required_and_takes_null() -> None:
    form = openai(schema_of(verdict=str, why=(str | None, None)))
    assert form == object_of(verdict=TEXT, why={"anyOf": [TEXT, NULL]})


def test_tp7_a_map_has_no_strict_form() -> None:
    assert isinstance(openai_strict(schema_of(verdict=str, scores=dict[str, int])), NotStrict)


def test_tool_10_what_is_inside_is_closed_and_required_too() -> None:
    line = object_of(
        sku=TEXT,
        quantity={"anyOf": [{**WHOLE, "minimum": 1, "description": "how many\n\n{default: 1}"}, NULL]},
        note={"anyOf": [TEXT, NULL]},
    )
    square = object_of(type={**TEXT, "enum": ["Square"]}, side={"type": "number"}, name={"anyOf": [{**TEXT, "description": '{default: ""}'}, NULL]})
    round_ = object_of(type={**TEXT, "enum": ["Round"]}, radius={"type": "number"})
    filter_ = object_of(since={"anyOf": [{**TEXT, "format": "date"}, NULL]})
    assert openai(schema_of(lines=list[Line], shape=Round | Square, by=(Filter | None, None))) == object_of(
        lines={"type": "array", "items": line},
        shape={"anyOf": [round_, square]},
        by={"anyOf": [filter_, NULL]},
    )


def test_tool_10_anthropic_takes_optional_fields_as_they_are() -> None:
    line = object_of("sku", sku=TEXT, quantity={**WHOLE, "description": "how many\n\n{minimum: 1, default: 1}"}, note=TEXT)
    assert anthropic(schema_of(lines=list[Line], since=(datetime.date | None, None))) == object_of(
        "lines", lines={"type": "array", "items": line}, since={**TEXT, "format": "date"}
    )


def test_tool_10_a_type_that_holds_itself_is_closed_where_it_is_defined() -> None:
    tree = {"$ref": "#/$defs/Tree"}
    assert openai(schema_of(tree=Tree, other=(Annotated[Tree | None, "another"], None))) == {
        **object_of(tree=tree, other={"anyOf": [tree, NULL], "description": "another"}),
        "$defs": {
            "Tree": object_of(
                label=TEXT,
                inside={"anyOf": [{"type": "array", "items": tree, "description": "{default: []}"}, NULL]},
                above={"anyOf": [tree, NULL], "description": "above it"},
            )
        },
    }


def test_null_stays_once_where_it_is_a_value_already() -> None:
    nullable = {"anyOf": [TEXT, WHOLE, NULL]}
    assert openai(schema_of(a=int | str | None, b=(int | str | None, 3)))["properties"] == {
        "a": nullable,
        "b": {**nullable, "description": "{default: 3}"},
    }


def test_limits_that_a_provider_does_not_read_are_told_in_words() -> None:
    schema = schema_of(
        a=Annotated[str, Meta(min_length=2, pattern="^a", description="a name")],
        b=Annotated[list[int], Meta(min_length=1, max_length=3)],
        c=Annotated[list[int], Meta(min_length=2)],
        d=bytes,
        e=Annotated[datetime.time, Meta(tz=False)],
        f=Annotated[int, Meta(ge=0, title="Count", examples=[1, 2])],
    )
    whole = {"type": "array", "items": WHOLE}
    assert openai(schema)["properties"] == {
        "a": {**TEXT, "pattern": "^a", "description": "a name\n\n{minLength: 2}"},
        "b": {**whole, "minItems": 1, "maxItems": 3},
        "c": {**whole, "minItems": 2},
        "d": {**TEXT, "description": '{contentEncoding: "base64"}'},
        "e": {**TEXT, "pattern": r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$", "description": '{format: "time-local"}'},
        "f": {**WHOLE, "minimum": 0, "title": "Count", "description": "{examples: [1,2]}"},
    }
    assert anthropic(schema)["properties"] == {
        "a": {**TEXT, "description": 'a name\n\n{minLength: 2, pattern: "^a"}'},
        "b": {**whole, "minItems": 1, "description": "{maxItems: 3}"},
        "c": {**whole, "description": "{minItems: 2}"},
        "d": {**TEXT, "description": '{contentEncoding: "base64"}'},
        "e": {**TEXT, "description": r'{format: "time-local", pattern: "^[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?$"}'},
        "f": {**WHOLE, "title": "Count", "description": "{examples: [1,2], minimum: 0}"},
    }


def test_an_enum_has_its_type_where_the_provider_keeps_it() -> None:
    schema = schema_of(a=Literal["b", "a"])
    assert openai(schema)["properties"] == {"a": {**TEXT, "enum": ["b", "a"]}}
    assert anthropic(schema)["properties"] == {"a": {"enum": ["b", "a"]}}


def test_no_arguments_have_a_strict_form() -> None:
    assert openai(schema_of()) == anthropic(schema_of()) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


OPEN = "an object with any names: name its fields in a class, or take a list of pairs"
ANYTHING = "anything at all: say of what type it is"
TUPLE = "a tuple, whose places differ: take a list of one type, or an object with a name for each place"


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"a": dict[str, Any]}, f"argument 'a' is {OPEN}"),
        ({"a": dict[str, int]}, f"argument 'a' is {OPEN}"),
        ({"a": Any}, f"argument 'a' is {ANYTHING}"),
        ({"a": list[Any]}, f"argument 'a[]' is {ANYTHING}"),
        ({"a": list[list[dict[str, int]]]}, f"argument 'a[][]' is {OPEN}"),
        ({"a": tuple[int, str]}, f"argument 'a' is {TUPLE}"),
        ({"a": list[Span]}, f"argument 'a[]' is {TUPLE}"),
        ({"a": int | dict[str, int] | None}, f"argument 'a' is {OPEN}"),
        ({"a": int, "b": dict[str, int], "c": Any}, f"argument 'b' is {OPEN}; argument 'c' is {ANYTHING}"),
    ],
    ids=lambda one: str(one)[:50],
)
@pytest.mark.parametrize("strictly", [openai_strict, anthropic_strict])
def test_tool_12_what_has_no_strict_form_is_told_with_the_argument_and_what_to_do(
    strictly: Callable[[dict[str, Any]], Strict | NotStrict], parameters: dict[str, Any], reason: str
) -> None:
    form = strictly(schema_of(**parameters))
    assert isinstance(form, NotStrict)
    assert form.reason == reason


def test_a_type_that_holds_itself_has_no_strict_form_at_anthropic() -> None:
    form = anthropic_strict(schema_of(trees=list[Tree]))
    assert isinstance(form, NotStrict)
    assert form.reason == "argument 'trees[]' is of type Tree, which holds itself: give each level a type of its own"


# Schemas that somebody wrote by hand


def by_hand(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ({"type": ["string", "null"], "description": "d"}, {"anyOf": [TEXT, NULL], "description": "d"}),
        ({"oneOf": [TEXT, WHOLE]}, {"anyOf": [TEXT, WHOLE]}),
        ({"type": "string", "const": "a"}, {**TEXT, "enum": ["a"]}),
        ({"type": "object", "properties": {"a": TEXT}}, object_of(a={"anyOf": [TEXT, NULL]})),
        ({"$ref": "#/$defs/Name"}, {"$ref": "#/$defs/Name"}),
        ({"$ref": "#/$defs/Name", "description": "d"}, {"anyOf": [{"$ref": "#/$defs/Name"}], "description": "d"}),
        ({"type": "array", "items": TEXT, "uniqueItems": True}, {"type": "array", "items": TEXT, "description": "{uniqueItems: true}"}),
    ],
    ids=str,
)
def test_what_others_write_is_tightened_as_well(said: dict[str, Any], form: dict[str, Any]) -> None:
    schema = {**by_hand(it=said), "$defs": {"Name": TEXT, "Unused": {}}}
    assert openai(schema)["properties"]["it"] == form
    assert openai(schema).get("$defs", {"Name": TEXT}) == {"Name": TEXT}
    anthropic(schema)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (True, ANYTHING),
        ({}, ANYTHING),
        ({"type": "array"}, "argument 'it[]' is anything"),
        ({"type": "object"}, OPEN),
        ({"type": "object", "properties": {}, "additionalProperties": True}, OPEN),
        ({"type": "object", "patternProperties": {"^a": TEXT}}, "any names"),
        ({"allOf": [TEXT]}, "a condition that no strict form has: say it in words"),
        ({"type": "string", "not": {"const": "a"}}, "a condition that no strict form has"),
        ({"$ref": "#/definitions/Name"}, "a reference to #/definitions/Name, which is not found"),
        ({"type": "date"}, ANYTHING),
    ],
    ids=str,
)
@pytest.mark.parametrize("strictly", [openai_strict, anthropic_strict])
def test_what_others_write_is_refused_where_it_has_no_strict_form(
    strictly: Callable[[dict[str, Any]], Strict | NotStrict], said: Any, reason: str
) -> None:
    form = strictly(by_hand(it=said))
    assert isinstance(form, NotStrict)
    assert reason in form.reason


@pytest.mark.parametrize(
    "schema", [{}, {"type": "string", "enum": ["a"]}, {"type": "object"}, {"anyOf": [by_hand()]}, {"type": "object", "properties": []}]
)
def test_tp7_arguments_that_are_no_object_have_no_strict_form(schema: dict[str, Any]) -> None:
    for strictly in (openai_strict, anthropic_strict):
        form = strictly(schema)
        assert isinstance(form, NotStrict)
        assert form.reason == "the arguments as a whole are no object with named properties"


def nested(levels: int) -> dict[str, Any]:
    return by_hand(a=nested(levels - 1)) if levels > 1 else by_hand(a=TEXT)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (by_hand(**{f"a{number}": TEXT for number in range(5_001)}), "it has 5,001 properties, of which OpenAI takes 5,000"),
        (nested(11), "it has 11 levels of objects in each other, of which OpenAI takes 10"),
        (by_hand(a={**TEXT, "enum": [str(number) for number in range(1_001)]}), "it has 1,001 values to choose from, of which OpenAI takes 1,000"),
        (by_hand(**{"a" * 120_001: TEXT}), "it has 120,001 characters of names and values, of which OpenAI takes 120,000"),
        (
            by_hand(a={**TEXT, "enum": [f"{number:060}" for number in range(251)]}),
            "it has 15,060 characters in one long enum, of which OpenAI takes 15,000",
        ),
    ],
    ids=["properties", "levels", "choices", "characters", "long choice"],
)
def test_what_is_too_large_for_openai_has_no_strict_form_there(schema: dict[str, Any], reason: str) -> None:
    form = openai_strict(schema)
    assert isinstance(form, NotStrict)
    assert form.reason == reason
    assert isinstance(anthropic_strict(schema), Strict)


def test_what_is_just_not_too_large_has_a_strict_form() -> None:
    openai(nested(10))
    openai(by_hand(**{f"a{number}": TEXT for number in range(5_000)}))


def test_the_schema_itself_stays_as_it_is() -> None:
    schema = schema_of(lines=list[Line], tree=(Tree | None, None))
    before = repr(schema)
    openai_strict(schema)
    anthropic_strict(schema)
    assert repr(schema) == before
