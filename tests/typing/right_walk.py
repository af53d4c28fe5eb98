"""What users write: clean in every checker, with the types that they count on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

from typing_extensions import assert_type

from strata import AnyNode, CompiledGraph, Context, Definition, Problem, Signal, State, StateGraph, boundary, edge, node, on_reject, when


class Essay(State):
    min_score: int
    revision: int = 0
    score: int = 0
    published: bool = False


async def score_of(essay: Essay) -> int:
    return essay.revision


@node
@edge("review")
def draft(essay: Essay) -> Essay:
    return essay.replace(revision=essay.revision + 1)


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


@node("review", timeout=timedelta(seconds=30), metadata={"model": "small"})
@when(needs_work, to=draft)
@edge("sign_off")
async def review(essay: Essay, ctx: Context) -> Essay:
    await ctx.token("reading")
    return essay.replace(score=await score_of(essay))


@node
@boundary
@on_reject(draft)
@edge("publish")
def sign_off(essay: Essay) -> Essay:
    return essay


@node(inline=True)
def publish(essay: Essay) -> Essay:
    return essay.replace(published=True)


essays = StateGraph(Essay).start(draft).nodes(review, sign_off, publish).compile(id="essays", version="1", max_node_hops=20)

assert_type(essays, CompiledGraph[Essay])
assert_type(essays.approve("editor"), Signal[Essay])
assert_type(essays.approve("editor").override(score=9), Signal[Essay])
assert_type(essays.definition(), Definition)
assert_type(essays.warnings, tuple[Problem, ...])


async def calls(ctx: Context) -> None:
    assert_type(draft(Essay(min_score=1)), Essay)
    assert_type(await review(Essay(min_score=1), ctx), Essay)


# A graph of one node, and one that is only looked at


@node("only")
def only(essay: Essay) -> Essay:
    return essay


lonely = StateGraph(Essay).start(only)
assert_type(lonely.validate(), tuple[Problem, ...])
assert_type(lonely.mermaid(), str)
assert_type(lonely.compile(), CompiledGraph[Essay])
assert_type(lonely.nodes().compile(durable=False, check="type"), CompiledGraph[Essay])

# Parameters of other names, methods, partials, lambdas, callable objects


class Scorer:
    def __init__(self, score: int) -> None:
        self.score = score

    def rate(self, work: Essay, /) -> Essay:
        return work.replace(score=self.score)

    async def __call__(self, e: Essay) -> Essay:
        return e


def scaled(essay: Essay, factor: int = 1) -> Essay:
    return essay.replace(score=essay.score * factor)


def identity(anything: Essay, *, ctx: Context) -> Essay:
    return anything


rate = node("rate")(Scorer(3).rate)
judge = node("judge")(Scorer(3))
double = node("double")(partial(scaled, factor=2))
also = node("also")(edge("rate")(Scorer(4).rate))
keep: Callable[[Essay], Essay] = lambda essay: essay
kept = node("kept")(keep)

StateGraph(Essay).start(also).nodes(rate, judge, double, kept).compile()

# Names that are computed


def scorer(name: str, score: int) -> AnyNode[Essay]:
    @node(name)
    @edge(name + "_done")
    def rated(essay: Essay) -> Essay:
        return essay.replace(score=score)

    return rated


def finisher(name: str) -> AnyNode[Essay]:
    @node(name + "_done")
    @when(needs_work, to=name)
    def done(essay: Essay) -> Essay:
        return essay

    return done


StateGraph(Essay).start(scorer("a", 1)).nodes(finisher("a"), publish).compile()

# Generic handlers, and a node in two graphs

AnyEssay = TypeVar("AnyEssay", bound=Essay)


@node("count")  # a fault of ty's own: error: ty
def count(essay: AnyEssay) -> AnyEssay:
    return essay


class Letter(State):
    text: str = ""


@node("post")
def post(letter: Letter) -> Letter:
    return letter


first = StateGraph(Letter).start(post).compile(id="first")
second = StateGraph(Letter).start(post).compile(id="second")

# From data

from_data = (
    StateGraph(Essay)
    .add_node("draft", draft)
    .add_node("plain", scaled, timeout=3)
    .add_async_node("review", review.__wrapped__, metadata={"model": "small"})
    .add_fallible_node("method", Scorer(3).rate, inline=True)
    .add_edge("draft", "plain")
    .add_edge("plain", review)
    .add_conditional_edge("review", "draft", needs_work)
    .add_conditional_edge("review", "method", lambda essay: essay.published)
    .add_interrupt_boundary("method", on_reject="draft")
    .set_timeout("review", timedelta(minutes=1))
    .set_node_metadata("draft", {"team": "writers"})
    .set_entry_point("draft")
)
assert_type(from_data.compile(), CompiledGraph[Essay])
