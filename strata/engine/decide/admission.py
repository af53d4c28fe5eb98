"""What a call may do with a stored thread: every refusal, in the order of the sheets, before anything is written."""

from __future__ import annotations

from typing import Any

import msgspec

from strata.checkpoint.metadata import hops_of, is_storable
from strata.checkpoint.record import Checkpoint, DecisionRecord
from strata.checkpoint.version import READABLE_VERSIONS
from strata.engine.decide.takeover import take_over
from strata.engine.plan import GraphPlan, NodePlan
from strata.errors import (
    CheckpointUnreadable,
    NotDurable,
    NotRunning,
    OverrideRefused,
    SignalRefused,
    StateUnreadable,
    ThreadChanged,
    ThreadExists,
    ThreadFinished,
    ThreadNotFound,
    ThreadRunning,
    WrongGraph,
)
from strata.graph.answers import Signal
from strata.ports import Stored


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stored thread goes on, all refusals behind it.

    Attributes:
        checkpoint: the record, migrated; `sequence` is its number.
        start: the node to run, a reject route taken.
        state, stored: with the answer's overrides, as a value and as the bytes that a claim stores.
        decision: the level's, the one that this answer gives included.
        hops: made before `start`.
    """

    checkpoint: Checkpoint
    sequence: int | None
    start: NodePlan
    state: Any
    stored: msgspec.Raw
    decision: DecisionRecord | None
    hops: int


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


def check_answer(answer: Signal[Any], thread_id: str) -> None:
    """Refuse what is no answer at all, before the thread is looked at.

    Raises:
        SignalRefused: it is something else, or its reviewer cannot be stored.
    """
    if not isinstance(answer, Signal):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SignalRefused(
            f"cannot resume thread '{thread_id}': an answer is graph.approve(reviewer), graph.reject(reviewer) or graph.amend(), not {answer!r:.80}",
            thread_id=thread_id,
        )
    reviewer: Any = answer.reviewer
    if not isinstance(reviewer, str) or not is_storable(reviewer):
        raise SignalRefused(f"cannot resume thread '{thread_id}': a reviewer is storable text, not {reviewer!r:.80}", thread_id=thread_id)


def admit_resume(
    stored: Stored | None,
    thread_id: str,
    plan: GraphPlan,
    answer: Signal[Any] | None,
    *,
    at_sequence: int | None,
    now: str,
) -> Entry:
    """Whether `answer` lets the thread go on, and from where (strata-waits.md 5.3).

    Raises:
        Refused: one of its kinds; the thread stands as it stood.
    """
    found = readable(stored, thread_id)
    _require_latest(found, thread_id, at_sequence)
    checkpoint = found.checkpoint
    if checkpoint.status == "running":
        raise ThreadRunning(thread_id)
    _refuse_finished(checkpoint, thread_id)
    if checkpoint.resumed_at is not None:
        raise ThreadChanged(
            f"checkpoint for thread '{thread_id}' was already resumed",
            thread_id=thread_id,
            hint="its run is still going, or its process died: reopen() makes it resumable again, end(force=True) finishes it",
        )
    taken = take_over(checkpoint, plan.graph, thread_id=thread_id)
    if answer is not None:
        _require_addresses(taken, answer, thread_id)
    hops = hops_of(taken, thread_id)
    if taken.nested is None:
        _require_fit(taken, answer, thread_id)
    decides = answer is not None and answer.verdict != "amend" and taken.status == "interrupted"
    rejected = decides and answer is not None and answer.verdict == "reject"
    start = _start(taken, plan, thread_id, rejected=rejected)
    stored_state, overrides = _overridden(taken, plan, answer if taken.nested is None else None, thread_id)
    state = rehydrated(taken, plan, stored_state, thread_id)
    _refuse_nested(taken, start, thread_id)
    decision = taken.decision
    if decides and answer is not None and taken.suspended_node is not None:
        decision = DecisionRecord(
            boundary=taken.suspended_node,
            is_approved=not rejected,
            reviewer=answer.reviewer,
            overrides=overrides,
            decided_at=now,
        )
    return Entry(checkpoint=taken, sequence=found.sequence, start=start, state=state, stored=stored_state, decision=decision, hops=hops)


def admit_recover(stored: Stored | None, thread_id: str, plan: GraphPlan, *, durable: bool) -> Entry:
    """Whether a running thread whose process died can be taken over, and from where (strata-waits.md 9.2).

    Raises:
        Refused: one of its kinds.
    """
    if not durable:
        raise NotDurable(
            "this runner has no store, so nothing is left of a run that could be recovered: Runner(graph, store)"
            if plan.graph.durable
            else "this graph doesn't checkpoint every node: only a graph compiled with compile(durable=True) can recover a thread"
        )
    found = readable(stored, thread_id)
    if found.checkpoint.state_name != "running":
        raise NotRunning(thread_id, state_name=found.checkpoint.state_name)
    taken = take_over(found.checkpoint, plan.graph, thread_id=thread_id)
    hops = hops_of(taken, thread_id)
    start = _start(taken, plan, thread_id, rejected=False)
    state = rehydrated(taken, plan, taken.frozen_state, thread_id)
    _refuse_nested(taken, start, thread_id)
    return Entry(
        checkpoint=taken,
        sequence=found.sequence,
        start=start,
        state=state,
        stored=taken.frozen_state,
        decision=taken.decision,
        hops=hops,
    )


def readable(stored: Stored | None, thread_id: str) -> Stored:
    """The record, if there is one and this build knows its version."""
    if stored is None:
        raise ThreadNotFound(thread_id)
    version = stored.checkpoint.schema_version
    if version not in READABLE_VERSIONS:
        raise CheckpointUnreadable(
            f"checkpoint for thread '{thread_id}' has unsupported schema_version '{version}'",
            thread_id=thread_id,
            sequence=stored.sequence,
            path="schema_version",
            hint=f"a newer engine wrote it: this build reads {', '.join(sorted(READABLE_VERSIONS))}; upgrade, or run it where it was written",
        )
    return stored


def _require_latest(stored: Stored, thread_id: str, at_sequence: int | None) -> None:
    if at_sequence is not None and stored.sequence != at_sequence:
        raise ThreadChanged(
            f"thread '{thread_id}' is at sequence {stored.sequence}, and the answer was made for sequence {at_sequence}",
            thread_id=thread_id,
            hint="show the person what the thread holds now, and ask again",
        )


def _refuse_finished(checkpoint: Checkpoint, thread_id: str) -> None:
    if checkpoint.status == "ended":
        raise ThreadFinished(f"thread '{thread_id}' was ended: an ended thread can't be resumed", thread_id=thread_id)
    if checkpoint.status == "completed":
        raise ThreadFinished(
            f"checkpoint for thread '{thread_id}' is not resumable (status: Completed): only an interrupted, failed or cancelled checkpoint can be",
            thread_id=thread_id,
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


def _require_fit(checkpoint: Checkpoint, answer: Signal[Any] | None, thread_id: str) -> None:
    """Whether a person's answer is what the thread waits for (strata-waits.md 5.4)."""
    at = f"[{'/'.join(checkpoint.waiting_at)}]"
    wait = checkpoint.wait
    if wait is not None and wait.kind == "event":
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for event '{wait.event_type}' at {at}: only a signal of that event answers it", thread_id=thread_id
        )
    if wait is not None and wait.kind == "timer":
        raise SignalRefused(f"thread '{thread_id}' is waiting for a timer at {at} until {wait.wake_at}: it wakes when due", thread_id=thread_id)
    if checkpoint.status != "interrupted":
        return
    if answer is None:
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for a human at {at}: resume it with an answer, graph.approve(reviewer) or graph.reject(reviewer)",
            thread_id=thread_id,
        )
    if answer.verdict == "amend":
        raise SignalRefused(
            f"thread '{thread_id}' is waiting for a human at {at}, and amend() decides nothing: "
            f"answer with approve(reviewer) or reject(reviewer), which take overrides too",
            thread_id=thread_id,
        )


