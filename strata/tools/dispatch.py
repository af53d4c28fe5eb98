"""One call of a tool that is there, from its arguments to the text for the model (strata-tools.md 9, steps 6 to 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, NoReturn

from strata.engine.interrupt import requests_to_cancel
from strata.errors import ToolCancelled
from strata.tools.context import ToolContext
from strata.tools.endings import final_error
from strata.tools.entries import Entry
from strata.tools.middleware import Chain, ToolCall, ToolMiddleware


class Answer(NamedTuple):
    """The text of a call, and whether the tool was called for it."""

    text: str
    has_run: bool


async def answered(call: ToolCall, entry: Entry, middleware: Sequence[ToolMiddleware]) -> Answer:
    """What the middleware and the tool make of a call.

    Raises:
        ToolError: the call was refused, has failed, or was cancelled.
        Exception: a middleware, or a tool that is no declared function, raised it.
    """
    refuse_cancelled(entry.name, call.context)
    before = requests_to_cancel()
    chain = Chain(middleware, entry.name, partial(_uncancelled, entry, before))
    try:
        return Answer(await chain.proceed(call), chain.has_run)
    except (Exception, asyncio.CancelledError) as error:
        raise_final(entry.name, error, call.context, before)


async def _uncancelled(entry: Entry, before: int, arguments: str, context: ToolContext) -> str:
    """A middleware sees a `CancelledError` only where the call is given up; one that was awaited by chance is an error like others."""
    try:
        return await entry.execute(arguments, context)
    except asyncio.CancelledError as error:
        raise_final(entry.name, error, context, before)


def refuse_cancelled(tool: str, context: ToolContext | None) -> None:
    """Raises ToolCancelled: the call's token has fired, or its node is being stopped."""
    if context is not None and context.cancelled:
        raise ToolCancelled(tool)


def raise_final(tool: str, error: Exception | asyncio.CancelledError, context: ToolContext | None, before: int) -> NoReturn:
    """Raise what a dispatch raises that came to `error`, and began when its task had been told to stop `before` times."""
    has_fired = context is not None and context.cancelled
    final = final_error(tool, error, has_fired=has_fired, is_given_up=requests_to_cancel() > before)
    if final is error:
        raise error
    raise final from error
