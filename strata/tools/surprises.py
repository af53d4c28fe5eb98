"""Names of tools by which no model will know them (strata-tools.md 12.1)."""

from __future__ import annotations

from collections.abc import Mapping

from strata.tools.providers import provider_names
from strata.tools.providers.names import LONGEST


def provider_surprise(name: str, taken: Mapping[str, str]) -> str | None:
    """Why a tool of that name, registered behind those that are `taken`, is known to models by another one than its characters explain."""
    [safe] = provider_names([name])
    if not name:
        return f"a tool without a name is '{safe}' to models: give it one"
    if len(name) > LONGEST:
        return f"the name of tool '{name}' has more than the {LONGEST} characters that providers take: models know it as '{safe}'"
    if safe in taken:
        numbered = list(provider_names((*taken.values(), name)))[-1]
        return f"tool '{name}' would be '{safe}' to models, and so is tool '{taken[safe]}': they know it as '{numbered}'; give one another name"
    return None
