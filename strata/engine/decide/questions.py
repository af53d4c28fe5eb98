"""Whether an answer is one to the question that a node has asked, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from strata.checkpoint.asked import AnswerRecord, QuestionRecord, answers_of, id_of, question_of
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.engine.answering import how_to_answer
from strata.errors import SignalRefused
from strata.graph.answer_schema import misfit
from strata.graph.answers import Resume
from strata.graph.plain_json import plain_json


def require_answer(innermost: Checkpoint, answer: object, thread_id: str, at: str) -> None:
    """A question that says what it returns takes a `Resume` of that, any other one a decision; without a question all is well.

    Raises:
        SignalRefused: the answer is the other of the two, or its value does not fit the stored schema.
    """
    question = question_of(innermost, thread_id)
    if question is None:
        return
    name = id_of(question, answers_of(innermost, thread_id))
    start = f"thread '{thread_id}' waits at {at} with question '{name}', {quoted(question.asked)}"
    hint = how_to_answer(schema=question.returns)
    if not isinstance(answer, Resume):
        if question.returns is not None:
            raise SignalRefused(f"{start}: approve and reject do not answer it, only a value does", thread_id=thread_id, hint=hint)
        return
    if question.returns is None:
        raise SignalRefused(f"{start}: a decision answers it, not a value", thread_id=thread_id, hint=hint)
    if (fault := misfit(plain(answer, thread_id), question.returns)) is not None:
        raise SignalRefused(f"{start}: the answer does not fit: {fault}", thread_id=thread_id, hint=hint)


def answers_after(level: Checkpoint, answer: Any, decision: DecisionRecord | None, thread_id: str) -> tuple[AnswerRecord, ...]:
    """What the node has been told by now: the earlier answers, and this one to its open question."""
    answers = answers_of(level, thread_id)
    question = question_of(level, thread_id)
    if question is None:
        return answers
    if isinstance(answer, Resume):
        return (*answers, _answer(question, plain(answer, thread_id), by=answer.by))
    assert decision is not None, "only a decision answers what returns nothing else"
    return (*answers, _answer(question, _plain_decision(decision), by=decision.reviewer))


def answers_to(question: QuestionRecord, left: Sequence[AnswerRecord], *, in_order: bool) -> Sequence[AnswerRecord]:
    """Which of the answers that are `left`, none of them with a key, it may mean: none if it is open, several if nothing tells.

    What was asked in the same words is meant, the first if there are several. A node that asks one question after another
    (`in_order`) may put one in other words whenever it runs, say with the time in them, and means what is left; what its tasks
    and threads ask comes in any order, and is another question in other words.
    """
    if not left or left[0].asked is msgspec.UNSET:
        return left[:1]
    same = [answer for answer in left if is_to(answer, question)]
    return same[:1] if same else left if in_order else ()


def is_to(answer: AnswerRecord, question: QuestionRecord) -> bool:
    """Whether the very same was asked."""
    return (answer.asked, answer.returns) == (question.asked, question.returns)


def plain(answer: Resume, thread_id: str) -> Any:
    """The value as plain JSON."""
    try:
        return plain_json(answer.answer)
    except TypeError as error:
        raise SignalRefused(f"the answer to thread '{thread_id}' is no JSON: {error}", thread_id=thread_id) from error


def quoted(asked: object) -> str:
    """What was asked, in a line."""
    text = msgspec.json.encode(asked).decode()
    return text if len(text) <= 200 else f"{text[:197]}..."


def _answer(question: QuestionRecord, answer: Any, *, by: str) -> AnswerRecord:
    return AnswerRecord(key=question.key, asked=question.asked, returns=question.returns, answer=answer, by=by)


def _plain_decision(decision: DecisionRecord) -> dict[str, Any]:
    return {
        "boundary": decision.boundary,
        "is_approved": decision.is_approved,
        "reviewer": decision.reviewer,
        "overrides": msgspec.json.decode(decision.overrides),
        "decided_at": decision.decided_at,
    }
