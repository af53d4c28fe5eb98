"""Graphs whose nodes and edges do not fit each other."""

from __future__ import annotations

from strata import Context, Problem, State, StateGraph, boundary, edge, node, on_failure, when

problems: list[Problem] = []
"""What the graphs below say of themselves when they run."""


class Essay(State):
    min_score: int = 0
    score: int = 0


def needs_work(essay: Essay) -> bool:
    return essay.score < essay.min_score


# Targets


@node
@edge("reveiw")  # E: Edge 'draft' -> 'reveiw' points at 'reveiw', which is not a node in the graph. Did you mean 'review'? [strata-dangling-edge]
def draft(essay: Essay) -> Essay:
    return essay


@node("review")  # E: Node 'review' is isolated and unreachable from the entry point 'draft'. [strata-orphan]
@when(needs_work, to=draft)
@edge("publish")
async def review(essay: Essay, ctx: Context) -> Essay:
    return essay


@node  # E: Node 'publish' is isolated [strata-orphan]
def publish(essay: Essay) -> Essay:
    return essay


misspelt = StateGraph(Essay).start(draft).nodes(review, publish)
problems.extend(misspelt.validate())


@node
@when(needs_work, to="archive")  # E: 'archive' exists, but is not listed in this graph: add it to .nodes(...). [strata-dangling-edge]
@edge("print")
def hand_in(essay: Essay) -> Essay:
    return essay


@node
def archive(essay: Essay) -> Essay:
    return essay


@node("print")
def print_it(essay: Essay) -> Essay:
    return essay


forgotten = StateGraph(Essay).start(hand_in).nodes(print_it)
problems.extend(forgotten.validate())


@node
@edge("away")  # type: ignore[strata-dangling-edge]
def ignored(essay: Essay) -> Essay:
    return essay


@node
@edge("away")  # type: ignore[strata]  # E: use narrower [strata-dangling-edge] instead of [strata] code [unused-ignore]
def ignored_by_parent(essay: Essay) -> Essay:
    return essay


problems.extend(StateGraph(Essay).start(ignored).validate())
problems.extend(StateGraph(Essay).start(ignored_by_parent).validate())


# Loops and ends


@node
@edge("polish")
def write(essay: Essay) -> Essay:
    return essay


@node
@edge("print_out")
def polish(essay: Essay) -> Essay:
    return essay


@node
@edge("write")  # E: Unguarded cycle detected between 'print_out' and 'write'. [strata-unguarded-cycle] # N: The loop is print_out -> write -> polish -> print_out
def print_out(essay: Essay) -> Essay:
    return essay


circle = StateGraph(Essay).start(write).nodes(polish, print_out)
problems.extend(circle.validate())


@node  # E: Node 'think' can never reach a node without outgoing edges. [strata-no-terminal]
@when(needs_work, to="think")
@edge("think_on")
def think(essay: Essay) -> Essay:
    return essay


@node
@when(needs_work, to="think")
def think_on(essay: Essay) -> Essay:
    return essay


endless = StateGraph(Essay).start(think).nodes(think_on)
problems.extend(endless.validate())


# Edges that are never taken


@node
@edge("last")
@when(needs_work, to="middle")  # E: edge 'first' -> 'middle' is never tried: the plain edge to 'last' stands before it [strata-dead-edge]
@edge("last")  # E: edge 'first' -> 'last' stands twice: the second is never taken [strata-doubled-edge]
def first(essay: Essay) -> Essay:
    return essay


@node
@edge("last")
def middle(essay: Essay) -> Essay:
    return essay


@node
def last(essay: Essay) -> Essay:
    return essay


dead = StateGraph(Essay).start(first).nodes(middle, last)
problems.extend(dead.validate())


# Names


@node("a/b")  # E: the name of node 'a/b' has a '/' [strata-slash-in-name]
@edge("*")
def slashed(essay: Essay) -> Essay:
    return essay


@node("*")  # E: the name of node '*' has a '*' [strata-star-in-name]
@edge(" ")
def starred(essay: Essay) -> Essay:
    return essay


@node(" ")  # E: the name of node ' ' is blank [strata-blank-name]
def blank(essay: Essay) -> Essay:
    return essay


named = StateGraph(Essay).start(slashed).nodes(starred, blank)
problems.extend(named.validate())


@node
@edge("twin")
def parent(essay: Essay) -> Essay:
    return essay


@node
def twin(essay: Essay) -> Essay:
    return essay


@node("twin")  # E: node 'twin' stands twice in the graph [strata-doubled-node]
def other_twin(essay: Essay) -> Essay:
    return essay


twins = StateGraph(Essay).start(parent).nodes(twin, other_twin)
problems.extend(twins.validate())


@node("start")  # E: node 'start' stands twice in the graph [strata-doubled-node]
@boundary
@edge("twin")
def entry(essay: Essay) -> Essay:
    return essay


two_entries = StateGraph(Essay).start(entry).nodes(entry, twin)
problems.extend(two_entries.validate())


# Fallbacks


@node
@on_failure("rescue")
@edge("twin")
def risky(essay: Essay) -> Essay:
    return essay


@node
@on_failure(risky)  # E: the fallback 'rescue' -> 'risky' closes a loop of fallbacks [strata-fallback-loop]
@edge("twin")
def rescue(essay: Essay) -> Essay:
    return essay


rescued = StateGraph(Essay).start(risky).nodes(rescue, twin)
problems.extend(rescued.validate())


# In a function, where names are the function's own


def made_in_a_function() -> None:
    @node
    @edge("outside")  # E: Edge 'inside' -> 'outside' points at 'outside' [strata-dangling-edge]
    def inside(essay: Essay) -> Essay:
        return essay

    graph = StateGraph(Essay).start(inside)
    problems.extend(graph.validate())


def made_in_another_function() -> None:
    @node
    @edge("twin")
    def inside(essay: Essay) -> Essay:
        return essay

    problems.extend(StateGraph(Essay).start(inside).nodes(twin).validate())


made_in_a_function()
made_in_another_function()
