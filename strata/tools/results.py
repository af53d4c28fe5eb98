"""What a tool's function returns, as the text that a model is given."""

from __future__ import annotations

from typing import Any

from strata.errors import ToolCallFailed
from strata.graph.plain_json import json_of
from strata.graph.texts import is_utf8


def text_of(tool: str, result: object) -> str:
    """Text as it is; anything else as JSON, None as `null`.

    Raises:
        ToolCallFailed: it is no JSON, or text that UTF-8 cannot encode.
    """
    if type(result) is str and result.isascii():  # most results
        return result
    if isinstance(result, str):
        text = str.__str__(result)  # of a member of a text enum: its value
        if not is_utf8(text):
            raise ToolCallFailed(tool, "it returned text with half a surrogate pair, which UTF-8 cannot encode")
        return text
    try:
        return json_of(result).decode()
    except TypeError as error:
        raise ToolCallFailed(tool, f"it returned {_a(type(result))}, which is no JSON: {error}") from error


def _a(kind: type[Any]) -> str:
    name = kind.__qualname__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
