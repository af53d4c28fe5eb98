"""Texts of argument problems that the records do not show, and what models and attackers send (strata-tools.md 6)."""

from __future__ import annotations

import time
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.tools import argument_problems

NO_JSON: Final = "the arguments aren't valid JSON"
NO_OBJECT: Final = "the arguments aren't a JSON object"

REFUND: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "amount": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["order_id", "amount"],
}
EVERYTHING: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "flag": {"type": "boolean"},
        "items": {"type": "array"},
        "meta": {"type": "object"},
        "ratio": {"type": "number"},
        "count": {"type": "integer"},
    },
    "required": ["flag"],
}


def optional(kind: Any) -> dict[str, Any]:
    return {"properties": {"a": {"type": kind}}}


CASES: Final[dict[str, tuple[str, dict[str, Any], str | None]]] = {
    "ta1": ('{"amount":5}', REFUND, "argument 'order_id' is missing"),
    "ta2": ('{"order_id":42,"amount":"five"}', REFUND, "argument 'amount' must be an integer; argument 'order_id' must be a string"),
    "ta3 array": ("[]", REFUND, NO_OBJECT),
    "ta3 half": ("{", REFUND, NO_JSON),
    "ta4": ('{"order_id":"o-1","amount":-5}', REFUND, None),
    "ta7": ("not json", REFUND, NO_JSON),
    "ta9 text": ('"text"', REFUND, NO_OBJECT),
    "ta9 number": ("5", REFUND, NO_OBJECT),
    "ta9 null": ("null", REFUND, NO_OBJECT),
    "ta10": ('{"flag":"yes"}', EVERYTHING, "argument 'flag' must be true or false"),
    "ta11": ('{"flag":true,"items":1,"meta":2}', EVERYTHING, "argument 'items' must be an array; argument 'meta' must be an object"),
    "ta12": ('{"flag":null,"items":null}', EVERYTHING, "argument 'flag' must be true or false"),
    "ta13": ('{"x":1}', {"type": "object"}, None),
    "ta13 array": ("[1]", {"type": "object"}, NO_OBJECT),
    "ta14 number": ('{"flag":true,"ratio":5}', EVERYTHING, None),
    "ta14 integer": ('{"flag":true,"count":5.5}', EVERYTHING, "argument 'count' must be an integer"),
    "ta15": ('{"flag":true,"other":1}', EVERYTHING, None),
}


@pytest.mark.parametrize("case", CASES)
def test_ta_the_problems_of_the_cases(case: str) -> None:
    raw, parameters, problems = CASES[case]
    assert argument_problems(raw, parameters) == problems


