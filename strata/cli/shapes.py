"""The JSON that commands print: keys may be added, and are never renamed or taken away (docs/command-line.md).

Times are the wire's text in UTC, states the stored JSON as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from strata.checkpoint.metadata import ERROR, HOPS
from strata.checkpoint.record import Checkpoint, DecisionRecord, Status, ThreadState, WaitKind, WaitRecord
from strata.engine.outcomes import Cancelled, Completed, Failed, Interrupted, Outcome
from strata.engine.waiting import questions_of
from strata.errors import CheckpointUnreadable
from strata.graph.answers import Question
from strata.graph.changes.finding import Effect, Finding
from strata.graph.identity import Identity
from strata.ports import ThreadPage, ThreadSummary
from strata.rules.problem import Problem, Severity

# graph validate


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A problem; `file` and `line` where the graph's code is known."""

    code: str
    severity: Severity
    text: str
    node: str | None
    related: str | None
    file: str | None
    line: int | None
    hint: str | None


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one target; `error` says why one is unreadable."""

    target: str
    status: Literal["valid", "invalid", "unreadable"]
    problems: Sequence[Fault] = ()
    error: str | None = None
    hint: str | None = None


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """`strata graph validate --json`."""

    ok: bool
    graphs: Sequence[Checked]


def checked(target: str, problems: Sequence[Problem]) -> Checked:
    has_errors = any(problem.severity == "error" for problem in problems)
    return Checked(target=target, status="invalid" if has_errors else "valid", problems=[_fault(problem) for problem in problems])


def unreadable(target: str, error: str, hint: str | None) -> Checked:
    return Checked(target=target, status="unreadable", error=error, hint=hint)


def _fault(problem: Problem) -> Fault:
    return Fault(
        code=problem.code,
        severity=problem.severity,
        text=problem.text,
        node=problem.node,
        related=problem.related,
        file=None if problem.place is None else problem.place.file,
        line=None if problem.place is None else problem.place.line,
        hint=problem.hint,
    )


# graph diff


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change, and what it does to paused threads; `threads` are those that the store holds there, None where none was looked at."""

    code: str
    effect: Effect
    text: str
    level: Sequence[str]
    node: str | None
    field: str | None
    hint: str | None
    threads: int | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """`strata graph diff --json`; `ok`: nothing breaks, and every row that was looked at could be read."""

    ok: bool
    old: str
    new: str
    changes: Sequence[Change]
    unreadable: Sequence[Unreadable]


def change(finding: Finding, threads: int | None) -> Change:
    return Change(
        code=finding.code,
        effect=finding.effect,
        text=finding.text,
        level=finding.level,
        node=finding.node,
        field=finding.field,
        hint=finding.hint,
        threads=threads,
    )


# threads


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """What a level waits for beside a person's answer."""

    kind: WaitKind
    event_type: str | None
    wake_at: str | None


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """The latest answer to a boundary of a level."""

    boundary: str
    is_approved: bool
    reviewer: str
    overrides: msgspec.Raw
    decided_at: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question that a node asked and that is open: `schema` is that of the answer, None where approve or reject answers it."""

    id: str
    path: str
    asked: Any
    schema: Mapping[str, Any] | None
    since: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A thread in a listing."""

    thread_id: str
    sequence: int
    state_name: ThreadState
    status: Status
    suspended_node: str | None
    next_node: str | None
    waiting_at: Sequence[str]
    wait: Wait | None
    graph: Identity | None
    metadata: Mapping[str, str]
    updated_at: str
    schema_version: str


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A row that cannot be read, and why."""

    thread_id: str | None
    sequence: int | None
    error: str


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """`strata thread list --json`; `next_cursor` is for `--cursor`, None at the end."""

    threads: Sequence[Summary]
    unreadable: Sequence[Unreadable]
    next_cursor: str | None


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """A graph inside a subgraph node of the level around it."""

    status: Status
    suspended_node: str | None
    next_node: str | None
    state: msgspec.Raw
    wait: Wait | None
    decision: Decided | None
    graph: Identity | None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """`strata thread inspect --json`, and each line of `strata thread log --json`: a record, read from its outermost level.

    `nested` are the levels inside, from the outer to the innermost.
    """

    thread_id: str
    sequence: int | None
    state_name: ThreadState
    status: Status
    suspended_node: str | None
    next_node: str | None
    waiting_at: Sequence[str]
    hops: int | None
    error: str | None
    wait: Wait | None
    question: Asked | None
    decision: Decided | None
    graph: Identity | None
    metadata: Mapping[str, str]
    schema_version: str
    created_at: str
    resumed_at: str | None
    state: msgspec.Raw
    nested: Sequence[Level]


class EndedThread(msgspec.Struct, frozen=True, kw_only=True):
    """`strata thread end --json`."""

    thread_id: str
    state_name: Literal["ended"]
    stopped_at: Sequence[str]


class CameTo(msgspec.Struct, frozen=True, kw_only=True):
    """`strata thread resume --json`: what the run came to. What does not concern its status is null or empty."""

    thread_id: str
    run_id: str
    status: Literal["completed", "interrupted", "failed", "cancelled"]
    state: msgspec.Raw
    at: Sequence[str] = ()
    error: str | None = None
    reason: str | None = None


def came_to(outcome: Outcome[Any], state: bytes) -> CameTo:
    """`state`: the outcome's, encoded."""
    told = partial(CameTo, thread_id=outcome.thread_id, run_id=outcome.run_id, state=msgspec.Raw(state))
    match outcome:
        case Completed():
            return told(status="completed")
        case Interrupted(waiting_at=at):
            return told(status="interrupted", at=at)
        case Failed(path=path, message=text):
            return told(status="failed", at=path.split("/"), error=text)
        case Cancelled(stopped_at=at, reason=reason):
            return told(status="cancelled", at=at, reason=reason)


