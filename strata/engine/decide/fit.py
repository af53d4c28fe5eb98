"""Whether an answer is what a thread waits for (strata-waits.md 5.2 and 5.4)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from strata.checkpoint.asked import question_of
from strata.checkpoint.record import Checkpoint
from strata.engine.answering import how_to_answer
from strata.engine.decide.questions import require_answer
from strata.engine.plan import GraphPlan, NodePlan
from strata.errors import NotDue, NotWaiting, SignalRefused, WrongGraph
from strata.graph.answers import Event, Resume, Signal
from strata.graph.spec import EventWaitBody, TimerBody


class Woken(msgspec.Struct, frozen=True):
    """The wait's time has come: a timer is due, or a wait or boundary timed out."""

    by: Literal["timer", "timeout"]


Answer: TypeAlias = Signal[Any] | Resume | Event | Woken | None
"""A person's answer, one to a question, an event, a due time, or nothing: go on with what failed or was cancelled."""


def woken(checkpoint: Checkpoint, thread_id: str, now: str) -> Woken:
    """Why the thread is due at `now` (the wire's text); decided on the stored record.

    Raises:
        NotDue: it is not.
    """
    innermost = checkpoint.innermost
    if checkpoint.state_name != "interrupted" or innermost.status != "interrupted":
        raise NotDue(f"thread '{thread_id}' is not due: its latest checkpoint is {checkpoint.state_name}", thread_id=thread_id)
    wait = innermost.wait
    where = f"it is waiting for {waited_for(innermost)} at [{'/'.join(checkpoint.waiting_at)}]"
    if wait is None or wait.wake_at is None:
        raise NotDue(f"thread '{thread_id}' is not due: {where}, with no timeout", thread_id=thread_id)
    if wait.wake_at > now:
        raise NotDue(f"thread '{thread_id}' is not due until {wait.wake_at}: {where}", thread_id=thread_id)
    return Woken("timer" if wait.kind == "timer" else "timeout")


def require_fit(innermost: Checkpoint, plan: GraphPlan, answer: Answer, thread_id: str, at: str) -> None:
    """Whether `answer` is the kind that the innermost level takes; `at` is where it waits, as texts show it.

    Raises:
        SignalRefused, NotWaiting: it is not.
        WrongGraph: the graph has no such wait there.
    """
    match answer:
        case Event():
            _require_event(innermost, plan, answer, thread_id, at)
        case Woken("timer"):
            _require_timer(innermost, plan, thread_id, at)
        case Woken("timeout"):
            _require_timeout(innermost, plan, thread_id, at)
        case Resume():
            _require_open_question(innermost, thread_id, at)
            require_answer(innermost, answer, thread_id, at)
        case _:
            require_answer(innermost, answer, thread_id, at)
            _require_person(innermost, answer, thread_id, at)


def waited_for(innermost: Checkpoint) -> str:
    """What a level waits for, in words."""
    wait = innermost.wait
    if wait is None or wait.kind == "human":
        return "a human"
    return f"event '{wait.event_type}'" if wait.kind == "event" else "a timer"


def _what_answers(innermost: Checkpoint, thread_id: str) -> str:
    question = question_of(innermost, thread_id)
    return how_to_answer(innermost.wait) if question is None else how_to_answer(schema=question.returns)


def _require_event(innermost: Checkpoint, plan: GraphPlan, event: Event, thread_id: str, at: str) -> None:
    start = f"thread '{thread_id}' is not waiting for event '{event.type}'"
    if innermost.status != "interrupted":
        raise NotWaiting(f"{start}: its latest checkpoint is {innermost.status}", thread_id=thread_id)
    wait = innermost.wait
    if wait is None or wait.kind != "event" or wait.event_type != event.type:
        raise NotWaiting(f"{start}: it is waiting for {waited_for(innermost)} at {at}", thread_id=thread_id, hint=_what_answers(innermost, thread_id))
    node = _suspended(innermost, plan)
    if node is None or not isinstance(node.work, EventWaitBody) or node.work.event_type != event.type:
        raise _not_so(innermost, plan, thread_id, f"thread '{thread_id}' waits at {at}, which is not a wait for event '{event.type}' in this graph")


def _require_timer(innermost: Checkpoint, plan: GraphPlan, thread_id: str, at: str) -> None:
    node = _suspended(innermost, plan)
    if node is None or not isinstance(node.work, TimerBody):
        raise _not_so(innermost, plan, thread_id, f"thread '{thread_id}' waits at {at}, which is not a timer in this graph")


def _require_timeout(innermost: Checkpoint, plan: GraphPlan, thread_id: str, at: str) -> None:
    node = _suspended(innermost, plan)
    has_timeout = node is not None and (node.boundary_timeout is not None or (isinstance(node.work, EventWaitBody) and node.work.timeout is not None))
    if not has_timeout:
        raise _not_so(innermost, plan, thread_id, f"thread '{thread_id}' waits at {at}, which has no timeout in this graph")


def _require_person(innermost: Checkpoint, answer: Signal[Any] | Woken | None, thread_id: str, at: str) -> None:
    wait = innermost.wait
    if wait is not None and wait.kind == "event":
        text = f"thread '{thread_id}' is waiting for event '{wait.event_type}' at {at}: only a signal of that event answers it"
        raise SignalRefused(text, thread_id=thread_id, hint=_what_answers(innermost, thread_id))
    if wait is not None and wait.kind == "timer":
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for a timer at {at} until {wait.wake_at}: it wakes when due",
            thread_id=thread_id,
            hint=_what_answers(innermost, thread_id),
        )
    if innermost.status != "interrupted":
        return
    if answer is None:
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for a human at {at}: resume it with an answer, graph.approve(reviewer) or graph.reject(reviewer)",
            thread_id=thread_id,
        )
    if isinstance(answer, Signal) and answer.verdict == "amend":
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for a human at {at}, and amend() decides nothing: "
            f"answer with approve(reviewer) or reject(reviewer), which take overrides too",
            thread_id=thread_id,
        )


def _require_open_question(innermost: Checkpoint, thread_id: str, at: str) -> None:
    if question_of(innermost, thread_id) is not None:
        return
    if innermost.status != "interrupted":
        raise NotWaiting(f"thread '{thread_id}' has no open question: its latest checkpoint is {innermost.status}", thread_id=thread_id)
    text = f"thread '{thread_id}' has no open question: it is waiting for {waited_for(innermost)} at {at}"
    raise NotWaiting(text, thread_id=thread_id, hint=_what_answers(innermost, thread_id))


def _suspended(innermost: Checkpoint, plan: GraphPlan) -> NodePlan | None:
    return None if innermost.suspended_node is None else plan.nodes.get(innermost.suspended_node)


def _not_so(innermost: Checkpoint, plan: GraphPlan, thread_id: str, text: str) -> WrongGraph:
    return WrongGraph(text, thread_id=thread_id, wrote=innermost.graph, runs=plan.identity)
