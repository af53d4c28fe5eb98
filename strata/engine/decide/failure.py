"""What an error of a node means: whether trying again may help, and what is stored of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from strata.errors import FatalError, NodeTimedOut, StrataError, TransientError
from strata.graph.times import seconds_of

LONGEST_TEXT = 4096  # bytes of UTF-8; a stored error is for reading, tracebacks are logged


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An error, judged. `counted`: the record names the attempts, which it does not for a bug (strata-checkpoint.md 4)."""

    message: str
    kind: Literal["transient", "fatal"]
    error: BaseException
    counted: bool
    retry_after: float | None = None


def judge(error: Exception) -> Failure:
    """`TransientError` and a timeout of the node are transient, every other error is fatal."""
    is_transient = isinstance(error, (TransientError, NodeTimedOut))
    return Failure(
        message=stored_text(error),
        kind="transient" if is_transient else "fatal",
        error=error,
        counted=is_transient or isinstance(error, FatalError),
        retry_after=_asked_delay(error) if isinstance(error, TransientError) else None,
    )


def stored_text(error: BaseException) -> str:
    """The message of our own errors, else `TypeName: message`; cut at 4 KB, and always something that can be stored."""
    text = _words_of(error)
    message = text if isinstance(error, StrataError) else f"{type(error).__name__}: {text}"
    data = message[:LONGEST_TEXT].encode("utf-8", "replace")
    return data[:LONGEST_TEXT].decode("utf-8", "ignore")


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as raised:  # a fault of the error's own class must not hide that the node failed
        return f"(its text cannot be had: str() raised {type(raised).__name__})"


def _asked_delay(error: TransientError) -> float | None:
    """The hint in seconds; one that is no delay is none."""
    if error.retry_after is None:
        return None
    try:
        seconds = seconds_of(error.retry_after)
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
