"""What a model is told of its call, and what the node that runs its turn sees of it (strata-tools.md 13)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import msgspec

from strata.engine.decide.failure import stored_text
from strata.errors import (
    NodeError,
    ToolArgumentParseFailure,
    ToolCallDenied,
    ToolCallFailed,
    ToolCancelled,
    ToolExecutionFailure,
    ToolNotFound,
    ToolNotPermitted,
)
from strata.graph.plain_json import plain_json
from strata.ports.events import ToolResult
from strata.tools.duplicates import name_given_twice

logger = logging.getLogger("strata")

OnFailure: TypeAlias = Literal["fail_node", "tell_model"]
"""What becomes of a call that failed: the node that made it fails, or the model is told and may try something else."""


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A model's call, answered.

    Attributes:
        tool: its name here; the model's own where there is no such tool.
        call_id: the one that the model gave, or a fresh one.
        content: what the model is told: the tool's text, or `{"error": ...}`.
        result: `refused` where the tool was not called.
    """

    tool: str
    call_id: str
    content: str
    result: ToolResult


class Told(NamedTuple):
    """What a model is told, and the word for it."""

    content: str
    result: ToolResult


def object_text(arguments: str | Mapping[str, Any]) -> str | None:
    """The arguments as every engine hands them on, compact and with sorted keys; None where they are no JSON object.

    A blank text is an object without arguments. One that gives a name twice stays as it is, for the tool to refuse.
    """
    try:
        if not isinstance(arguments, str):
            return _sorted(plain_json(arguments))  # which refuses NaN: it would be null else
        raw = arguments if arguments.strip() else "{}"
        given: object = msgspec.json.decode(raw)
        if not isinstance(given, dict):
            return None
        return raw if name_given_twice(raw) is not None else _sorted(cast("dict[str, Any]", given))
    except (ValueError, TypeError, RecursionError):
        return None


def _sorted(arguments: Mapping[str, Any]) -> str:
    return msgspec.json.encode(arguments, order="sorted").decode()


def told_of_error(error: Exception, *, tool: str, provider_name: str, on_failure: OnFailure, with_details: bool) -> Told:
    """What a model is told of a call that came to `error`.

    `provider_name` is what the model calls the tool. `with_details`: a model is told what the tool's function raised, beside the
    words that every engine has for it.

    Raises:
        ToolCancelled: there is nothing to tell: the node is being stopped.
        NodeError: the fault is the node's own.
        ToolCallFailed: the call failed, and so shall the node.
    """
    match error:
        case ToolCancelled() | NodeError():
            raise error
        case ToolNotFound():
            return refused(f"tool '{provider_name}' was not found")
        case ToolNotPermitted():
            return refused(f"tool '{provider_name}' is not permitted here")
        case ToolCallDenied(reason=reason):
            return refused(f"denied: {reason}")
        case ToolArgumentParseFailure(text=text):
            return refused(f"invalid arguments for tool '{provider_name}': {text}")
        case _:
            return _told_of_failure(error, tool, provider_name, on_failure, with_details=with_details)


def refused(text: str) -> Told:
    """The call was not made."""
    return Told(_error(text), "refused")


def _told_of_failure(error: Exception, tool: str, provider_name: str, on_failure: OnFailure, *, with_details: bool) -> Told:
    if on_failure == "fail_node":
        if isinstance(error, ToolCallFailed):
            raise error
        raise ToolCallFailed(tool, _message(error)) from error
    logger.warning("tool '%s' failed, and the model is told so: %s", tool, _message(error), exc_info=error)
    raised_by_function = isinstance(error, ToolExecutionFailure)
    message = "the tool returned an error" if raised_by_function else _message(error)
    detail = _message(error) if raised_by_function and with_details else None
    return Told(_error(f"tool '{provider_name}' failed: {message}", detail), "failed")


def _message(error: Exception) -> str:
    match error:
        case ToolCallFailed(message=message) | ToolExecutionFailure(message=message):
            return message
        case _:
            return stored_text(error)


def _error(text: str, detail: str | None = None) -> str:
    return msgspec.json.encode({"error": text} if detail is None else {"error": text, "detail": detail}).decode()
