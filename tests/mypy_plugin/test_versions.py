"""The oldest mypy that is supported says, word for word, what the installed one says: from scratch, and on a warm cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.checking import CASES, ROOT, configuration, mypy
from tests.mypy_plugin.oldest import oldest_mypy

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

FILES = [*sorted(map(str, CASES.glob("*.py"))), *sorted(map(str, (ROOT / "examples").rglob("*.py")))]


def test_the_oldest_mypy_says_the_same(tmp_path: Path) -> None:
    oldest = oldest_mypy()
    assert mypy(["--version"], first=oldest) != mypy(["--version"]), "the environment has no newer mypy to compare with"
    scratch, warm = _said(tmp_path / "oldest", first=oldest), _said(tmp_path / "oldest", first=oldest)
    newest = _said(tmp_path / "newest")
    assert scratch == newest
    assert warm == newest
    assert "strata-orphan" in newest


def _said(folder: Path, *, first: Path | None = None) -> str:
    folder.mkdir(exist_ok=True)
    flags = ["--config-file", str(configuration(folder)), "--python-version=3.11", "--namespace-packages", "--explicit-package-bases"]
    return mypy([*flags, *FILES], first=first)