def _start(checkpoint: Checkpoint, plan: GraphPlan, thread_id: str, *, rejected: bool) -> NodePlan:
    """The node that the level goes on with: the reject route of this graph's boundary, else the stored next node."""
    suspended = checkpoint.suspended_node
    if suspended is not None and suspended not in plan.nodes:
        raise _lacks(checkpoint, plan, thread_id, "suspended", suspended)
    name = checkpoint.next_node
    if rejected and checkpoint.nested is None and suspended is not None:
        name = plan.nodes[suspended].reject_route or name
    if name is None:
        raise SignalRefused(
            f"checkpoint for thread '{thread_id}' has no next_node to resume from",
            thread_id=thread_id,
            hint=f"'{suspended}' has no way out: add an @edge, or an @on_reject and reject it, or end() the thread",
        )
    if name not in plan.nodes:
        raise _lacks(checkpoint, plan, thread_id, "next", name)
    return plan.nodes[name]


def _lacks(checkpoint: Checkpoint, plan: GraphPlan, thread_id: str, which: str, name: str) -> WrongGraph:
    return WrongGraph(
        f"the {which} node of thread '{thread_id}' is '{name}', which this graph does not have: its nodes are {', '.join(plan.nodes)}",
        thread_id=thread_id,
        wrote=checkpoint.graph,
        runs=plan.graph.identity,
        hint="run the thread with the graph that wrote it, or name the node's successor in a migration: compile(migrate=...)",
    )


