"""What nodes have asked, were answered and have done once, as the metadata of their records says it; every text is compact JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec

from strata.checkpoint.metadata import ANSWERS, KEPT_FROM, ONCE, QUESTION, TOLD, as_count
from strata.checkpoint.record import Checkpoint
from strata.errors import CheckpointUnreadable

T = TypeVar("T")

Results: TypeAlias = Mapping[tuple[str, str], bytes]
"""JSON by the place of a node (`Work/charge#1.2`) and the key under which it was done once."""


Told: TypeAlias = Mapping[str, tuple["AnswerRecord", ...]]
"""Answers by the place of the node that was given them, in the order of asking."""


class QuestionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A question that is open. `returns` is the JSON Schema of the answer; None where a decision answers it."""

    key: str | None
    asked: Any
    returns: dict[str, Any] | None


class AnswerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A question that was answered, and the answer: JSON that fits `returns`, or a decision; `by` is who gave it.

    `asked` is UNSET on records from before it was kept.
    """

    key: str | None
    asked: Any = msgspec.UNSET
    returns: dict[str, Any] | None
    answer: Any
    by: str = ""


def question_of(level: Checkpoint, thread_id: str) -> QuestionRecord | None:
    """The question that an interrupted level waits with; None where it waits for something else.

    Raises:
        CheckpointUnreadable: what is stored there is no question.
    """
    return _read(level, QUESTION, QuestionRecord, thread_id) if level.status == "interrupted" else None


def answers_of(level: Checkpoint, thread_id: str) -> tuple[AnswerRecord, ...]:
    """The answers that the node at which the level stands was given so far, in the order of asking.

    Raises:
        CheckpointUnreadable: what is stored there are no answers.
    """
    return _read(level, ANSWERS, tuple[AnswerRecord, ...], thread_id) or ()


def question_metadata(question: QuestionRecord) -> Mapping[str, str]:
    return {QUESTION: msgspec.json.encode(question).decode()}


def results_of(level: Checkpoint, thread_id: str) -> Results:
    """What the node at which the level stands has done once, and what nodes have that may run again under their keys.

    Raises:
        CheckpointUnreadable: what is stored there are no results.
    """
    places = _read(level, ONCE, dict[str, dict[str, msgspec.Raw]], thread_id) or {}
    return {(place, key): bytes(result) for place, results in places.items() for key, result in results.items()}


def told_of(level: Checkpoint, thread_id: str) -> Told:
    """The answers of nodes that may run again under their keys, beside those of the node at which the level stands.

    Raises:
        CheckpointUnreadable: what is stored there are no answers.
    """
    return _read(level, TOLD, dict[str, tuple[AnswerRecord, ...]], thread_id) or {}


def kept_from(level: Checkpoint) -> int | None:
    """The first record of the thread's log that has more of what is kept than the level's own; None where it has all."""
    return as_count((level.metadata or {}).get(KEPT_FROM, ""))


def kept_metadata(*, answers: tuple[AnswerRecord, ...] = (), told: Told, results: Results, first: int | None = None) -> dict[str, str]:
    """What nodes have been told and have done once, until nothing makes them run again; `first` is what `kept_from` gives."""
    kept: dict[str, str] = {}
    if answers:
        kept[ANSWERS] = msgspec.json.encode(answers).decode()
    if told:
        kept[TOLD] = msgspec.json.encode(told).decode()
    if first is not None:
        kept[KEPT_FROM] = str(first)
    if results:
        places: dict[str, dict[str, msgspec.Raw]] = {}
        for (place, key), result in results.items():
            places.setdefault(place, {})[key] = msgspec.Raw(result)
        kept[ONCE] = msgspec.json.encode(places).decode()
    return kept


def id_of(question: QuestionRecord, answers: tuple[AnswerRecord, ...]) -> str:
    """The question's key, or `#n` for the n-th that was asked without one: the same whenever the node runs again."""
    return question.key if question.key is not None else f"#{sum(answer.key is None for answer in answers) + 1}"


def _read(level: Checkpoint, key: str, kind: type[T], thread_id: str) -> T | None:
    text = (level.metadata or {}).get(key)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise CheckpointUnreadable(
            f"checkpoint for thread '{thread_id}' has an invalid '{key}' value: {error}",
            thread_id=thread_id,
            path=f"metadata.{key}",
        ) from error
