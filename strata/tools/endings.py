"""What a call came to, decided from its last error: the words that events, spans and metrics have for it (strata-tools.md 7)."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from strata.engine.decide.failure import stored_text
from strata.errors import (
    Pause,
    ToolArgumentParseFailure,
    ToolCallDenied,
    ToolCallFailed,
    ToolCancelled,
    ToolExecutionFailure,
    ToolNotFound,
    ToolNotPermitted,
)
from strata.ports.events import ToolResult


class Ending(NamedTuple):
    """The result word, and of what was refused or failed the text and what spans call its kind."""

    result: ToolResult
    error: str | None = None
    error_type: str | None = None


def ending_of(name: str, error: BaseException | None) -> Ending:
    """How a call of the tool of that name ended that came to `error`, whoever raised it."""
    match error:
        case None:
            return Ending("succeeded")
        case ToolCancelled() | asyncio.CancelledError() | Pause() | GeneratorExit():
            return Ending("cancelled")  # who pauses gives the call up: it is made again with the answer
        case BaseExceptionGroup() if error.subgroup(Pause) is not None:
            return Ending("cancelled")
        case ToolNotFound():
            return Ending("refused", str(error), "not_found")
        case ToolNotPermitted():
            return Ending("refused", str(error), "not_permitted")
        case ToolCallDenied():
            return Ending("refused", str(error), "denied")
        case ToolArgumentParseFailure():
            return Ending("failed", str(error), "invalid_arguments")
        case Exception():
            return Ending("failed", stored_text(error), "failed")
        case _:
            return Ending("failed", f"tool '{name}' failed: {type(error).__name__}", "failed")


def final_error(tool: str, error: Exception | asyncio.CancelledError, *, has_fired: bool, is_given_up: bool) -> Exception | asyncio.CancelledError:
    """What a dispatch raises that came to `error` (strata-tools.md 9, step 8).

    Whoever says that a call was cancelled which nobody cancelled has failed: an agent would wait for the end of its node for ever.

    Args:
        has_fired: the call's token has, or its node is being stopped.
        is_given_up: the task that makes the call is being cancelled; else a `CancelledError` comes from something that was awaited.
    """
    if isinstance(error, asyncio.CancelledError) and is_given_up:
        return error
    if has_fired:
        return error if isinstance(error, ToolCallDenied | ToolCancelled) else ToolCancelled(tool)
    if isinstance(error, asyncio.CancelledError):
        return ToolExecutionFailure(tool, "CancelledError, and nobody cancelled the call")
    if isinstance(error, ToolCancelled):
        return ToolCallFailed(tool, "it says that it was cancelled, and nobody cancelled it")
    return error
