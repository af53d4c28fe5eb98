"""What the `jsonschema` package says, as a judge that owes nothing to us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]


def assert_is_schema(schema: Mapping[str, Any]) -> None:
    """It is valid JSON Schema 2020-12."""
    Draft202012Validator.check_schema(dict(schema))


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether the value is what the schema describes. Formats are not looked at."""
    judge: Any = Draft202012Validator(dict(schema))
    return bool(judge.is_valid(value))
