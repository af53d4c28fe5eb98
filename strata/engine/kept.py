"""What the node at which a run stands has from before: the answers that it was given."""

from __future__ import annotations

from collections.abc import Mapping

from strata.checkpoint.asked import AnswerRecord, answers_metadata


class Kept:
    """Of one run, shared by its levels: only the innermost node can have asked. Empty once that node has committed.

    Attributes:
        place: the node and hop that was answered, as its idempotency key has it (`Work/review#1.2`).
        answers: in the order of asking.
    """

    __slots__ = ("answers", "place")

    def __init__(self, place: str = "", answers: tuple[AnswerRecord, ...] = ()) -> None:
        self.place = place
        self.answers = answers

    def answers_at(self, place: str) -> tuple[AnswerRecord, ...]:
        """What was answered there, if that is where the answers were given."""
        return self.answers if self.place == place else ()

    def metadata(self) -> Mapping[str, str]:
        """What the record of a node that has not committed says of it."""
        return answers_metadata(self.answers)

    def clear(self) -> None:
        self.place, self.answers = "", ()
