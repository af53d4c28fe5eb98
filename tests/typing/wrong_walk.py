"""Mistakes that a checker finds without a plugin. Each line says who finds it."""

from __future__ import annotations

from strata import Context, State, StateGraph, boundary, edge, node, when


class Essay(State):
    min_score: int = 0
    score: int = 0


class Letter(State):
    text: str = ""


@node("draft")
@edge("review")
def draft(essay: Essay) -> Essay:
    return essay


@node("review")
async def review(essay: Essay, ctx: Context) -> Essay:
    return essay


@node("post")
def post(letter: Letter) -> Letter:
    return letter


@node("forgets")
def forgets(essay: Essay) -> None:
    essay.replace(score=1)


@node("confused")
def confused(essay: Essay) -> Letter:
    return Letter()


@node("greedy")
def greedy(essay: Essay, ctx: Context, more: int) -> Essay:
    return essay


def is_long(letter: Letter) -> bool:
    return len(letter.text) > 3


async def is_slow(essay: Essay) -> bool:
    return True


def unmarked(essay: Essay) -> Essay:
    return essay


@edge("draft")
def edged(essay: Essay) -> Essay:
    return essay


# Nodes that do not fit the graph
StateGraph(Essay).start(post)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(draft).nodes(review, post)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(draft).nodes(forgets)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(draft).nodes(confused)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(draft).nodes(greedy)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(unmarked)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(edged)  # error: mypy, pyright, pyrefly, ty
StateGraph(dict)  # error: mypy, pyright, pyrefly, ty

# No entry, two entries
StateGraph(Essay).nodes(draft)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(draft).start(review)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).nodes(review)  # error: mypy, pyright, pyrefly, ty

# Targets that are no node of the graph (mypy has no literal strings in type variables: the plugin finds those)
StateGraph(Essay).start(draft).compile()  # error: pyright, pyrefly, ty
StateGraph(Essay).start(draft).nodes(review).compile()


# Guards
@node("guarded")
@when(is_long, to="draft")  # error: mypy, pyright, pyrefly, ty
def guarded(essay: Essay) -> Essay:
    return essay


@node("slowly")
@when(is_slow, to="draft")  # error: mypy, pyright, pyrefly, ty
def slowly(essay: Essay) -> Essay:
    return essay


@node("unanswered")
@when(lambda essay: None, to="draft")  # error: mypy, pyright, pyrefly, ty
def unanswered(essay: Essay) -> Essay:
    return essay


# Decorators
@node("numbered")
@edge(3)  # error: mypy, pyright, pyrefly, ty
def numbered(essay: Essay) -> Essay:
    return essay


@edge("draft")  # error: pyright
@node("reversed")
def reversed_marks(essay: Essay) -> Essay:
    return essay


@node("stateless")  # error: mypy, pyright
def stateless(words: list[str]) -> list[str]:
    return words


@node(timeout="3")  # error: mypy, pyright, pyrefly, ty
def hurried(essay: Essay) -> Essay:
    return essay


@node("paused")
@boundary("yes")  # error: mypy, pyright, pyrefly, ty
def paused(essay: Essay) -> Essay:
    return essay


# Calls
draft(3)  # error: mypy, pyright, pyrefly, ty
review(Essay())  # error: mypy, pyright, pyrefly, ty
draft(Letter())  # error: mypy, pyright, pyrefly, ty

# compile
graph = StateGraph(Essay).start(draft).nodes(review).compile()
StateGraph(Essay).start(review).compile(max_node_hops="20")  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).start(review).compile(check="some")  # error: mypy, pyright, pyrefly, ty
graph.entry = "review"  # error: mypy, pyright, pyrefly, ty

# States and answers
Essay(3)  # error: mypy, pyright, pyrefly, ty
Essay().score = 3  # error: mypy, pyright, pyrefly, ty
Essay().replace(skore=3)  # error: mypy 3.13, pyright 3.13, pyrefly, ty 3.13
Essay().replace(score="high")  # error: mypy 3.13, pyright 3.13, pyrefly, ty 3.13
graph.approve("editor").override(skore=3)  # error: mypy 3.13, pyright 3.13, pyrefly, ty 3.13
graph.approve("editor").override(score="high")  # error: mypy 3.13, pyright 3.13, pyrefly, ty 3.13
graph.approve(3)  # error: mypy, pyright, pyrefly, ty

# Data
StateGraph(Essay).add_node("post", post)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).add_node("long", is_long)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).add_conditional_edge("a", "b", is_long)  # error: mypy, pyright, pyrefly, ty
StateGraph(Essay).add_edge("a", 3)  # error: mypy, pyright, pyrefly, ty
