"""What the node at which a run stands has from before: answers that it was given, results of what it did once, finished parts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from strata.checkpoint.asked import AnswerRecord, Results, kept_metadata
from strata.ports.progress import Items

ONCE = "once/"
"""Before the key of what was done once, as an item of progress: no branch and no item of a map has a `/` in its name."""


def once_only(items: Items) -> Items:
    """Without the finished parts, which belong to the state that they were started with."""
    return {(place, item): record for (place, item), record in items.items() if item.startswith(ONCE)}


class Kept:
    """Of one run, shared by its levels, since only one node of them has not committed. Empty once that node has.

    Attributes:
        place: the node and hop that asked, as its idempotency key has it (`Work/review#1.2`).
        answers: what was answered there, in the order of asking.
        results: of what was done once, by place and key; JSON.
        parts: finished branches and items, by the place of their node and their name; JSON.
    """

    __slots__ = ("_locks", "answers", "parts", "place", "results")

    def __init__(self, place: str = "", answers: tuple[AnswerRecord, ...] = (), results: Results | None = None) -> None:
        self.place = place
        self.answers = answers
        self.results: dict[tuple[str, str], bytes] = dict(results or {})
        self.parts: dict[tuple[str, str], bytes] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    @property
    def holds(self) -> bool:
        """Whether anything is kept that names a hop, so that records have to say which hop it is."""
        return bool(self.place or self.results)

    def answers_at(self, place: str) -> tuple[AnswerRecord, ...]:
        """What was answered there, if that is where the answers were given."""
        return self.answers if self.place == place else ()

    def lock(self, place: str, key: str) -> asyncio.Lock:
        """Held by whoever does something once."""
        return self._locks.setdefault((place, key), asyncio.Lock())

    def load(self, items: Items) -> None:
        """Take what a store kept."""
        for (place, item), record in items.items():
            if item.startswith(ONCE):
                self.results[place, item.removeprefix(ONCE)] = record
            else:
                self.parts[place, item] = record

    def metadata(self) -> Mapping[str, str]:
        """What the record of a node that has not committed says of it."""
        return kept_metadata(self.answers, self.results)

    def clear(self) -> None:
        self.place, self.answers = "", ()
        for kept in (self.results, self.parts, self._locks):
            kept.clear()
