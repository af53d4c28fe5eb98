"""Tools in the requests of providers: names, lists, and nulls that mean the default (strata-tools.md 12)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.tools import ProviderTools, anthropic_tools, input_schema, manifest, mcp_tools, openai_tools, provider_names, signature_of
from strata.tools.providers import without_default_nulls

SAFE: Final = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def refund(order_id: str, amount: int, note: str | None = None) -> str:
    """Refunds part of an order."""
    return ""


def scores(of: dict[str, int]) -> str:
    """Adds them."""
    return ""


ENTRIES = manifest([signature_of(refund, name="shop.refund"), signature_of(scores)])
REFUND, SCORES = (entry["parameters"] for entry in ENTRIES)


def test_tp1_what_providers_refuse_in_a_name_becomes_an_underscore() -> None:
    assert provider_names(["k8s.deployment", "météo/now", ""]) == {"k8s_deployment": "k8s.deployment", "m_t_o_now": "météo/now", "_": ""}


def test_tp2_a_long_name_is_cut_and_numbered_where_it_is_taken() -> None:
    first, second = "a" * 70 + "1", "a" * 70 + "2"
    assert provider_names([first, second]) == {"a" * 64: first, "a" * 62 + "_2": second}


def test_a_number_that_is_a_name_already_is_passed_over() -> None:
    assert provider_names(["a_2", "a.b", "a", "a_b", "a/b"]) == {"a_2": "a_2", "a_b": "a.b", "a": "a", "a_b_2": "a_b", "a_b_3": "a/b"}


def test_no_name_of_another_tool_is_taken_over() -> None:
    """Whatever a name is made to look like, each safe name means the one tool that it was given for."""
    names = ["delete_all", "delete.all", "delete_all\u202e", "delete all"]
    safe = provider_names(names)
    assert list(safe.values()) == names
    assert safe["delete_all"] == "delete_all"


@given(st.lists(st.text() | st.text(alphabet="ab._", max_size=70), unique=True))
def test_every_name_has_a_safe_one_of_its_own(names: list[str]) -> None:
    safe = provider_names(names)
    assert list(safe.values()) == names
    assert all(0 < len(name) <= 64 and set(name) <= SAFE for name in safe)


def test_openai_is_told_of_tools_in_the_strict_form_where_there_is_one() -> None:
    told = openai_tools(ENTRIES)
    strict = {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "amount": {"type": "integer"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["order_id", "amount", "note"],
        "additionalProperties": False,
    }
    assert told.tools == [
        {"type": "function", "function": {"name": "shop_refund", "description": "Refunds part of an order.", "parameters": strict, "strict": True}},
        {"type": "function", "function": {"name": "scores", "description": "Adds them.", "parameters": SCORES, "strict": False}},
    ]
    assert told.names == {"shop_refund": "shop.refund", "scores": "scores"}
    assert told.not_strict == {"scores": "argument 'of' is an object with any names: name its fields in a class, or take a list of pairs"}


def test_anthropic_is_told_of_tools_in_the_strict_form_where_there_is_one() -> None:
    told = anthropic_tools(ENTRIES)
    assert told.tools == [
        {
            "name": "shop_refund",
            "description": "Refunds part of an order.",
            "input_schema": {**REFUND, "additionalProperties": False},
            "strict": True,
        },
        {"name": "scores", "description": "Adds them.", "input_schema": SCORES, "strict": False},
    ]
    assert list(told.not_strict) == ["scores"]


def test_without_strictness_tools_are_told_as_by_the_other_engines() -> None:
    openai, anthropic = openai_tools(ENTRIES, strict=False), anthropic_tools(ENTRIES, strict=False)
    assert openai.tools[0] == {
        "type": "function",
        "function": {"name": "shop_refund", "description": "Refunds part of an order.", "parameters": REFUND},
    }
    assert anthropic.tools[0] == {"name": "shop_refund", "description": "Refunds part of an order.", "input_schema": REFUND}
    assert openai.not_strict == anthropic.not_strict == {}


def test_mcp_is_told_of_tools_as_they_are() -> None:
    assert mcp_tools(ENTRIES) == [
        {"name": "shop.refund", "description": "Refunds part of an order.", "inputSchema": REFUND},
        {"name": "scores", "description": "Adds them.", "inputSchema": SCORES},
    ]


def test_entries_of_others_may_lack_all_but_a_name() -> None:
    entries: list[dict[str, Any]] = [{"name": "bare"}, {"description": "has no name"}]
    nothing: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    assert openai_tools(entries, strict=False) == ProviderTools(
        [{"type": "function", "function": {"name": "bare", "description": "", "parameters": nothing}}], {"bare": "bare"}, {}
    )
    assert mcp_tools(entries) == [{"name": "bare", "description": "", "inputSchema": nothing}]


# Nulls


class Line(msgspec.Struct):
    sku: str
    quantity: int = 1
    note: str | None = None
    weight: float | None = 1.5


class Round(msgspec.Struct, tag=True):
    size: int = 1
    unit: Literal["cm"] | None = None


class Square(msgspec.Struct, tag=True):
    size: int | None = 2


class Tree(msgspec.Struct):
    inside: list[Tree] = []
    label: Annotated[str, "its name"] = ""


def order(
    number: str,
    lines: list[Line] = [],  # noqa: B006
    by_day: dict[str, Line] = {},  # noqa: B006
    shape: Round | Square = Round(),  # noqa: B008
    tree: Tree | None = None,
    pair: tuple[Line, int] | None = None,
    limit: int | None = 5,
    anything: Any = 5,
    tags: list[str] | None = None,
    only: Literal["now"] | None = None,
) -> str:
    """Orders."""
    return ""


ORDER = input_schema(signature_of(order))


@pytest.mark.parametrize(
    ("raw", "freed"),
    [
        ('{"number":"a","lines":null}', '{"number":"a"}'),
        ('{"number":"a","lines":[{"sku":"s","quantity":null}]}', '{"number":"a","lines":[{"sku":"s"}]}'),
        ('{"number":"a","tags":null}', '{"number":"a"}'),
        (
            '{"number":"a","by_day":{"mo":{"sku":"s","quantity":null},"tu":{"sku":"t"}}}',
            '{"number":"a","by_day":{"mo":{"sku":"s"},"tu":{"sku":"t"}}}',
        ),
        ('{"shape":{"type":"Round","size":null}}', '{"shape":{"type":"Round"}}'),
        ('{"shape":{"type":"Round","size":null,"unit":null}}', '{"shape":{"type":"Round"}}'),
        ('{"only":null}', "{}"),
        ('{"tree":{"inside":[{"label":null,"inside":null}]}}', '{"tree":{"inside":[{}]}}'),
        ('{"pair":[{"sku":"s","note":null},1]}', '{"pair":[{"sku":"s"},1]}'),
        (' {"number" : "a" , "lines" : null } \n', '{"number":"a"}'),
        ('{"number":1.10e5,"lines":null,"x":[1.0,"\\u0041"]}', '{"number":1.10e5,"x":[1.0,"\\u0041"]}'),
    ],
)
def test_a_null_that_means_the_default_is_taken_away(raw: str, freed: str) -> None:
    assert without_default_nulls(raw, ORDER) == freed


@pytest.mark.parametrize(
    "raw",
    [
        '{"number":null}',
        '{"number":"a","limit":null}',
        '{"number":"a","anything":null}',
        '{"number":"a","anything":{"lines":null}}',
        '{"number":"a","unknown":null}',
        '{"number":"a","lines":[null]}',
        '{"number":"a","lines":[{"sku":null,"weight":null}]}',
        '{"number":"a","by_day":{"mo":null}}',
        '{"shape":{"type":"Square","size":null}}',
        '{"shape":{"type":"Oval","size":null}}',
        '{"number":"null"}',
        '{ "number" : "a" }',
        "null",
        "[null]",
        '{"lines":null',
        '{"lines":null} trailing',
        '\u00a0{"lines":null}',
        '{"number":"\ud800","lines":null}',
        '{"anything":' + "[" * 5_000 + "null" + "]" * 5_000 + "}",
        '{"tree":' + '{"inside":[' * 5_000 + "null" + "]}" * 5_000 + "}",
    ],
    ids=lambda raw: raw[:50],
)
def test_what_means_no_default_stays_as_it_was_sent(raw: str) -> None:
    assert without_default_nulls(raw, ORDER) == raw


def test_a_tool_takes_what_the_strict_form_lets_a_model_send() -> None:
    """All of it null that may be null."""
    line = '{"sku":"s","quantity":null,"note":null,"weight":null}'
    raw = f'{{"number":"a","lines":[{line}],"by_day":null,"shape":null,"tree":null,"pair":null,"tags":null}}'
    assert without_default_nulls(raw, ORDER) == '{"number":"a","lines":[{"sku":"s","weight":null}]}'
