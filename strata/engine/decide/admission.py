"""What a call may do with a stored thread: every refusal, in the order of the sheets, before anything is written."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.engine.decide.fit import Answer, woken
from strata.engine.decide.preflight import Offer, preflight
from strata.engine.decide.reading import readable, refuse_finished, require_latest
from strata.engine.decide.takeover import take_over
from strata.engine.level import Resumed
from strata.engine.plan import GraphPlan
from strata.errors import NotDurable, NotRunning, SignalRefused, ThreadChanged, ThreadExists, ThreadRunning
from strata.graph.answers import Event, Resume, Signal
from strata.graph.texts import is_text
from strata.ports import Stored


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stored thread goes on, all refusals behind it; `sequence` is its record's number."""

    level: Resumed
    sequence: int | None

    @property
    def checkpoint(self) -> Checkpoint:
        """The record, migrated."""
        return self.level.checkpoint


class Due(msgspec.Struct, frozen=True):
    """An answer that time gives: the thread is woken if it is due at `now` (the wire's text)."""

    now: str


def admit_run(stored: Stored | None, thread_id: str, *, start_over: bool) -> int | None:
    """The sequence that a fresh run goes on from (-1: the thread is new).

    Raises:
        ThreadExists: it has not finished, and `start_over` was not asked for.
    """
    if stored is None:
        return -1
    if not start_over and stored.checkpoint.state_name not in {"completed", "ended"}:
        raise ThreadExists(thread_id, state_name=stored.checkpoint.state_name, sequence=stored.sequence)
    return stored.sequence


def check_answer(answer: Signal[Any] | Resume | Event | Due, thread_id: str) -> None:
    """Refuse what is no answer at all, before the thread is looked at.

    Raises:
        SignalRefused: it is something else, its reviewer cannot be stored, or an event has a blank type.
    """
    match answer:
        case Due():
            return
        case Event(type=event_type):
            if not event_type.strip():
                raise SignalRefused("a signal needs an event type", thread_id=thread_id)
        case Signal(reviewer=reviewer) | Resume(by=reviewer):
            if not is_text(reviewer):
                raise SignalRefused(f"cannot resume thread '{thread_id}': a reviewer is storable text, not {reviewer!r:.80}", thread_id=thread_id)
        case _:  # pyright: ignore[reportUnnecessaryComparison]
            raise SignalRefused(
                f"cannot resume thread '{thread_id}': an answer is graph.approve(reviewer), graph.reject(reviewer) or graph.amend(), "
                f"or Resume(value) to a question, or node.event(payload) to a wait, not {answer!r:.80}",
                thread_id=thread_id,
            )


def admit_resume(
    stored: Stored | None,
    thread_id: str,
    plan: GraphPlan,
    given: Signal[Any] | Resume | Event | Due | None,
    *,
    at_sequence: int | None,
    now: str,
) -> Entry:
    """Whether the answer lets the thread go on, and from where (strata-waits.md 5.3).

    Raises:
        Refused: one of its kinds; the thread stands as it stood.
        TimesOut: it is due, and a timeout without a route ends it.
    """
    found = readable(stored, thread_id)
    require_latest(found, thread_id, at_sequence)
    checkpoint = found.checkpoint
    if checkpoint.status == "running":
        raise ThreadRunning(thread_id)
    refuse_finished(checkpoint, thread_id)
    if checkpoint.resumed_at is not None:
        raise ThreadChanged(
            f"checkpoint for thread '{thread_id}' was already resumed",
            thread_id=thread_id,
            reason="resumed",
            hint="its run is still going, or its process died: reopen() makes it resumable again, end(force=True) finishes it",
        )
    answer: Answer = woken(checkpoint, thread_id, given.now) if isinstance(given, Due) else given
    taken = take_over(checkpoint, plan, thread_id=thread_id)
    if isinstance(answer, Signal):
        _require_addresses(taken, answer, thread_id)
    offer = Offer(thread_id=thread_id, answer=answer, now=now, waiting_at=taken.waiting_at)
    return Entry(level=preflight(taken, plan, offer), sequence=found.sequence)


def admit_recover(stored: Stored | None, thread_id: str, plan: GraphPlan, *, durable: bool, now: str) -> Entry:
    """Whether a running thread whose process died can be taken over, and from where (strata-waits.md 9.2).

    Raises:
        Refused: one of its kinds.
    """
    require_durable(plan, durable=durable)
    found = readable(stored, thread_id)
    if found.checkpoint.state_name != "running":
        raise NotRunning(thread_id, state_name=found.checkpoint.state_name)
    taken = take_over(found.checkpoint, plan, thread_id=thread_id)
    offer = Offer(thread_id=thread_id, answer=None, now=now, waiting_at=taken.waiting_at, recovers=True)
    return Entry(level=preflight(taken, plan, offer), sequence=found.sequence)


def require_durable(plan: GraphPlan, *, durable: bool) -> None:
    """Raise NotDurable where a run leaves nothing behind that could be recovered."""
    if not durable:
        raise NotDurable(
            "this runner has no store, so nothing is left of a run that could be recovered: Runner(graph, store)"
            if plan.graph.durable
            else "this graph doesn't checkpoint every node: only a graph compiled with compile(durable=True) can recover a thread"
        )


def _require_addresses(checkpoint: Checkpoint, answer: Signal[Any], thread_id: str) -> None:
    """Answers for outer levels must name levels that the record has, other than the innermost (sheet step 11)."""
    levels = _level_paths(checkpoint)
    for path in sorted(answer.outer):
        start = f"cannot resume thread '{thread_id}': a signal was addressed to level [{'/'.join(path)}]"
        if path == levels[-1]:
            raise SignalRefused(f"{start}, which is the innermost level and already has the innermost signal", thread_id=thread_id)
        if path not in levels:
            known = ", ".join(f"[{'/'.join(level)}]" for level in levels)
            raise SignalRefused(f"{start}, but the checkpoint's levels are {known}", thread_id=thread_id)


def _level_paths(checkpoint: Checkpoint) -> list[tuple[str, ...]]:
    chain = checkpoint.levels()
    return [tuple(level.thread_id for level in chain[1 : depth + 1]) for depth in range(len(chain))]
