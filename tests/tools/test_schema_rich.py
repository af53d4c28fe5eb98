"""The rich flavor: what each Python type tells a model, whatever is said of it (strata-tools.md 3.5)."""

from __future__ import annotations

import collections
import datetime
import decimal
import json
import pathlib
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, IntFlag, StrEnum, auto
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Required, TypedDict, TypeVar

import attrs
import msgspec
import pytest
from msgspec import Meta
from typing_extensions import Doc

from strata import ToolInvalid
from strata.tools import ToolSignature, canonical_json, input_schema, manifest_entry, signature_of
from strata.tools.schema import arguments_type
from tests.tools.json_schema import assert_is_schema
from tests.tools.sources import imported

T = TypeVar("T")
OrderId = NewType("OrderId", str)
Cents = Annotated[int, Meta(ge=0), "in cents"]

CLOCK = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
ZONE = "([Zz]|[+-][0-9]{2}:?[0-9]{2})$"
# Days, hours, minutes and seconds, of which the last may have a fraction.
PART, LAST = "[0-9]+", r"[0-9]+(\.[0-9]+)?"
DURATION = f"^[+-]?P({LAST}D|({PART}D)?T(({PART}H)?({PART}M)?{LAST}S|({PART}H)?{LAST}M|{LAST}H))$"


class Colour(Enum):
    """Of the paint."""

    RED = "red"
    BLUE = "blue"
    CRIMSON = "red"  # noqa: PIE796 - an alias


class Mood(StrEnum):
    SAD = auto()
    GLAD = auto()


class Size(IntEnum):
    LARGE = 9
    SMALL = 3


class Rights(IntFlag):
    READ = 1
    WRITE = 2


class Line(msgspec.Struct, rename="camel"):
    """A line of an order.

    Attributes:
        sku: of the article.
        unit_price: what one costs.
    """

    sku: str
    unit_price: Annotated[Cents, "what one costs, in euro cents"] = 0
    tags: list[str] = msgspec.field(default_factory=lambda: ["new"])
    old: str = msgspec.field(default="", name="former")


LINE = {
    "type": "object",
    "properties": {
        "sku": {"type": "string", "description": "of the article."},
        "unitPrice": {"type": "integer", "minimum": 0, "description": "what one costs, in euro cents", "default": 0},
        "tags": {"type": "array", "items": {"type": "string"}},
        "former": {"type": "string", "default": ""},
    },
    "required": ["sku"],
    "description": "A line of an order.",
}


@dataclass
class Point:
    y: int
    x: int
    seen: list[str] = field(default_factory=list[str])
    kind: Literal["z", "a"] = "z"


@attrs.define
class Box(Generic[T]):
    what: T
    notes: str | None = None


class Filter(TypedDict, total=False):
    """What to look for."""

    since: Required[datetime.date]
    by: Annotated[NotRequired[str], "whom"]


class Span(NamedTuple):
    start: int
    stop: Annotated[int, "not reached"] = 10


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    a: int


class Row(msgspec.Struct, array_like=True, tag="row"):
    a: int
    b: str = ""


class Round(msgspec.Struct, tag_field="kind", tag="round"):
    radius: float


class Square(msgspec.Struct, tag_field="kind", tag="square"):
    side: float


class Page(msgspec.Struct, Generic[T]):
    items: list[T]
    first: T | None = None


class Orders(Page[OrderId]):
    total: int = 0


def of(annotation: Any) -> Any:
    """The schema of an argument of that type."""

    def tool(it: Any) -> None:
        """Takes it."""

    tool.__annotations__["it"] = annotation
    return input_schema(signature_of(tool))["properties"]["it"]


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def whole(**more: Any) -> dict[str, Any]:
    return {"type": "integer", **more}


