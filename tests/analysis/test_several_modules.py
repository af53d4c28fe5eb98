"""Nodes, states and graphs of other modules are found where Python would find them, and their faults are told once, where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata.analysis.checking import Report, check

STATES = """\
from strata import State

class Order(State):
    cents: int = 0
"""

STEPS = """\
from strata import edge, node
from {states} import Order

@node
@edge("shp")
def pay(order: Order) -> Order:
    return order

@node
def ship(order: Order) -> Order:
    return order

STEPS = (ship,)
"""

FLOW = """\
from strata import StateGraph
{imports}

orders = StateGraph({state}).start({start}).nodes({rest}).compile()
"""

PLACES = {
    "beside it": ("flow.py", "from states import Order\nfrom steps import pay, ship", "Order", "pay", "ship"),
    "by the module's name": ("flow.py", "import states, steps as all_steps", "states.Order", "all_steps.pay", "all_steps.ship"),
    "by a star": ("flow.py", "from states import Order\nfrom steps import *", "Order", "pay", "ship"),
    "in a tuple": ("flow.py", "from states import Order\nfrom steps import pay, STEPS", "Order", "pay", "*STEPS"),
    "for checkers": (
        "flow.py",
        "from typing import TYPE_CHECKING\nfrom states import Order\nif TYPE_CHECKING:\n    import steps\nfrom steps import pay, ship",
        "Order",
        "pay",
        "ship",
    ),
}


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def misspelt(report: Report) -> list[tuple[str, int]]:
    """Where the edge to 'shp' is told."""
    assert not report.unreadable
    return [(Path(one.place.file).name, one.place.line) for one in report.problems if one.related == "shp" and one.place is not None]


@pytest.mark.parametrize("way", PLACES)
def test_nodes_of_a_module(way: str, tmp_path: Path) -> None:
    name, imports, state, start, rest = PLACES[way]
    flow = FLOW.format(imports=imports, state=state, start=start, rest=rest)
    files = written(tmp_path, {name: flow, "states.py": STATES, "steps.py": STEPS.format(states="states")})
    assert misspelt(check(files, tmp_path)) == [("steps.py", 5)]
    assert misspelt(check(files[:1], tmp_path)) == [("steps.py", 5)]


@pytest.mark.parametrize("root", ["", "src/", "deep/down/"])
@pytest.mark.parametrize(
    "imports", ["from .states import Order\nfrom .steps import pay, ship", "from shop.states import Order\nfrom shop.steps import pay, ship"]
)
@pytest.mark.parametrize("has_init", [True, False])
def test_nodes_of_a_package(root: str, imports: str, has_init: bool, tmp_path: Path) -> None:
    flow = FLOW.format(imports=imports, state="Order", start="pay", rest="ship")
    files = written(
        tmp_path,
        {f"{root}shop/flow.py": flow, f"{root}shop/states.py": STATES, f"{root}shop/steps.py": STEPS.format(states="shop.states")},
    )
    if has_init:
        written(tmp_path, {f"{root}shop/__init__.py": ""})
    assert misspelt(check(files, tmp_path)) == [("steps.py", 5)]


def test_what_a_package_gives_on(tmp_path: Path) -> None:
    flow = FLOW.format(imports="from shop import Order, pay, steps", state="Order", start="pay", rest="steps.ship")
    files = written(
        tmp_path,
        {
            "flow.py": flow,
            "shop/__init__.py": "from .states import *\nfrom .steps import pay as pay",
            "shop/states.py": f'__all__ = ["Order"]\n{STATES}',
            "shop/steps.py": STEPS.format(states="shop.states"),
        },
    )
    assert misspelt(check(files, tmp_path)) == [("steps.py", 5)]


def test_a_package_that_asks_itself_for_its_modules(tmp_path: Path) -> None:
    flow = FLOW.format(imports="from shop import Order, steps, strange", state="Order", start="steps.pay", rest="steps.ship, strange")
    package = "from . import states, steps\nfrom .states import Order\nfrom . import strange\n"
    files = written(
        tmp_path,
        {"flow.py": flow, "shop/__init__.py": package, "shop/states.py": STATES, "shop/steps.py": STEPS.format(states="shop.states")},
    )
    assert misspelt(check(files, tmp_path)) == []  # nobody knows what `strange` is
    files = written(tmp_path, {"flow.py": flow.replace(", strange", "")})
    assert misspelt(check(files, tmp_path)) == [("steps.py", 5)]


def test_a_module_that_two_folders_have_is_not_guessed(tmp_path: Path) -> None:
    flow = FLOW.format(imports="from states import Order\nfrom steps import pay, ship", state="Order", start="pay", rest="ship")
    steps = STEPS.format(states="states")
    files = written(tmp_path, {"app/flow.py": flow, "states.py": STATES, "steps.py": steps, "app/steps.py": steps})
    assert list(check(files, tmp_path).problems) == []


def test_modules_that_import_each_other_are_followed_once(tmp_path: Path) -> None:
    states = f"import flow\n{STATES}"
    flow = FLOW.format(imports="from states import Order\nfrom steps import pay, ship", state="Order", start="pay", rest="ship")
    files = written(tmp_path, {"flow.py": flow, "states.py": states, "steps.py": STEPS.format(states="states")})
    assert misspelt(check(files, tmp_path)) == [("steps.py", 5)]


def test_a_child_of_another_module_is_known(tmp_path: Path) -> None:
    child = "from strata import StateGraph, timer\nfrom states import Order\n\n@timer(5)\ndef rest(order: Order) -> Order:\n    return order\n\n"
    parent = (
        "from strata import StateGraph, map_each\nfrom child import resting\nfrom states import Order\n\n"
        "@map_each(resting, items=len, key=str, enter=max)\n"
        "def many(order: Order, results: list[Order]) -> Order:\n    return order\n\n"
        "orders = StateGraph(Order).start(many).compile()\n"
    )
    files = written(tmp_path, {"parent.py": parent, "child.py": f"{child}resting = StateGraph(Order).start(rest).compile()\n", "states.py": STATES})
    problems = [(one.code, one.severity, one.node) for one in check(files, tmp_path).problems]
    assert problems == [("STRATA_PY_NO_WAY_OUT", "warning", "rest"), ("STRATA_ERR_WAIT_IN_MAP", "error", "many/*/rest")]


def test_a_fault_of_an_imported_graph_is_told_when_its_file_is_checked(tmp_path: Path) -> None:
    flow = FLOW.format(imports="from states import Order\nfrom steps import pay", state="Order", start="pay", rest="pay")
    files = written(tmp_path, {"main.py": "from flow import orders\nimport strata\n", "flow.py": flow, "states.py": STATES})
    written(tmp_path, {"steps.py": STEPS.format(states="states")})
    assert list(check(files[:1], tmp_path).problems) == []
    assert check(files, tmp_path).has_errors


def test_a_module_that_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    flow = FLOW.format(imports="from states import Order\nfrom steps import pay, ship", state="Order", start="pay", rest="ship")
    files = written(tmp_path, {"flow.py": flow, "states.py": STATES, "steps.py": "def ("})
    assert list(check(files[:1], tmp_path).problems) == []
