"""The cases of strata-tools.md 14 and of users that are about schemas, of tools that are read from their source."""

from __future__ import annotations

import json
from inspect import getsource
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from strata.codegen.artifacts import artifacts
from strata.codegen.catalogue import Catalogue
from strata.tools import input_schema
from tests.codegen.projects import read, told, written
from tests.tools.findings import EVIDENCE, Finding, Severity

HEAD = """\
from __future__ import annotations
from collections import deque
from enum import Enum, IntEnum
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, Optional
import msgspec
from msgspec import Meta
from strata.tools import ToolContext, rename_fields, rename_members, strata_tool
T = TypeVar("T")

class Evidence(msgspec.Struct):
    source: str
    weight: float

"""
FIRST = HEAD.count("\n") + 1


def tools(text: str, folder: Path) -> Catalogue:
    return read(written(folder, {"tools.py": HEAD + dedent(text)}))


def refusals(text: str, folder: Path) -> list[str]:
    """The problems, with lines that count from the first behind `HEAD`."""
    lines = [problem.partition(":") for problem in told(tools(text, folder))]
    return [f"{int(line) - FIRST + 1}:{rest}" for line, _, rest in lines]


def parameters(text: str, folder: Path) -> dict[str, Any]:
    """The schema of the one tool's arguments, as other engines say it."""
    found = tools(text, folder)
    assert told(found) == []
    (tool,) = found.tools
    return input_schema(tool.signature, "strata")


def of(annotation: str, folder: Path, above: str = "") -> Any:
    """The schema of an argument of that type."""
    return parameters(f"{dedent(above)}\n@strata_tool\ndef tool(it: {annotation}) -> None:\n    'Takes it.'\n", folder)["properties"]["it"]


FINDING = "\n".join(map(getsource, (Severity, Finding)))


def test_ts1_an_object_has_its_fields_in_their_order_under_the_names_of_the_rule(tmp_path: Path) -> None:
    finding = of("Finding", tmp_path, FINDING)
    assert list(finding["properties"]) == [
        *("rootCause", "confidence", "evidence", "tags", "severity", "labels", "scores", "next", "notes", "shared", "matrix")
    ]
    assert finding["required"] == ["rootCause", "confidence", "evidence", "tags", "severity", "labels", "scores", "shared", "matrix"]


