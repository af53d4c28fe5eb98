"""What a rule found."""

from __future__ import annotations

from typing import Literal

import msgspec

from strata.rules.facts import Place

Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of a graph.

    `node` and `related` are qualified (`Review/Sign`, `Fan/*/Window`), but for the branch of a doubled branch, which is
    its own name; `text` is what the engines print, byte for byte where the sheets pin it.
    """

    code: str
    severity: Severity
    text: str
    node: str | None = None
    related: str | None = None
    place: Place | None = None
    hint: str | None = None
    """What to do about it, where `text`, which other engines share, does not say."""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place is not None else ""
        advice = f" {self.hint}" if self.hint is not None else ""
        return f"{where}{self.severity}: {self.text}{advice} [{self.code}]"
