"""Broken graphs of every kind of node, as modules: `builder`, and `graph` that is compiled of it."""

from __future__ import annotations

from textwrap import dedent

OPENING = """\
from datetime import timedelta

import strata
from strata import (
    Backoff, Context, Outcomes, State, StateGraph, all_of, boundary, branch, edge, first_matching, first_success, map_each, node,
    on_failure, on_reject, on_timeout, parallel, quorum, retry, subgraph, timer, wait_for_event, when,
)


class Count(State):
    count: int = 0
    parts: tuple[str, ...] = ()


def same(state: Count) -> Count:
    return state


def other(state: Count) -> Count:
    return state


def first(state: Count, results: list[Count]) -> Count:
    return results[0]


def leave(state: Count, child: Count) -> Count:
    return child


def parts(state: Count) -> tuple[str, ...]:
    return state.parts


def enter_part(state: Count, part: str) -> Count:
    return state


def is_even(state: Count) -> bool:
    return state.count % 2 == 0


async def slow_guard(state: Count) -> bool:
    return True


@node
def end(state: Count) -> Count:
    return state


@node
def last(state: Count) -> Count:
    return state


plain_child = StateGraph(Count).start(end).compile()
loose_child = StateGraph(Count).start(end).compile(durable=False)


@node
@boundary
@edge("end")
def assess(state: Count) -> Count:
    return state


pausing_child = StateGraph(Count).start(assess).nodes(end).compile()


@timer(60)
@edge("end")
def rest(state: Count) -> Count:
    return state


waiting_child = StateGraph(Count).start(rest).nodes(end).compile()

"""

