"""What a store may keep of a node that has not committed: results that would otherwise be made twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias, runtime_checkable

Items: TypeAlias = Mapping[tuple[str, str], bytes]
"""JSON by path and item; the path is the node's, the item the branch, the item of a map, or what was done `once` in it."""


@runtime_checkable
class ProgressStore(Protocol):
    """An optional part of a checkpoint store (design section 3, point 6). A store without it loses nothing but work."""

    async def keep_progress(self, thread_id: str, base: int, items: Items, /) -> None:
        """Keep `items` until anything is appended to the thread, or it is deleted.

        `base` is the sequence of the thread's newest record; if it no longer is, nothing is kept.
        """
        ...

    async def load_progress(self, thread_id: str, base: int, /) -> Items:
        """All that was kept since the thread's record `base`."""
        ...
