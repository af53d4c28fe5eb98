"""Whether an answer is one to the question that a node has asked, and what is kept of it."""

from __future__ import annotations

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
    start = f"thread '{thread_id}' waits at {at} with question '{name}', {_quoted(question)}"
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
        return (*answers, AnswerRecord(key=question.key, returns=question.returns, answer=plain(answer, thread_id), by=answer.by))
    assert decision is not None, "only a decision answers what returns nothing else"
    return (*answers, AnswerRecord(key=question.key, returns=None, answer=_plain_decision(decision), by=decision.reviewer))


def plain(answer: Resume, thread_id: str) -> Any:
    """The value as plain JSON."""
    try:
        return plain_json(answer.answer)
    except TypeError as error:
        raise SignalRefused(f"the answer to thread '{thread_id}' is no JSON: {error}", thread_id=thread_id) from error


def _plain_decision(decision: DecisionRecord) -> dict[str, Any]:
    return {
        "boundary": decision.boundary,
        "is_approved": decision.is_approved,
        "reviewer": decision.reviewer,
        "overrides": msgspec.json.decode(decision.overrides),
        "decided_at": decision.decided_at,
    }


def _quoted(question: QuestionRecord) -> str:
    text = msgspec.json.encode(question.asked).decode()
    return text if len(text) <= 200 else f"{text[:197]}..."