KINDS: list[tuple[Any, dict[str, Any]]] = [
    (str, text()),
    (bool, {"type": "boolean"}),
    (int, whole()),
    (float, {"type": "number"}),
    (None, {"type": "null"}),
    (Any, {}),
    (bytes, text(contentEncoding="base64")),
    (bytearray, text(contentEncoding="base64")),
    (datetime.datetime, text(format="date-time")),
    (Annotated[datetime.datetime, Meta(tz=True)], text(format="date-time", pattern=ZONE)),
    (Annotated[datetime.datetime, Meta(tz=False)], text(format="date-time-local", pattern=f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{CLOCK}$")),
    (datetime.date, text(format="date")),
    (datetime.time, text(format="time")),
    (Annotated[datetime.time, Meta(tz=False)], text(format="time-local", pattern=f"^{CLOCK}$")),
    (Annotated[datetime.time, Meta(tz=True)], text(format="time", pattern=ZONE)),
    (datetime.timedelta, text(format="duration", pattern=DURATION)),
    (uuid.UUID, text(format="uuid")),
    (decimal.Decimal, text(format="decimal")),
    (OrderId, text()),
    (Cents, whole(minimum=0, description="in cents")),
    (list, {"type": "array"}),
    (list[Any], {"type": "array"}),
    (list[int], {"type": "array", "items": whole()}),
    (Sequence[Sequence[int]], {"type": "array", "items": {"type": "array", "items": whole()}}),
    (set[str], {"type": "array", "items": text()}),
    (frozenset[Mood], {"type": "array", "items": text(enum=["sad", "glad"])}),
    (tuple, {"type": "array"}),
    (tuple[int, ...], {"type": "array", "items": whole()}),
    (tuple[int, str], {"type": "array", "minItems": 2, "prefixItems": [whole(), text()], "maxItems": 2}),
    (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
    (dict, {"type": "object"}),
    (dict[str, Any], {"type": "object"}),
    (Mapping[str, int], {"type": "object", "additionalProperties": whole()}),
    (
        dict[float, int],
        {
            "type": "object",
            "propertyNames": {"pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([Ee][+-]?[0-9]+)?$"},
            "additionalProperties": {"type": "integer"},
        },
    ),
    (dict[int, str], {"type": "object", "propertyNames": {"pattern": "^(0|-?[1-9][0-9]*)$"}, "additionalProperties": text()}),
    (dict[Size, int], {"type": "object", "propertyNames": {"enum": ["9", "3"]}, "additionalProperties": whole()}),
    (dict[Literal["b", "a"], int], {"type": "object", "propertyNames": {"enum": ["b", "a"]}, "additionalProperties": whole()}),
    (dict[datetime.date, int], {"type": "object", "propertyNames": {"format": "date"}, "additionalProperties": whole()}),
    (Literal["b", "a"], text(enum=["b", "a"])),
    (Literal[3, 1], whole(enum=[3, 1])),
    (Literal["b", 3, None], {"anyOf": [text(enum=["b"]), whole(enum=[3]), {"type": "null"}]}),
    (Literal["b", 3, True], {"anyOf": [text(enum=["b"]), whole(enum=[3]), {"type": "boolean", "enum": [True]}]}),
    (Colour, text(enum=["red", "blue"], description="Of the paint.")),
    (Mood, text(enum=["sad", "glad"])),
    (Size, whole(enum=[9, 3])),
    (Rights, whole()),
    (int | None, {"anyOf": [whole(), {"type": "null"}]}),
    (list[int | None], {"type": "array", "items": {"anyOf": [whole(), {"type": "null"}]}}),
    (int | str | list[bool], {"anyOf": [text(), whole(), {"type": "array", "items": {"type": "boolean"}}]}),
    (Any | None, {}),
    (Line, LINE),
    (list[Line], {"type": "array", "items": LINE}),
    (
        Point,
        {
            "type": "object",
            "properties": {
                "y": whole(),
                "x": whole(),
                "seen": {"type": "array", "items": text(), "default": []},
                "kind": text(enum=["z", "a"], default="z"),
            },
            "required": ["y", "x"],
        },
    ),
    (Box[int], {"type": "object", "properties": {"what": whole(), "notes": text()}, "required": ["what"]}),
    (
        Filter,
        {
            "type": "object",
            "properties": {"since": text(format="date"), "by": text(description="whom")},
            "required": ["since"],
            "description": "What to look for.",
        },
    ),
    (Span, {"type": "array", "minItems": 1, "prefixItems": [whole(), whole(description="not reached")], "maxItems": 2}),
    (Closed, {"type": "object", "properties": {"a": whole()}, "required": ["a"], "additionalProperties": False}),
    (Row, {"type": "array", "minItems": 2, "prefixItems": [text(enum=["row"]), whole(), text()]}),
    (Round, {"type": "object", "properties": {"kind": text(enum=["round"]), "radius": {"type": "number"}}, "required": ["radius"]}),
    (
        Square | Round,
        {
            "anyOf": [
                {"type": "object", "properties": {"kind": text(enum=[kind]), side: {"type": "number"}}, "required": ["kind", side]}
                for kind, side in (("round", "radius"), ("square", "side"))
            ]
        },
    ),
    (Page[Literal["b", "a"]], {
        "type": "object",
        "properties": {"items": {"type": "array", "items": text(enum=["b", "a"])}, "first": text(enum=["b", "a"])},
        "required": ["items"],
    }),
    (Orders, {
        "type": "object",
        "properties": {"items": {"type": "array", "items": text()}, "first": text(), "total": whole(default=0)},
        "required": ["items"],
    }),
    (Annotated[str, Meta(min_length=1, max_length=5, pattern="^a")], text(minLength=1, maxLength=5, pattern="^a")),
    (Annotated[bytes, Meta(max_length=5)], text(contentEncoding="base64", maxLength=8)),
    (Annotated[float, Meta(gt=0, lt=1, multiple_of=0.5)], {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5}),
    (Annotated[list[int], Meta(min_length=1, max_length=5)], {"type": "array", "items": whole(), "minItems": 1, "maxItems": 5}),
    (Annotated[dict[str, Any], Meta(max_length=5)], {"type": "object", "maxProperties": 5}),
    (Annotated[str, Meta(title="T", examples=["a"], extra_json_schema={"format": "email"})], text(title="T", examples=["a"], format="email")),
    (Annotated[int, Meta(extra_json_schema={"type": "string", "minimum": 3})], whole(minimum=3)),
    (list[Annotated[int, "each"]], {"type": "array", "items": whole(description="each")}),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "schema"), KINDS, ids=lambda one: str(one)[:60])
def test_each_type_tells_what_json_it_takes(annotation: Any, schema: dict[str, Any]) -> None:
    assert of(annotation) == schema
    assert_is_schema(schema)


@pytest.mark.parametrize(
    ("annotation", "texts"),
    [
        (datetime.timedelta, ("P1D", "-P1D", "+PT1H", "P1.5D", "P1DT1H2M3.5S", "PT1M", "PT1H2S", "PT0.5H")),
        (datetime.timedelta, ("P1W", "P1M", "P1Y", "P", "PT", "P1DT", "PT1M1H", "PT1.5H1M", "P1.5DT1H", "PT.5S", "PT1,5S", " P1D", "1 day")),
        (
            Annotated[datetime.datetime, Meta(tz=True)],
            ("2020-01-02T03:04:05Z", "2020-01-02t03:04:05.5+01:00", "2020-01-02 03:04:05-0100", "2020-01-02T03:04:05"),
        ),
        (
            Annotated[datetime.datetime, Meta(tz=False)],
            ("2020-01-02T03:04:05", "2020-01-02 03:04:05.5", "2020-01-02T03:04:05Z", "2020-01-02T03:04:05-01:00"),
        ),
        (Annotated[datetime.time, Meta(tz=True)], ("03:04:05Z", "03:04:05+01:00", "03:04:05")),
        (Annotated[datetime.time, Meta(tz=False)], ("03:04:05", "03:04:05.5", "03:04:05Z", "03:04:05-01:00")),
    ],
)
def test_a_pattern_lets_pass_what_is_read(annotation: Any, texts: tuple[str, ...]) -> None:
    pattern = of(annotation)["pattern"]
    assert [text for text in texts if re.search(pattern, text)] == [text for text in texts if reads(annotation, text)]


@pytest.mark.parametrize("key", ["1", "-1.5", "0", "2e-3", "1E5", "01", "+1", ".5", "1.", "1_0", "", "one"])
def test_a_pattern_of_keys_lets_pass_what_is_read(key: str) -> None:
    pattern = of(dict[float, int])["propertyNames"]["pattern"]
    assert (re.search(pattern, key) is not None) is reads(dict[float, int], {key: 1})


def reads(annotation: Any, value: object) -> bool:
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=annotation)
    except msgspec.ValidationError:
        return False
    return True


ALIASES = """
import msgspec
from typing import Annotated
type Pairs = list[tuple[str, int]]
type Both[T] = dict[str, T]
type Count = Annotated[int, msgspec.Meta(ge=0), "how many"]
class Page[T](msgspec.Struct):
    items: "Both[T]"
    more: "T | None" = None
def tool(a: Pairs, b: Both[Count], c: Page[str], d: Annotated[Count, "of them"] = 0):
    "Takes them."
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no `type X = ...`")
def test_the_aliases_and_type_parameters_of_newer_pythons_are_read(tmp_path: pathlib.Path) -> None:
    with imported(ALIASES, tmp_path) as module:
        properties = input_schema(signature_of(module.tool))["properties"]
    assert properties == {
        "a": {"type": "array", "items": {"type": "array", "minItems": 2, "prefixItems": [text(), whole()], "maxItems": 2}},
        "b": {"type": "object", "additionalProperties": whole(minimum=0, description="how many")},
        "c": {
            "type": "object",
            "properties": {"items": {"type": "object", "additionalProperties": text()}, "more": text()},
            "required": ["items"],
        },
        "d": whole(minimum=0, description="of them", default=0),
    }


ENDLESS = """
import msgspec

type Tree = dict[str, Tree] | int
type Nested[T] = list[Nested[T]] | T
class Holds(msgspec.Struct):
    tree: Tree
def bare(a: int, b: Tree):
    "Takes them."
def generic(b: Nested[int]):
    "Takes it."
def inside(b: list[Holds]):
    "Takes it."
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no `type X = ...`")
@pytest.mark.parametrize(("tool", "alias"), [("bare", "Tree"), ("generic", "Nested"), ("inside", "Tree")])
def test_an_alias_that_stands_inside_itself_is_refused_with_its_name(tool: str, alias: str, tmp_path: pathlib.Path) -> None:
    with imported(ENDLESS, tmp_path) as module, pytest.raises(ToolInvalid) as raised:
        input_schema(signature_of(getattr(module, tool)))
    assert f"its argument 'b': the alias {alias} stands inside itself, and no reader takes that: make it a class" in str(raised.value)


class Twig(msgspec.Struct, Generic[T]):
    value: T
    more: list[Twig[T]] = []


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        (Twig[int], "Twig_int"),
        (Twig[Line], "Twig_Line"),
        (Twig[dict[str, list[Line | None]]], "Twig_dict_str_list_Line_None"),
        (Twig[Annotated[int, Meta(ge=1)]], "Twig_int"),
        (Twig[Literal["a b", 3]], "Twig_Literal_a_b_3"),
    ],
)
def test_a_generic_type_that_holds_itself_is_named_by_what_it_is_of(annotation: Any, name: str) -> None:
    assert of(annotation) == {"$ref": f"#/$defs/{name}"}


