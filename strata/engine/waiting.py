"""A stored wait, and a stored question, as callers see them."""

from __future__ import annotations

from strata.checkpoint.asked import answers_of, id_of, question_of
from strata.checkpoint.record import Checkpoint, WaitRecord
from strata.graph.answers import Question, WaitingFor
from strata.graph.times import parse_wire_time


def waiting_for(wait: WaitRecord | None) -> WaitingFor | None:
    """What a thread waits for beside a person, and until when; None for a boundary without a time limit."""
    if wait is None:
        return None
    wake_at = None if wait.wake_at is None else parse_wire_time(wait.wake_at)
    return WaitingFor(kind=wait.kind, event_type=wait.event_type, wake_at=wake_at)


def questions_of(checkpoint: Checkpoint) -> tuple[Question, ...]:
    """The questions that an interrupted thread waits with.

    Raises:
        CheckpointUnreadable: what is stored of them cannot be read.
    """
    innermost = checkpoint.innermost
    if checkpoint.state_name != "interrupted" or (question := question_of(innermost, checkpoint.thread_id)) is None:
        return ()
    name = id_of(question, answers_of(innermost, checkpoint.thread_id))
    path = checkpoint.waiting_at
    return (Question(id=name, node=path[-1], path="/".join(path), asked=question.asked, schema=question.returns),)
