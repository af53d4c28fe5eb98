"""What an error of a node means: whether trying again may help, and what is stored of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from strata.checkpoint.record import Checkpoint
from strata.engine.faults import ChildFailed, ChildTimedOut
from strata.errors import BadItems, FatalError, NodeTimedOut, NoMatchingEdge, PolicyFailed, StrataError, ToolError, TransientError
from strata.graph.recovery import RecoverySpec
from strata.graph.times import seconds_of

LONGEST_DELAY = 9e15  # s; records count a hint in milliseconds of 64 bits
LONGEST_TEXT = 4096  # bytes of UTF-8; a stored error is for reading, tracebacks are logged

Kind = Literal["transient", "fatal"]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An error, judged.

    Attributes:
        counted: the record names the attempts, which it does not for a bug (strata-checkpoint.md 4).
        nested: the record of the child that failed inside the node.
    """

    message: str
    kind: Kind
    error: BaseException
    counted: bool
    attempts: int = 1
    retry_after: float | None = None
    timed_out: bool = False
    nested: Checkpoint | None = None


def judge(error: Exception, policy: RecoverySpec | None = None, *, attempts: int = 1) -> Failure:
    """A timeout is transient whatever the policy says, our own two errors say it themselves, the policy knows the rest.

    A tool that failed is judged by what it failed of, too. Where the policy's own `on=` raises, that is the failure.
    """
    reasons = _reasons(error)
    hinting = next((one for one in reasons if isinstance(one, TransientError | ChildFailed)), None)
    try:
        kind = _kind(reasons, policy)
    except Exception as raised:
        return judge(_policy_failed("retry", raised, error), attempts=attempts)
    return Failure(
        message=stored_text(error),
        kind=kind,
        error=error,
        counted=kind == "transient" or any(isinstance(one, FatalError | ChildFailed | BadItems) for one in reasons),
        attempts=attempts,
        retry_after=None if hinting is None else _asked_delay(hinting),
        timed_out=isinstance(error, NodeTimedOut),
        nested=error.nested if isinstance(error, ChildFailed | ChildTimedOut) else None,
    )


def judge_at_end(error: Exception, policy: RecoverySpec | None, *, attempts: int) -> tuple[Failure, bool]:
    """The failure of a node that is not tried again, and whether its fallback is for it.

    A routing gap is no failure of the node, which has done its work.
    """
    failure = judge(error, policy, attempts=attempts)
    if policy is None or policy.fallback is None or isinstance(error, NoMatchingEdge):
        return failure, False
    try:
        return failure, policy.takes is None or any(policy.takes(face) for face in _faces(error))
    except Exception as raised:
        return judge(_policy_failed("on_failure", raised, error), attempts=attempts), False


def _faces(error: Exception) -> tuple[Exception, ...]:
    """What an `on=` may look for: the node's error, and what handlers or tools inside it raised."""
    inner = error.errors if isinstance(error, ChildFailed) else ()
    return (*_reasons(error), *(one for one in inner if isinstance(one, Exception)))


def _reasons(error: Exception) -> tuple[Exception, ...]:
    """The error; and where it only says that a tool failed, what it failed of."""
    reasons = [error]
    while isinstance(reasons[-1], ToolError) and isinstance(cause := reasons[-1].__cause__, Exception) and cause not in reasons:
        reasons.append(cause)
    return tuple(reasons)


def delay_before(retry: int, failure: Failure, policy: RecoverySpec, random: float) -> float:
    """Seconds to wait before `retry` (from 1): the error's own hint, capped and not jittered, else the backoff's.

    Without a backoff a hint is ignored and the retry starts at once (strata-execution.md 5).
    """
    if policy.backoff is None:
        return 0.0
    if failure.retry_after is not None:
        return min(failure.retry_after, policy.backoff.maximum)
    return policy.backoff.delay(retry, random)


def stored_text(error: BaseException) -> str:
    """The message of our own errors, else `TypeName: message`; cut at 4 KB, and always something that can be stored."""
    text = _words_of(error)
    message = text if isinstance(error, StrataError) else f"{type(error).__name__}: {text}"
    data = message[:LONGEST_TEXT].encode("utf-8", "replace")
    return data[:LONGEST_TEXT].decode("utf-8", "ignore")


def _kind(reasons: tuple[Exception, ...], policy: RecoverySpec | None) -> Kind:
    for error in reasons:
        if isinstance(error, NodeTimedOut | TransientError):
            return "transient"
        if isinstance(error, ChildFailed):
            return error.kind
        if isinstance(error, FatalError):
            return "fatal"
    if policy is None or policy.is_transient is None:
        return "fatal"
    return "transient" if any(map(policy.is_transient, reasons)) else "fatal"


def _policy_failed(policy: str, raised: Exception, about: Exception) -> PolicyFailed:
    error = PolicyFailed(policy, raised, about=about)
    error.__cause__ = raised
    return error


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as raised:  # a fault of the error's own class must not hide that the node failed
        return f"(its text cannot be had: str() raised {type(raised).__name__})"


def _asked_delay(error: TransientError | ChildFailed) -> float | None:
    """The hint in seconds, no longer than a record can say; one that is no delay is none."""
    if error.retry_after is None:
        return None
    try:
        seconds = seconds_of(error.retry_after)
    except (TypeError, ValueError):
        return None
    return min(seconds, LONGEST_DELAY) if seconds >= 0 else None
