"""After every random edit of a project, all ways to run mypy say the same as a run from scratch.

`STRATA_MYPY_ROUNDS` edits are made; `make fuzz` makes a thousand.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.mypy_plugin.modes import modes
from tests.mypy_plugin.projects import Project

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

ROUNDS = int(os.environ.get("STRATA_MYPY_ROUNDS", "20"))
SEED = int(os.environ.get("STRATA_MYPY_SEED", "1"))


def test_all_ways_to_run_mypy_say_the_same(tmp_path: Path) -> None:
    project, random = Project(SEED), Random(SEED)
    with modes(tmp_path) as run:
        found: set[str] = set()
        for number in range(ROUNDS):
            for _ in range(random.randrange(1, 4)):
                project.edit()
            project.write(tmp_path)
            scratch = run.scratch()
            said = {"warm": run.warm(), "daemon": run.daemon()}
            if number % 2:  # they cost most
                said["workers"] = run.workers()
            different = {mode: sorted(set(lines) ^ set(scratch)) for mode, lines in said.items() if lines != scratch}
            assert different == {}, f"seed {SEED}, round {number}"
            found.update(line.rpartition("[")[2].rstrip("]") for line in scratch if line.endswith("]"))
    assert {"strata-orphan", "strata-dangling-edge", "strata-wrong-function", "strata-tool-invalid"} <= found