class Tree(msgspec.Struct):
    """A tree."""

    name: str
    inside: list[Tree] = []
    parent: Annotated[Tree | None, "above it"] = None


class Even(msgspec.Struct):
    odd: Odd | None


class Odd(msgspec.Struct):
    even: Even | None


class Chain(NamedTuple):
    rest: Chain | None


def test_a_type_that_holds_itself_is_defined_once_and_referred_to() -> None:
    def tool(tree: Tree, other: Annotated[Tree, "another"]) -> None:
        """Takes them."""

    tree = {"$ref": "#/$defs/Tree"}
    assert input_schema(signature_of(tool)) == {
        "type": "object",
        "properties": {"tree": tree, "other": {**tree, "description": "another"}},
        "required": ["tree", "other"],
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": text(),
                    "inside": {"type": "array", "items": tree, "default": []},
                    "parent": {**tree, "description": "above it"},
                },
                "required": ["name"],
                "description": "A tree.",
            }
        },
    }


def test_types_that_hold_each_other_are_told_where_they_stand_but_for_one() -> None:
    def tool(odd: Odd, chain: Chain) -> None:
        """Takes them."""

    schema = input_schema(signature_of(tool))
    null = {"type": "null"}
    even = {"type": "object", "properties": {"odd": {"anyOf": [{"$ref": "#/$defs/Odd"}, null]}}, "required": ["odd"]}
    assert schema["$defs"]["Odd"] == {"type": "object", "properties": {"even": {"anyOf": [even, null]}}, "required": ["even"]}
    chain = {"type": "array", "minItems": 1, "prefixItems": [{"anyOf": [{"$ref": "#/$defs/Chain"}, null]}], "maxItems": 1}
    assert schema["$defs"]["Chain"] == chain


