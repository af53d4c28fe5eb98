"""500 right graphs have no errors, and 500 that a mutation may have broken are told as `compile()` tells them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from strata.analysis.checking import check
from strata.rules import codes
from tests.analysis.mutations import mutants_of
from tests.analysis.parity import assert_told_alike
from tests.analysis.right_graphs import OPENING, right_graph

NOT_OF_THE_GRAPH = {codes.WRONG_FUNCTION, codes.MISPLACED_DECORATOR, codes.NOT_A_NODE, codes.OTHER_STATE, codes.NOTHING_RETURNED}
"""What Python refuses, or finds only when it runs: `test_mutants.py` is about these."""


@pytest.mark.slow
def test_500_right_graphs_have_no_errors(tmp_path: Path) -> None:
    module = tmp_path / "right.py"
    for seed in range(500):
        module.write_text(right_graph(seed), encoding="utf-8")
        told = assert_told_alike(module)
        assert {problem.severity for problem in told} <= {"warning"}, module.read_text(encoding="utf-8")


@pytest.mark.slow
def test_500_mutants_of_right_graphs_are_told_as_compile_tells_them(tmp_path: Path) -> None:
    module = tmp_path / "mutant.py"
    broken = 0
    for seed in range(500):
        random = Random(seed)
        graph = right_graph(seed).removeprefix(OPENING)
        mutants = [mutant.text for mutant in mutants_of(graph) if mutant.code not in NOT_OF_THE_GRAPH]
        module.write_text(OPENING + random.choice(mutants), encoding="utf-8")
        broken += bool(assert_told_alike(module))
    assert broken > 400


def test_a_right_graph_is_checked_at_all(tmp_path: Path) -> None:
    """The graphs of the corpus are known whole: a missing node is found in each form of them."""
    for seed in range(40):
        text = right_graph(seed)
        if '@edge("n1")' in text:
            module = tmp_path / "right.py"
            module.write_text(text.replace('@edge("n1")', '@edge("nobody")'), encoding="utf-8")
            assert codes.DANGLING_EDGE in {problem.code for problem in check([module], tmp_path).problems}, text
