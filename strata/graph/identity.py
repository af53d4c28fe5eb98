"""Who a graph says it is."""

from __future__ import annotations

import msgspec


class Identity(msgspec.Struct, frozen=True):
    """The id and version given to `compile`, compared as text; there is no hash of the structure (strata-graph.md 5)."""

    id: str
    version: str | None = None

    @property
    def version_text(self) -> str:
        """`version 2` or `unversioned`, as the engines write it in their texts."""
        return "unversioned" if self.version is None else f"version {self.version}"

    def __str__(self) -> str:
        return f"'{self.id}' {self.version_text}"
