"""draft -> review, where reviewing takes until somebody stops it; and a chapter that gets lost once. Children of the recorded books."""

from __future__ import annotations

import asyncio

from strata import Context, StateGraph, TransientError
from strata.graph.nodes import NodeFunction
from tests.graphs.essays import Essay, draft
from tests.graphs.stopped_orders import Death, Stop


def reviewed(essay: Essay) -> Essay:
    return essay.replace(score=min(essay.revision * 3, 10))


async def review_stops(essay: Essay, ctx: Context) -> Essay:
    """Fires its `Stop`, if there is one, and waits while the essay asks for a score above 1."""
    if essay.min_score > 1:
        if (stop := ctx.service(Stop)) is not None:
            stop.fire()
        await asyncio.Event().wait()
    return reviewed(essay)


async def review_dies(essay: Essay, ctx: Context) -> Essay:
    """Never returns while there is a `Death`."""
    if (death := ctx.service(Death)) is not None:
        death.is_near.set()
        await asyncio.Event().wait()
    return reviewed(essay)


def stopped_essays() -> StateGraph[Essay]:
    return _line(review_stops)


def dying_essays() -> StateGraph[Essay]:
    return _line(review_dies)


def lost_once() -> StateGraph[Essay]:
    """One node, `write`, whose first attempt fails behind its token."""

    async def write(essay: Essay, ctx: Context) -> Essay:
        await ctx.token(f"try {ctx.attempt}")
        if ctx.attempt == 1:
            raise TransientError("lost the thread")
        return essay

    return StateGraph(Essay).add_node("write", write).set_recovery_policy("write", retries=2)


def _line(review: NodeFunction[Essay]) -> StateGraph[Essay]:
    return StateGraph(Essay).add_node("draft", draft).add_node("review", review).add_edge("draft", "review")