def test_ts2_enums_maps_lists_and_optional_objects_are_described_where_they_stand(tmp_path: Path) -> None:
    properties = of("Finding", tmp_path, FINDING)["properties"]
    assert properties["severity"] == {"type": "string", "enum": ["low", "high", "needs_human"]}
    assert properties["scores"] == {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}}
    assert properties["matrix"] == {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    assert properties["next"] == EVIDENCE


def test_ts3_what_has_no_schema_is_an_object(tmp_path: Path) -> None:
    assert of("dict[str, Any]", tmp_path) == {"type": "object"}
    assert of("list[dict[str, Any]]", tmp_path) == {"type": "array", "items": {"type": "object"}}


def test_ts4_a_parameter_named_by_a_keyword_drops_its_underscore(tmp_path: Path) -> None:
    found = parameters("@strata_tool\ndef tool(class_: str, type: str, from_: str) -> None:\n    'Takes them.'\n", tmp_path)
    assert found["required"] == ["class", "type", "from"]


def limits(rule: str) -> str:
    return f"class Limits(msgspec.Struct, rename=rename_fields({rule!r})):\n    user_id: str\n    is_active: bool\n"


def test_ts5_the_name_that_is_read_counts(tmp_path: Path) -> None:
    assert of("Limits", tmp_path, limits("kebab-case"))["required"] == ["user-id", "is-active"]


@pytest.mark.parametrize(("rule", "names"), [("SCREAMING-KEBAB-CASE", ["USER-ID", "IS-ACTIVE"]), ("PascalCase", ["UserId", "IsActive"])])
def test_ts16_fields_are_named_by_the_rule_of_their_class(rule: str, names: list[str], tmp_path: Path) -> None:
    assert of("Limits", tmp_path, limits(rule))["required"] == names


def test_ts6_a_generic_object_is_described_with_what_it_holds(tmp_path: Path) -> None:
    page = of("Page[Evidence]", tmp_path, "class Page(msgspec.Struct, Generic[T]):\n    items: list[T]\n    cursor: str | None = None\n")
    assert page["required"] == ["items"]
    assert page["properties"]["items"]["items"] == EVIDENCE


def test_ts7_null_is_never_told_of(tmp_path: Path) -> None:
    assert of("list[bool | None]", tmp_path) == {"type": "array", "items": {"type": "boolean"}}


def test_ts8_an_optional_argument_is_described_and_not_required(tmp_path: Path) -> None:
    found = parameters("@strata_tool\ndef tool(required_field: str, optional_field: str | None = None) -> None:\n    'Takes them.'\n", tmp_path)
    assert found["required"] == ["required_field"]
    assert found["properties"]["optional_field"] == {"type": "string"}


def test_ts9_no_arguments_are_an_object_without_properties(tmp_path: Path) -> None:
    found = parameters("@strata_tool\ndef tool(ctx: ToolContext) -> None:\n    'Takes nothing.'\n", tmp_path)
    assert found == {"type": "object", "properties": {}, "required": []}


def test_ts10_an_entry_has_a_name_a_description_and_the_parameters(tmp_path: Path) -> None:
    text = "@strata_tool('check_inventory', description='Query warehouse item quantities.')\nasync def f(sku: str, warehouse_id: int) -> int: ...\n"
    (tool,) = tools(text, tmp_path).tools
    assert tool.entry == {
        "name": "check_inventory",
        "description": "Query warehouse item quantities.",
        "parameters": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "warehouse_id": {"type": "integer"}},
            "required": ["sku", "warehouse_id"],
        },
    }


def test_ts11_sets_and_sequences_are_arrays(tmp_path: Path) -> None:
    assert of("set[str]", tmp_path) == {"type": "array", "items": {"type": "string"}}
    assert of("tuple[int, ...]", tmp_path) == {"type": "array", "items": {"type": "integer"}}


TYPED = '''
    @strata_tool
    def tool(size: Annotated[int, Meta(ge=0, le=255)], name: str) -> None:
        """Takes them.

        Args:
            name: what it is called.
        """
    '''


def test_ts12_descriptions_and_limits_are_told_in_the_rich_flavor_alone(tmp_path: Path) -> None:
    assert parameters(TYPED, tmp_path)["properties"] == {"size": {"type": "integer"}, "name": {"type": "string"}}
    (tool,) = tools(TYPED, tmp_path).tools
    assert tool.parameters["properties"] == {
        "size": {"type": "integer", "minimum": 0, "maximum": 255},
        "name": {"type": "string", "description": "what it is called."},
    }


def test_ts13_two_contexts_and_star_arguments_are_refused_with_their_places(tmp_path: Path) -> None:
    text = "@strata_tool\ndef f(a: ToolContext, b: ToolContext) -> None:\n    'Do.'\n\n@strata_tool\ndef g(*words: str) -> None:\n    'Do.'\n"
    two, star = refusals(text, tmp_path)
    assert two == "1:1 TOOL_INVALID tool 'f': its parameters 'a' and 'b' are both annotated as the context: one is enough"
    assert star.startswith("5:1 TOOL_INVALID tool 'g': its parameter '*words'")


def test_ts13_a_method_is_no_tool_that_others_could_call(tmp_path: Path) -> None:
    (told_of,) = refusals("class Desk:\n    @strata_tool\n    def close(self, id: str) -> None:\n        'Close it.'\n", tmp_path)
    assert told_of == "2:5 TOOL_LEFT_OUT the tool 'close' stands inside of class 'Desk', where no other module finds it: it is left out"


def test_ts14_a_missing_description_and_an_unknown_option_are_refused(tmp_path: Path) -> None:
    missing, unknown = refusals("@strata_tool\ndef f() -> None: ...\n@strata_tool(descripton='Do.')\ndef g() -> None: ...\n", tmp_path)
    assert missing == "1:1 TOOL_INVALID tool 'f': it has no description for the model: write a docstring, or give description="
    assert unknown == "3:14 TOOL_INVALID strata_tool takes no 'descripton'"


