"""The cases of strata-tools.md 14 about schemas, in the `strata` flavor, and what the rich one adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import msgspec
import pytest
from msgspec import Meta

from strata import Context, ToolInvalid
from strata.tools import ToolContext, input_schema, manifest_entry, rename_fields, rename_members, signature_of
from tests.tools.findings import EVIDENCE, Evidence, Finding

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T]):
    items: list[T]
    cursor: str | None = None


def rust(tool: Callable[..., Any]) -> dict[str, Any]:
    return input_schema(signature_of(tool), "strata")


def rich(tool: Callable[..., Any]) -> dict[str, Any]:
    return input_schema(signature_of(tool))


def of(annotation: Any, schema: Callable[[Callable[..., Any]], dict[str, Any]] = rust) -> Any:
    """The schema of an argument of that type."""

    def tool(it: Any) -> None:
        """Takes it."""

    tool.__annotations__["it"] = annotation
    return schema(tool)["properties"]["it"]


def test_ts1_an_object_has_its_fields_in_their_order_under_the_names_of_the_rule() -> None:
    finding = of(Finding)
    assert list(finding["properties"]) == [
        *("rootCause", "confidence", "evidence", "tags", "severity", "labels", "scores", "next", "notes", "shared", "matrix")
    ]
    assert finding["required"] == ["rootCause", "confidence", "evidence", "tags", "severity", "labels", "scores", "shared", "matrix"]


def test_ts2_enums_maps_lists_and_optional_objects_are_described_where_they_stand() -> None:
    properties = of(Finding)["properties"]
    assert properties["severity"] == {"type": "string", "enum": ["low", "high", "needs_human"]}
    assert properties["scores"] == {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}
    assert properties["matrix"] == {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    assert properties["next"] == EVIDENCE


def test_ts3_what_has_no_schema_is_an_object() -> None:
    assert of(dict[str, Any]) == {"type": "object"}
    assert of(list[dict[str, Any]]) == {"type": "array", "items": {"type": "object"}}


@pytest.mark.parametrize("flavor", ["json", "strata"])
def test_ts4_a_parameter_named_by_a_keyword_drops_its_underscore(flavor: Literal["json", "strata"]) -> None:
    def tool(class_: str, type: str, from_: str, size_: int) -> None:
        """Takes them."""

    assert input_schema(signature_of(tool), flavor)["required"] == ["class", "type", "from", "size_"]


def test_ts5_the_name_that_is_read_counts() -> None:
    class Limits(msgspec.Struct, rename=rename_fields("kebab-case")):
        max_items: int
        kept_name: str

    assert of(Limits)["required"] == ["max-items", "kept-name"]


def test_ts6_a_generic_object_is_described_with_what_it_holds() -> None:
    page = of(Page[Evidence])
    assert page["required"] == ["items"]
    assert page["properties"]["items"]["items"] == EVIDENCE


def test_ts7_null_is_never_told_of() -> None:
    assert of(list[bool | None]) == {"type": "array", "items": {"type": "boolean"}}


def test_ts8_an_optional_argument_is_described_and_not_required() -> None:
    def tool(required_field: str, optional_field: str | None = None) -> None:
        """Takes them."""

    assert rust(tool)["required"] == ["required_field"]
    assert rust(tool)["properties"]["optional_field"] == {"type": "string"}


@pytest.mark.parametrize("schema", [rust, rich])
def test_ts9_no_arguments_are_an_object_without_properties(schema: Callable[[Callable[..., Any]], dict[str, Any]]) -> None:
    def tool(ctx: ToolContext) -> None:
        """Takes nothing."""

    assert schema(tool) == {"type": "object", "properties": {}, "required": []}


@pytest.mark.parametrize("flavor", ["json", "strata"])
def test_ts10_an_entry_has_a_name_a_description_and_the_parameters(flavor: Literal["json", "strata"]) -> None:
    def check_inventory(sku: str, warehouse_id: int) -> str:
        """Query warehouse item quantities."""
        return ""

    assert manifest_entry(signature_of(check_inventory), flavor=flavor) == {
        "name": "check_inventory",
        "description": "Query warehouse item quantities.",
        "parameters": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "warehouse_id": {"type": "integer"}},
            "required": ["sku", "warehouse_id"],
        },
    }


@pytest.mark.parametrize("schema", [rust, rich])
def test_ts11_sets_and_sequences_are_arrays(schema: Callable[[Callable[..., Any]], dict[str, Any]]) -> None:
    assert of(set[str], schema) == {"type": "array", "items": {"type": "string"}}
    assert of(Sequence[int], schema) == {"type": "array", "items": {"type": "integer"}}


def test_ts12_descriptions_and_limits_are_told_in_the_rich_flavor_alone() -> None:
    def tool(evidence: Evidence, count: Annotated[int, Meta(ge=0, le=255)]) -> None:
        """Weighs it.

        Args:
            evidence: of the crime.
        """

    assert rust(tool)["properties"] == {"evidence": EVIDENCE, "count": {"type": "integer"}}
    assert rich(tool)["properties"] == {
        "evidence": {
            "type": "object",
            "properties": {"source": {"type": "string", "description": "where it was found."}, "weight": {"type": "number", "minimum": 0}},
            "required": ["source", "weight"],
            "description": "of the crime.",
        },
        "count": {"type": "integer", "minimum": 0, "maximum": 255},
    }


def test_ts13_a_sync_function_is_a_tool_and_its_context_may_stand_anywhere() -> None:
    def first(ctx: ToolContext, a: int) -> None:
        """First."""

    def last(a: int, b: int, c: int, *, context: Context) -> None:
        """Last."""

    assert (signature_of(first).context, list(rich(first)["properties"])) == ("ctx", ["a"])
    assert (signature_of(last).context, list(rich(last)["properties"])) == ("context", ["a", "b", "c"])


def test_ts13_a_method_without_its_object_is_refused_with_its_place() -> None:
    class Desk:
        def refund(self, order_id: str) -> None:
            """Refunds."""

    line = Desk.refund.__code__.co_firstlineno
    with pytest.raises(ToolInvalid) as refused:
        signature_of(Desk.refund)
    assert str(refused.value) == f"{__file__}:{line}: tool 'refund': it is a method: make a tool of the bound one, strata_tool(instance.method)"
    assert list(rich(Desk().refund)["properties"]) == ["order_id"]


def test_ts14_a_tool_without_a_description_is_refused() -> None:
    def silent(a: int) -> None: ...

    with pytest.raises(ToolInvalid, match=r"tool 'silent': it has no description for the model: write a docstring, or give description="):
        signature_of(silent)


def test_ts14_a_tool_without_a_name_is_refused() -> None:
    with pytest.raises(ToolInvalid, match=r"has no name of its own: give the tool one, @strata_tool\('name'\)"):
        signature_of(lambda: None, description="Nothing.")


class Pair(NamedTuple):
    a: int
    b: str


class Round(msgspec.Struct, tag=True):
    radius: float


class Square(msgspec.Struct, tag=True):
    side: float


class Tree(msgspec.Struct):
    inside: list[Tree] = []


class Row(msgspec.Struct, array_like=True):
    a: int


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (Pair, "'it' has no schema in Rust: a class that is an array is a tuple struct"),
        (list[Row], r"'it\[\]' has no schema in Rust: a class that is an array is a tuple struct"),
        (dict[str, Round | Square], r"'it\{\}' has no schema in Rust: a union is an enum with data"),
        (Round, "'it' has no schema in Rust: a tagged struct is a member of an enum with data"),
        (int | str, "'it' has no schema in Rust: a union is an enum with data"),
        (None, "'it' has no schema in Rust: null alone is a unit struct"),
        (Page[Tree], r"'it.items\[\]' has no schema in Rust: a type that holds itself has a schema without end"),
    ],
    ids=str,
)
def test_ts15_what_the_rust_engine_does_not_build_is_refused_in_its_flavor(annotation: Any, says: str) -> None:
    with pytest.raises(ToolInvalid, match=says):
        of(annotation)
    of(annotation, rich)


def test_ts16_fields_are_named_by_the_rule_of_their_class() -> None:
    class Screaming(msgspec.Struct, rename=rename_fields("SCREAMING-KEBAB-CASE")):
        user_id: int
        is_active: bool

    class Pascal(msgspec.Struct, rename=rename_fields("PascalCase")):
        user_id: int
        is_active: bool

    assert of(Screaming)["required"] == ["USER-ID", "IS-ACTIVE"]
    assert of(Pascal)["required"] == ["UserId", "IsActive"]


FIELDS = {
    "lowercase": "max_URL",
    "UPPERCASE": "MAX_URL",
    "PascalCase": "MaxURL",
    "camelCase": "maxURL",
    "snake_case": "max_URL",
    "SCREAMING_SNAKE_CASE": "MAX_URL",
    "kebab-case": "max-URL",
    "SCREAMING-KEBAB-CASE": "MAX-URL",
}
MEMBERS = {
    "lowercase": "httperror",
    "UPPERCASE": "HTTPERROR",
    "PascalCase": "HTTPError",
    "camelCase": "hTTPError",
    "snake_case": "h_t_t_p_error",
    "SCREAMING_SNAKE_CASE": "H_T_T_P_ERROR",
    "kebab-case": "h-t-t-p-error",
    "SCREAMING-KEBAB-CASE": "H-T-T-P-ERROR",
}


@pytest.mark.parametrize("rule", FIELDS)
def test_fields_and_members_are_named_as_by_the_rust_engine(rule: Any) -> None:
    assert rename_fields(rule)("max_URL") == FIELDS[rule]
    assert rename_members(rule)("HTTPError") == MEMBERS[rule]


def test_a_private_field_loses_its_underscore_in_camel_case() -> None:
    assert rename_fields("camelCase")("_private") == "private"


def test_a_rule_that_there_is_not_is_refused() -> None:
    rule: Any = "camel"
    with pytest.raises(ValueError, match="there is no rule 'camel' for names: use lowercase, UPPERCASE"):
        rename_fields(rule)
