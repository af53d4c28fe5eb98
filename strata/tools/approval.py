"""A tool whose calls a person has to approve: the node that calls it asks in its middle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from strata.errors import ToolCallDenied
from strata.graph.answers import Decision
from strata.graph.functions import yes_or_no
from strata.tools.context import ToolContext

Approve: TypeAlias = bool | Callable[[Mapping[str, Any]], bool]
"""Whether a call needs approval: always, never, or what a function says of the arguments, which it gets by their names."""


def needs_approval(tool: str, approve: Approve, arguments: Mapping[str, Any]) -> bool:
    """Raises what the predicate raises, and TypeError where its answer is no bool: then the call fails, and is not made."""
    if isinstance(approve, bool):
        return approve
    return yes_or_no(approve(arguments), f"the approve= of tool '{tool}'")


async def approved(tool: str, asked: Mapping[str, Any], context: ToolContext | None, run: Callable[[], Awaitable[str]]) -> str:
    """The result of `run`, once a person has approved the call with the arguments `asked`, which are JSON.

    The question and what is kept go by a key that is made of tool and arguments: an answer is for these arguments and no
    others, whatever a model asks for when the node runs again, and nothing that the answer says of them is looked at. What
    `run` gave is kept for the node, so that the call is made once.

    Raises:
        Pause: nobody has answered yet.
        ToolCallDenied: it was rejected, or no node makes the call, so that nobody can be asked.
    """
    node = None if context is None else context.node
    if context is None or node is None:
        raise ToolCallDenied(tool, "it needs a person's approval, and no node makes this call that could ask for it")
    key = _key(tool, asked, context)
    decision = node.interrupt({"tool": tool, "arguments": asked, "call_id": context.call_id}, key=key)
    if not decision.is_approved:
        raise ToolCallDenied(tool, _why(decision))
    return await node.once(key, run)


def approval_key(tool: str, arguments: Mapping[str, Any], *, number: int = 1) -> str:
    """The key of the question whether that call may be made, for a unit test: `context("pay", answers={approval_key(...): decision})`.

    Args:
        tool: its name.
        arguments: all of them, those that are left to their defaults too, unless JSON has no word for these.
        number: of several calls of the node that say the same, from 1.
    """
    return f"tool {tool} {sha256(msgspec.json.encode(arguments, order='sorted')).hexdigest()[:32]} #{number}"


def _key(tool: str, asked: Mapping[str, Any], context: ToolContext) -> str:
    """The same when the node runs again, and another for the next call that says the same."""
    from strata.tools.sites import site_of  # loads the engine, which a program that only declares tools has no use for

    site, first = site_of(context), approval_key(tool, asked)
    return first if site is None else approval_key(tool, asked, number=site.ordinal(first, context.call_id))


def _why(decision: Decision) -> str:
    return f"{decision.reviewer} rejected it" if decision.reviewer else "it was rejected"
