"""A fault of the plugin ends no run: it is told at its line, and what mypy finds by itself is still found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.checking import configuration, mypy

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

SOURCE = """\
from strata import State, StateGraph, edge, node, strata_tool
class Essay(State):
    score: int = 0
@node
@edge("publish")
def draft(essay: Essay) -> Essay:
    return essay.replace(score=1)
@node
def publish(essay: Essay) -> Essay:
    return essay
graph = StateGraph(Essay).start(draft).nodes(publish).compile()
wrong: int = "text"
@strata_tool
def pay(cents: int) -> str:
    "Pay."
    return "paid"
@strata_tool("again")
def pay_again(cents: int) -> str:
    "Pay."
    return "paid"
"""

BROKEN = """\
import strata_mypy
from strata_mypy import graphs, marks, replacing, reporting, states, tools, tops
plugin = strata_mypy.plugin
def fail(*args: object, **options: object) -> object:
    raise RuntimeError("as it happens")
"""


@pytest.mark.parametrize(
    "broken",
    [
        {"marks.target_of": 11, "replacing._constructor": 7, "states.unstorable_part": 2},  # a decorator's is told where the node is listed
        {"tops.handler_faults": 11},
        {"reporting.compile_problems": 11},
        {"tools.text_of": 17},
    ],
    ids="+".join,
)
def test_a_fault_is_told_at_its_line(broken: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "essays.py").write_text(SOURCE)
    (tmp_path / "broken_plugin.py").write_text(BROKEN + "".join(f"{name} = fail\n" for name in broken))
    config = configuration(tmp_path, plugins=str(tmp_path / "broken_plugin.py"))
    report = mypy(["--config-file", str(config), "essays.py"], cwd=tmp_path).splitlines()
    internal = [text for text in report if text.endswith("[strata-internal]")]
    assert {text.split(": ")[0] for text in internal} == {f"essays.py:{line}" for line in broken.values()}, report
    assert all("strata_mypy failed here, and the check goes on without it: RuntimeError: as it happens" in text for text in internal)
    assert [text for text in report if "[assignment]" in text] != []
    assert not [text for text in report if "strata" in text and text not in internal and "error" in text]