def _overridden(checkpoint: Checkpoint, plan: GraphPlan, answer: Signal[Any] | None, thread_id: str) -> tuple[msgspec.Raw, msgspec.Raw]:
    """The stored state with the answer's overrides, and the overrides as a JSON object (for the decision)."""
    if answer is None or not answer.overrides:
        return checkpoint.frozen_state, msgspec.Raw(b"{}")
    if answer.state is not plan.graph.state:
        raise SignalRefused(
            f"cannot resume thread '{thread_id}': the answer overrides fields of {answer.state.__name__}, "
            f"and the thread's innermost level holds a {plan.graph.state.__name__}",
            thread_id=thread_id,
            hint="make the answer from the graph that waits there",
        )
    try:
        overrides = plan.codec.override_bytes(answer.overrides)
        changed = plan.codec.with_overrides(bytes(checkpoint.frozen_state), overrides)
    except OverrideRefused as error:
        is_misfit = error.field in plan.graph.state.__struct_fields__
        what = f"failed to rehydrate state for thread '{thread_id}'" if is_misfit else f"cannot resume thread '{thread_id}'"
        raise SignalRefused(f"{what}: {error}", thread_id=thread_id) from error
    except StateUnreadable as error:
        raise _unreadable(checkpoint, thread_id, error) from error
    raw = {name: msgspec.Raw(data) for name, data in overrides.items()}
    return msgspec.Raw(changed), msgspec.Raw(msgspec.json.encode(raw))


def rehydrated(checkpoint: Checkpoint, plan: GraphPlan, data: msgspec.Raw, thread_id: str) -> Any:
    """The state as a value of this graph's type."""
    try:
        return plan.codec.decode(data)
    except StateUnreadable as error:
        if data is not checkpoint.frozen_state and _reads(plan, checkpoint.frozen_state):  # then it is the answer that does not fit
            raise SignalRefused(f"failed to rehydrate state for thread '{thread_id}': {error}", thread_id=thread_id) from error
        raise _unreadable(checkpoint, thread_id, error) from error


def _reads(plan: GraphPlan, data: msgspec.Raw) -> bool:
    try:
        plan.codec.decode(data)
    except StateUnreadable:
        return False
    return True


def _unreadable(checkpoint: Checkpoint, thread_id: str, error: StateUnreadable) -> CheckpointUnreadable:
    return CheckpointUnreadable(
        f"failed to rehydrate state for thread '{thread_id}': {error}",
        thread_id=thread_id,
        path=error.path,
        hint="give a new field a default, accept the old state in compile(migrate=...), or override the field in the answer",
    )


def _refuse_nested(checkpoint: Checkpoint, start: NodePlan, thread_id: str) -> None:
    below = checkpoint.nested
    if below is None:
        return
    raise WrongGraph(
        f"checkpoint nests a child graph under '{start.name}', which is not a subgraph node",
        thread_id=thread_id,
        level=(start.name,),
        wrote=below.graph,
    )
