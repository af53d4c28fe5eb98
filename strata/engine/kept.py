"""What the nodes of a run have from before that may run again: answers that they were given, results of what they did once, finished parts."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from strata.checkpoint.asked import AnswerRecord, Results, Told, kept_metadata
from strata.engine.doing import Doings
from strata.ports.progress import Items

ONCE = "once/"
"""Before the key of what was done once, as an item of progress: no branch and no item of a map has a `/` in its name."""


def once_only(items: Items) -> Items:
    """Without the finished parts, which belong to the state that they were started with."""
    return {(place, item): record for (place, item), record in items.items() if item.startswith(ONCE)}


class Kept:
    """Of one run, shared by its levels.

    A place is one execution of one node, as its idempotency key names it (`Work/review#1.2`). What is kept under it is given back
    whenever the node runs again, and is kept until nothing can make it: until it commits, or inside a node that may start over
    until that one does.

    Attributes:
        place: of the node at which the run stands, if that has asked or was answered.
        answers: what was answered, by place, in the order of asking.
        results: of what was done once, by place and key; JSON. A thread may add to them at any moment.
        doings: what is being done once.
        parts: finished branches and items, by the place of their node and their name; JSON.
        is_used: set before anything is kept, so that a hop without need not look (0.4 us of 5).
    """

    __slots__ = ("_fresh", "_recorded", "_since", "_untold", "answers", "doings", "is_used", "parts", "place", "results")

    def __init__(self, place: str = "", answers: tuple[AnswerRecord, ...] = (), *, told: Told | None = None, results: Results | None = None) -> None:
        self.place = place
        self.answers: dict[str, tuple[AnswerRecord, ...]] = dict(told or {})
        if answers:
            self.answers[place] = answers
        self._fresh: dict[tuple[str, str], bytes] = {}
        self._recorded: dict[tuple[str, str], bytes] = dict(results or {})
        self.results = ChainMap(self._fresh, self._recorded)
        self.doings = Doings(self.results)
        self.parts: dict[tuple[str, str], bytes] = {}
        self._untold: set[str] = set()
        self._since: int | None = None
        self.is_used = self.holds

    @property
    def holds(self) -> bool:
        """Whether anything is kept that names a hop, so that records have to say which hop it is."""
        return bool(self.place or self.answers or self._fresh or self._recorded)

    def answers_at(self, place: str) -> tuple[AnswerRecord, ...]:
        """What was answered there."""
        return self.answers.get(place, ())

    def asks(self, place: str, *, unfit: AnswerRecord | None) -> None:
        """The node there stops with a question; an `unfit` answer is not kept."""
        self.is_used, self.place = True, place
        if unfit is not None:
            self.answers[place] = tuple(answer for answer in self.answers[place] if answer is not unfit)

    def load(self, items: Items, *, told: Told, results: Results, behind: int | None) -> None:
        """Take what a store has; the record behind which it was, number `behind`, is followed by one that has all."""
        self.answers = {**told, **self.answers}
        self._recorded |= results
        for (place, item), record in items.items():
            if item.startswith(ONCE):
                self._recorded[place, item.removeprefix(ONCE)] = record
            else:
                self.parts[place, item] = record
        self.is_used = self.holds
        self._since = behind if self.is_used else None

    def metadata(self) -> Mapping[str, str]:
        """All that is kept, as the record of a node says it that has not committed."""
        told = {place: answers for place, answers in self.answers.items() if place != self.place}
        return kept_metadata(answers=self.answers_at(self.place), told=told, results=self._recorded | self._fresh.copy())

    def news(self, *, behind: int | None) -> Mapping[str, str]:
        """What the next record says that is written between nodes: what none before it has, and where the log has the rest.

        All that is kept in each of them would make records grow with the square of their number. `behind` is the number of the
        record before; None where nobody can read the log: then each has all.
        """
        if not self.holds:
            return {}
        if behind is None:
            return self.metadata()
        results, told = self._fresh.copy(), {place: self.answers[place] for place in self._untold}
        self._recorded |= results
        for name in results:
            del self._fresh[name]
        self._untold.clear()
        if self._since is None:
            self._since = behind
        return kept_metadata(told=told, results=results, first=self._since + 1 if self._since < behind else None)

    def leave(self) -> None:
        """The node has committed, and may run again; if it does, all its parts do."""
        self.move_on()
        self.parts.clear()

    def move_on(self) -> None:
        """The run no longer stands at the node, which may run again."""
        if self.place in self.answers:
            self._untold.add(self.place)
        self.place = ""

    def clear_inside(self, path: str) -> None:
        """A node of the graph at `path` has committed: nothing makes those run again that have run in there, under their keys.

        What is kept beside them is of a fallback for a node around it, that a run took which died then.
        """
        inside = f"{path}/"
        if all(place.startswith(inside) for place in (*self.answers, *(place for place, _ in (*self._fresh.copy(), *self._recorded, *self.parts)))):
            self.clear()
            return
        self.doings.forget(lambda name: name[0].startswith(inside))
        for kept in (self._fresh, self._recorded, self.parts):
            for name in [name for name in kept.copy() if name[0].startswith(inside)]:
                del kept[name]
        self.answers = {place: answers for place, answers in self.answers.items() if not place.startswith(inside)}
        self._untold.intersection_update(self.answers)
        self.place = ""

    def clear(self) -> None:
        """The node has committed, and nothing makes it run again under its key, nor those inside it."""
        self.is_used = False
        self.doings.forget()
        self._fresh.clear()
        self._recorded.clear()
        self._since = None
        self.answers.clear()
        self._untold.clear()
        self.place = ""
        self.parts.clear()
