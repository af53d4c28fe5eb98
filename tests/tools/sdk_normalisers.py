"""What the SDKs of OpenAI and Anthropic make of a schema before they send it with `strict`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from anthropic import transform_schema
from openai.lib import _pydantic as openai_strictness


def made_by_openai(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that its SDK made of a class, in the form that it would send."""
    tighten: Callable[..., dict[str, Any]] = vars(openai_strictness)["_ensure_strict_json_schema"]
    form = deepcopy(dict(schema))
    return tighten(form, path=(), root=form)


def made_by_anthropic(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that it is given, in the form that it would send."""
    return transform_schema(deepcopy(dict(schema)))