def test_two_types_of_one_name_that_hold_themselves_have_two_definitions() -> None:
    def made() -> Any:
        class Node(msgspec.Struct):
            inside: list[Any]

        Node.__annotations__["inside"] = list[Node]
        return Node

    def tool(a: int, b: int) -> None:
        """Takes them."""

    tool.__annotations__ |= {"a": made(), "b": made()}
    assert list(input_schema(signature_of(tool))["$defs"]) == ["Node", "Node_2"]


def test_tool_06_the_annotation_goes_before_its_meta_and_that_before_the_docstring() -> None:
    def tool(
        a: Annotated[int, Meta(ge=1, description="of the Meta"), "of the text"],
        b: Annotated[int, Meta(ge=1, description="of the Meta")],
        c: Annotated[int, Meta(ge=1)],
        d: Annotated[int, Doc("of the Doc"), object()],
        e: Annotated[Annotated[int, "of the alias"], "of the parameter"],
    ) -> None:
        """Takes them.

        Args:
            a: of the docstring
            b: of the docstring
            c: of the docstring
            d: of the docstring
            e: of the docstring
        """

    assert input_schema(signature_of(tool))["properties"] == {
        "a": whole(minimum=1, description="of the text"),
        "b": whole(minimum=1, description="of the Meta"),
        "c": whole(minimum=1, description="of the docstring"),
        "d": whole(description="of the Doc"),
        "e": whole(description="of the parameter"),
    }


