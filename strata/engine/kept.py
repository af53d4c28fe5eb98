"""What the node at which a run stands has from before: answers that it was given, results of what it did once, finished parts."""

from __future__ import annotations

from collections.abc import Mapping

from strata.checkpoint.asked import AnswerRecord, Results, kept_metadata
from strata.engine.doing import Doings
from strata.engine.place import is_within
from strata.ports.progress import Items

ONCE = "once/"
"""Before the key of what was done once, as an item of progress: no branch and no item of a map has a `/` in its name."""


def once_only(items: Items) -> Items:
    """Without the finished parts, which belong to the state that they were started with."""
    return {(place, item): record for (place, item), record in items.items() if item.startswith(ONCE)}


class Kept:
    """Of one run, shared by its levels, since only one node of them has not committed.

    Empty once that node has. Inside a node that may be tried again it is set aside instead: then the node runs again, under the
    same key.

    Attributes:
        place: the node and hop that asked, as its idempotency key has it (`Work/review#1.2`).
        answers: what was answered there, in the order of asking.
        results: of what was done once, by place and key; JSON. A thread may add to them at any moment.
        doings: what is being done once.
        parts: finished branches and items, by the place of their node and their name; JSON.
    """

    __slots__ = ("_aside", "answers", "doings", "parts", "place", "results")

    def __init__(self, place: str = "", answers: tuple[AnswerRecord, ...] = (), results: Results | None = None) -> None:
        self.place = place
        self.answers = answers
        self.results: dict[tuple[str, str], bytes] = dict(results or {})
        self.parts: dict[tuple[str, str], bytes] = {}
        self.doings = Doings(self.results)
        self._aside = _Aside()

    @property
    def holds(self) -> bool:
        """Whether anything is kept that names a hop, so that records have to say which hop it is."""
        return bool(self.place or self.results)

    def answers_at(self, place: str) -> tuple[AnswerRecord, ...]:
        """What was answered there, if that is where the answers were given."""
        return self.answers if self.place == place else ()

    def load(self, items: Items) -> None:
        """Take what a store kept."""
        for (place, item), record in items.items():
            if item.startswith(ONCE):
                self.results[place, item.removeprefix(ONCE)] = record
            else:
                self.parts[place, item] = record

    def metadata(self) -> Mapping[str, str]:
        """What the record of a node that has not committed says of it."""
        return kept_metadata(self.answers, self.results.copy())

    def clear(self) -> None:
        """The node has committed, and nothing makes it run again under its key."""
        self._aside = _Aside()
        self.doings.forget()
        self.results.clear()
        self._leave()

    def set_aside(self, hops: str) -> None:
        """The node with these hops has committed, and one around it may be tried again."""
        if self.answers:
            self._aside.place, self._aside.answers = self.place, self.answers
        self._aside.results |= _taken(self.results, hops)
        self._leave()

    def bring_back(self, hops: str) -> None:
        """The node with these hops is tried again: those inside it get what they had."""
        if self._aside.answers and is_within(self._aside.place, hops):
            self.place, self.answers = self._aside.place, self._aside.answers
        self.results |= _taken(self._aside.results, hops)

    def _leave(self) -> None:
        self.place, self.answers = "", ()
        self.parts.clear()


class _Aside:
    """What belongs to nodes that have committed and may run again. Only the node that a resume went on with has answers."""

    __slots__ = ("answers", "place", "results")

    def __init__(self) -> None:
        self.place = ""
        self.answers: tuple[AnswerRecord, ...] = ()
        self.results: dict[tuple[str, str], bytes] = {}


def _taken(results: dict[tuple[str, str], bytes], hops: str) -> dict[tuple[str, str], bytes]:
    """The results within these hops, which are no longer in `results`."""
    return {one: results.pop(one) for one in tuple(results) if is_within(one[0], hops)}
