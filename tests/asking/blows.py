"""What comes to grief in a thread, and where: for what has to be done once whatever happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

Grief = Literal["fails", "fails for now", "dies", "is abandoned", "is abandoned while its result is kept", "is cancelled"]


class Blow(NamedTuple):
    """What happens at a place, the first, second, ... time that the thread comes there."""

    place: str
    grief: Grief
    visit: int = 1

    def again(self, visit: int) -> Blow:
        return self._replace(visit=visit)


class Blows:
    """Those of one thread, each falling when its visit comes."""

    def __init__(self, blows: Iterable[Blow]) -> None:
        self._blows: dict[tuple[str, int], Grief] = {(blow.place, blow.visit): blow.grief for blow in blows}
        self._visits = Counter[str]()

    def at(self, place: str) -> Grief | None:
        """The thread comes to the place once more: what happens there."""
        self._visits[place] += 1
        return self._blows.get((place, self._visits[place]))
