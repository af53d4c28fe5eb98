"""The classes whose schema the sheet gives in its first case, for tools that are imported and for the source of some."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from strata.tools import rename_fields, rename_members


class Evidence(msgspec.Struct):
    """What speaks for it.

    Attributes:
        source: where it was found.
    """

    source: str
    weight: Annotated[float, Meta(ge=0)]


EVIDENCE = {
    "type": "object",
    "properties": {"source": {"type": "string"}, "weight": {"type": "number"}},
    "required": ["source", "weight"],
}


class Severity(Enum):
    Low = rename_members("snake_case")("Low")
    High = rename_members("snake_case")("High")
    NeedsHuman = rename_members("snake_case")("NeedsHuman")


class Finding(msgspec.Struct, kw_only=True, rename=rename_fields("camelCase")):
    root_cause: str
    confidence: float
    evidence: list[Evidence]
    tags: list[str]
    severity: Severity
    labels: dict[str, str]
    scores: dict[str, list[int]]
    next_step: Evidence | None = msgspec.field(default=None, name="next")
    notes: list[str] = []
    cached: ClassVar[str] = ""
    shared: str
    matrix: list[list[int]]
