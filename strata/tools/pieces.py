"""What a generator yields, piece by piece: told to the reader of the run as it comes, and in the end one result."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any, cast

from strata.tools.context import ToolContext


async def gathered_async(pieces: AsyncIterable[Any], tool: str, context: ToolContext) -> Any:
    """The pieces as one result; each is a `Diagnostic` of the node that calls the tool."""
    taken: list[Any] = []
    async for piece in pieces:
        taken.append(piece)
        if context.node is not None:
            await context.node.diagnostic(_said(tool), call_id=context.call_id, piece=piece)
    return _joined(taken)


def gathered(pieces: Iterable[Any], tool: str, context: ToolContext) -> Any:
    """`gathered_async` of a sync generator, on its thread."""
    taken: list[Any] = []
    for piece in pieces:
        taken.append(piece)
        if context.node is not None:
            context.node.diagnostic_sync(_said(tool), call_id=context.call_id, piece=piece)
    return _joined(taken)


def _said(tool: str) -> str:
    return f"tool '{tool}' goes on"


def _joined(pieces: list[Any]) -> Any:
    """Pieces of text are one text; others are a list."""
    if pieces and all(isinstance(piece, str) for piece in pieces):
        return "".join(cast("list[str]", pieces))
    return pieces