DECORATED = {
    "an edge to a name that is misspelt": """
        @node
        @edge("edn")
        def begin(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(end)
        graph = builder.compile()
    """,
    "edges, routes and fallbacks to nowhere": """
        @node
        @boundary(timeout=5)
        @on_reject("nobody")
        @on_timeout("nowhere")
        @retry(2)
        @on_failure("no_help")
        @edge("end")
        def begin(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(end)
        graph = builder.compile()
    """,
    "fields that cannot be stored": """
        import socket
        from collections import deque
        from collections.abc import Callable
        from pathlib import Path
        from typing import Annotated, ClassVar, Optional

        import msgspec

        class Session:
            pass

        class Crate(msgspec.Struct):
            shipped: deque[int]

        class Base(State):
            folder: Path
            note: object

        class Parcel(Base):
            note: str
            shared: ClassVar[socket.socket]
            line: socket.socket
            work: "Callable[[int], int] | None"
            at: dict[tuple[int, int], str]
            crates: list[Crate]
            more: dict[str, Crate]
            session: Optional[Annotated[Session, 3]]
            seen: set[list[int]]
            faults: tuple[int, ValueError]
            ways: tuple[Path, ...] = ()
            kind: type[int] = int

        @node
        def begin(state: Parcel) -> Parcel:
            return state

        builder = StateGraph(Parcel).start(begin)
        graph = builder.compile()
    """,
    "payloads that only checkers know": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from shop.payments import Card, Payment

        @wait_for_event("paid")
        @edge("refunded")
        def paid(state: Count, payment: "Payment") -> Count:
            return state

        @wait_for_event("refunded")
        @edge("counted")
        def refunded(state: Count, payment: "list[Card] | Payment | None") -> Count:
            return state

        @wait_for_event("counted")
        @edge("end")
        def counted(state: Count, number: "int") -> Count:
            return state

        builder = StateGraph(Count).start(paid).nodes(refunded, counted, end)
        graph = builder.compile()
    """,
    "a node that nothing leads to": """
        builder = StateGraph(Count).start(end).nodes(last)
        graph = builder.compile()
    """,
    "a loop without a guard, forward by name and backward by node": """
        @node
        @edge("turn")
        def begin(state: Count) -> Count:
            return state

        @node
        @edge(begin)
        def turn(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(turn)
        graph = builder.compile()
    """,
    "a loop with a guard and no end": """
        @node("round")
        @when(is_even, to="turn")
        @edge("turn")
        def begin(state: Count) -> Count:
            return state

        @node
        @when(is_even, to=begin)
        def turn(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(turn)
        graph = builder.compile()
    """,
    "edges that are never tried, and one that stands twice": """
        @node
        @edge("end")
        @when(is_even, to="last")
        @edge("end")
        def begin(state: Count) -> Count:
            return state

        @node
        @when(is_even, to="last")
        @when(is_even, to="last")
        @when(lambda state: True, to="last")
        @when(lambda state: False, to="last")
        def end(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(end, last)
        graph = builder.compile()
    """,
    "names that paths cannot show": """
        @node("a/b")
        @edge("c*")
        def begin(state: Count) -> Count:
            return state

        @node("c*")
        @edge(" ")
        def middle(state: Count) -> Count:
            return state

        @node(" ")
        def finish(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(middle, finish)
        graph = builder.compile()
    """,
    "a node that is listed twice, and another of the same name": """
        @node("end")
        def again(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(end).nodes(end, again)
        graph = builder.compile()
    """,
    "a guard that is async": """
        @node
        @when(slow_guard, to="end")
        @edge("last")
        def begin(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(end, last)
        graph = builder.compile()
    """,
    "settings of the whole graph": """
        builder = StateGraph(Count).start(end)
        graph = builder.compile(id=" ", version="", max_node_hops=0)
    """,
    "more settings of the whole graph": """
        builder = StateGraph(Count).start(end)
        graph = builder.compile(version="1", migrate=lambda old: old, max_node_hops=2**32)
    """,
    "times that are none": """
        @node(timeout=0)
        @edge("fast")
        async def begin(state: Count, ctx: Context) -> Count:
            return state

        @node(timeout=timedelta(seconds=2), inline=True)
        @edge("soon")
        def fast(state: Count) -> Count:
            return state

        @node(timeout=0.0001)
        @edge("held")
        def soon(state: Count) -> Count:
            return state

        @node
        @boundary(timeout=-1)
        @edge("held_too")
        def held(state: Count) -> Count:
            return state

        @node
        @boundary
        @on_timeout("end")
        @edge("end")
        def held_too(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(fast, soon, held, held_too, end)
        graph = builder.compile()
    """,
    "metadata under keys that are kept": """
        @node(metadata={"strata.mine": "x", "": "y"})
        def begin(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin)
        graph = builder.compile()
    """,
    "a backoff that shrinks, and fallbacks in a ring": """
        @node
        @retry(3, backoff=Backoff(initial=timedelta(seconds=2), maximum=1))
        @on_failure("help")
        @edge("end")
        def begin(state: Count) -> Count:
            return state

        @node
        @on_failure(begin)
        @edge("end")
        def help(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(help, end)
        graph = builder.compile()
    """,
    "boundaries that nobody gets past": """
        @node
        @boundary
        @when(is_even, to="stop")
        @edge("stop")
        def begin(state: Count) -> Count:
            return state

        @node
        @boundary
        @on_reject(begin)
        def stop(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(begin).nodes(stop)
        graph = builder.compile()
    """,
    "groups": """
        @parallel(name="empty")
        @edge("twins")
        def nobody(state: Count, results: list[Count]) -> Count:
            return state

        @parallel(
            same,
            branch("same", other, metadata={"strata.x": "y"}),
            join=quorum(3),
            max_concurrency=0,
            branch_timeout=0,
        )
        @edge("odd/names")
        def twins(state: Count, results: list[Count]) -> Count:
            return state

        @parallel(branch("a/b", same), branch(" ", other), join=quorum(0), name="odd/names", branch_timeout=0.0002)
        def odd(state: Count, outcomes: Outcomes[Count]) -> Count:
            return state

        builder = StateGraph(Count).start(nobody).nodes(twins, odd)
        graph = builder.compile()
    """,
    "maps": """
        @map_each(pausing_child, items=parts, key=str, enter=enter_part, max_concurrency=0, max_items=0, item_timeout=0, join=quorum(0))
        @edge("more")
        def many(state: Count, results: list[Count]) -> Count:
            return state

        @map_each(waiting_child, items=parts, key=str, enter=enter_part, join=first_success())
        @edge("nowhere")
        def more(state: Count, outcomes: Outcomes[Count]) -> Count:
            return state

        builder = StateGraph(Count).start(many).nodes(more)
        graph = builder.compile()
    """,
    "subgraphs": """
        @subgraph(loose_child, enter=same, timeout=0)
        @edge("inside")
        def outside(state: Count, child: Count) -> Count:
            return child

        @subgraph(pausing_child, enter=same)
        @edge(outside)
        def inside(state: Count, child: Count) -> Count:
            return child

        builder = StateGraph(Count).start(outside).nodes(inside, end)
        graph = builder.compile()
    """,
    "a loop of subgraphs that pause, which is fine but for the cycle": """
        @subgraph(pausing_child, enter=same)
        @when(is_even, to="inside")
        def inside(state: Count, child: Count) -> Count:
            return child

        builder = StateGraph(Count).start(inside).nodes(last)
        graph = builder.compile()
    """,
    "waits": """
        @wait_for_event(" ", timeout=0)
        @when(is_even, to="paid")
        @edge("paid")
        def asked(state: Count) -> Count:
            return state

        @wait_for_event("order.paid", name="paid")
        @on_timeout("end")
        @edge("signed")
        def pay(state: Count, amount: int) -> Count:
            return state

        @wait_for_event("order.signed", timeout=timedelta(microseconds=10))
        @on_timeout("nowhere")
        @boundary
        def signed(state: Count, name: str) -> Count:
            return state

        builder = StateGraph(Count).start(asked).nodes(pay, signed, end)
        graph = builder.compile()
    """,
    "timers": """
        @timer(0)
        @edge("nap")
        def never(state: Count) -> Count:
            return state

        @timer(timedelta(seconds=-5))
        @when(is_even, to="end")
        @edge("blink")
        def nap(state: Count) -> Count:
            return state

        @timer(0.0005)
        def blink(state: Count) -> Count:
            return state

        builder = StateGraph(Count).start(never).nodes(nap, blink, end)
        graph = builder.compile()
    """,
    "decorators by other names": """
        to_end = edge("ende")
        group = strata.parallel

        @group(same, other, join=strata.quorum(5))
        @to_end
        def begin(state: Count, results: list[Count]) -> Count:
            return state

        started = StateGraph(Count).start(begin)
        builder = started.nodes(end)
        graph = builder.compile()
    """,
    "nodes in a tuple, and a function that is made a node below": """
        middle = node("middle")(edge("nowhere")(same))
        OTHERS = (last, end)
        builder = StateGraph(Count).start(middle).nodes(*OTHERS)
        graph = builder.compile(**{})
    """,
}

FROM_DATA = {
    "nothing at all": """
        builder = StateGraph(Count)
        graph = builder.compile()
    """,
    "an entry that is no node": """
        builder = StateGraph(Count).add_node("a", same).set_entry_point("b")
        graph = builder.compile()
    """,
    "edges between names": """
        builder = StateGraph(Count)
        builder.add_node("a", same).add_node("b", end)
        builder.add_edge("a", "c")
        builder.add_edge("x", "b")
        builder.add_edge("x", "y")
        builder.add_conditional_edge("a", end, is_even)
        graph = builder.compile()
    """,
    "settings on names that are no node": """
        builder = (
            StateGraph(Count)
            .add_node("a", same, timeout=-1, metadata={"": "x"})
            .set_timeout("ghost", 5)
            .set_node_metadata("ghost", {"k": "v"})
            .add_interrupt_boundary("nobody", timeout=0)
            .add_interrupt_boundary("routed", on_reject="a", timeout=5, on_timeout="a")
            .set_recovery_policy("lost", retries=1, fallback="a")
            .set_recovery_policy("a", retries=1, backoff=Backoff(initial=2, maximum=1), fallback="help")
        )
        graph = builder.compile()
    """,
    "a group, and metadata of branches that are not there": """
        builder = StateGraph(Count).add_parallel_group("g", [branch("one", same, metadata={"k": "v"}), other], first, join=quorum(3))
        builder.set_branch_metadata("g", "two", {"k": "v"})
        builder.set_branch_metadata("g", "one", {"strata.k": "v"})
        graph = builder.compile()
    """,
    "an empty group": """
        builder = StateGraph(Count).add_parallel_group("g", [], first, max_concurrency=-1)
        graph = builder.compile()
    """,
    "maps and subgraphs": """
        builder = StateGraph(Count)
        builder.add_map("m", waiting_child, items=parts, key=str, enter=enter_part, merge=first, max_items=0, item_timeout=0)
        builder.add_subgraph("s", loose_child, enter=same, leave=leave).add_edge("m", "s")
        graph = builder.compile()
    """,
    "waits and timers": """
        builder = StateGraph(Count)
        builder.add_wait_for_event("w", "", on_timeout="t").add_timer("t", 0).add_edge("w", "t")
        builder.add_conditional_edge("t", "w", is_even)
        builder.add_interrupt_boundary("w").set_recovery_policy("t", retries=1)
        graph = builder.compile()
    """,
    "a boundary that becomes a wait": """
        builder = StateGraph(Count).add_node("a", same).add_interrupt_boundary("a", timeout=5, on_timeout="b").add_node("b", same)
        builder.add_timer("a", -1)
        builder.add_node("b", other).add_edge("a", "b").add_edge("a", "b")
        graph = builder.compile()
    """,
    "a loop": """
        builder = StateGraph(Count).add_node("a", same).add_fallible_node("b", same, inline=True).add_edge("a", "b").add_edge("b", "a")
        builder.set_timeout("b", timedelta(minutes=1))
        graph = builder.compile(id="loop", version=" ")
    """,
}


def module_of(case: str) -> str:
    """The whole text of a module with a broken graph."""
    return OPENING + dedent({**DECORATED, **FROM_DATA}[case])
