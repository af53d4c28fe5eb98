"""Each example is broken in every way that a script finds: `strata check` misses nothing that `compile()`, or importing it, finds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

from strata import GraphInvalid, GraphWarning
from strata.analysis.checking import check
from strata.rules import codes
from tests.analysis.mutations import EXAMPLES, GRAPHS_OF_EXAMPLES, Mutant, example_of, mutants_of
from tests.analysis.running import known_as, run
from tests.console import ROOT

REFUSED_BY_PYTHON = {codes.WRONG_FUNCTION, codes.MISPLACED_DECORATOR, codes.NOT_A_NODE, codes.WRONG_START, codes.OTHER_STATE}
ONLY_IN_SOURCE = {codes.NOTHING_RETURNED, codes.CHANGED_IN_PLACE}


class Fault(NamedTuple):
    code: str
    text: str
    line: int | None


class Verdict(NamedTuple):
    """What came of importing a module: the graph's errors and warnings, or that Python refused it."""

    faults: set[Fault]
    is_refused: bool


def imported(module: Path) -> Verdict:
    with warnings.catch_warnings(record=True) as cautions, known_as("mutant") as mutant:
        warnings.simplefilter("always", GraphWarning)
        try:
            run(module, mutant)
        except GraphInvalid as error:
            return Verdict({Fault(one.code, one.text, None if one.place is None else one.place.line) for one in error.problems}, False)
        except TypeError:
            return Verdict(set(), True)
    found = {str(caution.message).rpartition("[")[2].rstrip("]") for caution in cautions}
    return Verdict({Fault(code, "", None) for code in found}, False)


def test_each_example_has_a_module() -> None:
    assert {example_of(path) for path in GRAPHS_OF_EXAMPLES} == {example_of(path) for path in EXAMPLES.glob("*/README.md")}


@pytest.mark.slow
@pytest.mark.parametrize("module", GRAPHS_OF_EXAMPLES, ids=example_of)
def test_no_mutant_is_missed(module: Path, tmp_path: Path) -> None:
    mutants = list(mutants_of(module.read_text(encoding="utf-8")))
    assert len({mutant.what for mutant in mutants}) >= 10
    for mutant in mutants:
        _assert_told(mutant, tmp_path / "mutant.py")


def _assert_told(mutant: Mutant, file: Path) -> None:
    file.write_text(mutant.text, encoding="utf-8")
    report = check([file], ROOT)
    assert not report.unreadable, mutant.what
    told = {Fault(one.code, one.text, None if one.place is None else one.place.line) for one in report.problems}
    verdict = imported(file)
    where = f"{mutant.what}:\n{mutant.text}"
    for fault in verdict.faults:
        assert any(fault.code == one.code and fault.text in {"", one.text} and fault.line in {None, one.line} for one in told), (fault, told, where)
    found = {fault.code for fault in told}
    if mutant.code is not None:
        assert mutant.code in found, (found, where)
    if verdict.is_refused:
        assert found & REFUSED_BY_PYTHON, (found, where)
    elif not verdict.faults:  # nothing was raised, so nothing but what only source shows may be told
        assert found <= ONLY_IN_SOURCE, (found, where)
