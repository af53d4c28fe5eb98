"""What a run came to: a closed union to `match`."""

from __future__ import annotations

from typing import Generic, Literal, NoReturn, TypeAlias, TypeVar

import msgspec

from strata.engine.answering import how_to_answer
from strata.errors import RunCancelled, RunFailed, RunInterrupted
from strata.graph.answers import Question, WaitingFor

S = TypeVar("S")

CancelReason: TypeAlias = Literal["requested", "deadline", "ended", "lease_lost", "superseded"]
FailureKind: TypeAlias = Literal["transient", "fatal", "hop_limit"]


class _Stated(msgspec.Struct, Generic[S], frozen=True):
    """`state` is positional here and the rest keyword-only below, so that `case Completed(essay)` works and type-checks.

    Fields stand in classes of their own: of one that is `kw_only` itself pyrefly does not know that `state` is positional.
    """

    state: S


class _Outcome(_Stated[S], frozen=True, kw_only=True):
    thread_id: str
    run_id: str


class Completed(_Outcome[S], frozen=True):
    """The run came to a node without edges; `state` is what that node returned."""

    def unwrap(self) -> S:
        return self.state


class _Waiting(_Outcome[S], frozen=True, kw_only=True):
    suspended_node: str
    next_node: str | None
    waiting_at: tuple[str, ...]
    wait: WaitingFor | None = None
    questions: tuple[Question, ...] = ()


class Interrupted(_Waiting[S], frozen=True):
    """The thread waits for an answer.

    Attributes:
        state: of the outermost level, at the pause.
        suspended_node: the node after which it paused; `next_node` is where an approval goes on (None: nowhere).
        waiting_at: the suspended node of each level, outermost first.
        wait: what it waits for beside a person, and until when; None for a boundary without a time limit.
        questions: what the node there has asked with `ctx.interrupt`.
    """

    def unwrap(self) -> NoReturn:
        """Raises RunInterrupted."""
        raise RunInterrupted(
            f"thread '{self.thread_id}' waits at [{'/'.join(self.waiting_at)}] for an answer",
            hint=how_to_answer(schema=self.questions[0].schema) if self.questions else how_to_answer(self.wait),
        )


class _Faulty(_Outcome[S], frozen=True, kw_only=True):
    node: str
    path: str
    message: str
    kind: FailureKind
    attempts: int
    retry_after: float | None = None
    error: BaseException | None = None


class Failed(_Faulty[S], frozen=True):
    """A node failed for good; the thread can be resumed at it.

    Attributes:
        state: of the outermost level, from before the node.
        node: its own name; `path` is the qualified one.
        message: what is stored as the record's `error`.
        retry_after: seconds, where the error asked for a delay.
        error: the exception itself, None for what another process did.
    """

    def unwrap(self) -> NoReturn:
        """Raises RunFailed from the node's own error."""
        raise RunFailed(f"thread '{self.thread_id}' failed at node '{self.path}': {self.message}") from self.error


class _Exceeding(Failed[S], frozen=True, kw_only=True):
    hops: int
    limit: int


class HopLimitExceeded(_Exceeding[S], frozen=True):
    """`hops` nodes ran at a level that allows `limit`; `node` is the one that was refused."""


class _Stopped(_Outcome[S], frozen=True, kw_only=True):
    node: str
    reason: CancelReason
    stopped_at: tuple[str, ...]


class Cancelled(_Stopped[S], frozen=True):
    """The thread was stopped.

    Attributes:
        state: of the outermost level, as last committed.
        node: where it stopped, at the outermost level; `stopped_at` has one node a level.
        reason: `requested` (runner.cancel), `deadline`, `ended` (runner.end), `superseded` (another run appended to the
            thread: nothing more was written).
    """

    def unwrap(self) -> NoReturn:
        """Raises RunCancelled."""
        raise RunCancelled(f"thread '{self.thread_id}' was cancelled at [{'/'.join(self.stopped_at)}] ({self.reason})")


Outcome: TypeAlias = Completed[S] | Interrupted[S] | Failed[S] | Cancelled[S]
