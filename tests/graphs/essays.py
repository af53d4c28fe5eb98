"""The essay: drafted until its score will do, then published. The graph that the recorded essays were written by."""

from __future__ import annotations

from strata import State, StateGraph, edge, node, when


class Essay(State):
    topic: str
    min_score: int
    revision: int = 0
    score: int = 0
    notes: list[str] = []  # noqa: RUF012 (msgspec copies it)
    published: bool = False


@node("draft")
@edge("review")
def draft(essay: Essay) -> Essay:
    revision = essay.revision + 1
    return essay.replace(revision=revision, notes=[*essay.notes, f"draft {revision}"])


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


@node("review")
@when(needs_work, to=draft)
@edge("publish")
def review(essay: Essay) -> Essay:
    return essay.replace(score=min(essay.revision * 3, 10))


@node("publish")
def publish(essay: Essay) -> Essay:
    return essay.replace(published=True, notes=[*essay.notes, "published"])


essays = StateGraph(Essay).start(draft).nodes(review, publish)
"""Not compiled: tests compile it with the options that they are about."""


def essays_from_data() -> StateGraph[Essay]:
    """The same graph, from data."""
    return (
        StateGraph(Essay)
        .add_node("draft", draft)
        .add_node("review", review)
        .add_node("publish", publish)
        .add_edge("draft", "review")
        .add_conditional_edge("review", "draft", needs_work)
        .add_edge("review", "publish")
    )


def reviewed_essays() -> StateGraph[Essay]:
    """Each review waits for a person."""
    return essays_from_data().add_interrupt_boundary("review")
