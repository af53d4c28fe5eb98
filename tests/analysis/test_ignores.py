"""`# strata: ignore[CODE]` takes what is told of its line, and nothing else; one that takes nothing is told itself."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from strata.analysis.checking import check
from strata.rules import codes

OPENING = """\
from strata import State, StateGraph, boundary, edge, node, on_reject


class Order(State):
    cents: int = 0


"""

GRAPH = """
    @node
    @edge("nobody"){comment}
    def begin(order: Order) -> Order:
        return order


    @node{other}
    def last(order: Order) -> Order:
        return order


    StateGraph(Order).start(begin).nodes(last).compile()
"""


def told(tmp_path: Path, comment: str, other: str = "", *, disable: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """Code and line of each problem."""
    module = tmp_path / "orders.py"
    module.write_text(OPENING + dedent(GRAPH).format(comment=comment, other=other), encoding="utf-8")
    report = check([module], tmp_path, disable=disable)
    assert not report.unreadable
    return [(problem.code, 0 if problem.place is None else problem.place.line) for problem in report.problems]


DANGLING, ORPHAN = (codes.DANGLING_EDGE, 10), (codes.ORPHAN, 15)


def test_without_a_comment_both_are_told(tmp_path: Path) -> None:
    assert told(tmp_path, "") == [DANGLING, ORPHAN]


@pytest.mark.parametrize(
    "comment",
    [
        "  # strata: ignore[STRATA_ERR_DANGLING_EDGE]",
        "  #strata:ignore[ STRATA_ERR_DANGLING_EDGE ]",
        "  # noqa: E501  # strata: ignore[STRATA_ERR_DANGLING_EDGE]  until it is there",
    ],
)
def test_what_is_told_of_the_line_is_taken(comment: str, tmp_path: Path) -> None:
    assert told(tmp_path, comment) == [ORPHAN]


def test_each_line_has_its_own(tmp_path: Path) -> None:
    assert told(tmp_path, "  # strata: ignore[STRATA_ERR_DANGLING_EDGE]", "  # strata: ignore[STRATA_ERR_ORPHAN]") == []


def test_one_that_takes_nothing_is_told(tmp_path: Path) -> None:
    unused = "  # strata: ignore[STRATA_ERR_DANGLING_EDGE, STRATA_ERR_ORPHAN]"
    assert told(tmp_path, unused) == [(codes.UNUSED_IGNORE, 10), ORPHAN]
    assert told(tmp_path, unused, disable=(codes.UNUSED_IGNORE,)) == [ORPHAN]


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("  # strata: ignore[STRATA_ERR_ORPHAN]", "STRATA_ERR_ORPHAN is not told of this line: remove it from the comment"),
        ("  # strata: ignore[STRATA_ERR_ORFAN]", "the comment names 'STRATA_ERR_ORFAN', which is no code"),
        ("  # strata: ignore", "the comment names no code, and takes nothing: # strata: ignore[STRATA_ERR_ORPHAN]"),
        ("  # strata: ignore[]", "the comment names no code, and takes nothing: # strata: ignore[STRATA_ERR_ORPHAN]"),
    ],
)
def test_what_is_wrong_with_a_comment_is_said_where_it_stands(comment: str, says: str, tmp_path: Path) -> None:
    told(tmp_path, comment)
    [warning] = [problem for problem in check([tmp_path / "orders.py"], tmp_path).problems if problem.code == codes.UNUSED_IGNORE]
    assert (warning.severity, warning.text) == ("warning", says)
    assert str(warning.place) == f"{tmp_path / 'orders.py'}:10"


def test_a_code_that_is_not_told_anyway_is_no_unused_one(tmp_path: Path) -> None:
    comment = "  # strata: ignore[STRATA_ERR_DANGLING_EDGE]"
    assert told(tmp_path, comment, disable=(codes.DANGLING_EDGE,)) == [ORPHAN]


def test_text_is_no_comment(tmp_path: Path) -> None:
    module = tmp_path / "notes.py"
    module.write_text('TEXT = """\n# strata: ignore[STRATA_ERR_ORPHAN]\n"""\n# strata: ignored files are none\n', encoding="utf-8")
    assert list(check([module], tmp_path).problems) == []


def test_a_decorator_over_several_lines_is_told_at_its_first(tmp_path: Path) -> None:
    module = tmp_path / "orders.py"
    graph = dedent(GRAPH).replace('@edge("nobody"){comment}', '@edge(  # strata: ignore[STRATA_ERR_DANGLING_EDGE]\n    "nobody",\n)')
    module.write_text(OPENING + graph.format(other="  # strata: ignore[STRATA_ERR_ORPHAN]"), encoding="utf-8")
    assert list(check([module], tmp_path).problems) == []
