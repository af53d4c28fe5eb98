"""What a question takes, in words (`strata thread inspect` shows them)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest

from strata.graph.answer_schema import schema_of
from strata.graph.schema_words import in_words


class Line(msgspec.Struct):
    item: str


class Order(msgspec.Struct, tag=True):
    score: Annotated[int, msgspec.Meta(ge=1, le=10)]
    lines: list[Line]
    why: str = ""


class Yes(msgspec.Struct, tag=True):
    pass


class No(msgspec.Struct, tag=True):
    pass


class Tree(msgspec.Struct):
    below: list[Tree] = []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "integer"),
        (Any, "any JSON"),
        (Annotated[datetime, msgspec.Meta(tz=True)], "string (format date-time)"),
        (bytes, "string (contentEncoding base64)"),
        (Literal["yes", "no"], 'one of "no", "yes"'),
        (Literal["yes"], '"yes"'),
        (int | None, "integer or null"),
        (list[str], "array of string"),
        (list[Any], "array"),
        (tuple[int, str], "array of integer, string (minItems 2, maxItems 2)"),
        (dict[str, int], "object"),
        (Order, 'object with type: "Order", score: integer (minimum 1, maximum 10), lines: array of object, why: string (optional)'),
        (Yes | No, 'object with type: "Yes" or object with type: "No"'),
        (Tree, "object with below: array of object (optional)"),
    ],
)
def test_a_schema_is_told_in_words(kind: Any, words: str) -> None:
    assert in_words(schema_of(kind)) == words


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Gone"},
        {"anyOf": 3},
        {"enum": 3},
        {"type": "object", "properties": ["score"]},
        {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
    ],
)
def test_what_is_no_schema_of_ours_is_told_as_it_is(schema: dict[str, Any]) -> None:
    assert in_words(schema) == msgspec.json.encode(schema).decode()
