"""The oldest mypy that the extra `mypy` allows, installed once in a folder of its own beside the environment's packages."""

from __future__ import annotations

import re
import tomllib
from os import getpid
from pathlib import Path
from subprocess import run
from sys import executable, prefix

import pytest

from tests.mypy_plugin.checking import ROOT

UNREACHABLE = re.compile(r"retrying|connection|timed? ?out|name resolution|proxy", re.IGNORECASE)


def oldest_mypy() -> Path:
    """A folder that goes before all others on the path; the test is skipped where no package can be fetched."""
    version = _oldest_version()
    folder = Path(prefix) / f"mypy-{version}"
    if not folder.exists():
        made = folder.with_name(f"{folder.name}.{getpid()}")  # another run may do the same at this time
        _install(f"mypy=={version}", made)
        if not folder.exists():
            made.rename(folder)
    return folder


def _oldest_version() -> str:
    with (ROOT / "pyproject.toml").open("rb") as file:
        [requirement] = tomllib.load(file)["project"]["optional-dependencies"]["mypy"]
    found = re.fullmatch(r"mypy>=(\d+\.\d+)", requirement)
    assert found is not None, requirement
    return f"{found[1]}.0"


def _install(requirement: str, folder: Path) -> None:
    command = [executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(folder), requirement]
    done = run(command, capture_output=True, text=True, check=False)
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"{requirement} cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
