"""What holds of the schema of every tool, shown on random ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata import ToolInvalid
from strata.tools import NotStrict, Strict, ToolSignature, anthropic_strict, canonical_json, input_schema, openai_strict, signature_of
from strata.tools.providers import without_default_nulls
from strata.tools.schema import arguments_type
from tests.tools.json_schema import assert_is_schema, fits
from tests.tools.json_values import Values
from tests.tools.msgspec_schema import in_common
from tests.tools.random_tools import Author
from tests.tools.sdk_normalisers import made_by_anthropic, made_by_openai
from tests.tools.sources import imported

SORTS = ("$defs", "anyOf", "prefixItems", "additionalProperties", "enum", "default", "description")

SEEDS = st.integers(0, 2**48)


def tools(seed: int, folder: Path) -> Iterator[ToolSignature]:
    """The tools of a random module, while it is there."""
    author = Author(Random(seed), decorator="", imports="from strata.tools import ToolContext\n")
    with imported(author.module(), folder) as module:
        for name in author.tools:
            signature = signature_of(getattr(module, name))
            with suppress(ToolInvalid):  # there is but one union that msgspec takes and we do not
                input_schema(signature)
                yield signature


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tools")


@given(SEEDS)
def test_a_schema_is_a_plain_object_of_json_schema_and_refers_only_to_types_that_hold_themselves(folder: Path, seed: int) -> None:
    for signature in tools(seed, folder):
        schema = input_schema(signature)
        assert_is_schema(schema)
        assert schema["type"] == "object"
        assert schema.keys() <= {"type", "properties", "required", "additionalProperties", "$defs"}
        assert list(schema["properties"]) == [parameter.json_name for parameter in signature.parameters]
        assert schema["required"] == [parameter.json_name for parameter in signature.parameters if parameter.default is msgspec.NODEFAULT]
        definitions = schema.get("$defs", {})
        assert set(references(schema)) == definitions.keys()
        assert all(name in reached(name, definitions) for name in definitions)
        assert json.loads(canonical_json(schema)) == schema == input_schema(signature)


@given(SEEDS)
def test_a_schema_says_what_msgspec_says_of_the_same_types(folder: Path, seed: int) -> None:
    for signature in tools(seed, folder):
        (reference,), components = msgspec.json.schema_components([arguments_type(signature)])
        assert in_common(input_schema(signature)) == in_common({**reference, "$defs": components})


@given(SEEDS)
def test_what_is_said_of_values_changes_no_name_and_no_type(folder: Path, seed: int) -> None:
    """Other engines compare those."""
    for signature in tools(seed, folder):
        with suppress(ToolInvalid):  # of what Rust has no twin for
            assert_enriches(input_schema(signature), input_schema(signature, "strata"))


@given(SEEDS)
def test_what_fits_the_schema_is_read(folder: Path, seed: int) -> None:
    random = Random(seed)
    for signature in tools(seed, folder):
        schema = input_schema(signature)
        decode = msgspec.json.Decoder(arguments_type(signature)).decode
        for _ in range(5):
            value = Values(random, schema.get("$defs", {})).fitting(schema)
            assert fits(value, schema)
            decode(json.dumps(value))


@given(SEEDS)
def test_what_is_read_fits_the_schema(folder: Path, seed: int) -> None:
    """But for what decoding lets pass on purpose: null for a default, and numbers for a Decimal."""
    random = Random(seed)
    for signature in tools(seed, folder):
        schema = input_schema(signature)
        values = Values(random, schema.get("$defs", {}))
        decode = msgspec.json.Decoder(arguments_type(signature)).decode
        for _ in range(10):
            raw = without_default_nulls(json.dumps(values.nearly(values.fitting(schema))), schema)
            try:
                decode(raw)
            except msgspec.ValidationError:
                continue
            assert fits(json.loads(raw), schema) or '"format": "decimal"' in json.dumps(schema)


@given(SEEDS)
def test_strict_forms_are_schemas_that_the_sdks_leave_as_they_are(folder: Path, seed: int) -> None:
    for signature in tools(seed, folder):
        schema = input_schema(signature)
        for strictly, made_by in ((openai_strict, made_by_openai), (anthropic_strict, made_by_anthropic)):
            match strictly(schema):
                case Strict(form):
                    assert_is_schema(form)
                    assert made_by(form) == form
                    assert list(form["properties"]) == list(schema["properties"])
                case NotStrict(reasons):
                    assert reasons


@given(SEEDS)
def test_a_tool_reads_what_openais_strict_form_lets_a_model_send(folder: Path, seed: int) -> None:
    random = Random(seed)
    for signature in tools(seed, folder):
        schema = input_schema(signature)
        form = openai_strict(schema)
        if isinstance(form, NotStrict) or any(word in json.dumps(schema) for word in ("contentEncoding", "decimal")):  # which stand only in words
            continue
        decode = msgspec.json.Decoder(arguments_type(signature)).decode
        for _ in range(5):
            value = Values(random, form.schema.get("$defs", {})).fitting(form.schema)
            sent = without_default_nulls(json.dumps(value), schema)
            if fits(json.loads(sent), schema):  # a limit that stands only in words may be missed
                decode(sent)


@settings(max_examples=1)
@given(st.just(0))
def test_random_tools_are_of_every_sort(folder: Path, start: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(start, start + 60):
        for signature in tools(seed, folder):
            schema = input_schema(signature)
            counts.update(
                word for word in ("$defs", "anyOf", "prefixItems", "additionalProperties", "enum", "default", "description") if word in repr(schema)
            )
            counts["strict"] += isinstance(openai_strict(schema), Strict)
            counts["open"] += isinstance(openai_strict(schema), NotStrict)
            counts["context"] += signature.context is not None
    assert min(counts.values()) >= 10, counts


def references(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            for word, said in schema.items():  # pyright: ignore[reportUnknownVariableType]
                if word == "$ref":
                    yield str(said).removeprefix("#/$defs/")  # pyright: ignore[reportUnknownArgumentType]
                yield from references(said)
        case list():
            for said in schema:  # pyright: ignore[reportUnknownVariableType]
                yield from references(said)
        case _:
            return


def reached(name: str, definitions: dict[str, Any]) -> set[str]:
    """The definitions that stand inside one, at any depth."""
    seen: set[str] = set()
    ahead = [name]
    while ahead:
        inside = set(references(definitions[ahead.pop()])) - seen
        seen |= inside
        ahead += inside
    return seen


def assert_enriches(rich: Any, rust: Any) -> None:
    """The same names, types and required ones; what Rust has no word for (`{"type": "object"}` alone) may be anything."""
    if rust == {"type": "object"}:
        return
    if "anyOf" in rich:  # of null and one other, which Rust does not tell of
        (rich,) = (option for option in rich["anyOf"] if option != {"type": "null"})
    for word in ("type", "required", "enum"):
        assert rich.get(word) == rust.get(word)
    assert list(rich.get("properties", {})) == list(rust.get("properties", {}))
    for name, said in rust.get("properties", {}).items():
        assert_enriches(rich["properties"][name], said)
    if "items" in rust:
        assert_enriches(rich.get("items", {}), rust["items"])
    if "additionalProperties" in rust:
        assert_enriches(rich["additionalProperties"], rust["additionalProperties"])
