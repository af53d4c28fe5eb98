"""What the records of one moment have in common."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Stamp(msgspec.Struct, frozen=True):
    """What is the same on every record that a run writes at one moment."""

    thread_id: str
    metadata: Mapping[str, str]
    now: str