def test_what_is_said_of_a_parameter_goes_before_what_its_class_says() -> None:
    assert of(Annotated[Line, "the first line"]) == {**LINE, "description": "the first line"}
    assert of(Annotated[Colour, "of the door"])["description"] == "of the door"


def test_made_up_docstrings_are_not_told() -> None:
    assert "description" not in of(Point)
    assert "description" not in of(Span)
    assert "description" not in of(Mood)


MISSING: Any = object()


def test_a_default_is_told_where_json_has_it_and_it_fits() -> None:
    def tool(
        a: int = 3,
        b: Sequence[str] = ("x", "y"),
        c: frozenset[str] = frozenset({"q", "p"}),
        d: Line = Line("s", 5),  # noqa: B008
        e: datetime.date = datetime.date(2020, 1, 2),
        f: float = float("inf"),
        g: int = MISSING,
        h: int = "three",  # type: ignore[assignment]  # pyright: ignore[reportArgumentType]
        i: int | None = 5,
        j: int = None,  # type: ignore[assignment]  # pyright: ignore[reportArgumentType]  # noqa: RUF013
        k: bytes = b"ab",
        m: Mapping[str, int] = {"a": 1},
    ) -> None:
        """Takes them."""

    schema = input_schema(signature_of(tool))
    told = {name: said["default"] for name, said in schema["properties"].items() if "default" in said}
    line = {"sku": "s", "unitPrice": 5, "tags": ["new"], "former": ""}
    assert told == {"a": 3, "b": ["x", "y"], "c": ["p", "q"], "d": line, "e": "2020-01-02", "i": 5, "k": "YWI=", "m": {"a": 1}}
    assert schema["required"] == []
    assert schema["properties"]["i"] == {"anyOf": [whole(), {"type": "null"}], "default": 5}
    assert schema["properties"]["j"] == whole()