def listing(page: ThreadPage) -> Listing:
    return Listing(
        threads=[_summary(thread) for thread in page.threads],
        unreadable=[unreadable_row(error) for error in page.unreadable],
        next_cursor=page.next_cursor,
    )


def unreadable_row(error: CheckpointUnreadable) -> Unreadable:
    return Unreadable(thread_id=error.thread_id, sequence=error.sequence, error=str(error))


def shown(checkpoint: Checkpoint, sequence: int | None) -> Shown:
    """The record.

    Raises:
        CheckpointUnreadable: a state in it is no JSON; stores do not look into states.
    """
    _check_states(checkpoint, sequence)
    metadata = checkpoint.metadata or {}
    return Shown(
        thread_id=checkpoint.thread_id,
        sequence=sequence,
        state_name=checkpoint.state_name,
        status=checkpoint.status,
        suspended_node=checkpoint.suspended_node,
        next_node=checkpoint.next_node,
        waiting_at=checkpoint.waiting_at,
        hops=_count(metadata.get(HOPS)),
        error=metadata.get(ERROR),
        wait=_wait(checkpoint.innermost.wait),
        question=_question(checkpoint),
        decision=_decided(checkpoint.decision),
        graph=checkpoint.graph,
        metadata=metadata,
        schema_version=checkpoint.schema_version,
        created_at=checkpoint.created_at,
        resumed_at=checkpoint.resumed_at,
        state=checkpoint.frozen_state,
        nested=[_level(level) for level in checkpoint.levels()[1:]],
    )


def _check_states(checkpoint: Checkpoint, sequence: int | None) -> None:
    for level in checkpoint.levels():
        try:
            msgspec.json.format(bytes(level.frozen_state))
        except (msgspec.DecodeError, RecursionError) as error:
            text = f"the state of record #{sequence} of thread '{checkpoint.thread_id}' is not JSON: {error}"
            raise CheckpointUnreadable(text, thread_id=checkpoint.thread_id, sequence=sequence) from error


def _summary(thread: ThreadSummary) -> Summary:
    return Summary(
        thread_id=thread.thread_id,
        sequence=thread.sequence,
        state_name=thread.state,
        status=thread.status,
        suspended_node=thread.suspended_node,
        next_node=thread.next_node,
        waiting_at=thread.waiting_at,
        wait=_wait(thread.wait),
        graph=thread.graph,
        metadata=thread.metadata,
        updated_at=thread.updated_at,
        schema_version=thread.schema_version,
    )


def _level(level: Checkpoint) -> Level:
    return Level(
        status=level.status,
        suspended_node=level.suspended_node,
        next_node=level.next_node,
        state=level.frozen_state,
        wait=_wait(level.wait),
        decision=_decided(level.decision),
        graph=level.graph,
    )


def _wait(wait: WaitRecord | None) -> Wait | None:
    return None if wait is None else Wait(kind=wait.kind, event_type=wait.event_type, wake_at=wait.wake_at)


def _question(checkpoint: Checkpoint) -> Asked | None:
    """The open question; one that cannot be read is left to the metadata, which show it as it is."""
    try:
        questions = questions_of(checkpoint)
    except (CheckpointUnreadable, RecursionError):
        return None
    return next((_asked(question, checkpoint.created_at) for question in questions), None)


def _asked(question: Question, since: str) -> Asked:
    return Asked(id=question.id, path=question.path, asked=question.asked, schema=question.schema, since=since)


def _decided(decision: DecisionRecord | None) -> Decided | None:
    if decision is None:
        return None
    return Decided(
        boundary=decision.boundary,
        is_approved=decision.is_approved,
        reviewer=decision.reviewer,
        overrides=decision.overrides,
        decided_at=decision.decided_at,
    )


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 20 else None
