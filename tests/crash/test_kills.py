"""Processes that are killed at any moment lose no committed step and repeat none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KILLS = os.environ.get("STRATA_KILLS", "500")
SEED = os.environ.get("STRATA_CRASH_SEED")


@pytest.mark.crash
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the lives are forked")
def test_no_committed_step_is_lost_or_repeated_however_often_processes_are_killed(tmp_path: Path) -> None:
    """A process of its own forks the victims: this one has threads and loops. `STRATA_CRASH_SEED` makes the same choices again."""
    seed = [] if SEED is None else ["--seed", SEED]
    command = [sys.executable, "-m", "tests.crash.killer", "--kills", KILLS, *seed, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