def test_null_is_told_where_it_is_not_the_same_as_nothing() -> None:
    def tool(a: str | None, b: str | None = None, c: str | None = "x") -> None:
        """Takes them."""

    nullable = {"anyOf": [text(), {"type": "null"}]}
    schema = input_schema(signature_of(tool))
    assert schema["properties"] == {"a": nullable, "b": text(), "c": {**nullable, "default": "x"}}
    assert schema["required"] == ["a"]


def test_tool_14_what_a_factory_makes_is_not_required_and_new_for_each_call() -> None:
    def tool(line: Line, tags: list[str] = ["a"]) -> None:  # noqa: B006
        """Takes them."""

    assert input_schema(signature_of(tool))["properties"]["line"]["required"] == ["sku"]
    read = msgspec.json.Decoder(arguments_type(signature_of(tool))).decode
    first, second = read('{"line":{"sku":"a"}}'), read('{"line":{"sku":"a"}}')
    assert first.tags == second.tags == ["a"]  # type: ignore[attr-defined]
    assert first.tags is not second.tags  # type: ignore[attr-defined]
    assert first.line.tags is not second.line.tags  # type: ignore[attr-defined]


def test_a_default_that_is_known_by_its_identity_is_given_as_it_is() -> None:
    def tool(a: int = MISSING) -> None:
        """Takes it."""

    assert msgspec.json.decode("{}", type=arguments_type(signature_of(tool))).a is MISSING  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (pathlib.Path, "its argument 'it': Path does not come back from JSON: use str, and make the path where you need it"),
        (list[collections.deque[int]], "its argument 'it[]': deque does not come back from JSON: use list, and cut it where you append"),
        (dict[str, object], "its argument 'it{}': object does not say what comes back: name the type, or use Any for plain JSON values"),
        (Callable[[int], int], "its argument 'it': functions and other live objects cannot be stored"),
        (str | bytes, "its argument 'it': Type unions may not contain more than one str-like type"),
        (Line | Point, "its argument 'it': Type unions may not contain more than one"),
        (Page, "its argument 'it.items': its type is the variable T: say what it stands for, as in Page[int]"),
        (set[Point], "Point cannot be in a set, it has no hash"),
        (int | tuple[Annotated[str, Meta(max_length=3)] | tuple[int, int]], "crashes msgspec"),
        (Annotated[int, Meta(pattern="a")], "Can only set `pattern` on a str type"),
    ],
    ids=str,
)
def test_what_cannot_be_read_from_json_is_refused_with_its_place_and_what_to_do(annotation: Any, says: str) -> None:
    def tool(it: Any) -> None:
        """Takes it."""

    tool.__annotations__["it"] = annotation
    for told_of in (arguments_type, input_schema):
        with pytest.raises(ToolInvalid) as refused:
            told_of(signature_of(tool))
        assert str(refused.value).startswith(f"{__file__}:{tool.__code__.co_firstlineno}: tool 'tool': ")
        assert says in str(refused.value)


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, "half a pair: \ud800"],
        Annotated[int, Meta(examples=[float("nan")])],
        Annotated[int, Meta(extra_json_schema={"x-of": object()})],
        Literal["\ud800"],
    ],
    ids=["text", "example", "keyword", "choice"],
)
def test_what_is_said_of_a_value_and_is_no_json_is_refused(annotation: Any) -> None:
    def tool(it: Any) -> None:
        """Takes it."""

    tool.__annotations__["it"] = annotation
    with pytest.raises(ToolInvalid, match=r"tool 'tool': its (schema is no JSON|parameters cannot be read from JSON|argument 'it'): "):
        input_schema(signature_of(tool))


