"""What a call was given."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from strata.analysis.values import UNKNOWN, Value
from strata.rules.facts import SourcePlace


class Arguments(msgspec.Struct, frozen=True, eq=False):
    """The arguments of a call; `*` of something unknown stands among the positional ones as UNKNOWN."""

    place: SourcePlace
    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = {}
    star: int | None = None
    """Where the first unknown `*` stands: from there on no position can be told."""
    has_unknown_names: bool = False
    """Whether there is a `**`."""

    def at(self, position: int) -> Value | None:
        """The argument of that position; None if there is none."""
        if self.star is not None and position >= self.star:
            return UNKNOWN
        return self.positional[position] if position < len(self.positional) else None

    def get(self, name: str) -> Value | None:
        """The argument of that name; None if it is not given."""
        return self.named.get(name, UNKNOWN if self.has_unknown_names else None)
