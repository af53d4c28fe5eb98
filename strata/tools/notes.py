"""What an annotation says beside its type, as a model is told of it: text, and limits in the keywords of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from strata.graph.meanings import Meaning
from strata.graph.plain_json import plain_json
from strata.tools.kinds import Kind, Listing, Noted, Scalar, Table


def noted(kind: Kind, meaning: Meaning, said: str | None) -> Kind:
    """The kind with its notes, if there are any; `said` is its text where the annotation has none."""
    text, limits = meaning.text or said, _limits(kind, meaning)
    return Noted(kind, text, limits) if text or limits else kind


def _limits(kind: Kind, meaning: Meaning) -> dict[str, Any]:
    """The keywords that a `Meta` stands for; of two that say the same the last one counts, as for msgspec."""
    words = _WORDS.get(_json_type(kind), {})
    limits: dict[str, Any] = {}
    for meta in meaning.limits:
        said = {word: getattr(meta, limit) for limit, word in (*words.items(), *_FOR_ALL.items())}
        limits |= {word: value for word, value in said.items() if value is not None}
        limits |= meta.extra_json_schema or {}
    if limits and isinstance(kind, Scalar) and "contentEncoding" in kind.written_as:
        limits |= {word: 4 * ((limits[word] + 2) // 3) for word in ("minLength", "maxLength") if word in limits}  # as base64
    limits.pop("description", None)
    return cast("dict[str, Any]", plain_json(msgspec.to_builtins(limits, str_keys=True, order="deterministic")))


def _json_type(kind: Kind) -> str:
    match kind:
        case Scalar(name):
            return name
        case Listing():
            return "array"
        case Table():
            return "object"
        case _:
            return ""


_NUMERIC: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf"}
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "integer": _NUMERIC,
    "number": _NUMERIC,
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_FOR_ALL: Final[Mapping[str, str]] = {"title": "title", "examples": "examples"}
