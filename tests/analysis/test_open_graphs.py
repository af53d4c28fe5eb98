"""Of what cannot be told from source nothing is said, and what is known all the same is."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from strata.analysis.checking import check
from strata.rules import codes

OPENING = """\
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from elsewhere import ALL, is_large, make, name_of_node, other_graph, wrapped
from strata import GraphInvalid, State, StateGraph, boundary, edge, map_each, node, on_timeout, parallel, quorum, subgraph, when


class Order(State):
    cents: int = 0


def same(order: Order) -> Order:
    return order


@node
@edge("far")
def begin(order: Order) -> Order:
    return order


@node
def lonely(order: Order) -> Order:
    return order


"""


def codes_in(tmp_path: Path, text: str) -> list[str]:
    module = tmp_path / "orders.py"
    module.write_text(OPENING + dedent(text), encoding="utf-8")
    report = check([module], tmp_path)
    assert not report.unreadable
    return [problem.code for problem in report.problems]


UNKNOWN = {
    "nodes from elsewhere": "graph = StateGraph(Order).start(begin).nodes(*ALL).compile()",
    "a version that may be none": "graph = StateGraph(Order).start(node(same)).compile(version=make('version'), migrate=make('migration'))",
    "a timeout that may be none": "graph = StateGraph(Order).start(node(inline=True, timeout=make('limit'))(same)).compile()",
    "a timeout of data that may be none": "StateGraph(Order).add_node('a', same, inline=True, timeout=make('limit')).compile()",
    "a boundary whose timeout may be there": """
        @node
        @boundary(timeout=make("limit"))
        @on_timeout("lonely")
        @edge("lonely")
        def asks(order: Order) -> Order:
            return order

        StateGraph(Order).start(asks).nodes(lonely).compile()
    """,
    "marks that a loop adds": """
        step = same
        for name in ("lonely", "far"):
            step = when(is_large, to=name)(step)
        graph = StateGraph(Order).start(node("step")(step)).nodes(lonely).compile()
    """,
    "a node from a factory": "graph = StateGraph(Order).start(begin).nodes(lonely, make('far')).compile()",
    "a list that may have changed": """
        nodes = [lonely]
        nodes.append(make("far"))
        graph = StateGraph(Order).start(begin).nodes(*nodes).compile()
    """,
    "a computed name": """
        @node(name_of_node())
        def other(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(begin).nodes(other).compile()
    """,
    "a decorator that may add edges": """
        @node
        @wrapped
        def first(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(first).nodes(lonely).compile()
    """,
    "a computed target": """
        @node
        @edge(name_of_node())
        def first(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(first).nodes(lonely).compile()
    """,
    "a graph taken from elsewhere": "graph = make(Order).nodes(lonely).compile()",
    "a graph that is given to a function": """
        graph = StateGraph(Order).add_node("a", same).add_edge("a", "b")
        make(graph)
        graph.compile()
    """,
    "a graph that a function changes": """
        graph = StateGraph(Order).add_node("a", same).add_edge("a", "b")

        def add() -> None:
            graph.add_node("b", same)

        add()
        graph.compile()
    """,
    "a graph in a list": """
        graph = StateGraph(Order).add_node("a", same).add_edge("a", "b")
        graphs = [graph]
        graphs[0].add_node("b", same)
        graph.compile()
    """,
    "nodes that are added in a loop": """
        graph = StateGraph(Order).add_node("a", same).add_edge("a", "b")
        for name in ALL:
            graph.add_node(name, same)
        graph.compile()
    """,
    "an edge that may be added": """
        graph = StateGraph(Order).add_node("a", same).add_node("b", same)
        if ALL:
            graph.add_edge("a", "b")
        graph.compile()
    """,
    "an edge behind a call that may raise": """
        graph = StateGraph(Order).add_node("a", same)
        try:
            make()
            graph.add_edge("a", "b")
        except ValueError:
            print("no edge")
        graph.compile()
    """,
    "one of two graphs": """
        graph = StateGraph(Order).start(begin)
        if ALL:
            graph = make()
        graph.compile()
    """,
    "a name that a loop binds anew": """
        graph: Any = StateGraph(Order).start(lonely)
        for nodes in ALL:
            graph.compile()
            graph = make(nodes)
    """,
    "a node that is defined twice, as a function sees it": """
        def build() -> Any:
            return StateGraph(Order).start(step).nodes(lonely).compile()

        @node
        def step(order: Order) -> Order:
            return order

        @node
        @edge("lonely")
        def step(order: Order) -> Order:
            return order
    """,
    "a global that functions bind": """
        step = lonely

        def change() -> None:
            global step
            step = make()

        graph = StateGraph(Order).start(step).nodes(lonely).compile()
    """,
    "a star import that may bring another node": """
        from nobody_knows import *

        graph = StateGraph(Order).start(lonely).nodes(begin).compile()
    """,
    "a parameter": """
        def build(far: Any) -> Any:
            return StateGraph(Order).start(begin).nodes(far).compile()
    """,
    "branches and a quorum from elsewhere": """
        @parallel(same, *ALL, join=quorum(5))
        def group(order: Order, results: list[Order]) -> Order:
            return order

        @parallel(same, join=quorum(name_of_node()), branch_timeout=name_of_node())
        @edge(group)
        def begin(order: Order, results: list[Order]) -> Order:
            return order

        graph = StateGraph(Order).start(begin).nodes(group).compile()
    """,
    "a child from elsewhere, which may pause": """
        @subgraph(other_graph, enter=same)
        @when(lambda order: True, to="inside")
        @when(lambda order: False, to="inside")
        def inside(order: Order, child: Order) -> Order:
            return order

        graph = StateGraph(Order).start(inside).compile()
    """,
    "options from elsewhere": "graph = StateGraph(Order).start(lonely).compile(**ALL)",
    "a version and an id that may be there": "graph = StateGraph(Order).start(lonely).compile(id=name_of_node(), version='1')",
    "code that is meant to be refused": """
        def test_it() -> None:
            with pytest.raises(GraphInvalid):
                StateGraph(Order).start(begin).compile()
            try:
                StateGraph(Order).start(begin).compile()
            except GraphInvalid as error:
                print(error)
    """,
    "a function that is called to be refused": """
        def build() -> Any:
            return StateGraph(Order).start(begin).compile()

        def test_it() -> None:
            with pytest.raises(GraphInvalid):
                build()
    """,
    "a state that may derive from the other, and a class that may be a context": """
        from elsewhere import Base, Handle

        class Special(Base, State):
            pass

        class Mine(Handle):
            pass

        @node
        def step(order: Order, mine: Mine) -> Order:
            return order

        graph = StateGraph(Special).start(step).compile()
    """,
    "a graph that is never compiled": "graph = StateGraph(Order).start(begin)",
    "code behind a return": """
        def build() -> Any:
            return None
            StateGraph(Order).start(begin).compile()
    """,
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_of_what_cannot_be_told_nothing_is_said(case: str, tmp_path: Path) -> None:
    assert codes_in(tmp_path, UNKNOWN[case]) == []


KNOWN = {
    "a loop among the known nodes": (
        """
        @node
        @edge("turn")
        def turn(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(turn).nodes(*ALL).compile()
        """,
        [codes.UNGUARDED_CYCLE],
    ),
    "settings of a graph with unknown nodes": ("graph = StateGraph(Order).start(begin).nodes(*ALL).compile(max_node_hops=0)", [codes.HOP_LIMIT]),
    "a graph in a function, with nodes around it": (
        """
        def build() -> Any:
            @node
            @edge("nowhere")
            def far(order: Order) -> Order:
                return order

            return StateGraph(Order).start(begin).nodes(far).compile()
        """,
        [codes.DANGLING_EDGE],
    ),
    "the same builder in each branch": (
        """
        builder = StateGraph(Order).start(begin)
        if ALL:
            print("all")
        else:
            print("none")
        graph = builder.compile()
        """,
        [codes.DANGLING_EDGE],
    ),
    "a method": (
        """
        class Shop:
            def build(self) -> Any:
                return StateGraph(Order).start(begin).compile()
        """,
        [codes.DANGLING_EDGE],
    ),
    "a builder that is made and filled in one branch": (
        """
        if ALL:
            graph = StateGraph(Order).add_node("a", same).add_edge("a", "b")
            graph.compile()
        """,
        [codes.DANGLING_EDGE],
    ),
}


@pytest.mark.parametrize("case", KNOWN)
def test_what_is_known_all_the_same_is_said(case: str, tmp_path: Path) -> None:
    text, expected = KNOWN[case]
    assert codes_in(tmp_path, text) == expected


def test_a_node_that_is_there_and_not_listed_is_named(tmp_path: Path) -> None:
    module = tmp_path / "orders.py"
    more = """
        @node
        def far(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(begin).compile()
    """
    module.write_text(OPENING + dedent(more), encoding="utf-8")
    [problem] = check([module], tmp_path).problems
    assert problem.hint is not None
    assert problem.hint.startswith("'far' is a node (")
    assert problem.hint.endswith("and this graph does not list it: add it to .nodes(...)")
