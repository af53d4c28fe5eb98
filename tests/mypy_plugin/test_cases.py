"""The plugin finds what the comments in `cases` say, at the line and under the code that they say, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.checking import CASES, Said, configuration, expected, mypy, said

pytestmark = [pytest.mark.checkers, pytest.mark.slow]

FILES = sorted(CASES.glob("*.py"))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Said]:
    folder = tmp_path_factory.mktemp("mypy")
    return said(mypy(["--config-file", str(configuration(folder)), "--output=json", "--python-version=3.11", *map(str, FILES)]))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_plugin_finds_what_is_wrong_and_nothing_else(file: Path, found: list[Said]) -> None:
    there = [one for one in found if one.file == file.name]
    wanted = expected(file)
    missing = [str(one) for one in wanted if not any(other.fits(one) for other in there)]
    unexpected = [str(one) for one in there if one.severity == "error" and not any(one.fits(other) for other in wanted)]
    assert (missing, unexpected) == ([], [])