def test_all_arguments_that_cannot_be_read_are_told_at_once() -> None:
    def tool(a: pathlib.Path, b: int, c: complex) -> None:
        """Takes them."""

    with pytest.raises(ToolInvalid, match=r"its argument 'a': .*; its argument 'c': "):
        arguments_type(signature_of(tool))


@pytest.mark.parametrize("name", ["", "k8s.pods", "méteo/now", "a b", "class"])
def test_any_name_is_the_name_of_a_tool(name: str) -> None:
    def tool(a: int) -> None:
        """Takes it."""

    entry = manifest_entry(signature_of(tool, name=name))
    assert entry["name"] == name
    assert msgspec.json.decode('{"a":1}', type=arguments_type(signature_of(tool, name=name))).a == 1  # type: ignore[attr-defined]


def test_an_object_of_the_arguments_has_the_names_of_the_parameters() -> None:
    def tool(class_: str, other: int = 3) -> None:
        """Takes them."""

    read = msgspec.json.decode('{"class":"c"}', type=arguments_type(signature_of(tool)))
    assert msgspec.structs.asdict(read) == {"class_": "c", "other": 3}


def test_a_field_of_msgspec_as_a_default_is_what_it_gives() -> None:
    """So that source can say what a class with fields would."""
    made: Any = msgspec.field(default_factory=list[int])
    given: Any = msgspec.field(default=3)

    def tool(a: list[int] = made, b: int = given, c: int = msgspec.field()) -> None:
        """Takes them."""

    signature = signature_of(tool)
    assert input_schema(signature)["properties"] == {
        "a": {"type": "array", "items": whole(), "default": []},
        "b": whole(default=3),
        "c": whole(),
    }
    assert input_schema(signature)["required"] == ["c"]
    assert msgspec.structs.asdict(msgspec.json.decode('{"c":1}', type=arguments_type(signature))) == {"a": [], "b": 3, "c": 1}


def test_canonical_json_is_compact_utf8_in_the_order_of_declaration() -> None:
    def tool(zebra: int, apple: str = "ü") -> None:
        """Täglich."""

    assert canonical_json(manifest_entry(signature_of(tool))).decode() == (
        '{"name":"tool","description":"Täglich.","parameters":{"type":"object","properties":'
        '{"zebra":{"type":"integer"},"apple":{"type":"string","default":"ü"}},"required":["zebra"]}}'
    )


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, object(), "\ud800"])
def test_what_is_no_json_has_no_canonical_text(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


PROGRAM = """
from typing import Annotated, Literal
import enum, msgspec
from strata.tools import canonical_json, input_schema, signature_of
class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"
class Line(msgspec.Struct):
    sku: str
    marks: set[str] = set()
def tool(a: set[Colour], b: frozenset[str] = frozenset({"q", "w", "e", "r", "t", "z"}), c: Literal["y", "x"] | int | None = None, d: list[Line] = []):
    "Takes them."
print(canonical_json(input_schema(signature_of(tool))).decode())
"""


def test_the_schema_of_a_tool_is_the_same_in_every_process() -> None:
    told = {
        subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2", "3")
    }
    (text_of_all,) = told
    assert json.loads(text_of_all)["properties"]["b"]["default"] == ["e", "q", "r", "t", "w", "z"]


def test_equal_signatures_have_equal_schemas() -> None:
    def tool(a: int, b: list[Tree] | None = None) -> None:
        """Takes them."""

    signature = signature_of(tool)
    other = ToolSignature(signature.name, signature.description, signature.parameters)
    assert canonical_json(manifest_entry(signature)) == canonical_json(manifest_entry(other))
