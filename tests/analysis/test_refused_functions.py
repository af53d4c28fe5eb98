"""What Python refuses as a module is imported, what the engine refuses as a node ends, and what may go wrong later."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from strata.analysis.checking import check
from strata.rules import codes

OPENING = """\
from strata import Context, State, StateGraph, boundary, edge, map_each, node, on_reject, on_timeout, parallel, retry, timer, wait_for_event, when


class Order(State):
    lines: list[str] = []
    cents: int = 0


class Letter(State):
    text: str = ""


def same(order: Order) -> Order:
    return order


"""


def found(tmp_path: Path, text: str) -> list[tuple[str, str, str]]:
    """Code, text and the line itself of each problem."""
    module = tmp_path / "orders.py"
    module.write_text(OPENING + dedent(text), encoding="utf-8")
    lines = module.read_text(encoding="utf-8").splitlines()
    report = check([module], tmp_path)
    assert not report.unreadable
    return [(one.code, one.text, lines[one.place.line - 1].strip()) for one in report.problems if one.place is not None]


def one(tmp_path: Path, text: str) -> tuple[str, str, str]:
    problems = found(tmp_path, text)
    assert len(problems) == 1, problems
    return problems[0]


# Another state


def test_a_handler_over_another_state(tmp_path: Path) -> None:
    text = """
        @node
        def begin(letter: Letter) -> Letter:
            return letter

        graph = StateGraph(Order).start(begin).compile()
    """
    assert one(tmp_path, text) == (codes.OTHER_STATE, "node 'begin' is over Letter, and start() of a graph over Order was given it", "@node")


def test_a_guard_over_another_state(tmp_path: Path) -> None:
    text = """
        def is_long(letter: "Letter") -> bool:
            return True

        @node
        @when(is_long, to="end")
        def begin(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(begin).compile()
    """
    advice = "give @when a function of Order"
    expected = f"node 'begin' has a guard over Letter, 'is_long', and its graph is over Order: {advice}"
    assert one(tmp_path, text) == (codes.OTHER_STATE, expected, '@when(is_long, to="end")')


def test_a_handler_over_a_state_that_this_one_derives_from_is_right(tmp_path: Path) -> None:
    text = """
        class Special(Order):
            pass

        @node
        def begin(order: Order) -> Order:
            return order

        graph = StateGraph(Special).start(begin).compile()
    """
    assert found(tmp_path, text) == []


# Nothing is given back


@pytest.mark.parametrize(
    "body",
    [
        "def begin(order: Order) -> None:\n    print(order)",
        "def begin(order: Order) -> Order:\n    order.replace(cents=3)",
        "async def begin(order: Order):\n    cents = order.cents",
        "def begin(order: Order) -> Order:\n    if order.cents:\n        raise ValueError",
        "def begin(order: Order) -> Order:\n    return",
    ],
)
def test_a_handler_that_gives_back_nothing(body: str, tmp_path: Path) -> None:
    [(code, _, line)] = found(tmp_path, f"@node\n{body}\n")
    assert (code, line) == (codes.NOTHING_RETURNED, body.splitlines()[0])


@pytest.mark.parametrize(
    "body",
    [
        "def begin(order: Order) -> Order:\n    raise ValueError",
        "def begin(order: Order) -> Order:\n    fail(order)",
        "def begin(order: Order) -> Order:\n    while True:\n        pass",
        "def begin(order: Order) -> Order:\n    with open('x') as file:\n        raise ValueError",
        "def begin(order: Order) -> Order:\n    ...",
        "def begin(order: Order) -> Order:\n    def inner() -> None: pass\n    return order",
    ],
)
def test_a_handler_that_gives_back_a_state_or_never_ends_is_right(body: str, tmp_path: Path) -> None:
    assert found(tmp_path, f"@node\n{body}\n") == []


# Decorators in the wrong place


@pytest.mark.parametrize(
    ("decorators", "text", "line"),
    [
        (['@edge("end")', "@node"], "@edge stands above the @node of 'begin': move it below @node", '@edge("end")'),
        (["@node", '@on_reject("end")'], "node 'begin' has @on_reject and no @boundary: put @boundary above @on_reject", '@on_reject("end")'),
        (
            ["@timer(5)", '@on_timeout("end")'],
            "timer 'begin' has @on_timeout, and a timer only has its time: say with @edge where it leads",
            '@on_timeout("end")',
        ),
        (
            ['@wait_for_event("x")', "@retry(2)"],
            "wait 'begin' has @retry, and a wait does nothing that could fail: remove @retry, or put it on the node behind",
            "@retry(2)",
        ),
    ],
)
def test_decorators_in_the_wrong_place(decorators: list[str], text: str, line: str, tmp_path: Path) -> None:
    module = "\n".join([*decorators, "def begin(order: Order) -> Order:", "    return order", ""])
    assert one(tmp_path, module) == (codes.MISPLACED_DECORATOR, text, line)


def test_what_is_no_node(tmp_path: Path) -> None:
    text = """
        @edge("end")
        def marked(order: Order) -> Order:
            return order

        graph = StateGraph(Order).start(same).nodes(marked).compile()
    """
    assert [(code, told) for code, told, _ in found(tmp_path, text)] == [
        (codes.NOT_A_NODE, "start() takes nodes, and the function 'same' is none: put @node on it"),
        (codes.NOT_A_NODE, "nodes() takes nodes, and 'marked' has marks and no @node above them: put @node on top of its decorators"),
    ]


def test_two_starts(tmp_path: Path) -> None:
    text = """
        begin, end = node("begin")(same), node("end")(same)
        graph = StateGraph(Order).start(begin).start(end)
    """
    assert one(tmp_path, text)[:2] == (
        codes.WRONG_START,
        "the graph starts at 'begin', and there is one start: list the other nodes with .nodes(...)",
    )


# Functions of the wrong kind


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("@node\ndef begin() -> Order:\n    return Order()", "node 'begin': it takes no state: "),
        ("@node\ndef begin(order: Order, more: int) -> Order:\n    return order", "node 'begin': nothing fills its parameter 'more': "),
        ("@node\ndef begin(order: Order, more) -> Order:\n    return order", "node 'begin': nothing fills its parameter 'more': annotate it "),
        ("@node\ndef begin(order: Order):\n    yield order", "node 'begin': a generator is no node: "),
        ("@node(inline=True)\nasync def begin(order: Order) -> Order:\n    return order", "node 'begin': inline=True is for sync functions"),
        ("@parallel(same)\nasync def merge(order, results):\n    return order", "parallel group 'merge': its merge is async: "),
        ("@timer(3)\ndef fire(order, ctx: Context):\n    return order", "timer 'fire': its function has no context: "),
        (
            "@wait_for_event('x')\ndef fold(order, a, b):\n    return order",
            "wait 'fold': its function is a function of the state and the payload, and",
        ),
    ],
)
def test_a_function_that_python_refuses(function: str, text: str, tmp_path: Path) -> None:
    code, told, _ = one(tmp_path, function)
    assert code == codes.WRONG_FUNCTION
    assert told.startswith(text)


@pytest.mark.parametrize(
    "function",
    [
        "def begin(order: Order, ctx: Context) -> Order:\n    return order",
        "def begin(*, ctx: 'Context', **more: int) -> Order:\n    return order",
        "def begin(order: Order, *more: int, depth: int = 3) -> Order:\n    return order",
        "def begin(ctx: Context, order: Order) -> Order:\n    return order",
        "def begin(order: Order, more: MyContext) -> Order:\n    return order",
    ],
)
def test_a_function_that_may_be_right(function: str, tmp_path: Path) -> None:
    expected = [codes.WRONG_FUNCTION] if "*, ctx" in function else []  # takes no state after all
    assert [code for code, _, _ in found(tmp_path, f"@node\n{function}")] == expected


# Changes in place


@pytest.mark.parametrize("change", ["order.lines.append('desk')", "order.lines[0] = 'desk'", "del order.lines[0]", "order.lines[0] += 's'"])
def test_a_change_in_place_is_a_warning(change: str, tmp_path: Path) -> None:
    code, told, line = one(tmp_path, f"@node\ndef begin(order: Order) -> Order:\n    {change}\n    return order\n")
    assert (code, line) == (codes.CHANGED_IN_PLACE, change)
    assert told.startswith("node 'begin' changes 'order.lines' in place, ")
    assert told.endswith("make a new value, and give it to order.replace(lines=...)")


@pytest.mark.parametrize(
    "lines",
    ["lines = [*order.lines]\n    lines.append('desk')", "order = copy(order)\n    order.lines.append('desk')", "found = order.lines.index('desk')"],
)
def test_a_change_of_a_copy_is_none(lines: str, tmp_path: Path) -> None:
    assert found(tmp_path, f"@node\ndef begin(order: Order) -> Order:\n    {lines}\n    return order\n") == []
