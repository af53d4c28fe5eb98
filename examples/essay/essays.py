"""An essay is drafted until its score will do, signed off by a person, and published."""

from __future__ import annotations

from collections.abc import AsyncIterator

from strata import Context, State, StateGraph, boundary, edge, node, when


class Essay(State):
    topic: str
    min_score: int
    text: str = ""
    revision: int = 0
    score: int = 0
    signed_by: str | None = None


@node
@edge("review")
async def draft(essay: Essay, ctx: Context) -> Essay:
    words: list[str] = []
    async for word in words_on(essay.topic, essay.revision + 1):
        await ctx.token(f"{word} ")  # whoever reads the stream sees the text grow
        words.append(word)
    return essay.replace(text=" ".join(words), revision=essay.revision + 1)


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


@node
@when(needs_work, to=draft)  # tried first
@edge("sign_off")  # else
def review(essay: Essay) -> Essay:
    return essay.replace(score=3 * essay.revision)


@node
@boundary  # the thread pauses here until a person answers
@edge("publish")
def sign_off(essay: Essay) -> Essay:
    return essay


@node
def publish(essay: Essay, ctx: Context) -> Essay:
    return essay.replace(signed_by=ctx.decision.reviewer if ctx.decision is not None else None)


async def words_on(topic: str, revision: int) -> AsyncIterator[str]:
    """What a language model would stream."""
    for word in ("All", "about", topic, *["indeed"] * (revision - 1)):
        yield word


essays = StateGraph(Essay).start(draft).nodes(review, sign_off, publish).compile(id="essays", version="1", max_node_hops=20)