HOSTILE: Final[dict[str, tuple[str | bytes, str | None]]] = {
    "nothing": ("", NO_JSON),
    "blank": (" \n", NO_JSON),
    "infinite number": ('{"amount":1e400}', NO_JSON),
    "infinite number that nobody asks for": ('{"order_id":"o","amount":1,"x":[{"y":-1e999}]}', NO_JSON),
    "infinite integer": ('{"order_id":"o","amount":1,"x":' + "9" * 400 + "}", NO_JSON),
    "infinite negative integer inside": ('{"order_id":"o","amount":1,"x":[[-' + "9" * 400 + "]]}", NO_JSON),
    "many digits in a text": ('{"order_id":"' + "9" * 400 + '","amount":1}', None),
    "large integer that a double is near to": ('{"order_id":"o","amount":' + "1" * 309 + "}", "argument 'amount' must be an integer"),
    "NaN": ('{"amount":NaN}', NO_JSON),
    "Infinity": ('{"amount":-Infinity}', NO_JSON),
    "lone surrogate as an escape": ('{"order_id":"\\ud800","amount":1}', NO_JSON),
    "lone surrogate that is no first one": ('{"order_id":"\\udc00","amount":1}', NO_JSON),
    "lone surrogate in the text": ('{"order_id":"\ud800","amount":1}', NO_JSON),
    "surrogates in the wrong order": ('{"order_id":"\\udc00\\ud800","amount":1}', NO_JSON),
    "pair of surrogates": ('{"order_id":"\\ud83d\\ude00","amount":1}', None),
    "bytes that are no UTF-8": (b'{"order_id":"\xff","amount":1}', NO_JSON),
    "byte order mark": ('\ufeff{"order_id":"o","amount":1}', NO_JSON),
    "UTF-16": ('{"order_id":"o","amount":1}'.encode("utf-16"), NO_JSON),
    "control character": ('{"order_id":"\n","amount":1}', NO_JSON),
    "NUL as an escape": ('{"order_id":"\\u0000","amount":1}', None),
    "NUL": ('{"order_id":"o","amount":1}\0', NO_JSON),
    "comment": ('{"order_id":"o","amount":1} // please', NO_JSON),
    "trailing comma": ('{"order_id":"o","amount":1,}', NO_JSON),
    "single quotes": ("{'order_id':'o','amount':1}", NO_JSON),
    "leading zero": ('{"order_id":"o","amount":01}', NO_JSON),
    "hexadecimal": ('{"order_id":"o","amount":0x1}', NO_JSON),
    "two objects": ("{}{}", NO_JSON),
    "true for an integer": ('{"order_id":"o","amount":true}', "argument 'amount' must be an integer"),
    "integer as a double": ('{"order_id":"o","amount":5.0}', "argument 'amount' must be an integer"),
    "integer with an exponent": ('{"order_id":"o","amount":1e3}', "argument 'amount' must be an integer"),
    "lowest integer": ('{"order_id":"o","amount":-9223372036854775808}', None),
    "below the lowest integer": ('{"order_id":"o","amount":-9223372036854775809}', "argument 'amount' must be an integer"),
    "highest integer": ('{"order_id":"o","amount":18446744073709551615}', None),
    "above the highest integer": ('{"order_id":"o","amount":18446744073709551616}', "argument 'amount' must be an integer"),
    "the last of two keys counts": ('{"order_id":"o","amount":1,"amount":"x"}', "argument 'amount' must be an integer"),
    "two keys, the last one right": ('{"order_id":"o","amount":"x","amount":1}', None),
    "key with an escape": ('{"order\\u005fid":"o","amount":1}', None),
    "127 levels": ('{"order_id":"o","amount":1,"x":' + "[" * 126 + "]" * 126 + "}", None),
    "128 levels": ('{"order_id":"o","amount":1,"x":' + "[" * 127 + "]" * 127 + "}", NO_JSON),
    "brackets in a text": ('{"order_id":"' + "[{" * 500 + '","amount":1}', None),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_arguments_have_the_text_that_all_engines_share(case: str) -> None:
    raw, problems = HOSTILE[case]
    assert argument_problems(raw, REFUND) == problems


LARGE: Final[dict[str, tuple[str, str | None]]] = {
    "10 MB of text": ('{"order_id":"' + "x" * 10_000_000 + '","amount":1}', None),
    "10 MB of escapes": ('{"order_id":"' + '\\"' * 5_000_000 + '","amount":1}', None),
    "10 MB of digits": ('{"order_id":"o","amount":' + "9" * 10_000_000 + "}", NO_JSON),
    "10 MB of digits behind a point": ('{"order_id":"o","amount":1.' + "9" * 10_000_000 + "}", "argument 'amount' must be an integer"),
    "10 MB in an array": ('{"order_id":"o","amount":1,"x":[' + "1," * 5_000_000 + "1]}", None),
    "10 MB of brackets": ("[" * 10_000_000, NO_JSON),
    "10 MB of closed brackets": ("[" * 5_000_000 + "]" * 5_000_000, NO_JSON),
    "5,000 levels": ('{"order_id":' + '[{"a":' * 2_500 + "1" + "}]" * 2_500 + ',"amount":1}', NO_JSON),
    "300,000 keys": (
        "{" + ",".join(f'"k{number}":1' for number in range(300_000)) + "}",
        "argument 'amount' is missing; argument 'order_id' is missing",
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_large_arguments_are_told_in_bounded_time(case: str) -> None:
    raw, problems = LARGE[case]
    before = time.perf_counter()
    assert argument_problems(raw, REFUND) == problems
    assert time.perf_counter() - before < 10


@pytest.mark.parametrize("kind", [["string", "null"], "null", "text", "", 5, None, {}])
def test_a_type_that_is_none_of_the_six_is_not_checked(kind: Any) -> None:
    assert argument_problems('{"a":{}}', optional(kind)) is None
    assert argument_problems('{"a":null}', {**optional(kind), "required": ["a"]}) is None


@pytest.mark.parametrize(
    "parameters", [{}, {"properties": []}, {"properties": None}, {"properties": {"a": True}}, {"properties": {}, "required": ["a"]}]
)
def test_a_schema_that_says_nothing_of_its_properties_has_no_problems(parameters: dict[str, Any]) -> None:
    assert argument_problems('{"a":1}', parameters) is None


@pytest.mark.parametrize("required", [None, "a", {"a": True}, [["a"], 5]])
def test_only_a_list_says_what_is_required(required: Any) -> None:
    assert argument_problems("{}", {**optional("string"), "required": required}) is None


def test_names_come_in_the_order_of_their_bytes_and_as_they_are() -> None:
    names = ["é", "a_", "B", "\U0001f600", "\uffff", "it's"]
    problems = argument_problems("{}", {"properties": {name: {} for name in names}, "required": names})
    assert problems == "; ".join(f"argument '{name}' is missing" for name in ["B", "a_", "it's", "é", "\uffff", "\U0001f600"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.text() | st.binary(), VALUES)
def test_nothing_that_is_sent_raises(raw: str | bytes, junk: Any) -> None:
    for parameters in (REFUND, {"properties": {"a": junk}, "required": junk}, {"properties": junk}):
        problems = argument_problems(raw, parameters)
        assert problems is None or problems.startswith(("the arguments aren't", "argument '"))
