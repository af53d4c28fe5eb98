"""Each example is broken in every way that a script finds: mypy with the plugin tells of each mutant what `strata check` tells.

`tests/analysis/test_mutants.py` holds `strata check` to `compile()`, and to the code that each mutation must have.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from strata.analysis.checking import check
from strata.rules import codes
from strata_mypy.codes import mypy_name
from tests.analysis.mutations import GRAPHS_OF_EXAMPLES, Mutant, mutants_of
from tests.mypy_plugin.checking import configuration, mypy, said

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

NATIVE = {
    codes.ASYNC_GUARD: {"arg-type"},
    codes.MISPLACED_DECORATOR: {"arg-type"},
    codes.NOT_A_NODE: {"arg-type"},
    codes.NOTHING_RETURNED: {"return", "return-value"},
    codes.OTHER_STATE: {"arg-type", "misc", "strata-wrong-function"},
    codes.WRONG_FUNCTION: {"arg-type", "misc"},
}
"""Under which codes mypy tells it without the plugin, or of a node by itself."""

Told = dict[str, set[str]]
"""The codes that are told of a file."""


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Mutant]:
    """Each in a file of its own, which is called after its example."""
    folder = tmp_path_factory.mktemp("mutants")
    written: dict[Path, Mutant] = {}
    for module in GRAPHS_OF_EXAMPLES:
        for number, mutant in enumerate(mutants_of(module.read_text(encoding="utf-8"))):
            file = folder / f"{module.parent.name}_{number}.py"
            file.write_text(mutant.text, encoding="utf-8")
            written[file] = mutant
    return written


@pytest.fixture(scope="module")
def by_mypy(mutants: dict[Path, Mutant], tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One run over all of them."""
    config = configuration(tmp_path_factory.mktemp("mypy"))
    told: Told = defaultdict(set)
    for one in said(mypy(["--config-file", str(config), "--output=json", "--python-version=3.11", *map(str, mutants)])):
        if one.severity == "error" and one.code is not None:
            told[one.file].add(one.code)
    return told


@pytest.mark.parametrize("example", [module.parent.name for module in GRAPHS_OF_EXAMPLES])
def test_mypy_tells_of_each_mutant_what_strata_check_tells(example: str, mutants: dict[Path, Mutant], by_mypy: Told) -> None:
    mistold = [
        f"{mutant.what}: missed {missed}, added {added}\n{mutant.text}"
        for file, mutant in mutants.items()
        if file.name.startswith(f"{example}_")
        for missed, added in [_differences(_wanted(mutant, file), by_mypy[file.name])]
        if missed or added
    ]
    assert mistold == []


def _wanted(mutant: Mutant, file: Path) -> set[str]:
    checked = {problem.code for problem in check([file], file.parent).problems} - {codes.CHANGED_IN_PLACE}
    return checked if mutant.code is None else {*checked, mutant.code}


def _differences(wanted: set[str], found: set[str]) -> tuple[set[str], set[str]]:
    """What mypy should have told, and what it should not have."""
    ways = {code: {mypy_name(code)} | NATIVE.get(code, set()) for code in wanted}
    missed = {code for code, names in ways.items() if not names & found}
    added = {name for name in found if name.startswith("strata-")}.difference(*ways.values())
    return missed, added
