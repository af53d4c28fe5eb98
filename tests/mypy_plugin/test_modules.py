"""Graphs over several modules: an edit of a decorator in one is told in the graph of another, however mypy is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.modes import Modes, modes

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

STATE = """\
from strata import State
class Essay(State):
    score: int = 0
"""
STEPS = """\
from pkg.state import Essay
from strata import boundary, edge, node, when
def needs_work(essay: Essay) -> bool: return essay.score < 3
@node
@edge("review")
def draft(essay: Essay) -> Essay: return essay.replace(score=1)
@node
@when(needs_work, to=draft)
@edge("publish")
async def review(essay: Essay) -> Essay: return essay
"""
FLOW = """\
from pkg.state import Essay
from pkg.steps import draft, review
from strata import StateGraph, node
@node
def publish(essay: Essay) -> Essay: return essay
graph = StateGraph(Essay).start(draft).nodes(review, publish).compile()
"""
OUTER = """\
from pkg.flow import graph
from pkg.state import Essay
from strata import StateGraph, map_each
def items(essay: Essay) -> list[int]: return []
def enter(essay: Essay, item: int) -> Essay: return essay
@map_each(graph, items=items, key=str, enter=enter)
def each(essay: Essay, results: list[Essay]) -> Essay: return essay
outer = StateGraph(Essay).start(each).compile()
graph.approve("ann").override(score=3)
"""

EDITS: list[tuple[str, str, str, list[str]]] = [
    ("steps", '@edge("review")', '@edge("reveiw")', ["pkg/flow.py:6: Did you mean 'review'? (declared in \"pkg.steps.draft\")"]),
    ("steps", '@edge("reveiw")', '\n\n@edge("review")', []),  # lines alone change nothing
    ("steps", "@when(needs_work, to=draft)", "@edge(draft)", ["pkg/flow.py:6: Unguarded cycle", "pkg/flow.py:6: is never tried"]),
    ("steps", "@edge(draft)", "@when(needs_work, to=draft)", []),
    ("steps", "async def review(essay: Essay) -> Essay", "async def review(essay: Essay) -> None", ["pkg/flow.py:6: gives back nothing"]),
    ("steps", "-> None", "-> Essay", []),
    ("steps", "@node\n@when", "@node\n@boundary\n@when", ["pkg/flow.py:6: leaves the boundary", "pkg/outer.py:6: an interrupt boundary at 'review'"]),
    ("steps", "@boundary\n", "", []),
    ("flow", "def publish", "def print_it", ['pkg/flow.py:6: Name "publish" is not defined']),
    ("flow", "publish)", "print_it)", ["pkg/flow.py:6: points at 'publish'", "pkg/flow.py:4: Node 'print_it' is isolated"]),
    ("flow", "print_it", "publish", []),
    ("state", "score: int", "score: str", ["pkg/steps.py", "pkg/outer.py:9", "pkg/state.py:3"]),
    ("state", "score: str", "score: int", []),
]


def test_every_edit_is_seen_from_all_modules_however_mypy_is_run(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    for name, source in {"__init__": "", "state": STATE, "steps": STEPS, "flow": FLOW, "outer": OUTER}.items():
        (package / f"{name}.py").write_text(source)
    with modes(tmp_path) as run:
        assert said_by_all(run) == []
        for module, old, new, wanted in EDITS:
            file = package / f"{module}.py"
            assert old in file.read_text()
            file.write_text(file.read_text().replace(old, new))
            lines = said_by_all(run, workers=bool(wanted))
            assert bool(lines) == bool(wanted), (old, new, lines)
            for place, _, text in (part.partition(": ") for part in wanted):
                assert any(line.startswith(place) and text in line for line in lines), (old, new, place, text, lines)


def said_by_all(run: Modes, *, workers: bool = True) -> list[str]:
    scratch = run.scratch()
    assert run.warm() == scratch
    assert run.daemon() == scratch
    assert not workers or run.workers() == scratch
    return scratch
