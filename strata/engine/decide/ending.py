"""What may be ended by hand, and what reopened."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.engine.decide.reading import readable, rehydrated
from strata.engine.decide.takeover import take_over
from strata.engine.plan import GraphPlan
from strata.errors import ThreadChanged, ThreadFinished, ThreadRunning
from strata.ports import Stored


class Endable(msgspec.Struct, frozen=True, kw_only=True):
    """A thread that can be ended. `already`: it was, and the same answer is given again without writing."""

    checkpoint: Checkpoint
    sequence: int | None
    state: Any
    already: bool


def admit_end(stored: Stored | None, thread_id: str, plan: GraphPlan, *, force: bool) -> Endable:
    """Whether the thread can be ended (strata-waits.md 6).

    Raises:
        Refused: one of its kinds.
    """
    found = readable(stored, thread_id)
    checkpoint = found.checkpoint
    if checkpoint.resumed_at is not None and not force:
        raise ThreadChanged(
            f"thread '{thread_id}' was resumed at {checkpoint.resumed_at} and may still be running: "
            f"only a waiting, failed or cancelled thread can be ended",
            thread_id=thread_id,
            reason="resumed",
            hint="if its process died, end(force=True) ends it all the same, reopen() makes it resumable again",
        )
    if checkpoint.status == "completed":
        raise ThreadFinished(
            f"thread '{thread_id}' has completed: only a waiting, failed or cancelled thread can be ended",
            thread_id=thread_id,
        )
    taken = take_over(checkpoint, plan, thread_id=thread_id)
    state = rehydrated(plan, taken.frozen_state, thread_id)
    return Endable(checkpoint=taken, sequence=found.sequence, state=state, already=checkpoint.status == "ended")


def admit_reopen(stored: Stored | None, thread_id: str, plan: GraphPlan) -> tuple[Checkpoint, int | None]:
    """The stamped record of a thread whose run died after the stamp, and its sequence.

    Raises:
        Refused: one of its kinds; only a thread that lists as `resumed` is stuck.
    """
    found = readable(stored, thread_id)
    checkpoint = found.checkpoint
    if checkpoint.status == "running":
        raise ThreadRunning(thread_id)
    if checkpoint.resumed_at is None:
        text = f"thread '{thread_id}' is not stuck behind a resume: its latest checkpoint is {checkpoint.state_name}"
        if checkpoint.status in {"completed", "ended"}:
            raise ThreadFinished(text, thread_id=thread_id)
        raise ThreadChanged(text, thread_id=thread_id, reason="not_resumed", hint="resume() takes it as it is")
    return take_over(checkpoint, plan, thread_id=thread_id), found.sequence