# Of users


def test_tool_01_postponed_annotations_are_read_and_a_name_that_is_not_found_is_told_with_its_place(tmp_path: Path) -> None:
    assert of("str", tmp_path) == {"type": "string"}  # all of these modules postpone theirs
    assert refusals("@strata_tool\ndef f(to: Adress) -> None:\n    'Do.'\n", tmp_path) == [
        "2:11 TOOL_UNRESOLVED 'Adress' is bound nowhere in 'tools'"
    ]


@pytest.mark.parametrize(
    "annotation", ["ToolContext", "Optional[ToolContext]", "ToolContext | None", "Annotated[ToolContext, 'the call']", "'ToolContext'"]
)
def test_tool_02_the_context_is_found_by_its_type_and_told_to_no_model(annotation: str, tmp_path: Path) -> None:
    found = parameters(f"@strata_tool\ndef f(here: {annotation}, id: str) -> None:\n    'Do.'\n", tmp_path)
    assert list(found["properties"]) == ["id"]


def test_tool_04_enums_tell_their_values_in_the_order_of_declaration_and_their_defaults(tmp_path: Path) -> None:
    above = "class Speed(Enum):\n    SLOW = 'slow'\n    FAST = 'fast'\n\nclass Size(IntEnum):\n    BIG = 3\n    SMALL = 1\n"
    text = above + "@strata_tool\ndef f(size: Size, speed: Speed = Speed.FAST) -> None:\n    'Do.'\n"
    (tool,) = tools(text, tmp_path).tools
    assert tool.parameters["properties"] == {
        "size": {"type": "integer", "enum": [3, 1]},
        "speed": {"type": "string", "enum": ["slow", "fast"], "default": "fast"},
    }
    assert tool.parameters["required"] == ["size"]


def test_tool_06_the_annotation_goes_before_its_meta_and_that_before_the_docstring(tmp_path: Path) -> None:
    text = '''
        @strata_tool
        def f(a: Annotated[int, "text", Meta(description="meta", ge=1)], b: Annotated[int, Meta(description="meta")], c: int) -> None:
            """Do.

            Args:
                a: docstring
                b: docstring
                c: docstring
            """
        '''
    (tool,) = tools(text, tmp_path).tools
    assert {name: schema["description"] for name, schema in tool.parameters["properties"].items()} == {"a": "text", "b": "meta", "c": "docstring"}
    assert tool.parameters["properties"]["a"]["minimum"] == 1


def test_tool_12_what_has_no_strict_form_is_told_with_the_argument(tmp_path: Path) -> None:
    found = tools("@strata_tool\ndef f(labels: dict[str, str]) -> None:\n    'Do.'\n", tmp_path)
    (told_of,) = json.loads(artifacts(found.tools, found.interpreter).files["strictness.json"])
    assert told_of["openai"]["strict"] is False
    assert told_of["openai"]["reason"].startswith("argument 'labels' is an object with any names")


def test_tool_10_what_is_inside_is_closed_and_required_too(tmp_path: Path) -> None:
    above = "class Line(msgspec.Struct):\n    sku: str\n    note: str | None = None\n"
    found = tools(above + "@strata_tool\ndef f(lines: list[Line]) -> None:\n    'Do.'\n", tmp_path)
    (listed,) = json.loads(artifacts(found.tools, found.interpreter).files["openai.json"])
    line = listed["function"]["parameters"]["properties"]["lines"]["items"]
    assert (line["required"], line["additionalProperties"], listed["function"]["strict"]) == (["sku", "note"], False, True)


def test_tool_14_what_a_factory_makes_is_not_required(tmp_path: Path) -> None:
    above = "class Options(msgspec.Struct):\n    tags: list[str] = msgspec.field(default_factory=list)\n    name: str = ''\n"
    assert of("Options", tmp_path, above)["required"] == []
