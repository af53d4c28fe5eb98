"""`compile()` and `strata check` tell the same of broken graphs: code, severity, text, nodes and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata.rules import codes
from tests.analysis.broken_graphs import DECORATED, FROM_DATA, module_of
from tests.analysis.parity import assert_told_alike, by_compile

# What Python refuses before there is a graph, and what nothing but source shows: test_refused_functions.py has them.
OF_SOURCE = {
    codes.WRONG_FUNCTION,
    codes.MISPLACED_DECORATOR,
    codes.NOT_A_NODE,
    codes.WRONG_START,
    codes.OTHER_STATE,
    codes.NOTHING_RETURNED,
    codes.CHANGED_IN_PLACE,
    codes.UNUSED_IGNORE,
}


@pytest.mark.parametrize("case", [*DECORATED, *FROM_DATA])
def test_a_broken_graph_is_told_alike(case: str, tmp_path: Path) -> None:
    module = tmp_path / "broken.py"
    module.write_text(module_of(case), encoding="utf-8")
    assert assert_told_alike(module)


def test_the_corpus_has_every_code_that_compile_knows(tmp_path: Path) -> None:
    module = tmp_path / "broken.py"
    seen: set[str] = set()
    for case in (*DECORATED, *FROM_DATA):
        module.write_text(module_of(case), encoding="utf-8")
        seen |= {problem.code for problem in by_compile(module)}
    of_graphs = {value for name, value in vars(codes).items() if name.isupper() and "TOOL" not in name}
    assert of_graphs - seen == OF_SOURCE
