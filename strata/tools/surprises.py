"""Names of tools by which models know them otherwise than their characters explain (strata-tools.md 12.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from strata.tools.providers import provider_names
from strata.tools.providers.names import LONGEST


class Known(NamedTuple):
    """What models call a tool, and what is to be told to whoever registers it."""

    name: str
    surprise: str | None = None


def models_know(name: str, taken: Mapping[str, str]) -> Known:
    """Of a tool of that name, registered behind those that are `taken`."""
    [safe] = provider_names([name])
    if safe in taken:
        numbered = list(provider_names((*taken.values(), name)))[-1]
        return Known(numbered, f"models know tool '{name}' as '{numbered}', since '{safe}' is tool '{taken[safe]}': give one another name")
    if not name:
        return Known(safe, f"models know a tool without a name as '{safe}': give it one")
    if len(name) > LONGEST:
        return Known(safe, f"models know tool '{name}' as '{safe}', since providers take {LONGEST} characters: give it a shorter name")
    return Known(safe)
